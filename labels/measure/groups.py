"""Precision of parts of what was injected: by confidence, and by kind of prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.retrieval import HIGH, LOW, MEDIUM
from labels.measure.estimates import Estimate, estimate
from labels.measure.metrics import Tally
from labels.measure.weights import EQUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from labels.measure.outcomes import Judgements, Outcome
    from labels.measure.weights import Weights

NO_KIND = "(no kind)"


@dataclass(frozen=True)
class Group:
    """The precision of a part: `prompts` are those with a labelled memory in it, `injected` all memories in it."""

    name: str
    prompts: int
    injected: int
    precision: Estimate


def by_confidence(rows: Iterable[Outcome], judgements: Judgements, weights: Weights = EQUAL) -> tuple[Group, ...]:
    """Precision of what was injected with high, medium and low confidence; only levels that occur."""
    tallies: dict[str, list[Tally]] = {HIGH: [], MEDIUM: [], LOW: []}
    for row in rows:
        for level, tally in levels(row, judgements).items():
            tallies.setdefault(level, []).append(tally)
    return groups(tallies, weights)


def levels(row: Outcome, judgements: Judgements) -> Mapping[str, Tally]:
    """What was injected of each confidence that is known."""
    judged = judgements.get(row.prompt_id, {})
    counts: dict[str, list[int]] = {}
    for memory_id in row.injected:
        level = row.found[memory_id].confidence if memory_id in row.found else ""
        if level:
            count = counts.setdefault(level, [0, 0, 0])
            count[0] += 1
            count[1] += memory_id in judged
            count[2] += judged.get(memory_id, False)
    return {level: Tally(row.prompt_id, *count) for level, count in counts.items()}


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
