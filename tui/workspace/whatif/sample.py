"""The labelled prompts, what other settings would inject for them, and the effect in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.config import AUTO, LIMITS
from engine.inject import FRAME_CHARACTERS, entry
from engine.judge.verdict import CACHE, OK, Judgement, Verdict
from engine.lean.record import replace
from engine.pipeline import first_stage, fitting, later_stages, pool_size, ranked, waiting, with_risk
from engine.roots import JointIndex, Root, chosen, roots_of
from labels.measure import metrics
from labels.measure.evidence import evidence_from_store
from labels.measure.groups import estimate
from labels.report.run_diff import by_qrels, diff_runs
from labels.runs import InjectedMemory
from tui.workspace.root_labels import present_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.memory import MemorySummary
    from engine.pipeline import Judge
    from engine.prompt import Prompt
    from engine.retrieval import Candidate
    from engine.roots import OpenIndex
    from engine.search.ranking import CandidatePool
    from labels.measure.evidence import Evidence
    from labels.measure.groups import PrecisionEstimate
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


class FirstStage(NamedTuple):
    """The pool of a prompt in one root at one size, and its candidates in rank order."""

    strategy: str
    pool: CandidatePool
    candidates: list[Candidate]


@dataclass(frozen=True)
class LabelledPrompt:
    """A prompt with labels. `found`: (root, size of the pool) -> first stage. `decisions`: the kept verdicts."""

    prompt: Prompt
    found: Mapping[tuple[str, int], FirstStage]
    decisions: Decisions


class RememberedCutoff:
    """A cutoff that remembers P(relevant) of each candidate that it has weighed.

    P(relevant) depends only on the model and the pool, so it stays while thresholds move.
    """

    def __init__(self, cutoff: Cutoff, known: dict[int, dict[str, Candidate]]) -> None:
        self.strategy, self.kind = cutoff.strategy, cutoff.kind
        self.drop, self.least, self.is_sure = cutoff.drop, cutoff.least, cutoff.is_sure
        self._cutoff, self._known = cutoff, known

    def weigh(self, candidates: Sequence[Candidate], pool: CandidatePool) -> list[Candidate]:
        known = self._known.setdefault(id(pool), {})
        if any(candidate.injected and candidate.memory.id not in known for candidate in candidates):
            known.update(
                {
                    candidate.memory.id: candidate
                    for candidate in self._cutoff.weigh(candidates, pool)
                    if candidate.injected
                }
            )
        return [known[candidate.memory.id] if candidate.injected else candidate for candidate in candidates]


class WhatIfSample:
    """The labelled prompts of a root. `evidence` is that of the report: its labels, and the pools of all systems."""

    def __init__(self, index: OpenIndex, prompts: Sequence[LabelledPrompt], evidence: Evidence) -> None:
        self.prompts = prompts
        self.evidence = evidence
        self._index = index
        self._known: dict[object, dict[int, dict[str, Candidate]]] = {}

    @property
    def has_verdicts(self) -> bool:
        return any(prompt.decisions for prompt in self.prompts)

    def injected(
        self, config: Config, cutoff: Cutoff | None, is_stale: Callable[[], bool] = lambda: False
    ) -> list[Injected | None]:
        """The injected set of each prompt with these settings; None where a verdict of the judge is missing.

        *cutoff* is the one that *config* chooses. As soon as the result *is_stale*, the rest is left out.
        """
        roots = self._roots(config, cutoff)
        return [self._injected(prompt, roots, config) for prompt in self.prompts if not is_stale()]

    def _roots(self, config: Config, cutoff: Cutoff | None) -> list[Root]:
        """The roots with the settings that they have while *config* is that of the first."""
        roots = roots_of(self._index, config, cutoff)
        return [Root(root.index, root.config, self._remembered(root)) for root in roots]

    def _injected(self, prompt: LabelledPrompt, roots: Sequence[Root], config: Config) -> Injected | None:
        """The same as `engine.pipeline.retrieve` would inject, computed from the known first stages."""
        judge = KeptJudge(prompt.decisions) if config.judge.enabled else None
        # a root that names another judge is not asked about, as in `retrieve_from`
        judges = [judge if root.config.judge == config.judge else None for root in roots]
        try:
            found = [_later(prompt, root, own) for root, own in zip(roots, judges, strict=True)]
        except NoVerdictError:
            return None
        index = self._index
        if not isinstance(index, JointIndex):
            return tuple(candidate for candidate in found[0] if candidate.injected)
        injected = (candidate for candidate in chosen(found, config, None) if candidate.injected)
        return tuple(replace(candidate, memory=index.named(candidate.memory)) for candidate in injected)

    def prepare(self, config: Config, cutoff: Cutoff | None) -> None:
        """Weigh all candidates once, so that later answers are quick. *cutoff* is the one that *config* chooses."""
        cutoffs = {root.index.root: root.cutoff for root in self._roots(config, cutoff)}
        for prompt in self.prompts:
            for (place, _), (_, pool, candidates) in prompt.found.items():
                if own := cutoffs.get(place):
                    own.weigh(candidates, pool)

    def characters(self, injected: Injected, config: Config) -> int:
        """The length of the text that the model sees, without hints."""
        entries = [entry(candidate.memory, candidate.confidence, config.output_mode) for candidate in injected]
        return sum(map(len, entries)) + len(entries) + (FRAME_CHARACTERS if entries else 0)

    def _remembered(self, root: Root) -> RememberedCutoff | None:
        """The cutoff of *root*, if it acts there."""
        cutoff: Cutoff | None = fitting(root.cutoff, root.index, root.config)  # type: ignore[assignment]
        if cutoff is None:
            return None
        weights = (cutoff.model.intercept, *sorted(cutoff.model.weights.items()))
        return RememberedCutoff(cutoff, self._known.setdefault(weights, {}))


def _later(prompt: LabelledPrompt, root: Root, judge: Judge | None) -> list[Candidate]:
    """The candidates of one root after its own stages. Raises NoVerdictError."""
    size = pool_size(root.config, AUTO, has_judge=judge is not None, has_cutoff=root.cutoff is not None)
    first = prompt.found[root.index.root, size]
    return later_stages(prompt.prompt, *first, root.config, judge=judge, cutoff=root.cutoff)[0]


def read_sample(
    store: LabelStore, index: OpenIndex, config: Config, tell: Callable[[int, int], None], is_stale: Callable[[], bool]
) -> WhatIfSample:
    """Find the candidates of all prompts with labels. *tell* gets the number of finished prompts and of all.

    Raises LabelStoreError and RootError. If the result *is_stale*, the rest is left out.
    """
    evidence = evidence_from_store(store, index.root, present_digests(store, index))
    labelled = [
        stored
        for stored in store.prompts(index.root)
        if stored.id in evidence.pools and evidence.judgements.get(stored.id)
    ]
    decisions = store.verdicts(index.root)
    roots = roots_of(index, config, None)
    sizes = [pool_sizes(root.config, is_moved=place == 0) for place, root in enumerate(roots)]
    found = []
    for number, prompt in enumerate(labelled):
        if is_stale():
            break
        own = {digest: decision for (_, digest), decision in decisions.get(prompt.id, {}).items()}
        stages = [_first_stages(prompt, root, own_sizes) for root, own_sizes in zip(roots, sizes, strict=True)]
        found.append(LabelledPrompt(prompt, {key: first for stage in stages for key, first in stage.items()}, own))
        tell(number + 1, len(labelled))
    return WhatIfSample(index, found, evidence)


def pool_sizes(config: Config, *, is_moved: bool) -> tuple[int, ...]:
    """The sizes of pools, with a judge and without, the largest first. *is_moved*: for every value of `max_inject`."""
    _, most = LIMITS["max_inject"]
    tried = [replace(config, max_inject=number) for number in range(int(most) + 1)] if is_moved else [config]
    stages = [(judge, cutoff) for judge in (True, False) for cutoff in (True, False)]
    sizes = {pool_size(own, AUTO, has_judge=judge, has_cutoff=cutoff) for own in tried for judge, cutoff in stages}
    return tuple(sorted(sizes, reverse=True))


def _first_stages(prompt: Prompt, root: Root, sizes: Sequence[int]) -> dict[tuple[str, int], FirstStage]:
    found = {}
    whole: list[Candidate] = []
    for size in sizes:
        strategy, pool = first_stage(prompt, root.index, root.config, size)
        risks = root.index.risks([scored.memory for scored in pool.memories])
        held = waiting(pool, root.index, root.config, risks)
        candidates = [with_risk(candidate, risks) for candidate in ranked(pool, root.config, held)]
        beginning = whole[: len(candidates)]
        whole = whole or candidates
        # smaller pools are mostly beginnings of larger ones, and then share their records
        shared = beginning if beginning == candidates else candidates
        found[root.index.root, size] = FirstStage(strategy, pool, shared)
    return found


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
    served: PrecisionEstimate
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
    )


def _memories(injected: Injected) -> tuple[InjectedMemory, ...]:
    found = (candidate.memory for candidate in injected)
    return tuple(InjectedMemory(memory.id, memory.digest, memory.title) for memory in found)


def numbers(sample: WhatIfSample, sets: Sequence[tuple[Prompt, Injected]], config: Config) -> SettingsNumbers:
    """The numbers of the injected *sets*. Pools and judgements are those of the report."""
    evidence, measured = sample.evidence, sample.evidence.measured
    names = [(prompt.id, [candidate.memory.id for candidate in own]) for prompt, own in sets]
    tallies = [metrics.tally(prompt_id, own, evidence.judgements) for prompt_id, own in names]
    characters = sum(sample.characters(own, config) for _, own in sets)
    return SettingsNumbers(
        precision=estimate(tallies),
        fires=metrics.fire_rate(tallies),
        false_fires=metrics.false_fire_rate(tallies, evidence.without_relevant),
        served=estimate(metrics.served(names, evidence.needed)),
        irrelevant=metrics.irrelevant_per_prompt(tallies, measured),
        lost=metrics.lost_per_prompt(tallies, evidence.relevant_in_pools, measured),
        tokens=characters / CHARACTERS_PER_TOKEN / max(1, len(sets)),
        unlabelled=metrics.unjudged_share(tallies),
    )
