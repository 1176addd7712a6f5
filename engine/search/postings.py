"""Postings: in which memories a word stands and how much it counts there, ready to be added up.

A word has a list for each SEGMENT memories, by row: rows within the segment, ascending, 16 bits each in this machine's
order, then as many weights of 8 bits, see `engine.search.weights`. What the lists of common words say is kept in
quicker forms as well, see `engine.search.common_words`.

Lists are large, and a changed memory touches hundreds. So the lists leave out the memories that changed lately, up to
MOST_RECENT of them: these are kept as bags, and matched one by one. See `engine.search.changes`.
"""

from __future__ import annotations

import sys

from engine.lean.sqlite import DatabaseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.lean.sqlite import Connection

    Rows = dict[int, dict[int, int]]
    """Segment -> rows within it, and the number by which each goes."""


SEGMENT = 65_536
MOST_SEGMENTS = 4096
"""More are no root's: 268 million memories."""

MOST_RECENT = 32
DENSE = 8
"""A list of so many times the rows that are looked for is searched for each; a shorter one is read as it is."""

LOW = 0 if sys.byteorder == "little" else 1
"""The place of a 16-bit number's lower byte."""

SPARSE = 1000
"""Where only one row in so many is looked for, it is read alone."""

MAX_LENGTH = 0x7FFF
"""The most tokens of a memory that are told apart."""

RETIRED = 0x8000


class List:
    """The list of a word in one segment: of *size* rows. `base` is the row before the first of the segment."""

    def __init__(self, segment: int, size: int, content: bytes) -> None:
        """Raises what is in DAMAGE where the list was damaged."""
        if not size or not isinstance(content, bytes) or len(content) != 3 * size:
            raise DatabaseError("the list of a word is damaged")
        if not 0 <= segment < MOST_SEGMENTS:
            raise DatabaseError("the list of a word lies nowhere")
        self.segment = segment
        self.base = segment * SEGMENT
        self.size = size
        self._content = content

    @property
    def within(self) -> memoryview[int]:
        """The rows within the segment that hold the word, ascending."""
        return memoryview(self._content)[: 2 * self.size].cast("H")

    @property
    def weights(self) -> bytes:
        """What the word counts in each of them."""
        return self._content[2 * self.size :]

    def postings(self) -> Iterable[tuple[int, int]]:
        """Row and weight of each memory that holds the word, by row."""
        return zip(map(self.base.__add__, self.within), self.weights, strict=True)

    def mark(self, held: bytearray, least: int, first: int = 0) -> None:
        """Set the bits of the rows where the word weighs so much in a bitmap from byte *first* on, which may grow."""
        rows: Sequence[int] = self.within
        held.extend(bytes(max(0, first + (rows[-1] >> 3) + 1 - len(held))))
        if least > 1:
            rows = [row for row, weight in zip(rows, self.weights, strict=True) if weight >= least]
        for row in rows:
            held[first + (row >> 3)] |= 1 << (row & 7)

    def among(self, rows: Rows) -> dict[int, int]:
        """Number -> weight, for those of *rows* that hold the word."""
        wanted = rows.get(self.segment, {})
        if self.size >= DENSE * len(wanted):
            return self._searched(wanted)
        return {wanted[row]: weight for row, weight in zip(self.within, self.weights, strict=True) if row in wanted}

    def _searched(self, rows: dict[int, int]) -> dict[int, int]:
        """`among` by a look for each row: for where its higher byte begins, and from there for its lower one."""
        first_weight = 2 * self.size
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
