"""Precision of a system and of parts: by confidence, kind of prompt and agent; the worst memories and prompts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from engine.retrieval import HIGH, LOW, MEDIUM
from labels.measure.intervals import (
    PLANNED,
    Interval,
    counted_prompts,
    deciding_interval,
    headline_interval,
    next_look,
    precision_estimate,
)
from labels.measure.metrics import Ratio, Tally, false_fire_rate, precision
from labels.records import grouped, nested

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from labels.measure.evidence import Evidence, Sample
    from labels.measure.intervals import Estimate
    from labels.records import Judgements, Outcome

NO_KIND, NO_AGENT = "(no kind)", "(no agent)"

SHOWN_WORST = 10
PATTERN = 2
"""The fewest irrelevant pairs of a memory or prompt that is shown: a single one proves nothing."""


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
    return Headline(
        Ratio(sum(x for x, _ in counts), sum(m for _, m in counts)),
        precision_estimate(counts),
        deciding_interval(judged, sample.most, looks),
        len(judged) - len(counts),
        next_look(len(judged)) if is_planned else None,
    )


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
    counts = cache(level_counts)  # thousands of prompts have few distinct counts
    for row, own in zip(rows, tallies, strict=True):
        for level, injected, judged, relevant in counts(row.confidences, own.judgements):
            levels.setdefault(level, []).append(Tally(row.prompt_id, injected, judged, relevant))
    return tuple(group(name, own) for name, own in levels.items() if own)


def level_counts(confidences: Sequence[str], judgements: Sequence[bool | None]) -> list[tuple[str, int, int, int]]:
    """(level, injected, judged, relevant) for each known confidence of the injected memories."""
    levels = grouped(pair for pair in zip(confidences, judgements, strict=False) if pair[0])
    return [(level, len(own), len(own) - own.count(None), own.count(True)) for level, own in levels.items()]


def by_name(
    system: str, evidence: Evidence, name_of: Callable[[Outcome], str], unknown: str, *, least: int = 1
) -> tuple[KindGroup, ...]:
    """Precision, served and false fires of the prompts of each name; empty below *least* names besides *unknown*."""
    found = grouped((name_of(row.outcome) or unknown, row.tally) for row in evidence.tallied[system])
    if len(found.keys() - {unknown}) < least:
        return ()
    needing = evidence.ordered.served_sample(system).judged
    made = []
    for name, tallies in sorted(found.items()):
        served = [needing[tally.prompt_id][0] for tally in tallies if tally.prompt_id in needing]
        need = Ratio(sum(served), len(served))
        false_fires = false_fire_rate(tallies, evidence.without_relevant)
        made.append(KindGroup(**vars(group(name, tallies)), served=need, false_fires=false_fires))
    return tuple(made)


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
