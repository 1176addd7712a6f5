"""The systems that stand side by side in Replay: the ones that can run, and the ones that a person chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import DEFAULT, FTS5_BM25, MEMSIFT
from engine.systems import SYSTEMS, is_injected

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.systems import System

MOST_COLUMNS = 3

RANKED_BY = {MEMSIFT: "by strength", FTS5_BM25: "by BM25 of title and tags"}
MEASURES = {MEMSIFT: "strength", FTS5_BM25: "BM25"}


def runnable(config: Config, cutoff: Cutoff | None, *, has_judge: bool) -> tuple[System, ...]:
    """The systems that can run with *config* and its *cutoff*, the plainest first."""
    fitting = (cutoff.kind, config.match_strategy) if cutoff else None
    uncut = [one for one in SYSTEMS.values() if not one.has_cutoff or (one.cutoff, one.strategy) == fitting]
    return tuple(one for one in uncut if has_judge or not one.has_judge)


def columns(possible: Sequence[System], chosen: Collection[str], usual: Sequence[System]) -> tuple[System, ...]:
    """The *chosen* systems, as far as they are *possible*; the *usual* ones if there is none."""
    return tuple(system for system in possible if system.name in chosen)[:MOST_COLUMNS] or tuple(usual)


def described(system: System) -> str:
    """What a system does, in a few words."""
    if is_injected(system.name):
        return "what a hook really injected: from transcripts and the hook's log"
    parts = [RANKED_BY.get(system.strategy, "counts words, without full-text search")]
    if system.has_cutoff:
        parts.append(f"then the {'default' if system.cutoff == DEFAULT else 'tuned'} cutoff")
    if system.has_judge:
        parts.append("then the judge")
    return ", ".join(parts)


def _has_scores(system: System) -> bool:
    return not system.has_judge and not is_injected(system.name)


def scale_note(systems: Sequence[System]) -> str:
    """A warning if the numbers in two columns do not compare; "" if they do."""
    measures = dict.fromkeys(MEASURES.get(system.strategy, "points") for system in systems if _has_scores(system))
    if len(measures) < 2:
        return ""
    return f"The numbers do not compare: {' beside '.join(measures)}. Compare signs and ranks."
