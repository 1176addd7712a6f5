"""The labelled prompts, what other settings would inject for them, and the effect in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.inject import FRAME_CHARACTERS, entry
from engine.judge.verdict import CACHE, OK, Judgement, Verdict
from engine.pipeline import OpenSystem, Query, retrieve
from labels.measure import metrics
from labels.measure.evidence import evidence_from_store
from labels.measure.intervals import ANYTIME
from labels.measure.metrics import Headline, headline
from labels.records import Outcome
from labels.report.first_lines import scope_lines
from labels.report.run_diff import by_qrels, diff_runs
from labels.runs import InjectedMemory
from tui.workspace.root_labels import present_digests, present_phrases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.retrieval import Candidate
    from engine.roots import OpenIndex
    from labels.measure.evidence import Evidence
    from labels.measure.metrics import Ratio
    from labels.report.run_diff import PromptDiff
    from labels.store import LabelStore

    Decisions = Mapping[str, str]
    """Digest of a memory -> the judge's decision. Over several roots a judge sees other ids."""
    Injected = tuple[Candidate, ...]


class NoVerdictError(Exception):
    """The judge was never asked about one of the candidates."""


class KeptJudge:
    """A judge that gives the kept verdicts on one prompt, and asks nobody."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:  # noqa: ARG002
        """Raises NoVerdictError if a verdict is missing."""
        try:
            decisions = [(candidate.id, self._decisions[candidate.digest]) for candidate in candidates]
        except KeyError:
            raise NoVerdictError from None
        verdicts = tuple(Verdict(memory_id, decision, OK, source=CACHE) for memory_id, decision in decisions)
        return Judgement(OK, verdicts, CACHE, "", "", 0.0)


@dataclass(frozen=True)
class LabelledPrompt:
    """A prompt with labels, and the kept `decisions` of the judge."""

    prompt: Prompt
    decisions: Decisions


class WhatIfSample:
    """The labelled prompts of a root. `evidence` is that of the report: its labels, and the pools of all systems."""

    def __init__(self, index: OpenIndex, prompts: Sequence[LabelledPrompt], evidence: Evidence) -> None:
        self.prompts = prompts
        self.evidence = evidence
        self._index = index

    @property
    def has_verdicts(self) -> bool:
        return any(prompt.decisions for prompt in self.prompts)

    def injected(
        self, config: Config, cutoff: Cutoff | None, is_stale: Callable[[], bool] = lambda: False
    ) -> list[Injected | None]:
        """The injected set of each prompt with these settings; None where a verdict of the judge is missing.

        *cutoff* is the one that *config* chooses. As soon as the result *is_stale*, the rest is left out.
        """
        return [self._injected(prompt, config, cutoff) for prompt in self.prompts if not is_stale()]

    def _injected(self, labelled: LabelledPrompt, config: Config, cutoff: Cutoff | None) -> Injected | None:
        judge = KeptJudge(labelled.decisions) if config.judge.enabled else None
        try:
            return retrieve(Query(labelled.prompt), self._index, OpenSystem(config, cutoff, judge)).injected
        except NoVerdictError:
            return None

    def characters(self, injected: Injected, config: Config) -> int:
        """The length of the text that the model sees, without hints."""
        entries = [entry(candidate.memory, candidate.confidence, config.output_mode) for candidate in injected]
        return sum(map(len, entries)) + len(entries) + (FRAME_CHARACTERS if entries else 0)


def read_sample(store: LabelStore, index: OpenIndex) -> WhatIfSample:
    """All prompts with labels. Raises LabelStoreError and RootError."""
    digests, phrases = present_digests(store, index), present_phrases(index)
    evidence = evidence_from_store(store, index.root, digests, phrases=phrases)
    decisions = store.verdicts(index.root)
    found = [
        LabelledPrompt(prompt, {digest: decision for (_, digest), decision in decisions.get(prompt.id, {}).items()})
        for prompt in store.prompts(index.root)
        if prompt.id in evidence.pools and evidence.judgements.get(prompt.id)
    ]
    return WhatIfSample(index, found, evidence)


CHARACTERS_PER_TOKEN = 4
"""About the length of a token in an injected line: ids, paths and markup have shorter tokens than prose."""


@dataclass(frozen=True)
class SettingsNumbers:
    """The numbers of one configuration over the labelled prompts: see `labels.measure.metrics`.

    `tokens` is about the number that the model reads for a prompt. `unlabelled` counts injected memories.
    """

    precision: Headline
    fires: Ratio
    false_fires: Ratio
    served: Headline
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
    lack a verdict of the judge on some memory. `scope` are sentences on the prompts that count.
    """

    saved: SettingsNumbers
    draft: SettingsNumbers
    rows: tuple[ChangedPrompt, ...]
    changed: int
    left_out: int
    scope: tuple[str, ...] = ()


def effect_of(
    sample: WhatIfSample,
    saved: tuple[Config, Sequence[Injected | None]],
    draft: tuple[Config, Sequence[Injected | None]],
) -> WhatIfEffect:
    """*saved* and *draft* are a configuration and its injected sets, in the order of the sample."""
    found = [
        (labelled.prompt, before, now)
        for labelled, before, now in zip(sample.prompts, saved[1], draft[1], strict=True)
        if before is not None and now is not None
    ]
    before = {prompt.id: _memories(injected) for prompt, injected, _ in found}
    now = {prompt.id: _memories(injected) for prompt, _, injected in found}
    diffs = diff_runs(before, now, by_qrels(sample.evidence.judgements)).prompts
    rows = [ChangedPrompt(prompt, diff) for (prompt, _, _), diff in zip(found, diffs, strict=True)]
    return WhatIfEffect(
        numbers(sample, [(prompt, injected) for prompt, injected, _ in found], saved[0]),
        numbers(sample, [(prompt, injected) for prompt, _, injected in found], draft[0]),
        tuple(sorted(rows, key=lambda row: (not row.diff.is_changed, row.diff.worth))),
        sum(row.diff.is_changed for row in rows),
        len(sample.prompts) - len(rows),
        scope_lines(sample.evidence),
    )


def _memories(injected: Injected) -> tuple[InjectedMemory, ...]:
    found = (candidate.memory for candidate in injected)
    return tuple(InjectedMemory(memory.id, memory.digest, memory.name) for memory in found)


def numbers(sample: WhatIfSample, sets: Sequence[tuple[Prompt, Injected]], config: Config) -> SettingsNumbers:
    """The numbers of the injected *sets*. Pools and judgements are those of the report."""
    evidence, measured = sample.evidence, sample.evidence.measured
    ids = {prompt.id: tuple(candidate.memory.id for candidate in own) for prompt, own in sets}
    rows = [evidence.tallied_set(Outcome(name, "", own, own, (), "", 0.0)) for name, own in ids.items()]
    tallies = [row.tally for row in rows]
    characters = sum(sample.characters(own, config) for _, own in sets)
    return SettingsNumbers(
        precision=headline(evidence.sample(rows), ANYTIME),
        fires=metrics.fire_rate(tallies),
        false_fires=metrics.false_fire_rate(tallies, evidence.without_relevant),
        served=headline(evidence.served_sample(rows), ANYTIME),
        irrelevant=metrics.irrelevant_per_prompt(tallies, measured),
        lost=metrics.lost_per_prompt(tallies, evidence.relevant_in_pools, measured & evidence.looked_through),
        tokens=characters / CHARACTERS_PER_TOKEN / max(1, len(sets)),
        unlabelled=metrics.unjudged_share(tallies),
    )
