"""The effect of other settings: the numbers over the labelled prompts, and the prompts that change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from labels.measure import metrics
from labels.measure.groups import estimate
from labels.measure.metrics import Ratio, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.config import Config
    from engine.prompt import Prompt
    from engine.retrieval import Candidate
    from labels.measure.evidence import Evidence
    from labels.measure.groups import PrecisionEstimate
    from tui.workspace.whatif.sample import Injected, WhatIfSample

CHARACTERS_PER_TOKEN = 4
"""About the length of a token in an injected line: ids, paths and markup have shorter tokens than prose."""


@dataclass(frozen=True)
class SettingsNumbers:
    """The numbers of one configuration over the labelled prompts: see `labels.measure.metrics`.

    `tokens` is about the number that the model reads for a prompt. `unlabelled` counts injected memories.
    """

    precision: PrecisionEstimate
    fires: Ratio
    false_fires: Ratio
    irrelevant: Ratio
    lost: Ratio
    tokens: float
    unlabelled: Ratio


class Moved(NamedTuple):
    """A memory that is injected no more, still, or now. `is_relevant` is None without a label."""

    candidate: Candidate
    is_relevant: bool | None


@dataclass(frozen=True)
class ChangedPrompt:
    """A labelled prompt with its injected sets before and after, each in rank order; `judged` is by memory id."""

    prompt: Prompt
    before: Injected
    after: Injected
    judged: Mapping[str, bool]

    @property
    def gone(self) -> list[Moved]:
        kept = {candidate.memory.id for candidate in self.after}
        return [self._moved(candidate) for candidate in self.before if candidate.memory.id not in kept]

    @property
    def new(self) -> list[Moved]:
        known = {candidate.memory.id for candidate in self.before}
        return [self._moved(candidate) for candidate in self.after if candidate.memory.id not in known]

    @property
    def kept(self) -> list[Moved]:
        known = {candidate.memory.id for candidate in self.before}
        return [self._moved(candidate) for candidate in self.after if candidate.memory.id in known]

    @cached_property
    def is_change(self) -> bool:
        return {candidate.memory.id for candidate in self.before} != {candidate.memory.id for candidate in self.after}

    @cached_property
    def harm(self) -> int:
        """Relevant memories that are lost and irrelevant ones that are added, less the opposite."""
        return self._worth(self.before) - self._worth(self.after)

    def _worth(self, injected: Injected) -> int:
        return sum({True: 1, False: -1, None: 0}[self.judged.get(candidate.memory.id)] for candidate in injected)

    def _moved(self, candidate: Candidate) -> Moved:
        return Moved(candidate, self.judged.get(candidate.memory.id))


@dataclass(frozen=True)
class WhatIfEffect:
    """The numbers of the saved settings and of the draft, over the same prompts.

    `rows` are these prompts: first the `changed` ones, those with most harm first, then the others. `left_out` prompts
    lack a verdict of the judge on some memory.
    """

    saved: SettingsNumbers
    draft: SettingsNumbers
    rows: tuple[ChangedPrompt, ...]
    changed: int
    left_out: int


def effect_of(
    sample: WhatIfSample,
    saved: tuple[Config, Sequence[Injected | None]],
    draft: tuple[Config, Sequence[Injected | None]],
) -> WhatIfEffect:
    """*saved* and *draft* are a configuration and its injected sets, in the order of the sample."""
    judgements = sample.evidence.judgements
    rows = [
        ChangedPrompt(labelled.prompt, before, after, judgements.get(labelled.prompt.id, {}))
        for labelled, before, after in zip(sample.prompts, saved[1], draft[1], strict=True)
        if before is not None and after is not None
    ]
    return WhatIfEffect(
        numbers(sample, [(row.prompt, row.before) for row in rows], saved[0]),
        numbers(sample, [(row.prompt, row.after) for row in rows], draft[0]),
        tuple(sorted(rows, key=lambda row: (not row.is_change, -row.harm))),
        sum(row.is_change for row in rows),
        len(sample.prompts) - len(rows),
    )


def numbers(sample: WhatIfSample, sets: Sequence[tuple[Prompt, Injected]], config: Config) -> SettingsNumbers:
    """The pools, weights and judgements are those of the report, so that only the injected sets make a difference."""
    evidence = sample.evidence
    weights, measured = evidence.weights, evidence.measured
    tallies = [tally(prompt.id, own, evidence) for prompt, own in sets]
    characters = sum(sample.characters(own, config) for _, own in sets)
    return SettingsNumbers(
        precision=estimate(tallies, weights),
        fires=metrics.ratio(((row.prompt_id, row.injected > 0, 1) for row in tallies), weights),
        false_fires=metrics.false_fire_rate(tallies, evidence.without_relevant, weights),
        irrelevant=metrics.irrelevant_per_prompt(tallies, measured, weights),
        lost=metrics.lost_per_prompt(tallies, evidence.in_pools, measured, weights),
        tokens=characters / CHARACTERS_PER_TOKEN / max(1, len(sets)),
        unlabelled=metrics.unjudged_share(tallies),
    )


def tally(prompt_id: str, injected: Injected, evidence: Evidence) -> Tally:
    own = evidence.judgements.get(prompt_id, {})
    found = tuple([own.get(candidate.memory.id) for candidate in injected])
    return Tally(prompt_id, len(found), len(found) - found.count(None), found.count(True), found)
