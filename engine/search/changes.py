"""What a sync changes in postings and frequencies, collected and written together.

A memory that is read anew mostly holds the words that it held: only those that differ are written.
"""

from __future__ import annotations

import sys
from _struct import pack

from engine.search.bags import weights_of
from engine.search.frequencies import add_counts
from engine.search.postings import SEGMENT, arrays_in, bisector, of_memory, tokens_in
from engine.search.schema import COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.search.rows import Words
    from engine.search.sqlite import Connection

MOST, MANY = 4_000_000, 250_000
"""Postings that wait at most, and from how many on they do not wait for those of another segment. A segment of memories
of ordinary size has two million, which take 20 MB."""

FEW = 4
"""Changes of a list up to so many are made one by one."""

NOTHING: Words = ("", "", "")
PUT = "insert or replace into posting values (?, ?, ?)"


class Changes:
    """Collects what happens to the memories of an index. `write` has to be called at the end.

    Without *counts* the frequencies are left alone, because they will be counted anew.
    """

    def __init__(self, db: Connection, *, counts: bool = True, most: int = MOST, many: int = MANY) -> None:
        self._db = db
        self._counts: dict[str, dict[str, int]] = {fields: {} for fields in COLUMNS} if counts else {}
        self._postings: dict[int, dict[str, bytearray]] = {}
        self._waiting, self._most, self._many = 0, most, many
        self._values: dict[int, int] = {}
        self._gone: dict[int, Words] = {}

    def remove(self, row: int, words: Words) -> None:
        """The memory of *row*, which held *words*, is no more; or another one is about to take its place."""
        self._gone[row] = words
        self._values[row] = 0

    def add(self, row: int, words: Words, weights: dict[str, int], *, is_active: bool) -> None:
        """A memory of these words, with their weights, lies in *row* now."""
        if self._waiting > (self._most if row // SEGMENT in self._postings else self._many):
            self._write_postings()
        self._replace(row, self._gone.pop(row, NOTHING), words, weights)
        self._values[row] = of_memory(sum(len(text.split()) for text in words), is_active=is_active)

    def write(self) -> None:
        for row, words in self._gone.items():
            self._replace(row, words, NOTHING, {})
        self._gone.clear()
        self._write_postings()
        for fields, counts in self._counts.items():
            add_counts(self._db, fields, counts)
            counts.clear()

    def _replace(self, row: int, old: Words, new: Words, after: dict[str, int]) -> None:
        before = weights_of(old) if old != new else after
        if before is after:
            return
        segment, place = divmod(row, SEGMENT)
        postings = self._postings.setdefault(segment, {})
        shifted = place << 16
        changed = after.items() - before.items() if before else after.items()
        for word, weight in (*changed, *((word, 0) for word in before.keys() - after.keys())):
            one = (shifted | weight).to_bytes(4, sys.byteorder)
            if word in postings:
                postings[word] += one
            else:
                postings[word] = bytearray(one)
        self._waiting += len(after)
        for fields, counts in self._counts.items():
            _count(counts, _distinct(old, fields), _distinct(new, fields))

    def _write_postings(self) -> None:
        for segment, postings in sorted(self._postings.items()):
            if self._db.execute("select 1 from length where segment = ?", (segment,)).fetchone():
                for word in sorted(postings):
                    self._write_list(word, segment, postings[word])
            else:
                rows = ((word, segment, _merged(b"", postings[word])) for word in sorted(postings))
                self._db.executemany(PUT, (row for row in rows if row[-1]))
        _write_values(self._db, self._values)
        self._postings.clear()
        self._values.clear()
        self._waiting = 0

    def _write_list(self, word: str, segment: int, changed: bytearray) -> None:
        sql = "select content from posting where term = ? and segment = ?"
        found = self._db.execute(sql, (word, segment)).fetchone()
        content = _merged(found[0] if found else b"", changed)
        if content:
            self._db.execute(PUT, (word, segment, content))
        elif found:
            self._db.execute("delete from posting where term = ? and segment = ?", (word, segment))


def _merged(content: bytes, changed: bytearray) -> bytes:
    """A list with *changed*: rows << 16 and their weights, 0 for a row that goes. Of equal rows the last counts."""
    numbers = memoryview(changed).cast("I")
    if content and len(numbers) <= FEW:
        for one in numbers:
            content = _with(content, one >> 16, one & 0xFFFF)
        return content
    placed = dict(zip(*arrays_in(content), strict=True)) if content else {}
    placed |= {one >> 16: one & 0xFFFF for one in numbers}
    pairs = sorted((row, weight) for row, weight in placed.items() if weight)
    return pack(f"{2 * len(pairs)}H", *(row for row, _ in pairs), *(weight for _, weight in pairs))


def _with(content: bytes, row: int, weight: int) -> bytes:
    """A list with one row more, another weight for it, or one row less."""
    rows, _ = arrays_in(content) if content else ((), ())
    place = bisector()(rows, row)
    start, half = 2 * place, 2 * len(rows)
    end = start + 2 * (place < len(rows) and rows[place] == row)
    first, second = (pack("H", row), pack("H", weight)) if weight else (b"", b"")
    before, after = content[:start] + first + content[end:half], content[half : half + start] + second
    return before + after + content[half + end :]


def _write_values(db: Connection, values: dict[int, int]) -> None:
    """Store `of_memory` for rows, 0 for those where no memory lies; every segment up to the last has a row."""
    for segment in range(max(values, default=-1) // SEGMENT + 1):
        db.execute("insert or ignore into length values (?, 0, 0, x'')", (segment,))
    segments: dict[int, dict[int, int]] = {}
    for row, value in values.items():
        segments.setdefault(row // SEGMENT, {})[row % SEGMENT] = value
    for segment, placed in segments.items():
        (content,) = db.execute("select content from length where segment = ?", (segment,)).fetchone()
        numbers = [*memoryview(content).cast("I")] if content else []
        numbers += [0] * (max(placed) + 1 - len(numbers))
        memories = sum((value > 0) - (numbers[row] > 0) for row, value in placed.items())
        tokens = sum(tokens_in(value) - tokens_in(numbers[row]) for row, value in placed.items())
        for row, value in placed.items():
            numbers[row] = value
        sql = "update length set memories = memories + ?, tokens = tokens + ?, content = ? where segment = ?"
        db.execute(sql, (memories, tokens, pack(f"{len(numbers)}I", *numbers), segment))


def _count(counts: dict[str, int], old: set[str], new: set[str]) -> None:
    for word in new - old:
        counts[word] = counts.get(word, 0) + 1
    for word in old - new:
        counts[word] = counts.get(word, 0) - 1


def _distinct(words: Words, fields: str) -> set[str]:
    return {token for text in words[: COLUMNS[fields]] for token in text.split()}
