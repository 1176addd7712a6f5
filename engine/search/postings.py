"""The posting lists of an index: the memories, fields and positions in which each stem of a prompt stands.

FTS5's table of type `instance` has a row for each occurrence of a stem (https://www.sqlite.org/fts5.html, section 6). A
strategy reads the lists of the prompt's rarest stems, as many as its budget of postings allows, and nothing else.

Several roots are searched as one: a memory is known by its row x the number of roots + the place of its root.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.search.database import SUMMARY, summaries_of, summary
from engine.search.query import any_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    Part = tuple["Connection", str]
    """The tables of a root, and its path."""

    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.search.query import Term

    T = TypeVar("T")
    Phrase = tuple[str, ...]
    Weights = tuple[float, float, float]
    Place = tuple[int, int, str, int]
    """The number of a unit, and row, field and position of an occurrence."""

WEIGHTS: Weights = (4.0, 2.0, 1.0)
"""The weights of an occurrence in title, tags and body."""

MOST_TERMS = 80
"""Units of a prompt that count. Of more units, the rarest are kept; units that no memory holds are kept last."""

MOST_LONGER = 30
"""Most stems that the beginning of a word matches: the commonest."""

ALL = 0.0

COUNTS = "select term, doc, cnt from json_each(?) join stem on term = value"
LISTED = """select
(select group_concat(rowid@) from full_text where full_text match value and rowid > ?),
(select group_concat(rowid@) from full_text where full_text match '{title tags} : (' || value || ')' and rowid > ?)
from json_each(?)"""
RETIRED = "select row@ from size where is_active = 0"
PLACES = """select key, doc@, col, offset from json_each(?) join posting on term = value
where doc in (select value from json_each(?))"""
SIZES = "select row@, tokens from size where row in (select value from json_each(?))"
RANKED = "select rowid@, -bm25(full_text, ?, ?, ?) from full_text where full_text match ? and rowid > ?"
"""In these, @ stands for the step from the row of a root to the number of a memory among all roots."""

LONGER = "select term from stem where term > ? and term < ? || char(1114111) order by doc desc limit ?"


class Unit(Record):
    """A term of the prompt as the index holds it: `phrases` are alternative sequences of stems.

    `memories` is the number of memories that hold it, `postings` what it costs to read its lists, and `weight` the
    term's. `of_file`: it is a word in the name of a file.
    """

    text: str
    phrases: tuple[Phrase, ...]
    memories: int
    postings: int
    weight: float = 1.0
    of_file: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it has no phrase of several stems."""
        return all(len(phrase) == 1 for phrase in self.phrases)


