"""The effect of other settings: the numbers over the labelled prompts, and the prompts that change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from labels.measure import metrics
from labels.measure.groups import estimate
from labels.measure.metrics import Ratio, Tally
from labels.report.run_diff import Judged, PromptDiff
from labels.saved_runs import InjectedMemory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.config import Config
    from engine.prompt import Prompt
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


class ChangedPrompt(NamedTuple):
    """A labelled prompt, and the difference of its injected sets with the saved settings and with the draft."""

    prompt: Prompt
    diff: PromptDiff


@dataclass(frozen=True)
class WhatIfEffect:
    """The numbers of the saved settings and of the draft, over the same prompts.

    `rows` are these prompts: first the `changed` ones, the worst first, then the others. `left_out` prompts
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
    found = [
        (labelled.prompt, before, now)
        for labelled, before, now in zip(sample.prompts, saved[1], draft[1], strict=True)
        if before is not None and now is not None
    ]
    rows = []
    for prompt, before, now in found:
        own = judgements.get(prompt.id, {})
        rows.append(ChangedPrompt(prompt, PromptDiff(prompt.id, _judged(before, own), _judged(now, own))))
    return WhatIfEffect(
        numbers(sample, [(prompt, before) for prompt, before, _ in found], saved[0]),
        numbers(sample, [(prompt, now) for prompt, _, now in found], draft[0]),
        tuple(sorted(rows, key=lambda row: (not row.diff.is_changed, row.diff.worth))),
        sum(row.diff.is_changed for row in rows),
        len(sample.prompts) - len(rows),
    )


def _judged(injected: Injected, own: Mapping[str, bool]) -> tuple[Judged, ...]:
    memories = [candidate.memory for candidate in injected]
    return tuple(
        Judged(InjectedMemory(memory.id, memory.digest, memory.title), own.get(memory.id)) for memory in memories
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
