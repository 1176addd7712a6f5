"""The risky memories of roots, and what a person decided about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.lean.record import Record
from engine.quality.decisions import REJECTED, SAFETY, decisions
from engine.quality.safety.gate import scanned, text_of
from engine.stores.writing import ACTIVE
from tui.workspace import opening

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.memory import MemorySummary
    from engine.quality.safety.rules import Detection
    from engine.search.index import Index

WAITING = "waiting"


class Risky(Record):
    """A memory that is not injected because of its risk. `state` is WAITING or REJECTED."""

    root: str
    memory: MemorySummary
    state: str
    detections: tuple[Detection, ...]


def risky_memories(roots: Sequence[str], environ: Mapping[str, str]) -> list[Risky]:
    """The active memories at or above `max_risk` that nobody accepted, the riskiest of each root first.

    Raises RootError, ConfigError and DecisionsError.
    """
    found = []
    for root in roots:
        most = opening.config_of(root, environ).max_risk
        with opening.opened_index(root) as index:
            found += _risky(index, most, decisions(root, environ))
    return found


def _risky(index: Index, most: float, decided: Mapping[tuple[str, str, str], str]) -> list[Risky]:
    active = [summary for summary in index.summaries() if summary.status == ACTIVE]
    held = [summary for summary in active if summary.risk >= most and not index.is_accepted(summary)]
    return [
        Risky(
            index.root, summary, _state(decided.get((SAFETY, summary.id, summary.digest))), _detections(index, summary)
        )
        for summary in sorted(held, key=lambda summary: (-summary.risk, summary.path))
    ]


def _state(verdict: str | None) -> str:
    return REJECTED if verdict == REJECTED else WAITING


def _detections(index: Index, summary: MemorySummary) -> tuple[Detection, ...]:
    memory = index.memory(summary.id)
    return scanned(text_of(memory)).detections if memory else ()
