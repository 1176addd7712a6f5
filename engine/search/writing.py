"""Memories -> rows of an index, and their removal. The caller begins and ends the transaction."""

from __future__ import annotations

from engine.lean.sha256 import hex_digest
from engine.memory import UNSCANNED, Skipped
from engine.search.database import TAG_SEPARATOR, has_fts5
from engine.search.stems import stem
from engine.search.tokens import tokens
from engine.search.vocabulary import character, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from engine.lean.sqlite import Connection
    from engine.memory import Memory
    from engine.search.database import Stamp
    from engine.search.vocabulary import Fields

    Numbered = tuple[Memory, list[str], list[list[int]]]
    """A memory, the tokens of its title, tags and body as texts, and their numbers in some `LocalWords`."""

    Place = tuple[bytes, int, int, int, int]
    """A file in the root, the place of a memory in it, and the stamp of the file."""

    Batch = tuple["LocalWords", list[tuple[Place, Numbered | Skipped]]]
    """Memories, and what is none, ready to be written; and their words."""

INSERT = f"insert into memory values (?{', ?' * 18})"
WITHOUT_MEMORY = (
    f"insert into memory(rowid, name, part, size, mtime, ctime, reason, path, id, updated_at) values (?{', ?' * 9})"
)
RESTAMP = "update memory set size = ?, mtime = ?, ctime = ?, part = ? where rowid = ?"
ADD = {
    "full_text": "insert into full_text(rowid, title, tags, body) values (?, ?, ?, ?)",
    "headline": "insert into headline(rowid, title, tags) values (?, ?, ?)",
}
FORGET = {
    "full_text": "insert into full_text(full_text, rowid, title, tags, body) values ('delete', ?, ?, ?, ?)",
    "headline": "insert into headline(headline, rowid, title, tags) values ('delete', ?, ?, ?)",
}
COUNT = "update word set memories = memories + ?, headlines = headlines + ? where text = ?"
SUMS = "update about set memories = ?, tokens = ?, headline_tokens = ?, fingerprint = ?"

SCANNED_AT_ONCE = 1000
"""Memories that the safety scan reads before an update ends. Others have no risk yet: they are scanned when shown."""

AT_ONCE, WORDS_AT_ONCE = 25, 50_000
"""Parts of files that are read before they are written, by default, and words after which they are written earlier."""


