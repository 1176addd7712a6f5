"""Several roots that are open together: one index, searched once, and the settings that count.

The settings and the judge come from the nearest root whose own settings the user trusts, or which has none; without
such a root from the nearest, as far as its settings are stricter. The tuned cutoff comes from the nearest root with one
that fits. The hook loads this only where there are several roots.
"""

from __future__ import annotations

import os

from engine.config import CONFIG_FILE, SHARED_CUTOFF_FILE, OtherRoot
from engine.cutoff import chosen_cutoff
from engine.lean.record import Record, replace
from engine.lean.sha256 import hex_digest
from engine.paths import cutoff_file, root_key, state_dir
from engine.search.index import find_fresh
from engine.search.postings import KeptPostings
from engine.settings.roots import is_own_root, trust_in
from engine.stores.roots import SEPARATOR, joint_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from typing import TypeVar

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.lean.sqlite import Connection
    from engine.memory import Memory, MemorySummary, Skipped
    from engine.search.index import Index
    from engine.search.postings import Part, Postings
    from engine.search.query import Term
    from engine.search.ranking import CandidatePool
    from engine.settings.sources import SettingsReading

    T = TypeVar("T")


class OpenRoots(Record):
    """Roots that are open together, the nearest first, and the settings that count: those of the root *main*.

    `others`: the resolved path of each other root -> its settings. `cutoff` is the one that the hook uses, and
    `problem` the reason why a tuned one is not used, or "". `notice` names the cutoff in use if several are tuned.
    """

    paths: tuple[str, ...]
    main: str
    config: Config
    cutoff: Cutoff | None = None
    others: Mapping[str, OtherRoot] = {}
    problem: str = ""
    notice: str = ""


def together(readings: Sequence[SettingsReading], environ: Mapping[str, str]) -> OpenRoots:
    """The roots of *readings*, the nearest first, and the settings that count for all."""
    active = [reading for reading in readings if reading.config.enabled] or [*readings[:1]]
    followed = [reading for reading in readings if _is_followed(reading, environ)]
    main = next((reading for reading in active if reading in followed), active[0])
    others = {
        os.path.realpath(reading.root): OtherRoot(reading.config, is_limited=reading not in followed)
        for reading in readings
        if reading is not main
    }
    places = [(state_dir(reading.root, environ), reading.root) for reading in active]
    cutoff, problem = chosen_cutoff(places, main.config, trust_in(environ))
    models = [path for folder, root in places for path in (cutoff_file(folder), os.path.join(root, SHARED_CUTOFF_FILE))]
    notice = ""
    if cutoff and cutoff.place and sum(map(os.path.exists, models)) > 1:
        notice = f"There are several tuned cutoffs. The one in use is {cutoff.place}."
    paths = tuple([reading.root for reading in readings])
    return OpenRoots(paths, main.root, main.config, cutoff, others, problem, notice)


def _is_followed(reading: SettingsReading, environ: Mapping[str, str]) -> bool:
    """Whether all settings of a root count: it has none of its own, or it is the user's own or trusted."""
    own = dict(reading.set_by).get(os.path.join(reading.root, CONFIG_FILE))
    return not own or is_own_root(os.path.realpath(reading.root), environ)


