"""The numbers of one system, as pure functions of its outcomes and of the judgements on them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from labels.measure.judgements import Pools
    from labels.records import Judgements, Outcome


@dataclass(frozen=True)
class Ratio:
    """*part* per *whole*, both counts; above 1 where it is a rate per prompt."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """None where *whole* is 0: unknown, not zero."""
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


def tally(prompt_id: str, injected: Iterable[str], judgements: Judgements) -> Tally:
    own = tuple(map(judgements.get(prompt_id, {}).get, injected))
    return Tally(prompt_id, len(own), len(own) - own.count(None), own.count(True), own)


def precision(tallies: Sequence[Tally]) -> Ratio:
    """Set precision: relevant / judged over all injected memories (micro average), not TREC's P@k.

    P@k divides by k even if fewer memories were injected, and so punishes a system for holding back.
    """
    return Ratio(sum(prompt.relevant for prompt in tallies), sum(prompt.judged for prompt in tallies))


def precision_bounds(tallies: Sequence[Tally]) -> Interval | None:
    """Precision if no unjudged memory were relevant, and if all were; None when nothing was injected."""
    relevant, unjudged = precision(tallies).part, unjudged_share(tallies)
    injected = unjudged.whole
    return Interval(relevant / injected, (relevant + unjudged.part) / injected) if injected else None


def fire_rate(tallies: Sequence[Tally]) -> Ratio:
    """Prompts with at least one injected memory, of all prompts."""
    return Ratio(sum(prompt.injected > 0 for prompt in tallies), len(tallies))


def false_fire_rate(tallies: Iterable[Tally], without_relevant: Set[str]) -> Ratio:
    """Prompts with at least one injected memory, of the prompts for which nothing is relevant."""
    return fire_rate([prompt for prompt in tallies if prompt.prompt_id in without_relevant])


def served(sets: Iterable[tuple[str, Iterable[str]]], needed: Pools) -> list[Tally]:
    """For each prompt that needs a memory, whether it gets a needed one: a Tally of 1, relevant if it does.

    *sets* are (prompt id, injected memories), *needed* the needed memories of the prompts that need one. A memory
    without a label counts as not needed.
    """
    return [Tally(name, 1, 1, not needed[name].isdisjoint(own)) for name, own in sets if name in needed]


def unjudged_share(tallies: Sequence[Tally]) -> Ratio:
    """Injected memories without a judgement, of all injected memories."""
    return Ratio(sum(prompt.unjudged for prompt in tallies), sum(prompt.injected for prompt in tallies))


def judge_failures(rows: Sequence[Outcome]) -> Ratio:
    """Prompts on which the judge gave no answer, of the prompts on which it was asked."""
    failed = sum(row.is_unanswered for row in rows)
    return Ratio(failed, sum(row.is_asked or row.is_unanswered for row in rows))


def irrelevant_per_prompt(tallies: Iterable[Tally], measured: Set[str]) -> Ratio:
    """Irrelevant injected memories per *measured* prompt."""
    own = [prompt.irrelevant for prompt in tallies if prompt.prompt_id in measured]
    return Ratio(sum(own), len(own))


def polluted_rate(rows: Sequence[Outcome], tallies: Sequence[Tally], measured: Set[str]) -> Ratio:
    """Prompts with an irrelevant injected memory that matched a single word of the prompt.

    Of the *measured* prompts for whose injected memories the number of matched words is known. *tallies* are those of
    *rows*.
    """
    known = [
        (1, False) in zip(row.matched, own.judgements, strict=True)
        for row, own in zip(rows, tallies, strict=True)
        if row.prompt_id in measured and None not in row.matched and len(row.matched) == own.injected
    ]
    return Ratio(sum(known), len(known))


def relevant_in(pools: Pools, judgements: Judgements) -> Counter[str]:
    """prompt id -> the number of memories in its pool that are known to be relevant."""
    answers = {name: judgements.get(name, {}) for name in pools}
    return Counter({name: list(map(answers[name].get, pool)).count(True) for name, pool in pools.items()})


def lost_per_prompt(tallies: Iterable[Tally], relevant: Counter[str], measured: Set[str]) -> Ratio:
    """Memories of the pool that are `relevant_in` it and that the system did not inject, per *measured* prompt."""
    own = [relevant[prompt.prompt_id] - prompt.relevant for prompt in tallies if prompt.prompt_id in measured]
    return Ratio(sum(own), len(own))


def recall_in_pool(tallies: Sequence[Tally], relevant: Counter[str]) -> Ratio:
    """Relevant memories injected, of all memories that are `relevant_in` the pool of all systems.

    It is relative: a memory that no system looked at is not in it. All systems share the pool, so they can be compared.
    """
    return Ratio(sum(prompt.relevant for prompt in tallies), sum(relevant[prompt.prompt_id] for prompt in tallies))


def recall_of_known(tallies: Sequence[Tally], judgements: Judgements) -> Ratio:
    """Relevant memories injected, of all memories known to be relevant for these prompts, in the pool or not."""
    known = sum(sum(judgements.get(prompt.prompt_id, {}).values()) for prompt in tallies)
    return Ratio(sum(prompt.relevant for prompt in tallies), known)


# The injected memories as a ranking, in the measures of TREC


@dataclass(frozen=True)
class RankingMeasures:
    """The mean of each measure (0..1, by its name in ir-measures) over the `prompts` with a relevant memory.

    A prompt without an injected memory counts as 0, as with trec_eval -c. An unjudged memory counts as irrelevant,
    except in bpref.
    """

    prompts: int
    means: Mapping[str, float]


def rank_measures(rows: Iterable[Outcome], judgements: Judgements) -> RankingMeasures:
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
    numbers = count()
    documents: defaultdict[str, str] = defaultdict(lambda: str(next(numbers)))
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
