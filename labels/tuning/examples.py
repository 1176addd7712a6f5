"""The examples that a cutoff learns from: memories that reach it now, with their features and their labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from engine.cutoff import Cutoff, Model, features, fit_of
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

ANY_TEXT = ""
"""The digest in a pair that stands for every text of its memory."""


@dataclass(frozen=True)
class Example:
    """A memory that reached the cutoff for one prompt. `is_relevant` is None if it is unjudged."""

    memory_id: str
    title: str
    features: Mapping[str, float]
    is_relevant: bool | None


@dataclass(frozen=True)
class JudgedPrompt:
    """A prompt and its examples in rank order.

    `relevant` counts all memories known to be relevant, also those that did not reach the cutoff. `group` is the root:
    prompts of one root resemble each other.
    """

    prompt_id: str
    text: str
    relevant: int
    examples: tuple[Example, ...]
    group: str = ""


@dataclass(frozen=True)
class Truth:
    """The known relevance of memories: prompt id -> pair -> whether it is relevant.

    `unlisted` is the relevance of pairs without an entry: None for unjudged.
    """

    judgements: Mapping[str, Mapping[Pair, bool]] = field(default_factory=dict)
    unlisted: bool | None = None

    @classmethod
    def from_gold(cls, gold: Iterable[Gold]) -> Self:
        """From labels. A label of another text of a memory does not count."""
        judgements: dict[str, dict[Pair, bool]] = {}
        for one in gold:
            if one.verdict in (RELEVANT, NOT_RELEVANT):
                judgements.setdefault(one.prompt_id, {})[one.pair] = one.verdict == RELEVANT
        return cls(judgements)

    @classmethod
    def from_qrels(cls, judgements: Judgements, *, excludes: bool) -> Self:
        """From qrels. A memory without a row is not relevant, or with *excludes* unjudged."""
        pairs = {
            name: {(memory_id, ANY_TEXT): yes for memory_id, yes in own.items()} for name, own in judgements.items()
        }
        return cls(pairs, None if excludes else False)

    def is_judged(self, prompt_id: str) -> bool:
        return self.unlisted is not None or prompt_id in self.judgements

    def of(self, prompt_id: str, pair: Pair) -> bool | None:
        own = self.judgements.get(prompt_id, {})
        return own.get(pair, own.get((pair[0], ANY_TEXT), self.unlisted))

    def relevant(self, prompt_id: str) -> int:
        """The number of memories known to be relevant to a prompt."""
        return sum(self.judgements.get(prompt_id, {}).values())


class Recorder(Cutoff):
    """A cutoff that drops nothing and keeps the features of the memories that reach it."""

    def __init__(self, config: Config) -> None:
        super().__init__(Model(fit_of(config), 0.0, {}, threshold=0.0, doubt=0.0))
        self.seen: dict[str, Features] = {}

    def weigh(self, candidates: Sequence[Candidate], pool: Pool) -> list[Candidate]:
        self.seen = features(candidates, pool)
        return list(candidates)


def judged_prompts(
    prompts: Iterable[Prompt], index: Index, config: Config, truth: Truth, group: str = ""
) -> list[JudgedPrompt]:
    """The prompts that *truth* has judgements of, with the memories that reach the cutoff now."""
    return [_judged(prompt, index, config, truth, group) for prompt in prompts if truth.is_judged(prompt.id)]


def _judged(prompt: Prompt, index: Index, config: Config, truth: Truth, group: str) -> JudgedPrompt:
    recorder = Recorder(config)
    retrieval = retrieve(prompt, index, config, cutoff=recorder)
    examples = tuple(
        Example(memory.id, memory.title, recorder.seen[memory.id], truth.of(prompt.id, (memory.id, memory.digest)))
        for memory in (candidate.memory for candidate in retrieval.candidates)
        if memory.id in recorder.seen
    )
    return JudgedPrompt(prompt.id, prompt.text, truth.relevant(prompt.id), examples, group)