class JointIndex:
    """The indexes of several roots as one. `root` names all of them. The indexes are closed with it."""

    def __init__(self, parts: Sequence[Index], others: Mapping[str, OtherRoot]) -> None:
        self.parts, self.others = tuple(parts), others
        self.root = joint_name([part.root for part in parts])
        self.has_fts5 = all(part.has_fts5 for part in parts)
        self._searched = [part for part in parts if part.root not in others or others[part.root].config.enabled]
        self._postings = KeptPostings()
        self._states: Sequence[Mapping[int, MemorySummary]] = ()
        self._memories: list[MemorySummary] = []

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def close(self) -> None:
        for part in self.parts:
            part.close()

    @property
    def is_in_memory(self) -> bool:
        return any(part.is_in_memory for part in self.parts)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        return self._placed([part.skipped for part in self.parts])

    @property
    def notices(self) -> tuple[Skipped, ...]:
        return self._placed([part.notices for part in self.parts])

    @property
    def corpus_hash(self) -> str:
        return hex_digest(SEPARATOR.join(part.corpus_hash for part in self.parts))[:16]

    @property
    def contents(self) -> tuple[str, tuple[Skipped, ...], tuple[Skipped, ...]]:
        return self.corpus_hash, self.skipped, self.notices

    def summaries(self) -> list[MemorySummary]:
        """Every memory, by root and path. The list is only made again if a root was read again."""
        states = [part.look(lambda postings: postings.all_summaries()) for part in self.parts]
        if len(self._states) != len(states) or any(a is not b for a, b in zip(states, self._states, strict=True)):
            memories = self._told_apart([memory for state in states for memory in state.values()])
            self._memories, self._states = memories, states
        return [*self._memories]

    def memory(self, memory_id: str) -> Memory | None:
        """The whole memory, as its file is now; None for an unknown id."""
        for part in self.parts:
            found = part.memory(memory_id.removesuffix(f"@{root_key(part.root)}"))
            shown = self._told_apart([found.summary])[0] if found else None
            if found and shown and shown.id == memory_id:
                return replace(found, summary=shown)
        return None

    def risks(self, memories: list[MemorySummary]) -> dict[str, float]:
        found: dict[str, float] = {}
        for part in self.parts:
            shown = {memory.own.id: memory.id for memory in memories if memory.root == part.root}
            late = part.risks([memory.own for memory in memories if memory.root == part.root])
            found |= {shown[name]: risk for name, risk in late.items()}
        return found

    def is_accepted(self, memory: MemorySummary) -> bool:
        return self._part_of(memory).is_accepted(memory.own)

    def is_loaded(self, memory: MemorySummary) -> bool:
        return self._part_of(memory).is_loaded(memory.own)

    def word_counts(self) -> dict[str, int]:
        counts = {part.root: part.word_counts() for part in self.parts}
        return {memory.id: counts[memory.root].get(memory.own.id, 0) for memory in self.summaries()}

    def matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        """The memories whose whole text holds all of *terms*: those of the first root first, the best of each first."""
        return self._told_apart([memory for part in self.parts for memory in part.matching(terms)])

    def pool(self, find: Callable[[Postings], CandidatePool]) -> CandidatePool:
        """As `Index.pool`, over the posting lists of all roots that are switched on."""
        pool = find_fresh(self, self._searched, find)
        memories = self._told_apart([scored.memory for scored in pool.memories])
        pairs = zip(pool.memories, memories, strict=True)
        return replace(pool, memories=[replace(scored, memory=memory) for scored, memory in pairs])

    def look(self, find: Callable[[Postings], T]) -> T:
        """As `Index.look`, over the posting lists of all roots that are switched on."""

        def ask(left: Sequence[Index], opened: Sequence[Part]) -> T:
            if not left:
                return find(self._postings.of(opened))
            part, *others = left

            def with_tables(db: Connection) -> T:
                return ask(others, [*opened, (db, part.root)])

            return part.ask(with_tables)

        return ask(self._searched, [])

    def _told_apart(self, memories: Sequence[MemorySummary]) -> list[MemorySummary]:
        """*memories* of one of the roots each, those with an id of an earlier root under another one."""
        twice: set[tuple[str, str]] = set()
        for place, part in enumerate(self.parts):
            own = [memory.id for memory in memories if memory.root == part.root]
            taken = set().union(*(before.held(own) for before in self.parts[:place])) if own else set()
            twice |= {(part.root, name) for name in taken}
        return [
            replace(memory, id=distinct_id(memory.id, memory.root, {memory.id}))
            if (memory.root, memory.id) in twice
            else memory
            for memory in memories
        ]

    def _part_of(self, memory: MemorySummary) -> Index:
        return next(part for part in self.parts if part.root == memory.root)

    def _placed(self, listed: Sequence[Sequence[Skipped]]) -> tuple[Skipped, ...]:
        """Skipped files with their whole paths: several roots may have files of the same name."""
        pairs = [(part.root, file) for part, files in zip(self.parts, listed, strict=True) for file in files]
        return tuple([replace(file, where=os.path.join(root, file.where)) for root, file in pairs])


if TYPE_CHECKING:
    OpenIndex = Index | JointIndex
    """The index of one or several roots."""


def distinct_id(memory_id: str, root: str, taken: Container[str]) -> str:
    """The id of a memory among those of several roots. *taken*: the ids of the memories before it."""
    return f"{memory_id}@{root_key(root)}" if memory_id in taken else memory_id


def open_together(
    paths: Sequence[str], environ: Mapping[str, str], others: Mapping[str, OtherRoot] | None = None
) -> OpenIndex:
    """The index of one or several roots, up to date. *others*: see `OpenRoots`. Raises RootError, with all closed."""
    from engine.errors import RootError
    from engine.opening import open_index

    opened: list[Index] = []
    try:
        opened.extend(open_index(path, environ) for path in dict.fromkeys(map(os.path.realpath, paths)))
    except RootError:
        for index in opened:
            index.close()
        raise
    return JointIndex(opened, others or {}) if len(opened) > 1 else opened[0]
