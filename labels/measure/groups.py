"""Precision of parts of what was injected: by confidence, and by kind of prompt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from engine.retrieval import HIGH, LOW, MEDIUM
from labels.measure.estimates import Estimate, estimate
from labels.measure.metrics import NEW_TALLY
from labels.measure.weights import EQUAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labels.measure.metrics import Tally
    from labels.measure.weights import Weights
    from labels.records import Outcome

NO_KIND = "(no kind)"


@dataclass(frozen=True)
class Group:
    """The precision of a part: `prompts` are those with a labelled memory in it, `injected` all memories in it."""

    name: str
    prompts: int
    injected: int
    precision: Estimate


def by_confidence(rows: Sequence[Outcome], tallies: Sequence[Tally], weights: Weights = EQUAL) -> tuple[Group, ...]:
    """Precision of what was injected with high, medium and low confidence; only levels that occur.

    *tallies* are those of *rows*.
    """
    levels: dict[str, list[Tally]] = {HIGH: [], MEDIUM: [], LOW: []}
    counts = cache(level_counts)  # thousands of prompts are of few kinds
    for row, tally in zip(rows, tallies, strict=True):
        for level, injected, judged, relevant in counts(row.confidences, tally.said):
            levels.setdefault(level, []).append(NEW_TALLY((row.prompt_id, injected, judged, relevant, ())))
    return groups(levels, weights)


def level_counts(confidences: Sequence[str], said: Sequence[bool | None]) -> list[tuple[str, int, int, int]]:
    """(level, injected, judged, relevant) of what was injected with a known confidence.

    *said* is of each memory whether it is relevant, None where nobody judged it.
    """
    levels: dict[str, list[bool | None]] = {}
    for level, is_relevant in zip(confidences, said, strict=False):
        if level:
            levels.setdefault(level, []).append(is_relevant)
    return [(level, len(known), len(known) - known.count(None), known.count(True)) for level, known in levels.items()]


def by_kind(
    rows: Sequence[Outcome], tallies: Sequence[Tally], kinds: Mapping[str, str], weights: Weights = EQUAL
) -> tuple[Group, ...]:
    """Precision for each kind of prompt, by name; nothing if no prompt has a kind.

    *tallies* are those of *rows*; *kinds* (prompt id -> kind) fill in what the outcomes do not say.
    """
    found: dict[str, list[Tally]] = {}
    for row, tally in zip(rows, tallies, strict=True):
        kind = row.kind or kinds.get(row.prompt_id, "") or NO_KIND
        found.setdefault(kind, []).append(tally)
    if not found.keys() - {NO_KIND}:
        return ()
    return groups({kind: found[kind] for kind in sorted(found)}, weights)


def groups(tallies: Mapping[str, Sequence[Tally]], weights: Weights) -> tuple[Group, ...]:
    return tuple(
        group(name, [each for each in found if each.injected], weights) for name, found in tallies.items() if found
    )


def group(name: str, tallies: Sequence[Tally], weights: Weights) -> Group:
    return Group(
        name,
        sum(each.judged > 0 for each in tallies),
        sum(each.injected for each in tallies),
        estimate(tallies, weights),
    )
