"""The memories that answer a prompt most strongly, at a bounded cost.

FTS5 takes 1 to 2 us for each memory that it scores, and a prompt may be a paste. So the rarest units, up to a budget of
memories, choose candidates by FTS5's BM25; the strength of each of these is then computed over all units, from its bag
of words. Of the top three of an exhaustive search it finds 99 in 100 among 500 to 5,000 generated memories, and 88
among 50,000, where many are nearly equal.
"""

from __future__ import annotations

from engine.json_text import dumps
from engine.record import Record
from engine.search import rows
from engine.search.averages import averages_of
from engine.search.bags import WEIGHTS, bag_of
from engine.search.best_rows import best_rows
from engine.search.expansion import expand
from engine.search.query import any_of
from engine.search.recheck import read_again
from engine.search.schema import FULL_TEXT
from engine.search.sqlite import DatabaseError
from engine.search.strength import Matcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import MemorySummary
    from engine.search.expansion import Unit
    from engine.search.index import Index
    from engine.search.query import Term
    from engine.search.rows import Words
    from engine.search.sqlite import Connection
    from engine.search.strength import Match

    Found = tuple[Match, int, str, str, int]
    """A match with the memory's priority, path, status and row."""


class Effort(Record):
    """How much a search may cost: memories that FTS5 scores, counted once per unit, and memories that are matched."""

    budget: int
    candidates: int


MANY = 10_000
"""Memories from which on a root needs more candidates: among many, more of them are nearly equal."""

EXHAUSTIVE = Effort(budget=10**12, candidates=10**9)

MAX_CHOOSING = 192
"""Units that may choose candidates."""


class Strong(Record):
    """A memory and how it answers."""

    summary: MemorySummary
    match: Match


class Answers(Record):
    """What a prompt finds: the strongest memories, best first.

    `idf` is what each of its units weighs, `rare` what one rare word would.
    """

    units: tuple[Unit, ...]
    memories: tuple[Strong, ...]
    idf: Sequence[float]
    rare: float


def strongest(
    index: Index, terms: Sequence[Term], limit: int, *, include_retired: bool = False, effort: Effort | None = None
) -> Answers:
    """The strongest memories for *terms*: *limit* active ones, and the retired ones among them.

    With *include_retired* these count as well. Equal ones stand by category priority, then path. *effort*: what suits
    the size of the root, unless one is given.
    """
    return index.ask(lambda db: Search(index, db, terms, effort).run(limit, include_retired=include_retired))


