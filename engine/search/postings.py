"""The posting lists of an index: the memories, fields and positions in which each stem of a prompt stands.

FTS5's table of type `instance` has a row for each occurrence of a stem (https://www.sqlite.org/fts5.html, section 6). A
strategy reads the lists of the prompt's rarest stems, as many as its budget of postings allows, and nothing else. A
row's number stands for a memory: to search several indexes as one, give another object with these methods.
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

    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.search.query import Term

    T = TypeVar("T")
    Phrase = tuple[str, ...]
    Weights = tuple[float, float, float]
    Place = tuple[int, int, str, int]
    """The number of a unit, and row, field and position of an occurrence."""

MOST_TERMS = 80
"""Units of a prompt that count. Of more units, the rarest are kept; units that no memory holds are kept last."""

MOST_LONGER = 30
"""Most stems that the beginning of a word matches: the commonest."""

FROM_THE_FIRST = -1

COUNTS = "select term, doc, cnt from json_each(?) join stem on term = value"
LISTED = """select
(select group_concat(rowid) from full_text where full_text match value and rowid > ?),
(select group_concat(rowid) from full_text where full_text match '{title tags} : (' || value || ')' and rowid > ?)
from json_each(?)"""
RETIRED = "select row from size where is_active = 0"
PLACES = """select key, doc, col, offset from json_each(?) join posting on term = value
where doc in (select value from json_each(?))"""
SIZES = "select row, tokens from size where row in (select value from json_each(?))"
RANKED = "select rowid, -bm25(full_text, ?, ?, ?) from full_text where full_text match ? and rowid > ?"
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
    """The lists of one index in one state of its tables: `memories` in it, and `tokens` in all of them."""

    def __init__(self, db: Connection, root: str) -> None:
        self._db, self._root = db, root
        self.memories, self.tokens = db.execute("select memories, tokens from about").fetchone()
        self._counts: dict[str, tuple[int, int]] = {}
        self._retired: frozenset[int] | None = None
        self._kept: tuple[object, Any] = None, None
        self._summaries: dict[int, MemorySummary] | None = None

    def kept(self, key: object, make: Callable[[], T]) -> T:
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

    def affordable(self, units: Sequence[Unit], budget: int) -> tuple[list[int], int]:
        """The numbers of the rarest units, in their order, whose lists have at most *budget* postings together.

        The second value is the row behind which memories count: if the rarest unit alone is beyond the budget, only
        the newest memories are looked at.
        """
        kept: list[int] = []
        left = budget
        for number in sorted(range(len(units)), key=lambda number: units[number].postings):
            left -= units[number].postings
            if left < 0 and kept:
                break
            if units[number].memories:
                kept.append(number)
        if not kept or left >= 0 or units[kept[0]].postings <= budget:
            return sorted(kept), FROM_THE_FIRST
        (last,) = self._db.execute("select max(row) from size").fetchone()
        return kept, int(last * (1 - budget / units[kept[0]].postings))

    def holders(self, units: Iterable[Unit], after: int) -> list[tuple[list[str], list[str]]]:
        """For each unit two lists of rows, as text: memories that hold it, and those with it in title or tags.

        Only rows behind *after* count.
        """
        listed = dumps([any_of(unit.phrases) for unit in units], ascii_only=False)
        found = self._db.execute(LISTED, (after, after, listed))
        return [(held.split(",") if held else [], head.split(",") if head else []) for held, head in found]

    def places(self, units: Sequence[Unit], rows: Collection[int]) -> list[Place]:
        """The occurrences of *units* in the memories *rows*. Those of a phrase are its first words."""
        stems = [*{stem for unit in units for phrase in unit.phrases for stem in phrase}]
        known: list[list[tuple[int, str, int]]] = [[] for _ in stems]
        for number, *place in self._db.execute(PLACES, (dumps(stems, ascii_only=False), dumps([*rows]))):
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

    def ranked(self, expression: str, weights: Weights, after: int) -> dict[int, float]:
        """Row -> FTS5's BM25 (positive, higher is better), of the memories behind *after* that match *expression*.

        *weights* are those of title, tags and body.
        """
        return dict(self._db.execute(RANKED, (*weights, expression, after)).fetchall())

    def score_of(self, row: int, expression: str, weights: Weights, after: int) -> float:
        """FTS5's BM25 of one memory, 0 if it does not match."""
        sql = f"{RANKED} and rowid = ?"
        found = self._db.execute(sql, (*weights, expression, after, row)).fetchone()
        return found[1] if found else 0.0

    @property
    def retired(self) -> frozenset[int]:
        """The rows of the memories that are not active."""
        if self._retired is None:
            self._retired = frozenset(row for (row,) in self._db.execute(RETIRED))
        return self._retired

    def lengths(self, rows: Iterable[int]) -> dict[int, int]:
        """Row -> the tokens of its memory."""
        return dict(self._db.execute(SIZES, (dumps([*rows]),)).fetchall())

    def strongest(self, scores: Mapping[int, float], size: int, *, include_retired: bool) -> dict[int, MemorySummary]:
        """The memories up to the *size*th active one, best first, by row; with *include_retired*, the first *size*.

        *scores*: row -> score, positive. Equal scores stand by category, then path.
        """
        retired = frozenset() if include_retired else self.retired
        counted = sorted([score for row, score in scores.items() if row not in retired], reverse=True)
        least = counted[size - 1] if len(counted) >= size else 0.0
        found = summaries_of(self._db, self._root, [row for row, score in scores.items() if score >= least])
        ordered = sorted(found, key=lambda row: (-scores[row], found[row].priority, found[row].path))
        places = [place for place, row in enumerate(ordered, 1) if row not in retired][:size]
        return {row: found[row] for row in (ordered[: places[-1]] if len(places) == size else ordered)}

    def all_summaries(self) -> dict[int, MemorySummary]:
        """Row -> memory, of every memory, by path. It is read once."""
        if self._summaries is None:
            rows = self._db.execute(f"select part, rowid, {SUMMARY} from memory where reason is null")
            found = [(part, row, summary(self._root, values)) for part, row, *values in rows]
            found.sort(key=lambda numbered: (numbered[2].file, numbered[0]))
            self._summaries = {row: memory for _, row, memory in found}
        return self._summaries

    def row_of(self, memory_id: str) -> int | None:
        """The row of a memory."""
        found = self._db.execute("select rowid from memory where id = ? and reason is null", (memory_id,)).fetchone()
        return found[0] if found else None

    def _longer(self, beginning: str) -> list[Phrase]:
        return [(stem,) for (stem,) in self._db.execute(LONGER, (beginning, beginning, MOST_LONGER))]

    def _unit(self, term: Term, phrases: tuple[Phrase, ...]) -> Unit:
        known = [phrase for phrase in phrases if self._postings((phrase,))]
        memories = 0
        if len(known) == 1 and len(known[0]) == 1:
            memories, _ = self._counts[known[0][0]]
        elif known:
            sql = "select count(*) from full_text where full_text match ?"
            (memories,) = self._db.execute(sql, (any_of(known),)).fetchone()
        return Unit(term.text, phrases, memories, self._postings(phrases), term.weight, term.of_file)

    def _postings(self, phrases: Iterable[Phrase]) -> int:
        """The postings of *phrases* at most: those of the rarest stem of each."""
        return sum([min([self._counts[stem][1] for stem in phrase]) for phrase in phrases])

    def _count(self, stems: set[str]) -> None:
        """Learn the number of memories that hold each stem, and of its occurrences."""
        if new := stems - self._counts.keys():
            self._counts |= dict.fromkeys(new, (0, 0))
            rows = self._db.execute(COUNTS, (dumps([*new], ascii_only=False),))
            self._counts |= {stem: (memories, occurrences) for stem, memories, occurrences in rows}
