"""Bitmaps: in which memories words stand at all, as a bit for each row, ready for `bit_sums`.

Those of a common word are stored, because to make them of its lists takes longer than to read them. The second one is
of the memories where the word is STRONG: in the title, or as often as that counts. By the number of its bitmaps a word
goes in the bags of memories, see `engine.search.weights`.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.sqlite import DatabaseError
from engine.search.postings import List
from engine.search.weights import STRONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.lean.sqlite import Connection

    Rows = Sequence[int]
    """The rows that hold something, a bit for each, and those where it is strong, if that matters."""

LEVELS = (1, STRONG)
"""The least weight in each of the bitmaps of a word."""

STORED = """select key, bitmap.rowid, held, case when key < ? then strong end, segment, rows, content
from json_each(?) left join bitmap on bitmap.term = value
left join posting on posting.term = case when bitmap.term is null then value end"""
"""A left join asks for the words in their order."""


class Standing:
    """Where each of some words stands, read with one statement, one after another.

    *strong*: of the first so many also where they are strong. Of those that have been read `numbers` has the words with
    bitmaps, by which these go, and `lists` the others: word -> its lists by segment.
    """

    def __init__(self, db: Connection, words: Sequence[str], strong: int = 0) -> None:
        """Raises what is in DAMAGE, as `next` does."""
        self.lists: dict[str, dict[int, List]] = {word: {} for word in words}
        self.numbers: dict[str, int] = {}
        self._words = words
        self._strong = strong
        self._done = 0
        self._rows = iter(db.execute(STORED, (strong, dumps(words, ascii_only=False))))
        self._row = next(self._rows, None)

    def next(self, count: int) -> Rows:
        """Where any of the next *count* words stands."""
        levels = LEVELS if self._done < self._strong else LEVELS[:1]
        self._done += count
        found = [0 for _ in levels]
        marked = [bytearray() for _ in levels]
        while self._row and self._row[0] < self._done:
            number, common, *bitmaps, segment, size, content = self._row
            if segment is not None:
                one = List(segment, size, content)
                for bitmap, level in zip(marked, levels, strict=True):
                    one.mark(bitmap, level, one.base >> 3)
                if self._words[number] in self.lists:
                    self.lists[self._words[number]][segment] = one
            elif common is not None:
                found = [either(rows, _rows(bitmap)) for rows, bitmap in zip(found, bitmaps, strict=False)]
                self.lists.pop(self._words[number], None)
                self.numbers[self._words[number]] = common
            self._row = next(self._rows, None)
        return [either(rows, _rows(bitmap)) for rows, bitmap in zip(found, marked, strict=True)]


def either(one: int, other: int) -> int:
    """Where one of two stands, or both; without a copy where one stands nowhere."""
    return one | other if one and other else one or other


def _rows(bitmap: bytes | bytearray | None) -> int:
    if not isinstance(bitmap, (bytes, bytearray)):
        raise DatabaseError("the bitmap of a word is damaged")
    return int.from_bytes(bitmap, "little")