def bounded(rows: int) -> Effort:
    """The effort for a prompt in a root of so many memories."""
    return Effort(budget=min(5000, max(1000, rows // 16)), candidates=30 if rows <= MANY else 50)


def matcher_for(db: Connection, units: Sequence[Unit]) -> Matcher:
    return Matcher(units, *averages_of(db, FULL_TEXT))


class Search:
    """One search in one state of the database."""

    def __init__(self, index: Index, db: Connection, terms: Sequence[Term], effort: Effort | None) -> None:
        self._index = index
        self._db = db
        self._units = expand(db, terms)
        self._matcher = matcher_for(db, self._units)
        self._effort = effort or bounded(self._matcher.rows)

    def run(self, limit: int, *, include_retired: bool) -> Answers:
        found = self._found(limit, include_retired=include_retired)
        return Answers(self._units, tuple(self._as_on_disk(found)), self._matcher.idf, self._matcher.rare)

    def _found(self, limit: int, *, include_retired: bool) -> list[Strong]:
        known = [unit for unit in self._units if unit.count]
        expression = any_of((phrase, False) for phrase in sought(known, self._effort.budget))
        size = max(self._effort.candidates, limit + limit // 2)
        while expression:
            rowids = self._candidates(expression, size)
            matched = self._matched(rowids)
            kept = _first(matched, limit, include_retired=include_retired)
            if len(rowids) < size or len(kept) < len(matched):
                return self._with_summaries(kept)
            size *= 2  # too many of them were retired
        return []

    def _candidates(self, expression: str, size: int) -> list[int]:
        return [rowid for rowid, _ in best_rows(self._db, FULL_TEXT, WEIGHTS, expression, size)]

    def _matched(self, rowids: list[int]) -> list[Found]:
        """Those of *rowids* that match, the strongest first."""
        sql = """select b.content, b.check_sum, m.priority, m.path, m.status, m.rowid
                 from bag b join memory m using (rowid) where b.rowid in (select value from json_each(?))"""
        read = self._db.execute(sql, (dumps(rowids),)).fetchall()
        if len(read) != len(rowids):
            raise DatabaseError("the index names memories that it does not hold")
        found = []
        for *bag, priority, path, status, rowid in read:
            match = self._matcher.match(rows.bag_in(bag), lambda: self._words(rowid))  # noqa: B023 - called at once
            if match:
                found.append((match, priority, path, status, rowid))
        return sorted(found, key=lambda one: (-one[0].strength, *one[1:3]))

    def _words(self, rowid: int) -> Words:
        sql = "select title, tags, body, check_sum from words where rowid = ?"
        return rows.words_in(self._db.execute(sql, (rowid,)).fetchone())

    def _with_summaries(self, found: list[Found]) -> list[Strong]:
        sql = f"select rowid, {rows.SUMMARY}, check_sum from memory where rowid in (select value from json_each(?))"
        read = self._db.execute(sql, (dumps([one[-1] for one in found]),))
        summaries = {row[0]: rows.summary_of(self._index.root, row[1:]) for row in read}
        return [Strong(summaries[rowid], match) for match, *_, rowid in found]

    def _as_on_disk(self, found: list[Strong]) -> list[Strong]:
        """The memories as their files are now: what changed is read again; what is gone or says nothing is left out."""
        stale = self._index.stale([one.summary for one in found])
        if not stale:
            return found
        read = [self._read_again(one) if one.summary.id in stale else one for one in found]
        return sorted((one for one in read if one), key=order)

    def _read_again(self, one: Strong) -> Strong | None:
        memory = read_again(self._index.root, one.summary)
        if memory is None:
            return None
        words = rows.words_of(memory)
        match = self._matcher.match(bag_of(words), lambda: words)
        return Strong(memory.summary, match) if match else None


def order(one: Strong) -> tuple[float, int, str]:
    """The sort key of the strongest first."""
    return -one.match.strength, one.summary.priority, one.summary.path


def sought(units: Sequence[Unit], budget: int) -> list[tuple[str, ...]]:
    """What FTS5 is asked for: the rarest units, at least one, within *budget*; and what they begin, if there is room.

    Longer words count half, so they choose candidates only after all that counts in full.
    """
    kept: list[Unit] = []
    for unit in sorted(units, key=_cost):
        budget -= _cost(unit)
        if kept and (budget < 0 or len(kept) == MAX_CHOOSING):
            break
        kept.append(unit)
    found = [phrase for unit in kept for phrase in (unit.phrases if unit.in_full else _longer(unit))]
    for unit in sorted((unit for unit in kept if unit.in_full), key=lambda unit: unit.count - unit.in_full):
        budget -= unit.count - unit.in_full
        if budget < 0:
            break
        found += _longer(unit)
    return found


def _longer(unit: Unit) -> list[tuple[str, ...]]:
    return [(word,) for word in unit.longer]


def _cost(unit: Unit) -> int:
    """How many memories FTS5 scores for a unit."""
    return unit.in_full or unit.count


def _first(matched: list[Found], limit: int, *, include_retired: bool) -> list[Found]:
    """The strongest up to the *limit*th that counts."""
    places = [place for place, one in enumerate(matched, start=1) if include_retired or one[3] == "active"]
    return matched[: places[limit - 1]] if len(places) >= limit else matched
