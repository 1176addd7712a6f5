"""The numbers of one system, as pure functions of its outcomes and of what is known to be relevant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isclose
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Interval
from labels.measure.weights import EQUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from labels.measure.outcomes import Pools
    from labels.measure.weights import Weights
    from labels.records import Judgements, Outcome

    Share = tuple[str, float, float]
    """(prompt id, part, whole): what one prompt adds to a ratio."""


@dataclass(frozen=True)
class Ratio:
    """*part* per *whole*, both counts; above 1 where it is a rate per prompt.

    `weighted` is the ratio of the sums in which each prompt and memory counts for as many as it stands for; None where
    all stand for one, and part / whole is the estimate.
    """

    part: int
    whole: int
    weighted: float | None = None

    @property
    def value(self) -> float | None:
        """The estimate. None when there is nothing to divide by: unknown, not zero."""
        if self.weighted is not None:
            return self.weighted
        return self.part / self.whole if self.whole else None


class Tally(NamedTuple):
    """What one system injected for one prompt: counts of memories, `relevant <= judged <= injected`.

    `said` is of each of them whether it is relevant, None where nobody judged it; of a part of them it is empty.
    """

    prompt_id: str
    injected: int
    judged: int
    relevant: int
    said: tuple[bool | None, ...] = ()

    @property
    def irrelevant(self) -> int:
        return self.judged - self.relevant

    @property
    def unjudged(self) -> int:
        return self.injected - self.judged


NEW_TALLY = partial(tuple.__new__, Tally)
"""Of its five fields: half of the time that it takes by their names."""


def tally(outcome: Outcome, judgements: Judgements) -> Tally:
    said = tuple(map(judgements.get(outcome.prompt_id, {}).get, outcome.injected))
    return NEW_TALLY((outcome.prompt_id, len(said), len(said) - said.count(None), said.count(True), said))


def ratio(counts: Iterable[tuple[str, int, int]], weights: Weights = EQUAL) -> Ratio:
    """The combined ratio: parts of all prompts / wholes of all prompts.

    With prompts of unequal *weights* it is sum w_g x_g / sum w_g m_g, the combined ratio estimator of stratified
    sampling. Source: W. G. Cochran, Sampling Techniques (1977), section 6.11.
    """
    shares = list(counts)
    counted = Ratio(sum([part for _, part, _ in shares]), sum([whole for _, _, whole in shares]))
    return weighed(counted, shares, weights) if weights.prompts else counted


def weighed(counted: Ratio, shares: Sequence[Share], weights: Weights) -> Ratio:
    """*counted* with the estimate from *shares*, if it differs: their parts and wholes may hold weighted memories."""
    part = sum(weights.of_prompt(prompt_id) * part for prompt_id, part, _ in shares)
    whole = sum(weights.of_prompt(prompt_id) * whole for prompt_id, _, whole in shares)
    return estimated(counted, part, whole)


def estimated(counted: Ratio, part: float, whole: float) -> Ratio:
    """*counted* with the estimate *part* / *whole*, sums of weighted prompts and memories, if it differs."""
    if not whole or (counted.whole and isclose(part / whole, counted.part / counted.whole, abs_tol=1e-12)):
        return counted
    return Ratio(counted.part, counted.whole, part / whole)


def precision(tallies: Iterable[Tally], weights: Weights = EQUAL) -> Ratio:
    """Set precision: relevant / judged over everything injected (micro average), not TREC's P@k.

    P@k would divide by k however little was injected, and so punish a system for holding back.
    """
    return ratio(((each.prompt_id, each.relevant, each.judged) for each in tallies), weights)


def precision_bounds(tallies: Sequence[Tally]) -> Interval | None:
    """Precision if none of the unjudged memories were relevant, and if all were; None when nothing was injected."""
    injected = sum(each.injected for each in tallies)
    relevant = sum(each.relevant for each in tallies)
    unjudged = sum(each.unjudged for each in tallies)
    return Interval(relevant / injected, (relevant + unjudged) / injected) if injected else None


def fire_rate(tallies: Sequence[Tally]) -> Ratio:
    """Prompts that got at least one memory, of all prompts."""
    return Ratio(sum(each.injected > 0 for each in tallies), len(tallies))


def false_fire_rate(tallies: Sequence[Tally], without_relevant: Set[str], weights: Weights = EQUAL) -> Ratio:
    """Prompts that got at least one memory, of those for which nothing is relevant."""
    return ratio(
        ((each.prompt_id, each.injected > 0, 1) for each in tallies if each.prompt_id in without_relevant), weights
    )


def unjudged_share(tallies: Sequence[Tally]) -> Ratio:
    """Injected memories that nobody judged, of all injected."""
    return Ratio(sum(each.unjudged for each in tallies), sum(each.injected for each in tallies))


def silent_prompts(tallies: Sequence[Tally]) -> int:
    """Prompts that got nothing; they are no part of precision."""
    return sum(each.injected == 0 for each in tallies)


def judge_failures(rows: Sequence[Outcome]) -> Ratio:
    """Prompts on which the judge gave no answer, of those on which it was asked."""
    return Ratio(sum(bool(row.fallback) for row in rows), sum(row.is_asked or bool(row.fallback) for row in rows))


def irrelevant_per_prompt(tallies: Sequence[Tally], measured: Set[str], weights: Weights = EQUAL) -> Ratio:
    """Injected memories known to be irrelevant, per *measured* prompt."""
    return ratio(((each.prompt_id, each.irrelevant, 1) for each in tallies if each.prompt_id in measured), weights)


def polluted_rate(
    rows: Sequence[Outcome], tallies: Sequence[Tally], measured: Set[str], weights: Weights = EQUAL
) -> Ratio:
    """Prompts with an injected memory that one single word of theirs matched and that is known to be irrelevant.

    Of the *measured* prompts for whose injected memories it is known how many words matched. *tallies* are of *rows*.
    """
    polluted = [
        (row.prompt_id, is_polluted, 1)
        for row, tally in zip(rows, tallies, strict=True)
        if row.prompt_id in measured and (is_polluted := pollution(row.matched, tally.said)) is not None
    ]
    return ratio(polluted, weights)


def pollution(matched: Sequence[int | None], said: Sequence[bool | None]) -> bool | None:
    """Whether there is such a memory, None if it is not known of every injected one how many words it matched."""
    if None in matched or len(matched) < len(said):
        return None
    return 1 in matched and (1, False) in zip(matched, said, strict=True)


class InPools(NamedTuple):
    """By prompt id: how many memories of the pool are known to be `relevant`, and how many such ones the sampled of
    them stand for beside themselves, `unseen`. A prompt that is absent has none."""

    relevant: Mapping[str, int]
    unseen: Mapping[str, float]


def in_pools(pools: Pools, judgements: Judgements, weights: Weights = EQUAL) -> InPools:
    relevant = {
        prompt_id: list(map(judged.get, pool)).count(True)
        for prompt_id, pool in pools.items()
        if (judged := judgements.get(prompt_id))
    }
    return InPools(relevant, {name: unseen_in_pool(name, pools, judgements, weights) for name in weights.pairs})


def unseen_in_pool(prompt_id: str, pools: Pools, judgements: Judgements, weights: Weights) -> float:
    pool, judged = pools.get(prompt_id, frozenset()), judgements.get(prompt_id, {})
    sampled = weights.pairs[prompt_id]
    return sum(weight - 1 for memory_id, weight in sampled.items() if memory_id in pool and judged.get(memory_id))


def lost_per_prompt(tallies: Sequence[Tally], known: InPools, measured: Set[str], weights: Weights = EQUAL) -> Ratio:
    """Memories of the pool known to be relevant that the system did not inject, per *measured* prompt."""
    counts = [
        (each.prompt_id, known.relevant.get(each.prompt_id, 0) - each.relevant, 1)
        for each in tallies
        if each.prompt_id in measured
    ]
    if not weights.pairs:
        return ratio(counts, weights)
    shares = [(prompt_id, lost + known.unseen.get(prompt_id, 0), one) for prompt_id, lost, one in counts]
    return weighed(ratio(counts), shares, weights)


def recall_in_pool(tallies: Sequence[Tally], known: InPools, weights: Weights = EQUAL) -> Ratio:
    """Relevant memories injected, of those known to be relevant in the pool of all systems.

    It is relative: what no system looked at is not in it. All systems share the pool, so differences are fair.
    """
    counts = [(each.prompt_id, each.relevant, known.relevant.get(each.prompt_id, 0)) for each in tallies]
    if not weights.pairs:
        return ratio(counts, weights)
    shares = [(prompt_id, found, whole + known.unseen.get(prompt_id, 0)) for prompt_id, found, whole in counts]
    return weighed(ratio(counts), shares, weights)


def recall_of_known(tallies: Sequence[Tally], judgements: Judgements) -> Ratio:
    """Relevant memories injected, of all that are known to be relevant for these prompts, looked at or not."""
    relevant = sum(sum(judgements.get(each.prompt_id, {}).values()) for each in tallies)
    return Ratio(sum(each.relevant for each in tallies), relevant)
