"""Precision of a system and of parts: by confidence, kind of prompt and agent; the worst memories and prompts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from engine.retrieval import HIGH, LOW, MEDIUM
from labels.measure.intervals import Interval, headline_interval
from labels.measure.live_interval import stratified_interval
from labels.measure.metrics import Ratio, Tally, false_fire_rate, precision, served
from labels.measure.strata import EQUAL, stratified_estimate
from labels.records import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from labels.measure.evidence import Evidence
    from labels.measure.strata import LabelledSample, PairWeights, StratifiedEstimate
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
    memories, of the judged ones. `estimate` gives each stratum its share of the frame; None before the first such
    prompt. `live` is the interval that holds at any look.
    """

    relevant: Ratio
    estimate: StratifiedEstimate | None
    live: Interval


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


def headline(sample: LabelledSample, confidence: float = 0.95) -> Headline:
    counts = sample.judged.values()
    return Headline(
        Ratio(int(sum(x for x, _ in counts)), int(sum(m for _, m in counts))),
        stratified_estimate(sample.judged, sample.frame, confidence),
        stratified_interval(sample.sequence, sample.shares, sample.most, confidence),
    )


def estimate(tallies: Sequence[Tally], weights: PairWeights = EQUAL) -> PrecisionEstimate:
    """The precision of *tallies*, which may be of some of the prompts, or of a part of their memories.

    Where prompts were labelled by strata, it and its interval are about the whole frame.
    """
    ratio = precision(tallies, weights)
    if not weights.strata:
        return PrecisionEstimate(ratio, headline_interval(per_prompt(tallies)))
    # a judged prompt without a tally adds nothing, but it belongs to the sample of its stratum
    nothing = dict.fromkeys(weights.prompts, (0, 0))
    found = {tally.prompt_id: (tally.relevant, tally.judged) for tally in tallies if tally.prompt_id in weights.prompts}
    stratified = stratified_estimate(nothing | found, weights.strata)
    return PrecisionEstimate(ratio, stratified.interval if stratified else None)


def served_share(sets: Iterable[tuple[str, Iterable[str]]], evidence: Evidence) -> PrecisionEstimate:
    """Of the prompts that need a memory, those that get a needed one. *sets* are (prompt id, injected memories)."""
    return estimate(served(sets, evidence.needed), evidence.weights)


def per_prompt(tallies: Sequence[Tally]) -> list[tuple[int, int]]:
    return [(tally.relevant, tally.judged) for tally in tallies if tally.judged]


def by_confidence(rows: Sequence[Outcome], tallies: Sequence[Tally], weights: PairWeights = EQUAL) -> tuple[Group, ...]:
    """Precision of the memories injected with high, medium and low confidence; only levels that occur.

    *tallies* are those of *rows*.
    """
    levels: dict[str, list[Tally]] = {HIGH: [], MEDIUM: [], LOW: []}
    counts = cache(level_counts)  # thousands of prompts have few distinct counts
    for row, own in zip(rows, tallies, strict=True):
        for level, injected, judged, relevant in counts(row.confidences, own.judgements):
            levels.setdefault(level, []).append(Tally(row.prompt_id, injected, judged, relevant))
    return groups(levels, weights)


def level_counts(confidences: Sequence[str], judgements: Sequence[bool | None]) -> list[tuple[str, int, int, int]]:
    """(level, injected, judged, relevant) for each known confidence of the injected memories."""
    levels = grouped(pair for pair in zip(confidences, judgements, strict=False) if pair[0])
    return [(level, len(own), len(own) - own.count(None), own.count(True)) for level, own in levels.items()]


def by_kind(system: str, evidence: Evidence, kinds: Mapping[str, str]) -> tuple[KindGroup, ...]:
    """Precision, served and false fires for each kind of prompt, by name; empty if no prompt has a kind."""
    return _by(system, evidence, lambda row: kind_of(row, kinds), NO_KIND)


def by_agent(system: str, evidence: Evidence, agents: Mapping[str, str]) -> tuple[KindGroup, ...]:
    """Precision, served and false fires for each coding agent in which prompts were typed; empty below two agents.

    *agents*: prompt id -> the agent's name.
    """
    return _by(system, evidence, lambda row: agent_of_prompt(row, agents), NO_AGENT, least=2)


def _by(
    system: str, evidence: Evidence, name_of: Callable[[Outcome], str], unknown: str, *, least: int = 1
) -> tuple[KindGroup, ...]:
    found = grouped((name_of(row.outcome), row.tally) for row in evidence.tallied[system])
    if len(found.keys() - {unknown}) < least:
        return ()
    needing, weights = evidence.ordered.served_sample(system).judged, evidence.weights
    return tuple(
        KindGroup(
            **vars(group),
            served=precision(
                [Tally(name, 1, 1, int(needing[name][0])) for name, *_ in found[group.name] if name in needing], weights
            ),
            false_fires=false_fire_rate(found[group.name], evidence.without_relevant, weights),
        )
        for group in groups({kind: found[kind] for kind in sorted(found)}, weights)
    )


def kind_of(row: Outcome, kinds: Mapping[str, str]) -> str:
    """The kind of a prompt. *kinds* (prompt id -> kind) are used for outcomes without a kind."""
    return row.kind or kinds.get(row.prompt_id, "") or NO_KIND


def agent_of_prompt(row: Outcome, agents: Mapping[str, str]) -> str:
    """The agent in which a prompt was typed. *agents*: prompt id -> the agent's name."""
    return agents.get(row.prompt_id, "") or NO_AGENT


def groups(tallies: Mapping[str, Sequence[Tally]], weights: PairWeights) -> tuple[Group, ...]:
    injecting = {name: [tally for tally in own if tally.injected] for name, own in tallies.items() if own}
    return tuple(
        Group(
            name, sum(tally.judged > 0 for tally in own), sum(tally.injected for tally in own), estimate(own, weights)
        )
        for name, own in injecting.items()
    )


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
    counts = Counter(chain.from_iterable([judged.items() for judged in pairs.values()]))
    return worst([(name, counts[name, False], counts[name, True]) for name, is_good in counts if not is_good], titles)


def worst_prompts(pairs: Judgements, texts: Mapping[str, str]) -> tuple[Worst, ...]:
    """The prompts with most irrelevant memories in the injected *pairs* of all systems; a memory counts once."""
    judged = {prompt_id: tuple(own.values()) for prompt_id, own in pairs.items()}
    return worst([(name, own.count(False), own.count(True)) for name, own in judged.items()], texts)


def worst(counts: Iterable[tuple[str, int, int]], texts: Mapping[str, str]) -> tuple[Worst, ...]:
    """The ids with most irrelevant pairs, at least PATTERN; among equals those with fewer relevant ones first.

    *counts* are (id, irrelevant, relevant).
    """
    most = sorted([(-irrelevant, relevant, name) for name, irrelevant, relevant in counts if irrelevant >= PATTERN])
    return tuple(Worst(name, texts.get(name, ""), -fewer, relevant) for fewer, relevant, name in most[:SHOWN_WORST])
