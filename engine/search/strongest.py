"""The memories that answer a prompt most strongly, at a bounded cost.

To add up a posting takes a cold process 0.3 us, and a prompt may be a paste. So the postings of the rarest units, up to
a budget, choose candidates; each of the commoner ones then adds to these alone, and some of them leave half of the
candidates. What is left is matched exactly. What an exhaustive search finds first, this finds among 500 to 5,000
generated memories as well; among 50,000, where many are nearly equal, 97 in 100 of the top three.
"""

from __future__ import annotations

from engine.json_text import dumps
from engine.record import record
from engine.search import rows
from engine.search.bags import bag_of
from engine.search.expansion import expand
from engine.search.postings import Lengths, is_active
from engine.search.recheck import read_again
from engine.search.sqlite import DatabaseError
from engine.search.strength import Matcher
from engine.search.tally import Tally, parts_of

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
    from engine.search.tally import Part

    Found = tuple[Match, int]
    """A match and the memory's row."""


@record
class Effort:
    """How much a search may cost.

    `budget`: postings that are added up to choose candidates. `candidates`: from how many of these the commoner units
    choose, of which `least` are matched in the end. `postings` of the commoner units are read for that at most, and
    `parts` of them; what is beyond is found in bags.
    """

    budget: int
    candidates: int
    least: int
    postings: int
    parts: int


EXHAUSTIVE = Effort(budget=10**12, candidates=10**9, least=10**9, postings=10**12, parts=10**9)

HALVED_AFTER = 3
"""Of the commoner units, each so many leave half of the candidates."""


@record
class Strong:
    """A memory and how it answers."""

    summary: MemorySummary
    match: Match


@record
class Answers:
    """What a prompt finds: its units, the strongest memories, best first, and what one rare word would weigh."""

    units: tuple[Unit, ...]
    memories: tuple[Strong, ...]
    rare: float


def strongest(
    index: Index, terms: Sequence[Term], limit: int, *, include_retired: bool = False, effort: Effort | None = None
) -> Answers:
    """The strongest memories for *terms*: *limit* active ones, and the retired ones among them.

    With *include_retired* these count as well. Equal ones stand by category priority, then path.
    """
    return index.ask(lambda db: Search(index, db, terms, effort, counts_all=include_retired).run(limit))


def bounded(memories: int) -> Effort:
    """The effort for a prompt in a root of so many memories: among many, more of them are nearly equal."""
    share = min(1.0, memories / 50_000)
    candidates = 100 + int(300 * share)
    return Effort(2000 + int(1000 * share), candidates, least=24 + int(16 * share), postings=500_000, parts=100)


class Search:
    """One search in one state of the database. With *counts_all* retired memories count as active ones do."""

    def __init__(
        self, index: Index, db: Connection, terms: Sequence[Term], effort: Effort | None, *, counts_all: bool
    ) -> None:
        self._index = index
        self._db = db
        self._units = expand(db, terms)
        self._lengths = Lengths(db)
        self._matcher = Matcher(self._units, self._lengths.rows, self._lengths.mean_length)
        self._effort = effort or bounded(self._lengths.rows)
        self._counts_all = counts_all

    def run(self, limit: int) -> Answers:
        matched = sorted(self._matched(limit), key=lambda one: -one[0].strength)
        counted = [match.strength for match, row in matched if self._counts(row)]
        least = counted[limit - 1] if len(counted) >= limit else 0.0
        found = self._with_summaries([one for one in matched if one[0].strength >= least])
        first = _first(sorted(found, key=order), limit, counts_all=self._counts_all)
        return Answers(self._units, tuple(self._as_on_disk(first)), self._matcher.rare)

    def _counts(self, row: int) -> bool:
        return self._counts_all or is_active(self._lengths.values[row])

    def _matched(self, limit: int) -> list[Found]:
        """The candidates that match."""
        effort = self._effort
        first, others = chosen(self._units, effort.budget)
        some = _within(others, effort)
        tally = Tally(self._db, self._lengths, self._matcher, counts_all=self._counts_all)
        tally.add_all(first)
        least = max(effort.least, limit + limit // 2)
        for number, (part, lists) in enumerate(tally.lists_of(some)):
            if number % HALVED_AFTER == 0:
                tally.keep(max(effort.candidates >> number // HALVED_AFTER, least))
            tally.add_some(part, lists)
        tally.keep(least)
        return self._by_lists(tally) if len(some) == len(others) else self._by_bags(list(tally.sums))

    def _by_lists(self, tally: Tally) -> list[Found]:
        words = self._words(tally.phrased())
        found = ((tally.match(row, words.get(row)), row) for row in tally.sums)
        return [(match, row) for match, row in found if match]

    def _by_bags(self, rowids: list[int]) -> list[Found]:
        sql = "select rowid, content, check_sum from bag where rowid in (select value from json_each(?))"
        read = self._db.execute(sql, (dumps(rowids),)).fetchall()
        if len(read) != len(rowids):
            raise DatabaseError("the index names memories that it does not hold")
        found = ((self._matcher.match(rows.bag_in(bag), lambda: self._words([row])[row]), row) for row, *bag in read)  # noqa: B023
        return [(match, row) for match, row in found if match]

    def _words(self, rowids: list[int]) -> dict[int, Words]:
        sql = "select rowid, title, tags, body, check_sum from words where rowid in (select value from json_each(?))"
        read = self._db.execute(sql, (dumps(rowids),)) if rowids else ()
        return {row: rows.words_in(tuple(words)) for row, *words in read}

    def _with_summaries(self, found: list[Found]) -> list[Strong]:
        sql = f"select rowid, {rows.SUMMARY}, check_sum from memory where rowid in (select value from json_each(?))"
        read = self._db.execute(sql, (dumps([row for _, row in found]),))
        summaries = {row[0]: rows.summary_of(self._index.root, row[1:]) for row in read}
        return [Strong(summaries[row], match) for match, row in found]

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


def chosen(units: Sequence[Unit], budget: int) -> tuple[list[Part], list[Part]]:
    """The parts that choose candidates, and the others, both in the order in which they are added.

    The rarest choose, at least one, within *budget*. Longer words count half, so they do only after all that counts in
    full, and where there is room.
    """
    full, longer = parts_of(units)
    first = _affordable(full or longer, budget, at_least=1)
    ready = {part.unit for part in first} | ({part.unit for part in longer} - {part.unit for part in full})
    budget -= sum(part.cost for part in first)
    first += _affordable([part for part in longer if part.unit in ready], budget) if full else []
    taken = {(part.unit, part.is_longer) for part in first}
    return first, [part for part in (*full, *longer) if (part.unit, part.is_longer) not in taken]


def _affordable(parts: Sequence[Part], budget: int, *, at_least: int = 0) -> list[Part]:
    """The first of *parts* whose cost is within *budget*."""
    found: list[Part] = []
    for part in parts:
        budget -= part.cost
        if budget < 0 and len(found) >= at_least:
            break
        found.append(part)
    return found


def _within(parts: Sequence[Part], effort: Effort) -> list[Part]:
    """Those of the commoner *parts* that are looked up: all, or as many as leave few enough to be found in bags."""
    found = _affordable(parts[: effort.parts], effort.postings)
    return found if len(found) == len(parts) else found[: 5 * HALVED_AFTER]


def _first(found: list[Strong], limit: int, *, counts_all: bool) -> list[Strong]:
    """The strongest up to the *limit*th that counts."""
    places = [place for place, one in enumerate(found, start=1) if counts_all or one.summary.status == "active"]
    return found[: places[limit - 1]] if len(places) >= limit else found
