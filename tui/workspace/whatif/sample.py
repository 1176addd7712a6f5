"""The labelled prompts with the candidates of the first stage, so that other settings need only the later stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.config import AUTO, LIMITS
from engine.inject import FRAME_CHARACTERS, entry
from engine.judge.verdict import CACHE, OK, Judgement, Verdict
from engine.lean.record import replace
from engine.pipeline import first_stage, fitting, later_stages, pool_size, ranked, retrieve, waiting
from labels.measure.report import evidence_from_store
from tui.workspace.reporting import present_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.retrieval import Candidate
    from engine.search.index import Index
    from engine.search.ranking import Pool
    from labels.measure.evidence import Evidence
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
        decisions = [self._decisions.get(one.digest) for one in candidates]
        if None in decisions:
            raise NoVerdictError
        verdicts = (
            Verdict(one.id, decision, OK, source=CACHE)
            for one, decision in zip(candidates, decisions, strict=True)
            if decision
        )
        return Judgement(OK, tuple(verdicts), CACHE, "", "", 0.0)


class FirstStage(NamedTuple):
    """The pool of a prompt at one size, and its candidates in rank order."""

    pool: Pool
    candidates: list[Candidate]


@dataclass(frozen=True)
class LabelledPrompt:
    """A prompt with labels. `found` is by size of the pool, and empty over several roots. `decisions` are kept ones."""

    prompt: Prompt
    strategy: str
    found: Mapping[int, FirstStage]
    decisions: Decisions


class RememberedCutoff:
    """A cutoff that knows P(relevant) of the candidates that it has weighed before.

    P(relevant) depends on the model and the pool, and on no floor.
    """

    def __init__(self, cutoff: Cutoff, known: dict[int, dict[str, Candidate]]) -> None:
        self.strategy, self.kind = cutoff.strategy, cutoff.kind
        self.drop, self.least, self.is_sure = cutoff.drop, cutoff.least, cutoff.is_sure
        self._cutoff, self._known = cutoff, known

    def weigh(self, candidates: Sequence[Candidate], pool: Pool) -> list[Candidate]:
        known = self._known.setdefault(id(pool), {})
        if any(one.injected and one.memory.id not in known for one in candidates):
            known.update({one.memory.id: one for one in self._cutoff.weigh(candidates, pool) if one.injected})
        return [known[one.memory.id] if one.injected else one for one in candidates]


class Sample:
    """The labelled prompts of a root. `evidence` is that of the report: its labels, and the pools of all systems."""

    def __init__(self, index: Index, prompts: Sequence[LabelledPrompt], evidence: Evidence) -> None:
        self.prompts = prompts
        self.evidence = evidence
        self._index = index
        self._known: dict[object, dict[int, dict[str, Candidate]]] = {}
        self._lengths: dict[tuple[str, str, str, str], int] = {}

    @property
    def has_verdicts(self) -> bool:
        return any(one.decisions for one in self.prompts)

    def injected(
        self, config: Config, cutoff: Cutoff | None, is_stale: Callable[[], bool] = lambda: False
    ) -> list[Injected | None]:
        """The injected set of each prompt with these settings; None where a verdict of the judge is missing.

        *cutoff* is the one that *config* chooses. As soon as the result *is_stale*, the rest is left out.
        """
        if self._index.is_joint:
            return [self._whole(one, config, cutoff) for one in self.prompts if not is_stale()]
        remembered = self._remembered(cutoff) if cutoff and fitting(cutoff, self._index, config) else None
        size = pool_size(config, AUTO, has_cutoff_alone=remembered is not None and not config.judge.enabled)
        return [_injected(one, size, config, remembered) for one in self.prompts if not is_stale()]

    def _whole(self, one: LabelledPrompt, config: Config, cutoff: Cutoff | None) -> Injected | None:
        """The injected set over several roots, of which each has settings of its own: *config* is the first root's."""
        judge = KeptJudge(one.decisions) if config.judge.enabled else None
        try:
            return retrieve(one.prompt, self._index, config, judge=judge, cutoff=cutoff).injected
        except NoVerdictError:
            return None

    def prepare(self, config: Config, cutoff: Cutoff | None) -> None:
        """Weigh all candidates once, so that later answers are quick. *cutoff* is the one that *config* chooses."""
        if cutoff and fitting(cutoff, self._index, config):
            remembered = self._remembered(cutoff)
            for one in self.prompts:
                for pool, candidates in one.found.values():
                    remembered.weigh(candidates, pool)

    def characters(self, injected: Injected, config: Config) -> int:
        """The length of the text that the model sees, without hints."""
        return sum(self._length(one, config.output_mode) for one in injected) + (FRAME_CHARACTERS if injected else 0)

    def _length(self, one: Candidate, mode: str) -> int:
        key = (one.memory.id, one.memory.digest, one.confidence, mode)
        if key not in self._lengths:
            self._lengths[key] = len(entry(one.memory, one.confidence, mode)) + 1
        return self._lengths[key]

    def _remembered(self, cutoff: Cutoff) -> RememberedCutoff:
        model = cutoff.model
        weights = (model.intercept, *sorted(model.weights.items()))
        return RememberedCutoff(cutoff, self._known.setdefault(weights, {}))


