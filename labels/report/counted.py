"""The prompts that a row of a report counts, found when somebody opens the row."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from engine.judge.verdict import APPROVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from labels.measure.evidence import Evidence
    from labels.records import Outcome

    Weight = Callable[[Outcome], float]
    """How much a prompt belongs to a row; 0 for a prompt that the row does not count."""


class CountedPrompts:
    """The prompts that a row counts, the worst first; for a row about a `memory`, the prompts that got it.

    `systems` are the names of the systems that the row is about; empty for all.
    """

    def __init__(self, find: Callable[[], Iterable[str]], systems: tuple[str, ...] = (), memory: str = "") -> None:
        self._find = find
        self.systems = systems
        self.memory = memory

    @cached_property
    def prompts(self) -> tuple[str, ...]:
        return tuple(self._find())


def weighed_by(evidence: Evidence, systems: tuple[str, ...], weight: Weight) -> CountedPrompts:
    """The prompts of the last of *systems* with a weight above 0, the largest first."""

    def find() -> list[str]:
        weights = {row.prompt_id: weight(row) for row in evidence.of(systems[-1])}
        return sorted([name for name in weights if weights[name] > 0], key=lambda name: -weights[name])

    return CountedPrompts(find, systems)


def injected_with(evidence: Evidence, memory_id: str) -> CountedPrompts:
    """The prompts for which any system injects a memory; those for which it is not relevant come first."""

    def find() -> list[str]:
        found = dict.fromkeys(row.prompt_id for row in evidence.rows if memory_id in row.injected)
        return sorted(found, key=lambda name: bool(evidence.judgements.get(name, {}).get(memory_id)))

    return CountedPrompts(find, memory=memory_id)


# Weights


def marks(evidence: Evidence, row: Outcome, memory_ids: Iterable[str]) -> float:
    """Irrelevant memories weigh more than relevant ones, so that prompts with them come first."""
    judged = evidence.judgements.get(row.prompt_id, {})
    return sum(0.01 if judged[name] else 1.0 for name in memory_ids if name in judged)


def doubt(evidence: Evidence, row: Outcome) -> float:
    """The irrelevant memories of a prompt; memories without a label weigh little."""
    judged = evidence.judgements.get(row.prompt_id, {})
    return sum(0.001 if name not in judged else 0.0 if judged[name] else 1.0 for name in row.injected)


def false_fire(evidence: Evidence, row: Outcome) -> float:
    return len(row.injected) if row.prompt_id in evidence.without_relevant else 0


def lost(evidence: Evidence, row: Outcome) -> float:
    """The relevant memories of the pool that were not injected."""
    judged = evidence.judgements.get(row.prompt_id, {})
    return evidence.relevant_in_pools[row.prompt_id] - sum(bool(judged.get(name)) for name in row.injected)


def trouble(_: Evidence, row: Outcome) -> float:
    """Every prompt counts: failures of the judge first, then silence."""
    return 2 * bool(row.fallback) + (not row.injected) + 0.01


def known_relevant(evidence: Evidence, row: Outcome) -> float:
    return sum(evidence.judgements.get(row.prompt_id, {}).values())


def decided(evidence: Evidence, row: Outcome, *, is_kept: bool) -> float:
    """Decisions of the judge on memories with a label; those with which people differ weigh more."""
    judged = evidence.judgements.get(row.prompt_id, {})
    return sum(
        0.01 if judged[name] is is_kept else 1.0
        for name, decision in zip(row.candidates, row.decisions, strict=True)
        if decision is not None and (decision == APPROVED) is is_kept and name in judged
    )


def difference(evidence: Evidence, system: str) -> Weight:
    """The number of memories that only one of two systems injects; *system* is the other one."""
    others = {row.prompt_id: row.injected for row in evidence.of(system)}
    return lambda row: len({*row.injected} ^ {*others.get(row.prompt_id, row.injected)})
