"""Postings: in which memories a word stands and how much it counts there, ready to be added up.

A word has a list for each SEGMENT memories, by row. A list is either short: rows within the segment, ascending, 16 bits
each in this machine's order, then as many weights of 8 bits; or full: a weight for every row of the segment, 0 where
the word does not stand. A weight adds up WEIGHTS, once per occurrence, up to MAX_WEIGHT. Where a common word stands at
all lies in bitmaps as well, see `engine.search.bitmaps`.

Lists are large, and a changed memory touches hundreds. So the lists leave out the memories that changed lately, up to
MOST_RECENT of them: these are kept as bags, and matched one by one. See `engine.search.changes`.
"""

from __future__ import annotations

import sys

from engine.json_text import dumps
from engine.search.sqlite import DatabaseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Blob

    from engine.search.sqlite import Connection

    Rows = dict[int, dict[int, int]]
    """Segment -> rows within it, and the number by which each goes."""


WEIGHTS = (4, 2, 1)
"""What an occurrence in title, tags and body counts."""

MAX_WEIGHT = 255
SEGMENT = 65_536
MOST_SEGMENTS = 4096
"""More are no root's: 268 million memories."""

MOST_RECENT = 32
FULL_SHARE = 32
"""A list is full where the word stands in at least one of so many rows: larger, then, but quicker to look into."""

DENSE = 8
"""A short list of so many times the rows that are looked for is searched for each; a shorter one is read as it is."""

STRONG = WEIGHTS[0]
"""The weight from which on a word counts as if it were in the title."""

HELD = {least: b"0" * least + b"1" * (256 - least) for least in (1, STRONG)}
"""Least weight -> for each weight whether it is as much, as a binary digit."""

LOW = 0 if sys.byteorder == "little" else 1
"""The place of a 16-bit number's lower byte."""

SPARSE = 1000
"""Where only one row in so many is looked for, it is read alone."""

MAX_LENGTH = 0x7FFF
"""The most tokens of a memory that are told apart."""

RETIRED = 0x8000
LISTED = """select term, segment, rows, is_full, case when is_full and rows > ? then rowid else content end from posting
where term in (select value from json_each(?))"""


class List:
    """The list of a word in one segment: of *rows* rows. `base` is the row before the first of the segment."""

    def __init__(self, segment: int, rows: int, is_full: int, content: bytes) -> None:
        """Raises what is in DAMAGE where the list was damaged."""
        if not rows or not isinstance(content, bytes) or len(content) != (rows if is_full else 3 * rows):
            raise DatabaseError("the list of a word is damaged")
        if not 0 <= segment < MOST_SEGMENTS:
            raise DatabaseError("the list of a word lies nowhere")
        self.segment = segment
        self.base = segment * SEGMENT
        self.is_full = is_full
        self._content = content
        self._size = rows

    @property
    def memories(self) -> int:
        """How many memories hold the word."""
        return self._size - self._content.count(0) if self.is_full else self._size

    @property
    def rows(self) -> Iterable[int]:
        """The rows that hold the word, ascending."""
        if self.is_full:
            from itertools import compress  # 0.1 ms of a cold process, and common words are seldom read whole

            return compress(range(self.base, self.base + self._size), self._content)
        within = memoryview(self._content)[: 2 * self._size].cast("H")
        return map(self.base.__add__, within) if self.base else within

    def postings(self) -> Iterable[tuple[int, int]]:
        """Row and weight of each memory that holds the word, by row."""
        weights = self._content.translate(None, b"\0") if self.is_full else self._content[2 * self._size :]
        return zip(self.rows, weights, strict=True)

    def held(self, least: int) -> int:
        """The rows of the segment where the word weighs at least so much, 1 or STRONG: a bit for each of them."""
        if self.is_full:
            return int(self._content[::-1].translate(HELD[least]), 2)
        held = bytearray()
        self.mark(held, least)
        return int.from_bytes(held, "little")

    def mark(self, held: bytearray, least: int, first: int = 0) -> None:
        """Set the bits of these rows in a bitmap, which grows as it has to, from byte *first* on. For a short list."""
        if self.is_full:
            raise DatabaseError("a common word has no bitmaps")
        rows: Sequence[int] = memoryview(self._content)[: 2 * self._size].cast("H")
        held.extend(bytes(max(0, first + (rows[-1] >> 3) + 1 - len(held))))
        if least > 1:
            weights = self._content[2 * self._size :]
            rows = [row for row, weight in zip(rows, weights, strict=True) if weight >= least]
        for row in rows:
            held[first + (row >> 3)] |= 1 << (row & 7)

    def among(self, rows: Rows) -> dict[int, int]:
        """Number -> weight, for those of *rows* that hold the word."""
        wanted = rows.get(self.segment, {})
        if self.is_full:
            return _weights(self._content, wanted)
        if self._size >= DENSE * len(wanted):
            return self._searched(wanted)
        within = memoryview(self._content)[: 2 * self._size].cast("H")
        weights = self._content[2 * self._size :]
        return {wanted[row]: weight for row, weight in zip(within, weights, strict=True) if row in wanted}

    def _searched(self, rows: dict[int, int]) -> dict[int, int]:
        """`among` by a look for each row: for where its higher byte begins, and from there for its lower one."""
        first_weight = 2 * self._size
        lower, higher = (self._content[place:first_weight:2] for place in (LOW, 1 - LOW))
        begins, follows = higher.find, lower.find
        found = {}
        for row, number in rows.items():
            high = row >> 8 & 255
            place = begins(high)
            place = follows(row & 255, place) if place >= 0 else -1
            if place >= 0 and higher[place] == high:
                found[number] = self._content[first_weight + place]
        return found


