"""Several roots that are open at once: one list of memories, and one injected set as the hook chooses it.

Each root is searched by itself, with its own settings. Candidates are ordered by P(relevant), else by strength. The
places, the budget and the judge are those of the first root's settings. Two roots may have memories with the same id.
Then the memory of the later root is called `ID@ROOT` here. The hook loads this only where there are several roots.
"""

from __future__ import annotations

import os

from engine import pipeline
from engine.config import DEFAULT, SYSTEMS, system_of
from engine.lean.record import Record, replace
from engine.lean.sha256 import hex_digest
from engine.opening import open_index
from engine.paths import root_key
from engine.retrieval import PLACES
from engine.search.postings import Postings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.judge.verdict import Judgement
    from engine.memory import Memory, MemorySummary, Skipped
    from engine.pipeline import Cutoff as AnyCutoff
    from engine.pipeline import Judge, OpenSystem, Query
    from engine.prompt import Prompt
    from engine.retrieval import Candidate, Retrieval
    from engine.search.index import Index
    from engine.search.query import Term

TWICE = "another root has the same memory"


class OpenRoot(Record):
    """A root to open: its settings, and the cutoff that the hook uses there."""

    root: str
    config: Config
    cutoff: Cutoff | None


class Root(Record):
    """A root to search: its index, settings and cutoff."""

    index: Index
    config: Config
    cutoff: AnyCutoff | None


class Home(Record):
    """Where a memory comes from: the place of its root among the open ones, and the memory under its own id."""

    place: int
    memory: MemorySummary


class JointMemories(Record):
    """All memories by the ids that tell them apart, and the id of each by file and own id."""

    homes: Mapping[str, Home]
    memories: list[MemorySummary]
    ids: Mapping[tuple[str, str], str]


class JointIndex:
    """The indexes of several roots as one, which answers what can be asked about all of them as `Index` does.

    `root` names all of them. The indexes are closed with it.
    """

    def __init__(self, parts: Sequence[Root]) -> None:
        from engine.stores.roots import joint_name

        self.parts = tuple(parts)
        self.root = joint_name([part.index.root for part in parts])
        self.has_fts5 = all(part.index.has_fts5 for part in parts)
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
        from engine.stores.roots import SEPARATOR

        return hex_digest(SEPARATOR.join(part.index.corpus_hash for part in self.parts))[:16]

    @property
    def contents(self) -> tuple[str, tuple[Skipped, ...], tuple[Skipped, ...]]:
        return self.corpus_hash, self.skipped, self.notices

    def summaries(self) -> list[MemorySummary]:
        """Every memory, by root and path."""
        return [*self._table.memories]

    def memory(self, memory_id: str) -> Memory | None:
        home = self.homes.get(memory_id)
        found = self.parts[home.place].index.memory(home.memory.id) if home else None
        return replace(found, summary=replace(found.summary, id=memory_id)) if found else None

    def risks(self, memories: list[MemorySummary]) -> dict[str, float]:
        found: dict[str, float] = {}
        for place, part in enumerate(self.parts):
            homes = [(memory, self.homes[memory.id]) for memory in memories]
            own = {home.memory.id: memory for memory, home in homes if home.place == place}
            late = part.index.risks([self.homes[memory.id].memory for memory in own.values()])
            found |= {own[name].id: risk for name, risk in late.items()}
        return found

    def word_counts(self) -> dict[str, int]:
        counts = [part.index.word_counts() for part in self.parts]
        return {name: counts[home.place].get(home.memory.id, 0) for name, home in self.homes.items()}

    def matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        """The memories whose whole text holds all of *terms*: those of the first root first, the best of each first."""
        return [self.named(memory) for part in self.parts for memory in part.index.matching(terms)]

    # Roots and ids

    @property
    def homes(self) -> Mapping[str, Home]:
        """Where each memory comes from, by the id that tells it apart."""
        return self._table.homes

    def named(self, memory: MemorySummary) -> MemorySummary:
        """A memory of one of the roots under the id that tells it apart."""
        name = self._table.ids.get((memory.file, memory.id), memory.id)
        return memory if name == memory.id else replace(memory, id=name)

    @property
    def _table(self) -> JointMemories:
        """The memories as the indexes know them now. It is only made again if one of them was read again."""
        states = [part.index.look(Postings.all_summaries) for part in self.parts]
        if len(self._states) != len(states) or any(a is not b for a, b in zip(states, self._states, strict=True)):
            self._known, self._states = _table_of(self.parts, states), states
        return self._known

    def _placed(self, listed: Sequence[Sequence[Skipped]]) -> tuple[Skipped, ...]:
        """Skipped files with their whole paths: several roots may have files of the same name."""
        pairs = [(part.index.root, file) for part, files in zip(self.parts, listed, strict=True) for file in files]
        return tuple([replace(file, where=os.path.join(root, file.where)) for root, file in pairs])


