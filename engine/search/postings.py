"""The posting lists of an index: the memories, fields and positions in which each stem of a prompt stands.

FTS5's table of type `instance` has a row for each occurrence of a stem (https://www.sqlite.org/fts5.html, section 6). A
strategy reads the lists of the prompt's rarest stems, as many as its budget of postings allows, and nothing else. A
row's number stands for a memory: to search several indexes as one, give another object with these methods.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.search.commonness import rarity_of
from engine.search.database import SUMMARY, summaries_of, summary
from engine.search.query import any_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.search.query import Term

    T = TypeVar("T")
    Phrase = tuple[str, ...]
    Weights = tuple[float, float, float]
    Place = tuple[int, str, int]
    """Row, field and position of an occurrence."""

    Hit = tuple[int, float, int, int, int]
    """Row, weighted occurrences, whether any is in title or tags, tokens, and whether the memory is active."""

    Ranked = tuple[int, float, int, int]
    """Row, FTS5's BM25 (positive, higher is better), tokens, and whether the memory is active."""

MOST_TERMS = 80
"""Of a prompt with more terms, those that are rarest in general text count, and the first of equally rare ones."""

MOST_LONGER = 30
"""Most stems that the beginning of a word matches: the commonest."""

FROM_THE_FIRST = -1

HITS = """select row, sum(case col when 'body' then ? when 'tags' then ? else ? end), max(col != 'body'), tokens, is_active
from json_each(?) join posting on term = value join size on row = doc where doc > ? group by row"""
PLACES = """select doc, col, offset from posting where term = ? and doc in (select value from json_each(?))"""
SIZES = "select row, tokens, is_active from size where row in (select value from json_each(?))"
HOLDING = "select rowid from full_text where full_text match ? and rowid > ?"
RANKED = """select row, -bm25(full_text, ?, ?, ?), tokens, is_active from full_text join size on row = full_text.rowid
where full_text match ? and full_text.rowid > ?"""
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
        if len(terms) > MOST_TERMS:
            rarest = sorted(range(len(terms)), key=lambda number: (-rarity_of(terms[number]), number))[:MOST_TERMS]
            terms = [terms[number] for number in sorted(rarest)]
        found: dict[tuple[Phrase, ...], Unit] = {}
        for term in terms:
            phrases = (*term.stems, *(self._longer(term.phrases[0][0]) if term.is_prefix else ()))
            if phrases not in found:
                found[phrases] = self._unit(term, phrases)
        return [*found.values()]

    def affordable(self, units: Iterable[Unit], budget: int) -> tuple[list[Unit], int]:
        """The units that are rarest, in their order, whose lists have at most *budget* postings together.

        The second value is the row behind which memories count: if the rarest unit alone is beyond the budget, only
        the newest memories are looked at.
        """
        held = [unit for unit in units if unit.memories]
        kept: list[Unit] = []
        left = budget
        for unit in sorted(held, key=lambda unit: unit.postings):
            left -= unit.postings
            if left < 0 and kept:
                break
            kept.append(unit)
        if not kept or kept[0].postings <= budget:
            return [unit for unit in held if unit in kept], FROM_THE_FIRST
        (last,) = self._db.execute("select max(row) from size").fetchone()
        return kept, int(last * (1 - budget / kept[0].postings))

    def hits(self, unit: Unit, weights: Weights, after: int) -> list[Hit]:
        """The memories behind the row *after* that hold a unit. *weights*: of an occurrence in title, tags and body."""
        in_title, in_tags, in_body = weights
        if unit.is_word:
            listed = dumps([stem for (stem,) in unit.phrases], ascii_only=False)
            return self._db.execute(HITS, (in_body, in_tags, in_title, listed, after)).fetchall()
        holding = self._db.execute(HOLDING, (any_of(unit.phrases), after)).fetchall()
        counts: dict[int, tuple[float, bool]] = {row: (0.0, False) for (row,) in holding}
        for row, field, _ in self.places(unit, counts):
            count, in_headline = counts[row]
            weight = in_body if field == "body" else in_tags if field == "tags" else in_title
            counts[row] = count + weight, in_headline or field != "body"
        sizes = self._db.execute(SIZES, (dumps([*counts]),))
        return [(row, *counts[row], tokens, is_active) for row, tokens, is_active in sizes]

    def places(self, unit: Unit, rows: Collection[int]) -> list[Place]:
        """The occurrences of a unit in the memories *rows*. One word of a phrase after the other must be a neighbour."""
        listed = dumps([*rows])
        known: dict[str, list[Place]] = {}
        for stem in {stem for phrase in unit.phrases for stem in phrase}:
            known[stem] = self._db.execute(PLACES, (stem, listed)).fetchall()
        found: dict[Place, None] = {}
        for first, *others in unit.phrases:
            begun = known[first]
            for distance, stem in enumerate(others, 1):
                there = {*known[stem]}
                begun = [place for place in begun if (place[0], place[1], place[2] + distance) in there]
            found |= dict.fromkeys(begun)
        return [*found]

    def ranked(self, expression: str, weights: Weights, after: int) -> list[Ranked]:
        """The memories behind the row *after* that match *expression*. *weights*: those of title, tags and body."""
        return self._db.execute(RANKED, (*weights, expression, after)).fetchall()

    def score_of(self, row: int, expression: str, weights: Weights, after: int) -> float:
        """FTS5's BM25 of one memory, 0 if it does not match."""
        sql = f"{RANKED} and full_text.rowid = ?"
        found = self._db.execute(sql, (*weights, expression, after, row)).fetchone()
        return found[1] if found else 0.0

    def lengths(self, rows: Collection[int]) -> dict[int, int]:
        """Row -> the tokens of its memory."""
        return {row: tokens for row, tokens, _ in self._db.execute(SIZES, (dumps([*rows]),))}

    def strongest(
        self, scores: Mapping[int, float], active: Container[int], size: int, *, include_retired: bool
    ) -> dict[int, MemorySummary]:
        """The memories up to the *size*th active one, best first, by row; with *include_retired*, the first *size*.

        *scores*: row -> score, positive. Equal scores stand by category, then path.
        """
        counted = sorted([score for row, score in scores.items() if include_retired or row in active], reverse=True)
        least = counted[size - 1] if len(counted) >= size else 0.0
        found = summaries_of(self._db, self._root, [row for row, score in scores.items() if score >= least])
        ordered = sorted(found, key=lambda row: (-scores[row], found[row].priority, found[row].path))
        places = [place for place, row in enumerate(ordered, 1) if include_retired or row in active][:size]
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
        counts = {phrase: [self._count(stem) for stem in phrase] for phrase in phrases}
        known = {phrase: of_phrase for phrase, of_phrase in counts.items() if all(memories for memories, _ in of_phrase)}
        postings = sum(min(occurrences for _, occurrences in of_phrase) for of_phrase in known.values())
        memories = 0
        if len(known) == 1 and len(phrase := next(iter(known))) == 1:
            memories, _ = self._count(phrase[0])
        elif known:
            sql = "select count(*) from full_text where full_text match ?"
            (memories,) = self._db.execute(sql, (any_of(known),)).fetchone()
        return Unit(term.text, phrases, memories, postings, term.weight, term.of_file)

    def _count(self, stem: str) -> tuple[int, int]:
        """The memories that hold a stem, and its occurrences."""
        if stem not in self._counts:
            found = self._db.execute("select doc, cnt from stem where term = ?", (stem,)).fetchone()
            self._counts[stem] = found or (0, 0)
        return self._counts[stem]