def by_segment(rows: Iterable[int]) -> Rows:
    """Rows as `List.among` looks for them: each goes by its place among them."""
    found: Rows = {}
    for place, row in enumerate(rows):
        found.setdefault(row // SEGMENT, {})[row % SEGMENT] = place
    return found


def weights_among(db: Connection, words: Sequence[str], rows: Rows) -> Iterable[tuple[str, dict[int, int]]]:
    """Word and `List.among` for each list of some words, by word and segment. Raises what is in DAMAGE.

    A full list in which few rows are looked for is not read as a whole.
    """
    most = SPARSE * max(map(len, rows.values()), default=0)
    listed = db.execute(LISTED, (most, dumps(words, ascii_only=False))) if words else ()
    for word, segment, size, is_full, content in listed:
        if isinstance(content, int):
            wanted = rows.get(segment, {})
            with db.blobopen("posting", "content", content, readonly=True) as weights:
                if len(weights) != size:
                    raise DatabaseError("the list of a word is damaged")
                yield word, _weights(weights, wanted)
        else:
            yield word, List(segment, size, is_full, content).among(rows)


def _weights(content: bytes | Blob, wanted: dict[int, int]) -> dict[int, int]:
    """Number -> weight of the *wanted* rows that are not 0 in a full list."""
    end = len(content)
    return {number: weight for row, number in wanted.items() if row < end and (weight := content[row])}


def lengths_of(db: Connection, rows: Iterable[int]) -> dict[int, int]:
    """For some rows the tokens of their memories, MAX_LENGTH at most, plus RETIRED for one that is not active.

    It says nothing of the rows of recent memories, and of rows without a memory. Raises what is in DAMAGE.
    """
    found = {}
    for segment, wanted in by_segment(rows).items():
        base = segment * SEGMENT
        with db.blobopen("length", "content", segment, readonly=True) as content:
            if len(wanted) * SPARSE < len(content) // 2:
                if 2 * max(wanted) + 2 > len(content):
                    raise DatabaseError("the lengths of the memories are damaged")
                for row in wanted:
                    length = content[2 * row : 2 * row + 2]
                    found[base + row] = int.from_bytes(length, sys.byteorder)  # type: ignore[arg-type]
            else:
                lengths = memoryview(content.read()).cast("H")
                found |= {base + row: lengths[row] for row in wanted}
    return found


def recent_in(db: Connection) -> Iterable[tuple[int, str | None, bytes | None, int]]:
    """The memories that the lists leave out: row, bag and check sum (None for one that is gone), is active."""
    return db.execute("select rowid, content, check_sum, is_active from recent")
