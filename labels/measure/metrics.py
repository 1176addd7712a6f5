"""The numbers of one system, as pure functions of its outcomes and of the judgements on them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Interval
from labels.measure.strata import EQUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from labels.measure.judgements import Pools
    from labels.measure.strata import PairWeights
    from labels.records import Judgements, Outcome

    Share = tuple[str, float, float]
    """(prompt id, part, whole): the contribution of one prompt to a ratio."""


@dataclass(frozen=True)
class Ratio:
    """*part* per *whole*, both counts; above 1 where it is a rate per prompt.

    `weighted` is the ratio of the weighted sums: each prompt and memory counts with its weight. It is None where all
    weights are 1: then part / whole is the estimate.
    """

    part: int
    whole: int
    weighted: float | None = None

    @property
    def value(self) -> float | None:
        """The estimate. None where *whole* is 0: unknown, not zero."""
        if self.weighted is not None:
            return self.weighted
        return self.part / self.whole if self.whole else None


class Tally(NamedTuple):
    """The memories that one system injected for one prompt: counts with `relevant <= judged <= injected`.

    `judgements` is the judgement on each of them, None for an unjudged memory. It is empty for a part of them.
    """

    prompt_id: str
    injected: int
    judged: int
    relevant: int
    judgements: tuple[bool | None, ...] = ()

    @property
    def irrelevant(self) -> int:
        return self.judged - self.relevant

    @property
    def unjudged(self) -> int:
        return self.injected - self.judged


def tally(outcome: Outcome, judgements: Judgements) -> Tally:
    own = tuple(map(judgements.get(outcome.prompt_id, {}).get, outcome.injected))
    return Tally(outcome.prompt_id, len(own), len(own) - own.count(None), own.count(True), own)


def ratio(
    counts: Iterable[tuple[str, int, int]], weights: PairWeights = EQUAL, shares: Sequence[Share] | None = None
) -> Ratio:
    """The combined ratio: parts of all prompts / wholes of all prompts.

    With unequal *weights* of prompts it is sum w_g x_g / sum w_g m_g, the combined ratio estimator of stratified
    sampling. *shares* are the same as *counts*, with estimated numbers of memories where only a sample was judged.
    Source: W. G. Cochran, Sampling Techniques (1977), section 6.11.
    """
    counts = list(counts)
    counted = Ratio(sum([part for _, part, _ in counts]), sum([whole for _, _, whole in counts]))
    if shares is None and not weights.prompts:
        return counted
    part = sum(weights.of_prompt(prompt_id) * part for prompt_id, part, _ in shares or counts)
    whole = sum(weights.of_prompt(prompt_id) * whole for prompt_id, _, whole in shares or counts)
    return estimated(counted, part, whole)


def estimated(counted: Ratio, part: float, whole: float) -> Ratio:
    """*counted* with the estimate *part* / *whole* of weighted sums, if that differs from the ratio of the counts."""
    if not whole or (counted.whole and isclose(part / whole, counted.part / counted.whole, abs_tol=1e-12)):
        return counted
    return Ratio(counted.part, counted.whole, part / whole)


def precision(tallies: Iterable[Tally], weights: PairWeights = EQUAL) -> Ratio:
    """Set precision: relevant / judged over all injected memories (micro average), not TREC's P@k.

    P@k divides by k even if fewer memories were injected, and so punishes a system for holding back.
    """
    return ratio(((prompt.prompt_id, prompt.relevant, prompt.judged) for prompt in tallies), weights)


def precision_bounds(tallies: Sequence[Tally]) -> Interval | None:
    """Precision if no unjudged memory were relevant, and if all were; None when nothing was injected."""
    injected = sum(prompt.injected for prompt in tallies)
    relevant = sum(prompt.relevant for prompt in tallies)
    unjudged = sum(prompt.unjudged for prompt in tallies)
    return Interval(relevant / injected, (relevant + unjudged) / injected) if injected else None


def fire_rate(tallies: Sequence[Tally]) -> Ratio:
    """Prompts with at least one injected memory, of all prompts."""
    return Ratio(sum(prompt.injected > 0 for prompt in tallies), len(tallies))


def false_fire_rate(tallies: Iterable[Tally], without_relevant: Set[str], weights: PairWeights = EQUAL) -> Ratio:
    """Prompts with at least one injected memory, of the prompts for which nothing is relevant."""
    own = [prompt for prompt in tallies if prompt.prompt_id in without_relevant]
    return ratio(((prompt.prompt_id, prompt.injected > 0, 1) for prompt in own), weights)


def served(sets: Iterable[tuple[str, Iterable[str]]], needed: Pools) -> list[Tally]:
    """For each prompt that needs a memory, whether it gets a needed one: a Tally of 1, relevant if it does.

    *sets* are (prompt id, injected memories), *needed* the needed memories of the prompts that need one. A memory
    without a label counts as not needed.
    """
    return [Tally(name, 1, 1, not needed[name].isdisjoint(own)) for name, own in sets if name in needed]


def unjudged_share(tallies: Sequence[Tally]) -> Ratio:
    """Injected memories without a judgement, of all injected memories."""
    return Ratio(sum(prompt.unjudged for prompt in tallies), sum(prompt.injected for prompt in tallies))


def silent_prompts(tallies: Sequence[Tally]) -> int:
    """The number of prompts for which nothing was injected; precision leaves them out."""
    return sum(prompt.injected == 0 for prompt in tallies)


def judge_failures(rows: Sequence[Outcome]) -> Ratio:
    """Prompts on which the judge gave no answer, of the prompts on which it was asked."""
    failed = sum(row.is_unanswered for row in rows)
    return Ratio(failed, sum(row.is_asked or row.is_unanswered for row in rows))


def irrelevant_per_prompt(tallies: Iterable[Tally], measured: Set[str], weights: PairWeights = EQUAL) -> Ratio:
    """Irrelevant injected memories per *measured* prompt."""
    own = [prompt for prompt in tallies if prompt.prompt_id in measured]
    return ratio(((prompt.prompt_id, prompt.irrelevant, 1) for prompt in own), weights)


def polluted_rate(
    rows: Sequence[Outcome], tallies: Sequence[Tally], measured: Set[str], weights: PairWeights = EQUAL
) -> Ratio:
    """Prompts with an irrelevant injected memory that matched a single word of the prompt.

    Of the *measured* prompts for whose injected memories the number of matched words is known. *tallies* are those of
    *rows*.
    """
    polluted = [
        (row.prompt_id, is_polluted, 1)
        for row, own in zip(rows, tallies, strict=True)
        if row.prompt_id in measured and (is_polluted := pollution(row.matched, own.judgements)) is not None
    ]
    return ratio(polluted, weights)


def pollution(matched: Sequence[int | None], judgements: Sequence[bool | None]) -> bool | None:
    """Whether a memory with one matched word is irrelevant; None if a number of matched words is not known."""
    if None in matched or len(matched) < len(judgements):
        return None
    return 1 in matched and (1, False) in zip(matched, judgements, strict=True)


class InPools(NamedTuple):
    """By prompt id: the number of memories in the pool that are known to be `relevant`, and the `estimated` number.

    They differ where only a random sample was shown to people. A missing prompt has 0.
    """

    relevant: Mapping[str, int]
    estimated: Mapping[str, float]


def in_pools(pools: Pools, judgements: Judgements, weights: PairWeights = EQUAL) -> InPools:
    relevant = {
        prompt_id: list(map(judged.get, pool)).count(True)
        for prompt_id, pool in pools.items()
        if (judged := judgements.get(prompt_id))
    }
    unseen = {
        name: sum(
            weight - 1
            for memory_id, weight in sampled.items()
            if memory_id in pools.get(name, ()) and judged.get(memory_id)
        )
        for name, sampled in weights.pairs.items()
        if (judged := judgements.get(name))
    }
    return InPools(relevant, {name: number + unseen.get(name, 0) for name, number in relevant.items()})


def lost_per_prompt(
    tallies: Sequence[Tally], known: InPools, measured: Set[str], weights: PairWeights = EQUAL
) -> Ratio:
    """Relevant memories of the pool that the system did not inject, per *measured* prompt."""
    own = [prompt for prompt in tallies if prompt.prompt_id in measured]
    counts = [(prompt.prompt_id, known.relevant.get(prompt.prompt_id, 0) - prompt.relevant, 1) for prompt in own]
    shares = [(prompt.prompt_id, known.estimated.get(prompt.prompt_id, 0) - prompt.relevant, 1) for prompt in own]
    return ratio(counts, weights, shares if weights.pairs else None)


def recall_in_pool(tallies: Sequence[Tally], known: InPools, weights: PairWeights = EQUAL) -> Ratio:
    """Relevant memories injected, of all relevant memories in the pool of all systems.

    It is relative: a memory that no system looked at is not in it. All systems share the pool, so they can be compared.
    """
    counts = [(prompt.prompt_id, prompt.relevant, known.relevant.get(prompt.prompt_id, 0)) for prompt in tallies]
    shares = [(prompt.prompt_id, prompt.relevant, known.estimated.get(prompt.prompt_id, 0)) for prompt in tallies]
    return ratio(counts, weights, shares if weights.pairs else None)


def recall_of_known(tallies: Sequence[Tally], judgements: Judgements) -> Ratio:
    """Relevant memories injected, of all memories known to be relevant for these prompts, in the pool or not."""
    relevant = sum(sum(judgements.get(prompt.prompt_id, {}).values()) for prompt in tallies)
    return Ratio(sum(prompt.relevant for prompt in tallies), relevant)


# The injected memories as a ranking, in the measures of TREC


@dataclass(frozen=True)
class RankingMeasures:
    """The mean of each measure (0..1, by its name in ir-measures) over the `prompts` with a relevant memory.

    A prompt without an injected memory counts as 0, as with trec_eval -c. An unjudged memory counts as irrelevant,
    except in bpref.
    """

    prompts: int
    means: Mapping[str, float]


def ranked(rows: Iterable[Outcome], judgements: Judgements) -> RankingMeasures:
    """The measures of one system's *rows*, one for each prompt; the ranking is the injected set, best first.

    They divide by a fixed depth or by the number of relevant memories, however few were injected, so they punish
    holding back: P@k, MAP, nDCG (relevant or not), MRR and bpref, which looks at judged memories only. They allow
    comparisons with other collections; precision is what decides. Needs the package ir-measures, which is slow to load.
    """
    import ir_measures
    from ir_measures import AP, RR, Bpref, P, Qrel, ScoredDoc, nDCG

    measures = (P @ 1, P @ 3, AP, nDCG @ 10, RR, Bpref)
    wanted = [row for row in rows if any(judgements.get(row.prompt_id, {}).values())]
    if not wanted:
        return RankingMeasures(0, {})
    # numbers as ids: trec_eval's code crashes at an id that UTF-8 cannot hold
    topics = {row.prompt_id: str(number) for number, row in enumerate(wanted)}
    documents = TextNumbers()
    qrels = [
        Qrel(topic, documents[memory_id], int(is_relevant))
        for prompt_id, topic in topics.items()
        for memory_id, is_relevant in judgements[prompt_id].items()
    ]
    run = [
        ScoredDoc(topics[row.prompt_id], documents[memory_id], 1.0 / rank)
        for row in wanted
        for rank, memory_id in enumerate(row.injected, start=1)
    ]
    totals = dict.fromkeys(map(str, measures), 0.0)
    for metric in ir_measures.iter_calc(measures, qrels, run):
        totals[str(metric.measure)] += metric.value
    return RankingMeasures(len(wanted), {name: total / len(wanted) for name, total in totals.items()})


class TextNumbers(dict[str, str]):
    """A number, as text, for every id that is asked for."""

    def __missing__(self, key: str) -> str:
        self[key] = str(len(self))
        return self[key]