if TYPE_CHECKING:
    OpenIndex = Index | JointIndex
    """The index of one or several roots."""


def open_together(roots: Sequence[OpenRoot], environ: Mapping[str, str]) -> OpenIndex:
    """The index of one or several roots, up to date. Raises RootError, with all indexes closed."""
    from engine.errors import RootError

    opened: list[Root] = []
    try:
        opened.extend(Root(open_index(root.root, environ), root.config, root.cutoff) for root in roots)
    except RootError:
        for part in opened:
            part.index.close()
        raise
    return JointIndex(opened) if len(opened) > 1 else opened[0].index


def home_of(index: OpenIndex, memory: MemorySummary) -> tuple[str, MemorySummary]:
    """The root that holds a memory of *index*, and the memory under its own id. Raises KeyError if it is gone."""
    if not isinstance(index, JointIndex):
        return index.root, memory
    home = index.homes[memory.id]
    return index.parts[home.place].index.root, home.memory


def shown_id(index: OpenIndex, root: str, memory_id: str) -> str:
    """The id in *index* of the memory that has an own id in one of its roots."""
    if not isinstance(index, JointIndex):
        return memory_id
    place = next((place for place, part in enumerate(index.parts) if part.index.root == root), 0)
    names = {home.memory.id: name for name, home in index.homes.items() if home.place == place}
    return names.get(memory_id, memory_id)


def distinct_id(memory_id: str, root: str, taken: Container[str]) -> str:
    """The id of a memory among those of several roots. *taken*: the ids of the memories before it."""
    return f"{memory_id}@{root_key(root)}" if memory_id in taken else memory_id


def roots_of(index: OpenIndex, config: Config, cutoff: AnyCutoff | None) -> list[Root]:
    """The roots of *index* to search, the first of them with the settings *config* and with *cutoff*.

    Other roots that are turned off are left out. The strategy is that of *config*. With a *cutoff*, each of the other
    roots has its own cutoff, or the default one if *cutoff* is that.
    """
    if not isinstance(index, JointIndex):
        return [Root(index, config, cutoff)]
    others = [_with_strategy(other, config, cutoff) for other in index.parts[1:] if other.config.enabled]
    return [Root(index.parts[0].index, config, cutoff), *others]


def retrieve(question: Query, index: OpenIndex, system: OpenSystem) -> Retrieval:
    """One retrieval over one or all roots of *index*, as the hook makes it: see `engine.pipeline.retrieve`.

    The configuration and the cutoff of *system* are those of the first root, which has the places and the judge: see
    `roots_of`.
    """
    if not isinstance(index, JointIndex):
        return pipeline.retrieve(question, index, system)
    found = retrieve_from(question, roots_of(index, system.config, system.cutoff), system)
    named = [_with_named_verdict(replace(own, memory=index.named(own.memory))) for own in found.candidates]
    judgement = found.judgement
    if judgement is not None:
        judgement = replace(judgement, verdicts=tuple([candidate.verdict for candidate in named if candidate.verdict]))
    name = system_of(system.config, has_judge=system.judge is not None, cutoff=SYSTEMS[found.system].cutoff).name
    return replace(found, system=name, candidates=tuple(named), judgement=judgement)


