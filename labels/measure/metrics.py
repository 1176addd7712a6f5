"""The numbers of one system, as pure functions of its outcomes and of what is known to be relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from labels.measure.outcomes import Judgements, Outcome, Pools


@dataclass(frozen=True)
class Ratio:
    """*part* per *whole*, both counts; above 1 where it is a rate per prompt."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """None when there is nothing to divide by: unknown, not zero."""
        return self.part / self.whole if self.whole else None


@dataclass(frozen=True)
class Tally:
    """What one system injected for one prompt: counts of memories, `relevant <= judged <= injected`."""

    prompt_id: str
    injected: int
    judged: int
    relevant: int

    @property
    def irrelevant(self) -> int:
        return self.judged - self.relevant

    @property
    def unjudged(self) -> int:
        return self.injected - self.judged


def tally(outcome: Outcome, judgements: Judgements) -> Tally:
    judged = judgements.get(outcome.prompt_id, {})
    known = [judged[memory_id] for memory_id in outcome.injected if memory_id in judged]
    return Tally(outcome.prompt_id, len(outcome.injected), len(known), sum(known))


def precision(tallies: Sequence[Tally]) -> Ratio:
    """Set precision: relevant / judged over everything injected (micro average), not TREC's P@k.

    P@k would divide by k however little was injected, and so punish a system for holding back.
    """
    return Ratio(sum(each.relevant for each in tallies), sum(each.judged for each in tallies))


def precision_bounds(tallies: Sequence[Tally]) -> Interval | None:
    """Precision if none of the unjudged memories were relevant, and if all were; None when nothing was injected."""
    injected = sum(each.injected for each in tallies)
    relevant = sum(each.relevant for each in tallies)
    unjudged = sum(each.unjudged for each in tallies)
    return Interval(relevant / injected, (relevant + unjudged) / injected) if injected else None


def fire_rate(tallies: Sequence[Tally]) -> Ratio:
    """Prompts that got at least one memory, of all prompts."""
    return Ratio(sum(each.injected > 0 for each in tallies), len(tallies))


def false_fire_rate(tallies: Sequence[Tally], without_relevant: Set[str]) -> Ratio:
    """Prompts that got at least one memory, of those for which nothing is relevant."""
    return fire_rate([each for each in tallies if each.prompt_id in without_relevant])


def unjudged_share(tallies: Sequence[Tally]) -> Ratio:
    """Injected memories that nobody judged, of all injected."""
    return Ratio(sum(each.unjudged for each in tallies), sum(each.injected for each in tallies))


def silent_prompts(tallies: Sequence[Tally]) -> int:
    """Prompts that got nothing; they are no part of precision."""
    return sum(each.injected == 0 for each in tallies)


def irrelevant_per_prompt(tallies: Sequence[Tally], measured: Set[str]) -> Ratio:
    """Injected memories known to be irrelevant, per *measured* prompt."""
    counted = [each for each in tallies if each.prompt_id in measured]
    return Ratio(sum(each.irrelevant for each in counted), len(counted))


def relevant_in_pool(prompt_id: str, pools: Pools, judgements: Judgements) -> int:
    judged = judgements.get(prompt_id, {})
    return sum(judged.get(memory_id, False) for memory_id in pools.get(prompt_id, ()))


def lost_per_prompt(tallies: Sequence[Tally], pools: Pools, judgements: Judgements, measured: Set[str]) -> Ratio:
    """Memories of the pool known to be relevant that the system did not inject, per *measured* prompt."""
    counted = [each for each in tallies if each.prompt_id in measured]
    lost = sum(relevant_in_pool(each.prompt_id, pools, judgements) - each.relevant for each in counted)
    return Ratio(lost, len(counted))


def recall_in_pool(tallies: Sequence[Tally], pools: Pools, judgements: Judgements) -> Ratio:
    """Relevant memories injected, of those known to be relevant in the pool of all systems.

    It is relative: what no system looked at is not in it. All systems share the pool, so differences are fair.
    """
    relevant = sum(relevant_in_pool(each.prompt_id, pools, judgements) for each in tallies)
    return Ratio(sum(each.relevant for each in tallies), relevant)


def recall_of_known(tallies: Sequence[Tally], judgements: Judgements) -> Ratio:
    """Relevant memories injected, of all that are known to be relevant for these prompts, looked at or not."""
    relevant = sum(sum(judgements.get(each.prompt_id, {}).values()) for each in tallies)
    return Ratio(sum(each.relevant for each in tallies), relevant)
