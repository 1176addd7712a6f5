"""The numbers of one system and of its parts, as pure functions of its outcomes and of the judgements on them.

The parts are confidences, kinds of prompt and agents; then come the worst memories and prompts, and TREC's measures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from engine.retrieval import HIGH, LOW, MEDIUM
from labels.measure.intervals import (
    LOOKS,
    PLANNED,
    Interval,
    counted_prompts,
    deciding_interval,
    headline_interval,
    precision_estimate,
)
from labels.records import grouped, nested

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from labels.measure.intervals import Estimate
    from labels.measure.judgements import Pools
    from labels.records import Judgements, Outcome

NO_KIND, NO_AGENT = "(no kind)", "(no agent)"

SHOWN_WORST = 10
PATTERN = 2
"""The fewest irrelevant pairs of a memory or prompt that is shown: a single one proves nothing."""


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


def lost_per_prompt(tallies: Iterable[Tally], relevant: Counter[str], measured: Set[str]) -> Ratio:
    """Memories *relevant* in the pool of a prompt that the system did not inject, per *measured* prompt."""
    own = [relevant[prompt.prompt_id] - prompt.relevant for prompt in tallies if prompt.prompt_id in measured]
    return Ratio(sum(own), len(own))


def recall_in_pool(tallies: Sequence[Tally], relevant: Counter[str]) -> Ratio:
    """Relevant memories injected, of all that are *relevant* in the pools of all systems.

    It is relative: a memory that no system looked at is not in it. All systems share the pool, so they can be compared.
    """
    return Ratio(sum(prompt.relevant for prompt in tallies), sum(relevant[prompt.prompt_id] for prompt in tallies))


def recall_of_known(tallies: Sequence[Tally], judgements: Judgements) -> Ratio:
    """Relevant memories injected, of all memories known to be relevant for these prompts, in the pool or not."""
    known = sum(sum(judgements.get(prompt.prompt_id, {}).values()) for prompt in tallies)
    return Ratio(sum(prompt.relevant for prompt in tallies), known)


# Parts of a system


@dataclass(frozen=True)
class Sample:
    """The completely judged prompts of one system: their (relevant, judged) counts, in the order of their first labels.

    `whole` is the number of prompts that they were drawn from: all for which the system injects anything. `most` is
    the largest number of memories that it injects for one of these.
    """

    judged: Mapping[str, tuple[int, int]]
    whole: int
    most: int = 1

    @property
    def counts(self) -> list[tuple[int, int]]:
        return list(self.judged.values())


@dataclass(frozen=True)
class PrecisionEstimate:
    """A precision, or the share of served prompts, and its 95 % interval, None when nothing was judged."""

    ratio: Ratio
    interval: Interval | None


@dataclass(frozen=True)
class Headline:
    """The precision of one system, the same in report and gate: over the prompts that are completely judged.

    Or its served share: of the prompts that need a memory, those that get one they need. `relevant` counts the relevant
    memories, of the judged ones. `estimate` is their share, None before the first such prompt. `live` is the interval
    that decides. With planned looks, `waiting` judged prompts do not count before the next `look`, which is None after
    the last one.
    """

    relevant: Ratio
    estimate: Estimate | None
    live: Interval
    waiting: int = 0
    look: int | None = None

    @property
    def interval(self) -> Interval | None:
        """`live`; None before the first prompt."""
        return self.live if self.estimate else None

    @property
    def to_go(self) -> int:
        """The number of prompts to judge before the next look; 0 without one."""
        judged = self.waiting + (self.estimate.prompts if self.estimate else 0)
        return self.look - judged if self.look else 0


@dataclass(frozen=True)
class Group:
    """The precision of a part: `prompts` have a labelled memory in it, `injected` is the number of memories in it."""

    name: str
    prompts: int
    injected: int
    precision: PrecisionEstimate

    @property
    def is_known(self) -> bool:
        return self.precision.ratio.whole > 0


@dataclass(frozen=True)
class KindGroup(Group):
    """A kind of prompt, or the prompts of an agent.

    `served` is of the prompts that need a memory, `false_fires` of those that need none.
    """

    served: Ratio
    false_fires: Ratio

    @property
    def is_known(self) -> bool:
        return any(found.whole for found in (self.precision.ratio, self.served, self.false_fires))


@dataclass(frozen=True)
class Worst:
    """A memory or a prompt, and the numbers of its irrelevant and relevant pairs that any system injects.

    `text` is the memory's title or the prompt's text, empty where it is not known.
    """

    id: str
    text: str
    irrelevant: int
    relevant: int


# Precision


def headline(sample: Sample, looks: str = PLANNED) -> Headline:
    """The headline of *sample* for a person who *looks* as planned, at any time, or once."""
    judged = sample.counts
    is_planned = looks == PLANNED
    counts = judged[: counted_prompts(len(judged))] if is_planned else judged
    relevant = Ratio(sum(x for x, _ in counts), sum(m for _, m in counts))
    live = deciding_interval(judged, sample.most, looks)
    look = next((look for look in LOOKS if is_planned and look > len(judged)), None)
    return Headline(relevant, precision_estimate(counts), live, len(judged) - len(counts), look)


def estimate(tallies: Sequence[Tally]) -> PrecisionEstimate:
    """The precision of *tallies*, which may be of some of the prompts, or of a part of their memories."""
    return PrecisionEstimate(
        precision(tallies), headline_interval([(tally.relevant, tally.judged) for tally in tallies])
    )


def by_confidence(rows: Sequence[Outcome], tallies: Sequence[Tally]) -> tuple[Group, ...]:
    """Precision of the memories injected with high, medium and low confidence; only levels that occur.

    *tallies* are those of *rows*.
    """
    levels: dict[str, list[Tally]] = {HIGH: [], MEDIUM: [], LOW: []}
    for row, tallied in zip(rows, tallies, strict=True):
        for level, own in grouped(zip(row.confidences, tallied.judgements, strict=False)).items():
            counts = Tally(row.prompt_id, len(own), len(own) - own.count(None), own.count(True))
            levels.setdefault(level, []).append(counts)
    return tuple(group(name, own) for name, own in levels.items() if name and own)


def group(name: str, tallies: Sequence[Tally]) -> Group:
    injecting = [tally for tally in tallies if tally.injected]
    judged, injected = sum(tally.judged > 0 for tally in injecting), sum(tally.injected for tally in injecting)
    return Group(name, judged, injected, estimate(injecting))


# The worst


def injected_pairs(rows: Iterable[Outcome], judgements: Judgements) -> Judgements:
    """The judgements on the memories that any system injects."""
    pairs: dict[str, dict[str, bool]] = {}
    for row in rows:
        if judged := judgements.get(row.prompt_id):
            known = {memory_id: judged[memory_id] for memory_id in row.injected if memory_id in judged}
            pairs.setdefault(row.prompt_id, {}).update(known)
    return pairs


def worst_memories(pairs: Judgements, titles: Mapping[str, str]) -> tuple[Worst, ...]:
    """The memories that are irrelevant in most of the injected *pairs* of all systems; a prompt counts once."""
    of_memories = nested(
        (name, prompt_id, is_good) for prompt_id, own in pairs.items() for name, is_good in own.items()
    )
    return worst_of(of_memories, titles)


def worst_of(pairs: Judgements, texts: Mapping[str, str]) -> tuple[Worst, ...]:
    """The ids with most irrelevant *pairs*, at least PATTERN; among equals those with fewer relevant ones first.

    Of the injected pairs of all systems by prompt, these are the worst prompts; a memory counts once.
    """
    counts = [(name, list(own.values())) for name, own in pairs.items()]
    most = sorted((-own.count(False), own.count(True), name) for name, own in counts if own.count(False) >= PATTERN)
    return tuple(Worst(name, texts.get(name, ""), -fewer, relevant) for fewer, relevant, name in most[:SHOWN_WORST])


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
