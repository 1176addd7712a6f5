"""What a cutoff learns from: the candidates that reach it now, for prompts of which people said what is relevant."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.cutoff import features
from engine.pipeline import retrieve
from labels.records import NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Features
    from engine.prompt import Prompt
    from engine.retrieval import Candidate
    from engine.search.index import Index
    from engine.search.ranking import Pool
    from labels.records import Gold, Judgements, Pair


@dataclass(frozen=True)
class Example:
    """A memory that reached the cutoff for one prompt; `is_relevant` is None where nobody has said."""

    memory_id: str
    title: str
    features: Mapping[str, float]
    is_relevant: bool | None


@dataclass(frozen=True)
class JudgedPrompt:
    """A prompt and its examples in rank order.

    `relevant` counts the memories that are known to be relevant, found or not. Prompts of one `group` (a root) are
    alike in what other groups are not.
    """

    prompt_id: str
    text: str
    relevant: int
    examples: tuple[Example, ...]
    group: str = ""


class Truth(Protocol):
    """What is relevant to a prompt: whether anything is said of it, what `of` a memory, and how many are `known`."""

    def is_judged(self, prompt_id: str) -> bool: ...

    def of(self, prompt_id: str, pair: Pair) -> bool | None: ...

    def known(self, prompt_id: str) -> int: ...


class Labelled:
    """What people say together. A label of another text of a memory says nothing of this one."""

    def __init__(self, gold: Iterable[Gold]) -> None:
        self._said = {
            (one.prompt_id, *one.pair): one.verdict == RELEVANT
            for one in gold
            if one.verdict in (RELEVANT, NOT_RELEVANT)
        }

        self._known = Counter(prompt_id for (prompt_id, *_), is_relevant in self._said.items() if is_relevant)
        self._prompts = {prompt_id for prompt_id, *_ in self._said}

    def is_judged(self, prompt_id: str) -> bool:
        return prompt_id in self._prompts

    def of(self, prompt_id: str, pair: Pair) -> bool | None:
        return self._said.get((prompt_id, *pair))

    def known(self, prompt_id: str) -> int:
        return self._known[prompt_id]


class FromFile:
    """Judgements of a qrels file. What has no row is not relevant, unless *excludes*: then nobody has said."""

    def __init__(self, judgements: Judgements, *, excludes: bool) -> None:
        self._judgements = judgements
        self._default = None if excludes else False

    def is_judged(self, prompt_id: str) -> bool:
        return self._default is False or prompt_id in self._judgements

    def of(self, prompt_id: str, pair: Pair) -> bool | None:
        return self._judgements.get(prompt_id, {}).get(pair[0], self._default)

    def known(self, prompt_id: str) -> int:
        return sum(self._judgements.get(prompt_id, {}).values())


class Recorder:
    """Stands where the cutoff stands, notes the features of what reaches it, and drops nothing."""

    def __init__(self, strategy: str) -> None:
        self.strategy = strategy
        self.noted: dict[str, Features] = {}

    def weigh(self, text: str, candidates: Sequence[Candidate], pool: Pool) -> list[Candidate]:
        self.noted = features(text, candidates, pool)
        return list(candidates)

    def drop(self, candidates: Sequence[Candidate], *, has_judge: bool) -> list[Candidate]:  # noqa: ARG002
        return list(candidates)

    def least(self, *, has_judge: bool) -> float:  # noqa: ARG002
        return 0.0

    def is_sure(self, candidate: Candidate) -> bool:  # noqa: ARG002
        return False


def judged_prompts(
    prompts: Iterable[Prompt], index: Index, config: Config, truth: Truth, group: str = ""
) -> list[JudgedPrompt]:
    """What reaches the cutoff now for each prompt of which *truth* says anything, in their order."""
    recorder = Recorder(config.match_strategy)
    return [_judged(prompt, index, config, truth, recorder, group) for prompt in prompts if truth.is_judged(prompt.id)]


def _judged(prompt: Prompt, index: Index, config: Config, truth: Truth, recorder: Recorder, group: str) -> JudgedPrompt:
    recorder.noted = {}
    retrieval = retrieve(prompt, index, config, cutoff=recorder)
    examples = (
        Example(memory.id, memory.title, recorder.noted[memory.id], truth.of(prompt.id, (memory.id, memory.digest)))
        for memory in (one.memory for one in retrieval.candidates)
        if memory.id in recorder.noted
    )
    return JudgedPrompt(prompt.id, prompt.text, truth.known(prompt.id), tuple(examples), group)
