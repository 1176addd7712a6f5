"""What a sync changes in postings and frequencies, collected and written together.

A few changes go to `recent`, beside the lists: a memory there is a bag of what it holds now, and one of what the lists
still say of its row. When more than MOST_RECENT have gathered, all go into the lists.
"""

from __future__ import annotations

import sys
from _struct import pack

from engine.search.bags import bag_of, weights_in, weights_of
from engine.search.common_words import CommonWords
from engine.search.frequencies import add_counts
from engine.search.postings import MAX_LENGTH, MOST_RECENT, RETIRED, SEGMENT, List
from engine.search.rows import text_check
from engine.search.schema import COLUMNS, LISTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.lean.sqlite import Connection
    from engine.search.rows import Words

    Weights = dict[str, int]
    """Word -> weight."""

    Stored = tuple[int, bytes]
    """A list: its number of rows, and its content."""

MOST = 6_000_000
"""Postings that wait at most before they are written: 24 MB."""

NOTHING: Words = ("", "", "")
GET = "select rows, content from posting where term = ? and segment = ?"
PUT = "insert or replace into posting values (?, ?, ?, ?)"
FORGET = "delete from posting where term = ? and segment = ?"
ARRANGE = f"""
{LISTS.replace("posting", "arranged")};
insert into arranged select * from posting order by term, segment;
drop table posting;
alter table arranged rename to posting"""
NOTE = "insert or replace into recent values (?, ?, ?, ?, ?)"


class Changes:
    """Collects what happens to the memories of an index. `write` has to be called at the end.

    *expected*: how many memories change at most; with few, they stay beside the lists. Without *counts* the frequencies
    are left alone, because they will be counted anew.
    """

    def __init__(self, db: Connection, expected: int, *, counts: bool = True, most: int = MOST) -> None:
        self._db = db
        self._counts: dict[str, dict[str, int]] = {fields: {} for fields in COLUMNS} if counts else {}
        self._lists = _Lists(db, most)
        self._gone: dict[int, Words] = {}
        found = db.execute("select rowid, listed from recent").fetchall()
        self._listed: dict[int, str] = dict(found)
        self._are_few = counts and expected + len(found) <= MOST_RECENT
        if not self._are_few:
            self._list_recent()

    def remove(self, row: int, words: Words) -> None:
        """The memory of *row*, which held *words*, is no more; or another one is about to take its place."""
        self._gone[row] = words

    def add(self, row: int, words: Words, *, is_active: bool) -> None:
        """A memory of these words lies in *row* now."""
        old = self._gone.pop(row, NOTHING)
        self._count(old, words)
        if self._are_few:
            self._note(row, old, bag_of(words), is_active=is_active)
        else:
            length = sum(len(text.split()) for text in words)
            self._lists.replace(row, weights_of(old), weights_of(words), length, is_active=is_active)

    def write(self) -> None:
        for row, words in self._gone.items():
            self._count(words, NOTHING)
            if self._are_few:
                self._note(row, words, None, is_active=False)
            else:
                self._lists.replace(row, weights_of(words), {}, 0, is_active=False)
        self._gone.clear()
        self._lists.end()
        for fields, counts in self._counts.items():
            add_counts(self._db, fields, counts)
            counts.clear()

    def _list_recent(self) -> None:
        for row, listed, content, is_active in self._db.execute("select rowid, listed, content, is_active from recent"):
            length, weights = weights_in(content) if content else (0, {})
            self._lists.replace(row, weights_in(listed)[1], weights, length, is_active=is_active)
        self._db.execute("delete from recent")
        self._listed.clear()

    def _note(self, row: int, old: Words, bag: str | None, *, is_active: bool) -> None:
        listed = self._listed.setdefault(row, bag_of(old))
        self._db.execute(NOTE, (row, listed, bag, bag and text_check(bag), is_active))

    def _count(self, old: Words, new: Words) -> None:
        for fields, counts in self._counts.items():
            before, after = _distinct(old, fields), _distinct(new, fields)
            for word in after - before:
                counts[word] = counts.get(word, 0) + 1
            for word in before - after:
                counts[word] = counts.get(word, 0) - 1


def arrange(db: Connection) -> None:
    """Put the lists of a word next to each other; where there are several, they were written one segment at a time."""
    if db.execute("select 1 from length where segment = 1").fetchone():
        for statement in ARRANGE.split(";\n"):
            db.execute(statement)


class _Lists:
    """Collects changes of postings, and of what is kept beside them. `end` has to be called at the end."""

    def __init__(self, db: Connection, most: int) -> None:
        self._db = db
        self._postings: dict[int, dict[str, bytearray]] = {}
        self._lengths: dict[int, dict[int, int]] = {}
        self._common = CommonWords(db)
        self._waiting, self._most = 0, most

    def replace(self, row: int, before: Weights, after: Weights, length: int, *, is_active: bool) -> None:
        """The lists hold *before* of *row*, and will hold *after*, the words of a memory of *length* tokens."""
        if self._waiting > self._most:
            self._write_all()
        segment, place = divmod(row, SEGMENT)
        postings = self._postings.setdefault(segment, {})
        changed = after.items() - before.items() if before else after.items()
        for word, weight in (*changed, *((word, 0) for word in before.keys() - after.keys())):
            one = (place << 8 | weight).to_bytes(4, sys.byteorder)
            if word in postings:
                postings[word] += one
            else:
                postings[word] = bytearray(one)
        self._waiting += len(after)
        value = min(length, MAX_LENGTH) | (0 if is_active else RETIRED)
        self._lengths.setdefault(segment, {})[place] = value

    def end(self) -> None:
        self._write_all()
        self._common.write_bags()

    def _write_all(self) -> None:
        for segment, postings in sorted(self._postings.items()):
            for word in sorted(postings):
                self._write(word, segment, postings[word])
        self._postings.clear()
        self._waiting = 0
        self._write_lengths()

    def _write(self, word: str, segment: int, changed: bytearray) -> None:
        found = self._db.execute(GET, (word, segment)).fetchone()
        rows, content = _with(found or (0, b""), memoryview(changed).cast("I"))
        if rows:
            self._db.execute(PUT, (word, segment, rows, content))
        elif found:
            self._db.execute(FORGET, (word, segment))
        self._common.update(word, segment, List(segment, rows, content) if rows else None)

    def _write_lengths(self) -> None:
        """Every segment up to the last has a row."""
        for segment in range(max(self._lengths, default=-1) + 1):
            self._db.execute("insert or ignore into length values (?, x'')", (segment,))
        for segment, placed in self._lengths.items():
            self._common.changed([segment * SEGMENT + place for place in placed])
            (content,) = self._db.execute("select content from length where segment = ?", (segment,)).fetchone()
            numbers = bytearray(content.ljust(2 * max(placed) + 2, b"\0"))
            values = memoryview(numbers).cast("H")
            for place, value in placed.items():
                values[place] = value
            self._db.execute("update length set content = ? where segment = ?", (bytes(numbers), segment))
        self._lengths.clear()


def _with(stored: Stored, changed: memoryview[int]) -> Stored:
    """A list after *changed*: row << 8 | weight, the weight 0 for a row that goes; of equal rows the last counts."""
    placed = dict(List(0, *stored).postings()) if stored[0] else {}
    placed |= {one >> 8: one & 0xFF for one in changed}
    rows = sorted(row for row, weight in placed.items() if weight)
    return len(rows), pack(f"{len(rows)}H", *rows) + bytes([placed[row] for row in rows])


def _distinct(words: Words, fields: str) -> set[str]:
    return {token for text in words[: COLUMNS[fields]] for token in text.split()}
