"""Several roots that are open at once: one list of memories, and one injected set as the hook chooses it.

Two roots may have memories with the same id. Then the memory of the later root is called `ID@ROOT` here.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from engine.config import AUTO, DEFAULT
from engine.errors import RootError
from engine.hook.session import Session
from engine.hook.several import Root, retrieve_from
from engine.lean.record import Record, replace
from engine.lean.sha256 import hex_digest
from engine.opening import open_index
from engine.paths import root_key
from engine.search.index import Index
from engine.stores.roots import SEPARATOR, joint_name
from engine.systems import SYSTEMS, system_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.explaining.explain import Explanation
    from engine.memory import Memory, MemorySummary, Skipped
    from engine.pipeline import Cutoff as AnyCutoff
    from engine.pipeline import Judge
    from engine.prompt import Prompt
    from engine.retrieval import Candidate, Retrieval
    from engine.search.index import IndexedMemory
    from engine.search.query import Term


class OpenRoot(Record):
    """A root to open: its settings, and the cutoff that the hook uses there."""

    root: str
    config: Config
    cutoff: Cutoff | None


class Home(Record):
    """Where a memory comes from: the place of its root among the open ones, and the memory under its own id."""

    place: int
    memory: MemorySummary


class JointMemories(Record):
    """All memories by the ids that tell them apart, and the id of each by file and own id."""

    homes: Mapping[str, Home]
    memories: list[MemorySummary]
    ids: Mapping[tuple[str, str], str]


class JointIndex(Index):
    """The indexes of several roots as one. Each root is searched with its own settings: see `engine.hook.several`.

    `root` names all of them. The indexes are closed with it.
    """

    is_joint = True

    def __init__(self, parts: Sequence[Root]) -> None:
        self.parts = tuple(parts)
        self.root = joint_name([part.index.root for part in parts])
        self.has_fts5 = all(part.index.has_fts5 for part in parts)
        self.is_accepted = lambda memory: self.part_of(memory.id).is_accepted(self.home(memory.id).memory)
        self._states: Sequence[Mapping[int, MemorySummary]] = ()
        self._known = JointMemories({}, [], {})

    def __len__(self) -> int:
        return sum(len(part.index) for part in self.parts)

    def close(self) -> None:
        for part in self.parts:
            part.index.close()

    @property
    def is_in_memory(self) -> bool:
        return any(part.index.is_in_memory for part in self.parts)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        return self._placed([part.index.skipped for part in self.parts])

    @property
    def notices(self) -> tuple[Skipped, ...]:
        return self._placed([part.index.notices for part in self.parts])

    @property
    def corpus_hash(self) -> str:
        return hex_digest(SEPARATOR.join(part.index.corpus_hash for part in self.parts))[:16]

    def summaries(self) -> list[MemorySummary]:
        """Every memory, by root and path."""
        return [*self._table.memories]

    def memory(self, memory_id: str) -> Memory | None:
        home = self._table.homes.get(memory_id)
        found = self.parts[home.place].index.memory(home.memory.id) if home else None
        return replace(found, summary=replace(found.summary, id=memory_id)) if found else None

    def indexed(self, memory_id: str) -> IndexedMemory | None:
        home = self._table.homes.get(memory_id)
        found = self.parts[home.place].index.indexed(home.memory.id) if home else None
        return replace(found, summary=replace(found.summary, id=memory_id)) if found else None

    def word_counts(self) -> dict[str, int]:
        counts = [part.index.word_counts() for part in self.parts]
        return {name: counts[home.place].get(home.memory.id, 0) for name, home in self._table.homes.items()}

    def matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        """The memories whose whole text holds all of *terms*: those of the first root first, the best of each first."""
        return [self.named(one) for part in self.parts for one in part.index.matching(terms)]

    def is_fresh(self) -> bool:
        return all(part.index.is_fresh() for part in self.parts)

    # Roots and ids

    def with_settings(self, config: Config, cutoff: AnyCutoff | None) -> list[Root]:
        """The roots to search, the first of them with the settings *config* and with *cutoff*.

        Other roots that are turned off are left out. The strategy is that of *config*. With a *cutoff*, each of the
        other roots has its own cutoff, or the default one if *cutoff* is that.
        """
        first, *others = self.parts
        own = [_with_strategy(other, config, cutoff) for other in others if other.config.enabled]
        return [Root(first.index, config, cutoff), *own]

    def home(self, memory_id: str) -> Home:
        """Where a memory comes from. Raises KeyError for an unknown id."""
        return self._table.homes[memory_id]

    def find(self, memory_id: str) -> Home | None:
        return self._table.homes.get(memory_id)

    def share(self, retrieval: Retrieval, place: int) -> Retrieval:
        """*retrieval* with the candidates of one root only, under their own ids."""
        own = [(candidate, self.home(candidate.memory.id)) for candidate in retrieval.candidates]
        candidates = tuple(replace(one, memory=its.memory) for one, its in own if its.place == place)
        return replace(retrieval, candidates=candidates)

    def part_of(self, memory_id: str) -> Index:
        return self.parts[self.home(memory_id).place].index

    def root_of(self, memory_id: str) -> str:
        """The root that holds a memory."""
        return self.part_of(memory_id).root

    def shown_ids(self, place: int) -> dict[str, str]:
        """Own id -> the id that tells it apart, for the memories of one root."""
        return {home.memory.id: name for name, home in self._table.homes.items() if home.place == place}

    def named(self, memory: MemorySummary) -> MemorySummary:
        """A memory of one of the roots under the id that tells it apart."""
        name = self._table.ids.get((memory.file, memory.id), memory.id)
        return memory if name == memory.id else replace(memory, id=name)

    @property
    def _table(self) -> JointMemories:
        """The memories as the indexes know them now. It is only made again if one of them was read again."""
        states = [part.index.ask(part.index.read_summaries) for part in self.parts]
        if len(self._states) != len(states) or any(a is not b for a, b in zip(states, self._states, strict=True)):
            self._known, self._states = _table_of(self.parts, states), states
        return self._known

    def _placed(self, listed: Sequence[Sequence[Skipped]]) -> tuple[Skipped, ...]:
        """Skipped files with their whole paths: several roots may have files of the same name."""
        pairs = zip(self.parts, listed, strict=True)
        return tuple(
            replace(one, where=os.path.join(part.index.root, one.where)) for part, ones in pairs for one in ones
        )


def open_together(roots: Sequence[OpenRoot], environ: Mapping[str, str]) -> Index:
    """The index of one or several roots, up to date. Raises RootError, with all indexes closed."""
    opened: list[Root] = []
    try:
        opened.extend(Root(open_index(root.root, environ), root.config, root.cutoff) for root in roots)
    except RootError:
        for part in opened:
            part.index.close()
        raise
    return JointIndex(opened) if len(opened) > 1 else opened[0].index


def home_of(index: Index, memory: MemorySummary) -> tuple[str, MemorySummary]:
    """The root that holds a memory of *index*, and the memory under its own id. Raises KeyError if it is gone."""
    if not isinstance(index, JointIndex):
        return index.root, memory
    home = index.home(memory.id)
    return index.parts[home.place].index.root, home.memory


def shown_id(index: Index, root: str, memory_id: str) -> str:
    """The id in *index* of the memory that has an own id in one of its roots."""
    if not isinstance(index, JointIndex):
        return memory_id
    place = next((place for place, part in enumerate(index.parts) if part.index.root == root), 0)
    return index.shown_ids(place).get(memory_id, memory_id)


def distinct_id(memory_id: str, root: str, taken: Container[str]) -> str:
    """The id of a memory among those of several roots. *taken*: the ids of the memories before it."""
    return f"{memory_id}@{root_key(root)}" if memory_id in taken else memory_id


def retrieve_together(
    prompt: Prompt,
    index: Index,
    config: Config,
    *,
    mode: str = AUTO,
    judge: Judge | None = None,
    cutoff: AnyCutoff | None = None,
    session: Session | None = None,
    include_retired: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> Retrieval:
    """One retrieval over all roots of *index*, as the hook makes it.

    *config* and *cutoff* are those of the first root, which has the places and the judge: see `with_settings`.
    """
    if not isinstance(index, JointIndex):
        raise TypeError("retrieve_together is for several roots")
    roots, seen = index.with_settings(config, cutoff), session or Session({})
    found = retrieve_from(prompt, roots, config, judge, seen, mode=mode, include_retired=include_retired, clock=clock)
    named = tuple(replace(candidate, memory=index.named(candidate.memory)) for candidate in found.candidates)
    judgement = found.judgement
    if judgement is not None:
        verdicts = (replace(one.verdict, memory_id=one.memory.id) for one in named if one.verdict)
        judgement = replace(judgement, verdicts=tuple(verdicts))
    name = system_of(config, has_judge=judge is not None, cutoff=SYSTEMS[found.system].cutoff).name
    return replace(found, system=name, candidates=tuple(map(_with_named_verdict, named)), judgement=judgement)


def explainer_of(retrieval: Retrieval, index: Index, config: Config) -> Callable[[str], Explanation | None]:
    """Explains the outcomes of memories in one retrieval; None for an unknown id.

    Over several roots, a memory is compared within its own root.
    """
    from engine.explaining.explain import Explainer

    if not isinstance(index, JointIndex):
        return Explainer(retrieval, index, config).of
    explainers: dict[int, Explainer] = {}

    def explained(memory_id: str) -> Explanation | None:
        if (home := index.find(memory_id)) is None:
            return None
        if home.place not in explainers:
            part = index.parts[home.place]
            settings = config if home.place == 0 else replace(part.config, match_strategy=config.match_strategy)
            own = index.share(retrieval, home.place)
            explainers[home.place] = Explainer(own, part.index, settings)
        found = explainers[home.place].of(home.memory.id)
        return replace(found, memory=index.named(home.memory)) if found else None

    return explained


def _table_of(parts: Sequence[Root], states: Sequence[Mapping[int, MemorySummary]]) -> JointMemories:
    homes: dict[str, Home] = {}
    ids: dict[tuple[str, str], str] = {}
    memories = []
    for place, (part, state) in enumerate(zip(parts, states, strict=True)):
        for own in state.values():
            name = distinct_id(own.id, part.index.root, homes)
            homes[name], ids[own.file, own.id] = Home(place, own), name
            memories.append(own if name == own.id else replace(own, id=name))
    return JointMemories(homes, memories, ids)


def _with_strategy(part: Root, config: Config, cutoff: AnyCutoff | None) -> Root:
    from engine.cutoff import default_cutoff

    own = replace(part.config, match_strategy=config.match_strategy)
    if cutoff is None:
        return Root(part.index, own, None)
    return Root(part.index, own, default_cutoff(own) if cutoff.kind == DEFAULT else part.cutoff)


def _with_named_verdict(candidate: Candidate) -> Candidate:
    verdict = candidate.verdict
    return replace(candidate, verdict=replace(verdict, memory_id=candidate.memory.id)) if verdict else candidate
