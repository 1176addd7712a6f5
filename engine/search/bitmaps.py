"""Bitmaps: in which memories words stand at all, as a bit for each row of a segment, ready for `bit_sums`.

Those of a common word lie beside its lists, because to make them takes longer than to read them. The second one is of
the memories where the word is STRONG: in the title, or as often as that counts.
"""

from __future__ import annotations

from engine.json_text import dumps
from engine.search.postings import STRONG, List
from engine.search.sqlite import DatabaseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.sqlite import Connection

    Rows = dict[int, list[int]]
    """Segment -> the rows that hold something, and those where it is strong, if that matters."""

COMMON = 256
"""A word that so many memories of a segment hold has its bitmaps stored."""

STORED = """select key, segment, held, case when ? then strong end, case when held is null then rows end,
case when held is null then is_full end, case when held is null then content end
from json_each(?) cross join posting on term = value"""
"""A cross join asks for the words in their order."""


class Bitmaps:
    """Where some words stand: for each segment the rows that hold any of them, and those where it is strong."""

    def __init__(self, *, with_strong: bool) -> None:
        self._levels = (1, STRONG) if with_strong else (1,)
        self._rows: dict[int, list[int]] = {}
        self._marked: dict[int, list[bytearray]] = {}

    def add(self, segment: int, stored: Sequence[bytes | None] | List) -> None:
        """Add the bitmaps of a common word, or the list of a rare one. Raises what is in DAMAGE."""
        if not isinstance(stored, List):
            self._include(segment, [_rows(bitmap) for bitmap in stored[: len(self._levels)]])
        elif stored.is_full:
            self._include(segment, [stored.held(level) for level in self._levels])
        else:
            if segment not in self._marked:
                self._marked[segment] = [bytearray() for _ in self._levels]
            for level, marked in zip(self._levels, self._marked[segment], strict=True):
                stored.mark(marked, level)

    def rows(self) -> Rows:
        """Where any of what was added stands."""
        for segment, marked in self._marked.items():
            self._include(segment, [int.from_bytes(bitmap, "little") for bitmap in marked])
        self._marked.clear()
        return self._rows

    def _include(self, segment: int, levels: list[int]) -> None:
        before = self._rows.get(segment)
        self._rows[segment] = [one | other for one, other in zip(before, levels, strict=True)] if before else levels


class Standing:
    """Where each of some words stands, read with one statement, one after another.

    `lists`: word -> its lists by segment, for words that have been read and are rare everywhere.
    """

    def __init__(self, db: Connection, words: Sequence[str], *, with_strong: bool) -> None:
        """Raises what is in DAMAGE, as `next` does."""
        self.lists: dict[str, dict[int, List]] = {word: {} for word in words}
        self._words = words
        self._with_strong = with_strong
        self._done = 0
        self._rows = iter(db.execute(STORED, (with_strong, dumps(words, ascii_only=False))))
        self._row = next(self._rows, None)

    def next(self, count: int) -> Rows:
        """Where any of the next *count* words stands: segment -> its rows, and those where it is strong."""
        self._done += count
        found = Bitmaps(with_strong=self._with_strong)
        while self._row and self._row[0] < self._done:
            number, segment, held, strong, *listed = self._row
            word = self._words[number]
            if held is not None:
                found.add(segment, (held, strong))
                self.lists.pop(word, None)
            else:
                one = List(segment, *listed)
                found.add(segment, one)
                if word in self.lists:
                    self.lists[word][segment] = one
            self._row = next(self._rows, None)
        return found.rows()


def bitmaps_of(one: List) -> tuple[bytes | None, bytes | None]:
    """The bitmaps of a list as they are stored. None for a rare word."""
    return (_packed(one.held(1)), _packed(one.held(STRONG))) if one.memories >= COMMON else (None, None)


def _packed(rows: int) -> bytes:
    return rows.to_bytes((rows.bit_length() + 7) // 8, "little")


def _rows(bitmap: bytes | None) -> int:
    if not isinstance(bitmap, bytes):
        raise DatabaseError("the bitmap of a word is damaged")
    return int.from_bytes(bitmap, "little")
