"""The examples that a cutoff learns from: memories that reach it now, with their features and their labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from engine.cutoff import Cutoff, Model, features, fit_of
from engine.errors import TuningError
from engine.phrases.measuring import find_phrased
from engine.pipeline import OpenSystem, Query, retrieve
from labels.records import NOT_RELEVANT, RELEVANT, nested

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from engine.config import Config
    from engine.cutoff import Features
    from engine.prompt import Prompt
    from engine.retrieval import Candidate
    from engine.search.index import Index
    from engine.search.ranking import CandidatePool
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
    prompts of one root resemble each other. `today` are the ids of the memories that are injected today.
    `is_looked_through`: people looked also for memories that no system injected, so the prompt may need nothing.
    `has_phrases`: the memories were also searched by phrases. `is_phrase`: the prompt is one of them now, so it has no
    examples, and no number counts it.
    """

    prompt_id: str
    text: str
    relevant: int
    examples: tuple[Example, ...]
    group: str = ""
    today: frozenset[str] = frozenset()
    is_looked_through: bool = True
    has_phrases: bool = False
    is_phrase: bool = False

    @property
    def needs_nothing(self) -> bool:
        return self.is_looked_through and not self.relevant


@dataclass(frozen=True)
class Truth:
    """The known relevance of memories: prompt id -> pair -> whether it is relevant.

    `unlisted` is the relevance of pairs without an entry: None for unjudged. `listed` are the prompts with an answered
    list card; empty where there is none, as in labels of memsift 1.0 and in qrels.
    """

    judgements: Mapping[str, Mapping[Pair, bool]] = field(default_factory=dict)
    unlisted: bool | None = None
    listed: Set[str] = frozenset()

    @classmethod
    def from_gold(cls, gold: Iterable[Gold], listed: Set[str] = frozenset()) -> Self:
        """From labels. A label of another text of a memory does not count."""
        decided = [label for label in gold if label.verdict in (RELEVANT, NOT_RELEVANT)]
        return cls(nested((label.prompt_id, label.pair, label.verdict == RELEVANT) for label in decided), listed=listed)

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

    def relevant(self, prompt_id: str, digests: Mapping[str, str]) -> int:
        """The number of memories known to be relevant to a prompt, as the report counts them.

        A label of another text than the present one does not count. *digests*: memory id -> its present digest.
        """
        own = self.judgements.get(prompt_id, {}).items()
        return sum(yes and digest in (ANY_TEXT, digests.get(memory_id)) for (memory_id, digest), yes in own)


class Recorder(Cutoff):
    """A cutoff that drops nothing and keeps the features of the memories that reach it."""

    def __init__(self, config: Config) -> None:
        super().__init__(Model(fit_of(config), 0.0, {}, threshold=0.0, doubt=0.0))
        self.seen: dict[str, Features] = {}
        self.has_phrases = False

    def weigh(self, candidates: Sequence[Candidate], pool: CandidatePool) -> list[Candidate]:
        self.seen, self.has_phrases = features(candidates, pool), pool.has_phrases
        return list(candidates)


def judged_prompts(
    prompts: Iterable[Prompt], index: Index, config: Config, truth: Truth, group: str = "", in_use: Cutoff | None = None
) -> list[JudgedPrompt]:
    """The prompts that *truth* has judgements of, with the memories that reach the cutoff now.

    *in_use* is the cutoff that decides today; None if there is none. A judge is not asked.
    """
    digests = {summary.id: summary.digest for summary in index.summaries()}
    judged = [prompt for prompt in prompts if truth.is_judged(prompt.id)]
    phrased = find_phrased(
        {prompt.id: prompt.text for prompt in judged}, index.look(lambda postings: postings.phrases())
    )
    found = []
    for prompt in judged:
        if prompt.id in phrased:
            found.append(JudgedPrompt(prompt.id, prompt.text, 0, (), group, is_phrase=True))
        else:
            recorder = Recorder(config)
            reached = retrieve(Query(prompt), index, OpenSystem(config, recorder)).candidates
            memories = [candidate.memory for candidate in reached if candidate.memory.id in recorder.seen]
            examples = tuple(
                Example(own.id, own.title, recorder.seen[own.id], truth.of(prompt.id, (own.id, own.digest)))
                for own in memories
            )
            now = retrieve(Query(prompt), index, OpenSystem(config, in_use)).injected
            today = frozenset(candidate.memory.id for candidate in now)
            known = truth.relevant(prompt.id, digests)
            is_listed = not truth.listed or prompt.id in truth.listed
            how = is_listed, recorder.has_phrases
            found.append(JudgedPrompt(prompt.id, prompt.text, known, examples, group, today, *how))
    return found


def by_root(
    prompts: Sequence[Prompt], judgements: Judgements, memories: Mapping[str, Set[str]]
) -> dict[str, list[Prompt]]:
    """The prompts of each root. *memories*: root -> its memory ids.

    A prompt belongs to the only root with its judged memories, or else to the only root in its folder `cwd`. Raises
    TuningError for a prompt that belongs to no root, or to several: leaving it out would make precision look better.
    """
    if len(memories) == 1:
        return {root: list(prompts) for root in memories}
    found: dict[str, list[Prompt]] = {root: [] for root in memories}
    homeless = []
    for prompt in prompts:
        judged = judgements.get(prompt.id, {}).keys()
        holding = [root for root, ids in memories.items() if not ids.isdisjoint(judged)]
        around = [root for root in memories if prompt.cwd and f"{root}/".startswith(f"{prompt.cwd.rstrip('/')}/")]
        roots = holding if len(holding) == 1 else around
        if len(roots) == 1:
            found[roots[0]].append(prompt)
        else:
            homeless.append(prompt.id)
    if homeless:
        raise TuningError(
            f"{len(homeless):,} of {len(prompts):,} prompts belong to no single root of these, the first is "
            f'{homeless[0]}. Give the rows of --prompts the root as "cwd", or tune each root with its own files.'
        )
    return found