class LocalWords(dict[str, int]):
    """Word -> number, in the order in which the words come, and in how many memories each word is.

    It knows nothing of the index, so another process can make it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.memories: list[int] = []
        self.headlines: list[int] = []

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        self.memories.append(0)
        self.headlines.append(0)
        return number

    def add(self, fields: Fields) -> list[list[int]]:
        """Count the words of a memory. The numbers of its tokens."""
        title, tags, body = numbers = [[*map(self.__getitem__, field)] for field in fields]
        headline = {*title, *tags}
        for number in headline:
            self.headlines[number] += 1
        for number in headline.union(body):
            self.memories[number] += 1
        return numbers

    def numbered(self, memory: Memory) -> Numbered:
        summary = memory.summary
        fields = tokens(summary.title), tokens(" ".join(summary.tags)), tokens(memory.body)
        return memory, [*map(" ".join, fields)], self.add(fields)


def batches(parts: Iterable[tuple[Place, Memory | Skipped]], most: int = AT_ONCE) -> Generator[Batch]:
    """*parts* of files in batches of at most *most*, less if they are long."""
    words, ready = LocalWords(), []
    for place, item in parts:
        ready.append((place, item if isinstance(item, Skipped) else words.numbered(item)))
        if len(ready) == most or len(words) > WORDS_AT_ONCE:
            yield words, ready
            words, ready = LocalWords(), []
    if ready:
        yield words, ready


class Coded:
    """The code of a word, and in how many more memories it is than the table says."""

    __slots__ = ("code", "headlines", "memories")

    def __init__(self, code: str) -> None:
        self.code, self.memories, self.headlines = code, 0, 0


class Codes(dict[str, Coded]):
    """Word -> its code and counts. A new word gets the next number, and `write` stores it."""

    def __init__(self, db: Connection) -> None:
        super().__init__()
        self._db = db
        self._added: list[tuple[str, int, str, Coded]] = []
        self._next = (db.execute("select max(number) from word").fetchone()[0] or 0) + 1
        self._has_words = self._next > 1

    def __missing__(self, text: str) -> Coded:
        row = (
            self._db.execute("select number from word where text = ?", (text,)).fetchone() if self._has_words else None
        )
        self[text] = found = Coded(character(row[0] if row else self._next))
        if not row:
            self._added.append((text, self._next, stem(text), found))
            self._next += 1
        return found

    def write(self) -> None:
        """Store new words with their counts."""
        new = [(*row, word.memories, word.headlines) for *row, word in sorted(self._added)]
        self._db.executemany("insert into word values (?, ?, ?, ?, ?)", new)
        for *_, word in self._added:
            word.memories = word.headlines = 0
        self._added.clear()
        self._has_words = True

    def write_counts(self) -> None:
        """Store the counts of words that were stored before."""
        changed = [(text, word) for text, word in self.items() if word.memories or word.headlines]
        self._db.executemany(COUNT, [(word.memories, word.headlines, text) for text, word in changed])


class Writer:
    """Adds memories to the tables and removes them. `finish` must be called at the end.

    `ids` are the ids of added and removed memories, `is_by_line` says whether front matter of one was read by line.
    *risk*: that of a memory, 0..1.
    """

    def __init__(self, db: Connection, risk: Callable[[Memory], float]) -> None:
        self.ids: set[str] = set()
        self.is_by_line = False
        self._db = db
        self._risk = risk
        self._has_fts5 = has_fts5(db)
        self._codes = Codes(db)
        self._known: dict[str, float] = {}
        self._late: list[tuple[int, list[str]]] = []
        self._scanned = 0
        *sums, fingerprint = db.execute("select memories, tokens, headline_tokens, fingerprint from about").fetchone()
        self._sums: list[int] = sums
        self._fingerprint = int(fingerprint, 16)
        first, last = db.execute("select (select min(rowid) from memory), (select max(rowid) from memory)").fetchone()
        self._first, self._last = min(0, first or 0), max(0, last or 0)

    def write(self, batch: Batch) -> None:
        """Store memories, and what is none."""
        words, parts = batch
        codes = self._count(words, 1)
        for place, item in parts:
            if isinstance(item, Skipped):
                self.add_unused(item, place)
            else:
                self._add(item, codes, place)

    def _add(self, numbered: Numbered, codes: list[str], place: Place) -> None:
        memory, texts, numbers = numbered
        about = memory.summary
        self.is_by_line |= memory.is_by_line
        row = self._new_row(is_active=about.status == "active")
        encoded = ["".join(map(codes.__getitem__, field)) for field in numbers]
        shown = about.id, about.category, about.title, TAG_SEPARATOR.join(about.tags), about.path
        times = about.status, about.created_at, about.updated_at
        safety = about.digest, self._risk_of(memory), about.is_loaded
        self._db.execute(INSERT, (row, *place, None, "\n".join(encoded), *shown, *times, *safety))
        if row < 0:
            self._late.append((row, texts))
        else:
            self._index(ADD, row, texts)
        self._sum(numbers, about.id, about.digest, 1)

    def add_unused(self, skipped: Skipped, place: Place, memory_id: str | None = None, updated_at: str = "") -> None:
        """Store what is no memory: a file or a part of it. *memory_id*: the id in it, if another memory has it, too."""
        row = self._new_row(is_active=True)
        self._db.execute(WITHOUT_MEMORY, (row, *place, skipped.reason, skipped.where, memory_id, updated_at))

    def restamp(self, row: int, stamp: Stamp, part: int) -> None:
        """Keep a row whose file changed elsewhere."""
        self._db.execute(RESTAMP, (*stamp, part, row))

    def remove(self, row: int) -> None:
        """Remove a row, and its memory. FTS5 keeps no text, so it must be told the tokens to forget."""
        sql = "select words, id, digest, risk, reason from memory where rowid = ?"
        encoded, memory_id, digest, risk, reason = self._db.execute(sql, (row,)).fetchone()
        if reason is None:
            self._known[digest] = risk
            self._write_late()
            fields, words = decode(self._db, encoded), LocalWords()
            self._index(FORGET, row, [*map(" ".join, fields)])
            self._sum(words.add(fields), memory_id, digest, -1)
            self._count(words, -1)
        elif memory_id is not None:
            self.ids.add(memory_id)
        self._db.execute("delete from memory where rowid = ?", (row,))

    def finish(self) -> None:
        """Store new words, counts of words, and sums over all memories."""
        self._write_late()
        self._codes.write_counts()
        self._db.execute(SUMS, (*self._sums, f"{self._fingerprint % 2**64:016x}"))

    def _risk_of(self, memory: Memory) -> float:
        """The risk of a memory. A text that was indexed until now is not scanned again, and of many only the first."""
        known = self._known.get(memory.summary.digest, UNSCANNED)
        if known != UNSCANNED or self._scanned == SCANNED_AT_ONCE:
            return known
        self._scanned += 1
        return self._risk(memory)

    def _new_row(self, *, is_active: bool) -> int:
        if is_active:
            self._last += 1
            return self._last
        self._first -= 1
        return self._first

    def _write_late(self) -> None:
        """Store new words, and the tokens of memories that are not active.

        FTS5 begins a segment at each row that is not the highest, so they are stored together, in ascending order.
        """
        self._codes.write()
        for row, texts in reversed(self._late):
            self._index(ADD, row, texts)
        self._late.clear()

    def _index(self, statements: dict[str, str], row: int, texts: list[str]) -> None:
        if self._has_fts5:
            self._db.execute(statements["full_text"], (row, *texts))
            self._db.execute(statements["headline"], (row, *texts[:2]))

    def _count(self, words: LocalWords, change: int) -> list[str]:
        """Count words, and give their codes."""
        found = [*map(self._codes.__getitem__, words)]
        for word, memories, headlines in zip(found, words.memories, words.headlines, strict=True):
            word.memories += change * memories
            word.headlines += change * headlines
        return [word.code for word in found]

    def _sum(self, numbers: list[list[int]], memory_id: str, digest: str, change: int) -> None:
        self.ids.add(memory_id)
        title, tags, body = map(len, numbers)
        for place, more in enumerate((1, title + tags + body, title + tags)):
            self._sums[place] += change * more
        self._fingerprint += change * int(hex_digest(f"{memory_id}\0{digest}")[:16], 16)