def _injected(one: LabelledPrompt, size: int, config: Config, cutoff: RememberedCutoff | None) -> Injected | None:
    pool, candidates = one.found[size]
    judge = KeptJudge(one.decisions) if config.judge.enabled else None
    try:
        found, _ = later_stages(one.prompt, one.strategy, pool, candidates, config, judge=judge, cutoff=cutoff)
    except NoVerdictError:
        return None
    return tuple(candidate for candidate in found if candidate.injected)


def read_sample(
    store: LabelStore, index: Index, config: Config, tell: Callable[[int, int], None], is_stale: Callable[[], bool]
) -> Sample:
    """Find the candidates of all prompts with labels. *tell* gets the number of finished prompts and of all.

    Raises LabelStoreError and RootError. If the result *is_stale*, the rest is left out.
    """
    evidence, _ = evidence_from_store(store, index.root, present_digests(store, index))
    labelled = [
        one for one in store.prompts(index.root) if one.id in evidence.pools and evidence.judgements.get(one.id)
    ]
    decisions = store.verdicts(index.root)
    sizes = () if index.is_joint else pool_sizes(config)
    found = []
    for number, prompt in enumerate(labelled):
        if is_stale():
            break
        own = {digest: decision for (_, digest), decision in decisions.get(prompt.id, {}).items()}
        found.append(_labelled(prompt, index, sizes, config, own))
        tell(number + 1, len(labelled))
    return Sample(index, found, evidence)


def pool_sizes(config: Config) -> tuple[int, ...]:
    """The sizes of pools that any `max_inject` asks for, with a cutoff and without, the largest first."""
    _, most = LIMITS["max_inject"]
    tried = [replace(config, max_inject=number) for number in range(int(most) + 1)]
    sizes = {pool_size(one, AUTO, has_cutoff_alone=alone) for one in tried for alone in (True, False)}
    return tuple(sorted(sizes, reverse=True))


def _labelled(
    prompt: Prompt, index: Index, sizes: Sequence[int], config: Config, decisions: Decisions
) -> LabelledPrompt:
    strategy, found = "", {}
    whole: list[Candidate] = []
    for size in sizes:
        strategy, pool = first_stage(prompt, index, config, size)
        candidates = ranked(pool, config, waiting(pool, index, config))
        beginning = whole[: len(candidates)]
        whole = whole or candidates
        # smaller pools are mostly beginnings of larger ones, and then share their records
        found[size] = FirstStage(pool, beginning if beginning == candidates else candidates)
    return LabelledPrompt(prompt, strategy, found, decisions)