class Share:
    """Stands in for the judge while one root is searched: the real judge is asked once, about all roots together.

    On the first search it notes the memories that the root would ask about, and approves all. Then `answer` is set to
    the judge's verdicts on these memories, and on the second search it gives them.
    """

    def __init__(self) -> None:
        self.memories: list[MemorySummary] = []
        self.answer: Judgement | None = None

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:  # noqa: ARG002
        from engine.judge.verdict import APPROVED, OK, Judgement, Verdict

        if self.answer is not None:
            return self.answer
        self.memories = [*candidates]
        return Judgement(OK, tuple(Verdict(candidate.id, APPROVED, OK) for candidate in candidates), "", "", "", 0.0)


def retrieve_from(question: Query, roots: Sequence[Root], system: OpenSystem) -> Retrieval:
    """One retrieval over *roots*, the first of which has the configuration of *system*.

    The judge is asked once, and only about roots whose own settings name the same judge: the settings of a project
    cannot send the titles of a user's notes away. Memories keep their own ids.
    """
    config, judge, mode = system.config, system.judge, question.mode
    shares = [Share() if judge is not None and root.config.judge == config.judge else None for root in roots]
    part = replace(question, session=None, is_brief=False, is_part=True)

    def searched() -> list[Retrieval]:
        return [
            pipeline.retrieve(part, root.index, replace(system, config=root.config, cutoff=root.cutoff, judge=share))
            for root, share in zip(roots, shares, strict=True)
        ]

    if judge is not None:
        searched()
        _ask(question.prompt, [share for share in shares if share], judge, mode)
    found = searched()
    asked = next((retrieval for retrieval in found if retrieval.judgement), found[0])
    judgement = asked.judgement
    elapsed_ms = sum(retrieval.elapsed_ms for retrieval in found) + (judgement.elapsed_ms if judgement else 0.0)
    candidates = _in_order([candidate for retrieval in found for candidate in retrieval.candidates])
    places = pipeline.cap(config, mode, judgement)
    return replace(
        found[0],
        candidates=tuple(pipeline.by_places(candidates, config, mode, places, question.session)),
        judgement=judgement,
        fallback=asked.fallback,
        elapsed_ms=elapsed_ms,
    )


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


def _ask(prompt: Prompt, shares: Sequence[Share], judge: Judge, mode: str) -> None:
    """Ask the judge about the memories of all shares at once, and give each share its verdicts.

    Two roots may have memories with the same id, so the judge sees them under other ids.
    """
    asked = [(share, memory) for share in shares for memory in share.memories]
    named = [replace(memory, id=str(number)) for number, (_, memory) in enumerate(asked)]
    judgement = judge.evaluate(prompt, named, mode)
    answers = [
        (share, replace(verdict, memory_id=memory.id))
        for (share, memory), verdict in zip(asked, judgement.verdicts, strict=True)
    ]
    for share in shares:
        share.answer = replace(judgement, verdicts=tuple(verdict for owner, verdict in answers if owner is share))


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates of all roots, best first, as they were before places were given. A memory counts only once."""
    is_likely = all(candidate.probability is not None for candidate in candidates if _is_open(candidate))
    scores = [-(candidate.probability or 0.0) if is_likely else candidate.score for candidate in candidates]
    pairs = sorted(zip(candidates, scores, strict=True), key=lambda pair: (not _is_open(pair[0]), pair[1]))
    given: set[str] = set()
    result = []
    for rank, (candidate, _) in enumerate(pairs, start=1):
        dropped_by, reason = candidate.dropped_by, candidate.reason
        if _is_open(candidate):
            dropped_by, reason = ("repeat", TWICE) if candidate.memory.digest in given else (None, "")
            given.add(candidate.memory.digest)
        result.append(replace(candidate, rank=rank, dropped_by=dropped_by, reason=reason))
    return result


def _is_open(candidate: Candidate) -> bool:
    return candidate.dropped_by is None or candidate.dropped_by in PLACES
