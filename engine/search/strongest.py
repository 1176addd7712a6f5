"""The memories that answer a prompt most strongly, at a bounded cost.

To add up a posting takes a cold process 0.3 us, and a prompt may be a paste. So what memories hold of it at all chooses
candidates (see `engine.search.candidates`), and these alone are scored.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.lean.sqlite import DatabaseError
from engine.search import rows
from engine.search.averages import averages_of
from engine.search.best import best, place_of
from engine.search.candidates import Candidates
from engine.search.expansion import expand
from engine.search.postings import MAX_LENGTH, RETIRED, lengths_of, recent_in
from engine.search.recheck import filled, read_again
from engine.search.schema import FULL_TEXT
from engine.search.strength import Matcher
from engine.search.tally import Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set

    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.search.expansion import Unit
    from engine.search.index import Index
    from engine.search.query import Term
    from engine.search.rows import Words
    from engine.search.stamps import Stamp
    from engine.search.strength import Match


class Effort(Record):
    """How much a search may cost.

    So many `candidates` are scored. The best are read for the phrases that may stand in them; where some do not hold
    what their words promised, so that others are the best, more are read, up to so many in each of the `readings`.
    """

    candidates: int
    readings: tuple[int, ...] = (16, 32, 64)


EXHAUSTIVE = Effort(candidates=10**9, readings=(10**9,))

SPARE = 8
"""One more in so many is asked for, in place of those that turn out retired: to ask again costs as much as at first."""

SUMMARY = ", ".join(f"memory.{name}" for name in rows.SUMMARY.split(", "))
READ = f"""select rowid, size, mtime, ctime, {SUMMARY}, check_sum from memory left join file using (rowid)
where rowid in (select value from json_each(?))"""


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
    return index.ask(lambda db: Search(index, db, terms, effort, counts_all=include_retired).run(limit))


def bounded(memories: int, units: int) -> Effort:
    """The effort for a prompt of which memories hold so many units: the fewer, and the more memories, the more alike.

    For 60 generated prompts of each length it finds 99 to 100 in 100 of an exhaustive search's top three among 500,
    5,000 and 50,000 memories; for short and ordinary ones 97 to 98 among 500,000. The exponent is fitted to that.
    """
    return Effort(candidates=max(32, int(1130 * (1 + min(1, memories / 1_000_000)) / max(1, units) ** 1.3)))


class Search:
    """One search in one state of the database. With *counts_all* retired memories count as active ones do."""

    def __init__(
        self, index: Index, db: Connection, terms: Sequence[Term], effort: Effort | None, *, counts_all: bool
    ) -> None:
        self._index = index
        self._db = db
        self._units = expand(db, terms)
        self._matcher = Matcher(self._units, *averages_of(db, FULL_TEXT))
        self._effort = effort or bounded(self._matcher.rows, sum(unit.count > 0 for unit in self._units))
        self._counts_all = counts_all
        self._lengths: dict[int, int] = {}
        self._stamps: dict[str, Stamp] = {}

    def run(self, limit: int) -> Answers:
        memories = filled(limit, self._strongest, self._as_on_disk, self._count)
        first = tuple(_first(memories, limit, counts_all=self._counts_all))
        return Answers(self._units, first, self._matcher.idf, self._matcher.rare)

    def _strongest(self, limit: int) -> list[Strong]:
        """The strongest as the index has them."""
        matches, are_active = self._recent()
        found = self._listed(limit, leaving_out=are_active.keys())
        matches |= found

        def counts(row: int) -> bool:
            return self._counts_all or are_active.get(row, False) or (row in found and self._counts(row))

        strengths = {row: match.strength for row, match in matches.items()}
        chosen = {row: matches[row] for row in self._best(strengths, limit, counts)}
        return _first(sorted(self._with_summaries(chosen), key=order), limit, counts_all=self._counts_all)

    def _count(self, found: Sequence[Strong]) -> int:
        return sum(self._counts_all or one.summary.status == "active" for one in found)

    def _counts(self, row: int) -> bool:
        return self._counts_all or not self._lengths[row] & RETIRED

    def _recent(self) -> tuple[dict[int, Match], dict[int, bool]]:
        """How the memories answer that the lists leave out, and for each of their rows whether it is active."""
        found: dict[int, Match] = {}
        are_active = {}
        for row, bag, check_sum, is_active in recent_in(self._db):
            are_active[row] = bool(is_active)
            match = bag and self._matcher.match(rows.bag_in((bag, check_sum)), lambda: self._words([row])[row])  # noqa: B023
            if match:
                found[row] = match
        return found, are_active

    def _listed(self, limit: int, leaving_out: Set[int]) -> dict[int, Match]:
        """How the best of the memories in the lists answer."""
        candidates = Candidates(self._db, self._units, self._matcher.worth, self._matcher.rows)
        chosen = self._chosen(candidates, max(limit, self._effort.candidates), leaving_out)
        tally = Tally(self._db, self._units, self._matcher, candidates.lists, candidates.numbers)
        scores = tally.score(chosen, self._lengths)
        strengths = scores.strengths
        found: dict[int, Match] = {}
        unread = scores.phrased
        for size in (limit, *self._effort.readings):
            due = [row for row in self._best(strengths, limit, self._counts) if row in unread]
            if not due:
                break
            if size > limit:
                due = [row for row in self._best(strengths, size, self._counts) if row in unread]
            read = self._words(due)
            for row, words in read.items():
                if match := scores.match(row, words):
                    found[row] = match
                    strengths[row] = match.strength
                else:
                    del strengths[row]
            unread = unread - read.keys()
        strengths = {row: strength for row, strength in strengths.items() if row not in unread}
        best_rows = self._best(strengths, limit, self._counts)
        matches = {row: found.get(row) or scores.match(row) for row in best_rows}
        return {row: match for row, match in matches.items() if match}

    def _chosen(self, candidates: Candidates, size: int, leaving_out: Set[int]) -> list[int]:
        """The memories that hold most of the prompt, *size* that count, but none of *leaving_out*."""
        asked = size + size // SPARE + len(leaving_out)
        while True:
            above, equal = candidates.best(asked)
            self._lengths = lengths_of(self._db, above + equal)
            room = size + len(leaving_out) - sum(map(self._counts, above))
            if sum(map(self._counts, equal)) >= room or len(above) + len(equal) < asked:
                break
            asked *= 2
        equal = self._shortest(equal, room) if room > 0 else []
        return [row for row in above + equal if row not in leaving_out]

    def _best(self, values: Mapping[int, float], size: int, counts: Callable[[int], bool]) -> list[int]:
        return best(values, size, counts, self._in_order)

    def _shortest(self, rowids: list[int], size: int) -> list[int]:
        """Of memories that hold as much of the prompt, a shorter one answers it better: *size* that count, or more.

        Equal ones are told apart, which takes a statement, only where twice as many would come.
        """
        shortness = {row: -(self._lengths[row] & MAX_LENGTH) for row in rowids}
        ordered = sorted(rowids, key=shortness.__getitem__, reverse=True)
        last = place_of(size, ordered, self._counts)
        if last is None:
            return ordered
        least = shortness[ordered[last]]
        while last + 1 < len(ordered) and shortness[ordered[last + 1]] == least:
            last += 1
        return ordered[: last + 1] if last < 2 * size else self._best(shortness, size, self._counts)

    def _in_order(self, rowids: list[int], _: int) -> list[int]:
        sql = "select rowid from memory where rowid in (select value from json_each(?)) order by priority, path"
        return [row for (row,) in self._db.execute(sql, (dumps(rowids),))]

    def _words(self, rowids: list[int]) -> dict[int, Words]:
        sql = "select rowid, title, tags, body, check_sum from words where rowid in (select value from json_each(?))"
        read = self._db.execute(sql, (dumps(rowids),)) if rowids else ()
        return {row: rows.words_in(tuple(words)) for row, *words in read}

    def _with_summaries(self, found: dict[int, Match]) -> list[Strong]:
        read = self._db.execute(READ, (dumps([*found]),)).fetchall()
        if len(read) != len(found):
            raise DatabaseError("the index names memories that it does not hold")
        self._stamps = {memory_id: (size, mtime, ctime) for _, size, mtime, ctime, memory_id, *_ in read}
        return [Strong(rows.summary_of(self._index.root, row[4:]), found[row[0]]) for row in read]

    def _as_on_disk(self, found: list[Strong]) -> list[Strong]:
        """The memories as their files are now: what changed is read again; what is gone or says nothing is left out."""
        stale = self._index.stale([one.summary for one in found], self._stamps)
        if not stale:
            return found
        read = [self._read_again(one) if one.summary.id in stale else one for one in found]
        return sorted((one for one in read if one), key=order)

    def _read_again(self, one: Strong) -> Strong | None:
        memory = read_again(self._index.root, one.summary)
        if memory is None:
            return None
        from engine.search.bags import bag_of  # seldom: the file changed since it was read

        words = rows.words_of(memory)
        match = self._matcher.match(bag_of(words), lambda: words)
        return Strong(memory.summary, match) if match else None


def order(one: Strong) -> tuple[float, int, str]:
    """The sort key of the strongest first."""
    return -one.match.strength, one.summary.priority, one.summary.path


def _first(found: list[Strong], limit: int, *, counts_all: bool) -> list[Strong]:
    """The strongest up to the *limit*th that counts."""
    places = [place for place, one in enumerate(found, start=1) if counts_all or one.summary.status == "active"]
    return found[: places[limit - 1]] if len(places) >= limit else found