class Postings:
    """The lists of one or several roots in one state of their tables: `memories`, and `tokens` in all of them.

    A "row" below is the number of a memory among those of all roots.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self._steps = ["" if len(parts) == 1 else f" * {len(parts)} + {place}" for place in range(len(parts))]
        sums = [db.execute("select memories, tokens from about").fetchone() for db, _ in parts]
        self.memories, self.tokens = map(sum, zip(*sums, strict=True))
        self.has_phrases = any(db.execute("select 1 from phrase limit 1").fetchone() for db, _ in parts)
        self._counts: dict[str, tuple[int, int]] = {}
        self._retired: frozenset[int] | None = None
        self._kept: tuple[object, Any] = None, None
        self._summaries: dict[int, MemorySummary] | None = None

    def keep(self, key: object, make: Callable[[], T]) -> T:
        """The result of *make*, kept until another *key* comes: systems run a prompt one after the other."""
        if self._kept[0] != key:
            self._kept = key, make()
        found: T = self._kept[1]
        return found

    def units(self, terms: Sequence[Term]) -> list[Unit]:
        """The units of *terms*, in their order. Terms with the same stems are one unit: `cache` and `caching`."""
        named: dict[tuple[Phrase, ...], Term] = {}
        for term in terms:
            phrases = (*term.stems, *(self._longer(term.phrases[0][0]) if term.is_prefix else ()))
            named.setdefault(phrases, term)
        self._count({stem for phrases in named for phrase in phrases for stem in phrase})
        if len(named) > MOST_TERMS:
            costs = {phrases: self._postings(phrases) for phrases in named}
            kept = {*sorted(named, key=lambda phrases: (not costs[phrases], costs[phrases]))[:MOST_TERMS]}
            named = {phrases: term for phrases, term in named.items() if phrases in kept}
        return [self._unit(term, phrases) for phrases, term in named.items()]

    def affordable(self, units: Sequence[Unit], budget: int) -> tuple[list[int], float]:
        """The numbers of the rarest units, in their order, whose lists have at most *budget* postings together.

        The second value is the share of each root's memories that is passed over, 0..1: if the rarest unit alone is
        beyond the budget, only the newest memories are looked at.
        """
        kept: list[int] = []
        left = budget
        held = [number for number, unit in enumerate(units) if unit.memories]
        for number in sorted(held, key=lambda number: units[number].postings):
            left -= units[number].postings
            if left < 0 and kept:
                break
            kept.append(number)
        if not kept or left >= 0 or units[kept[0]].postings <= budget:
            return sorted(kept), ALL
        return kept, 1 - budget / units[kept[0]].postings

    def holders(self, units: Collection[Unit], passed: float) -> list[tuple[list[str], list[str]]]:
        """For each unit two lists of rows, as text: memories that hold it, and those with it in title or tags.

        The share *passed* of each root's memories is passed over.
        """
        listed = dumps([any_of(unit.phrases) for unit in units], ascii_only=False)
        found: list[tuple[list[str], list[str]]] = [([], []) for _ in units]
        for db, step in self._each():
            after = self._after(db, passed)
            for rows, of_unit in zip(db.execute(LISTED.replace("@", step), (after, after, listed)), found, strict=True):
                for listed_rows, into in zip(rows, of_unit, strict=True):
                    into += listed_rows.split(",") if listed_rows else []
        return found

    def places(self, units: Sequence[Unit], rows: Collection[int]) -> list[Place]:
        """The occurrences of *units* in the memories *rows*. Those of a phrase are its first words."""
        stems = [*{stem for unit in units for phrase in unit.phrases for stem in phrase}]
        known: list[list[tuple[int, str, int]]] = [[] for _ in stems]
        asked = dumps(stems, ascii_only=False)
        for (db, step), own in zip(self._each(), self._own(rows), strict=True):
            for number, *place in db.execute(PLACES.replace("@", step), (asked, own)):
                known[number].append(tuple(place))
        of_stem = dict(zip(stems, known, strict=True))
        found: dict[Place, None] = {}
        for number, unit in enumerate(units):
            for first, *others in unit.phrases:
                begun = of_stem[first]
                for distance, stem in enumerate(others, 1):
                    there = {*of_stem[stem]}
                    begun = [place for place in begun if (place[0], place[1], place[2] + distance) in there]
                found |= dict.fromkeys([(number, *place) for place in begun])
        return [*found]

    def rank(self, expression: str, weights: Weights, passed: float) -> dict[int, float]:
        """Row -> FTS5's BM25 (positive, higher is better), within its root, of the memories that match *expression*.

        *weights* are those of title, tags and body. The share *passed* of each root's memories is passed over.
        """
        found: dict[int, float] = {}
        for db, step in self._each():
            found |= db.execute(RANKED.replace("@", step), (*weights, expression, self._after(db, passed))).fetchall()
        return found

    def score_of(self, row: int, expression: str, weights: Weights, passed: float) -> float:
        """FTS5's BM25 of one memory, 0 if it does not match."""
        own, place = divmod(row, len(self.parts))
        db, sql = self.parts[place][0], f"{RANKED.replace('@', '')} and rowid = ?"
        found = db.execute(sql, (*weights, expression, self._after(db, passed), own)).fetchone()
        return found[1] if found else 0.0

    @property
    def retired(self) -> frozenset[int]:
        """The rows of the memories that are not active."""
        if self._retired is None:
            rows = [db.execute(RETIRED.replace("@", step)) for db, step in self._each()]
            self._retired = frozenset(row for found in rows for (row,) in found)
        return self._retired

    def lengths(self, rows: Collection[int]) -> dict[int, int]:
        """Row -> the tokens of its memory."""
        found: dict[int, int] = {}
        for (db, step), own in zip(self._each(), self._own(rows), strict=True):
            found |= db.execute(SIZES.replace("@", step), (own,)).fetchall()
        return found

    def strongest(self, scores: Mapping[int, float], size: int, *, include_retired: bool) -> dict[int, MemorySummary]:
        """The memories up to the *size*th active one, best first, by row; with *include_retired*, the first *size*.

        *scores*: row -> score, positive. Equal scores stand by category, then path.
        """
        if size < 1:
            return {}
        retired = frozenset() if include_retired else self.retired
        counted = sorted([score for row, score in scores.items() if row not in retired], reverse=True)
        least = counted[size - 1] if len(counted) >= size else 0.0
        strong = [row for row, score in scores.items() if score >= least]
        found: dict[int, MemorySummary] = {}
        for place, (part, rows) in enumerate(zip(self.parts, self._own(strong), strict=True)):
            found |= self._numbered(summaries_of(*part, rows), place)
        ordered = sorted(found, key=lambda row: (-scores[row], found[row].priority, found[row].path))
        places = [place for place, row in enumerate(ordered, 1) if row not in retired][:size]
        return {row: found[row] for row in (ordered[: places[-1]] if len(places) == size else ordered)}

    def all_summaries(self) -> dict[int, MemorySummary]:
        """Row -> memory, of every memory, by path. It is read once."""
        if self._summaries is None:
            self._summaries = {}
            for place, (db, root) in enumerate(self.parts):
                rows = db.execute(f"select part, rowid, {SUMMARY} from memory where reason is null")
                found = [(part, row, summary(root, values)) for part, row, *values in rows]
                found.sort(key=lambda numbered: (numbered[2].file, numbered[0]))
                self._summaries |= self._numbered({row: memory for _, row, memory in found}, place)
        return self._summaries

    def row_of(self, memory: MemorySummary) -> int | None:
        """The row of a memory."""
        sql = "select rowid from memory where id = ? and reason is null"
        for place, (db, root) in enumerate(self.parts):
            if root == memory.root and (found := db.execute(sql, (memory.own.id,)).fetchone()):
                return int(found[0]) * len(self.parts) + place
        return None

    def _each(self) -> Iterable[tuple[Connection, str]]:
        """The tables of each root, and its step: see RANKED."""
        return [(db, step) for (db, _), step in zip(self.parts, self._steps, strict=True)]

    def _own(self, rows: Collection[int]) -> list[str]:
        """The rows of each root among *rows*, as JSON."""
        count = len(self.parts)
        return [dumps([row // count for row in rows if row % count == place]) for place in range(count)]

    def phrase(self, row: int, number: int) -> str:
        """The text of a phrase of a memory. *number* is that of the phrase in the root of the memory."""
        db, _ = self.parts[row % len(self.parts)]
        return str(db.execute("select text from phrase where row = ?", (number,)).fetchone()[0])

    def phrases(self) -> list[str]:
        """The texts of all phrases."""
        return [text for db, _ in self.parts for (text,) in db.execute("select text from phrase")]

    def number(self, row: int, place: int) -> int:
        """The number of a memory among those of all roots. *row* is its row in the root at *place*."""
        return row * len(self.parts) + place

    def _numbered(self, memories: Mapping[int, MemorySummary], place: int) -> dict[int, MemorySummary]:
        return {self.number(row, place): memory for row, memory in memories.items()}

    def _after(self, db: Connection, passed: float) -> int:
        """The row behind which the memories of a root count."""
        return int(db.execute("select max(row) from size").fetchone()[0] * passed) if passed else 0

    def _longer(self, beginning: str) -> list[Phrase]:
        found = [db.execute(LONGER, (beginning, beginning, MOST_LONGER)).fetchall() for db, _ in self.parts]
        return [*dict.fromkeys((stem,) for stems in found for (stem,) in stems)]

    def _unit(self, term: Term, phrases: tuple[Phrase, ...]) -> Unit:
        known = [phrase for phrase in phrases if self._postings((phrase,))]
        memories = 0
        if len(known) == 1 and len(known[0]) == 1:
            memories, _ = self._counts[known[0][0]]
        elif known:
            sql, asked = "select count(*) from full_text where full_text match ?", (any_of(known),)
            memories = sum(db.execute(sql, asked).fetchone()[0] for db, _ in self.parts)
        return Unit(term.text, phrases, memories, self._postings(phrases), term.weight, term.of_file)

    def _postings(self, phrases: Iterable[Phrase]) -> int:
        """The postings of *phrases* at most: those of the rarest stem of each."""
        return sum([min([self._counts[stem][1] for stem in phrase]) for phrase in phrases])

    def holding(self, stems: Collection[str]) -> dict[str, int]:
        """Stem -> the number of memories that hold it."""
        self._count({*stems})
        return {stem: self._counts[stem][0] for stem in stems}

    def _count(self, stems: set[str]) -> None:
        """Learn the number of memories that hold each stem, and of its occurrences."""
        if new := stems - self._counts.keys():
            self._counts |= dict.fromkeys(new, (0, 0))
            for db, _ in self.parts:
                for stem, memories, occurrences in db.execute(COUNTS, (dumps([*new], ascii_only=False),)):
                    known = self._counts[stem]
                    self._counts[stem] = known[0] + memories, known[1] + occurrences


class KeptPostings:
    """Posting lists that remember counts until the index changes. Not for two threads at a time."""

    def __init__(self) -> None:
        self._state: object = None
        self._postings: Postings | None = None

    def of(self, parts: Sequence[Part]) -> Postings:
        """The lists of *parts*, whose tables are read in one state."""
        state = [(db, db.execute("pragma data_version").fetchone()) for db, _ in parts]
        if self._postings is None or self._state != state:
            self._state, self._postings = state, Postings(parts)
        return self._postings
