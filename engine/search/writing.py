"""Memories -> rows of an index, and their removal. The caller begins and ends the transaction."""

from __future__ import annotations

from engine.lean.sha256 import hex_digest
from engine.memory import UNSCANNED
from engine.search.database import TAG_SEPARATOR, has_fts5
from engine.search.stems import stem
from engine.search.tokens import tokens
from engine.search.vocabulary import character, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.lean.sqlite import Connection
    from engine.memory import Memory, Skipped
    from engine.search.database import Stamp
    from engine.search.vocabulary import Fields

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


class Codes(dict[str, str]):
    """Word -> code. A new word gets the next number, and `write` stores it."""

    def __init__(self, db: Connection) -> None:
        super().__init__()
        self._db = db
        self._added: list[tuple[str, int, str]] = []
        self._next = (db.execute("select max(number) from word").fetchone()[0] or 0) + 1
        self._has_words = self._next > 1

    def __missing__(self, text: str) -> str:
        row = (
            self._db.execute("select number from word where text = ?", (text,)).fetchone() if self._has_words else None
        )
        if not row:
            row = (self._next,)
            self._added.append((text, self._next, stem(text)))
            self._next += 1
        self[text] = code = character(row[0])
        return code

    def write(self, memories: dict[str, int], headlines: dict[str, int]) -> None:
        """Store new words with their counts, which are taken out of *memories* and *headlines*."""
        rows = [(*word, memories.pop(word[0], 0), headlines.pop(word[0], 0)) for word in sorted(self._added)]
        self._db.executemany("insert into word values (?, ?, ?, ?, ?)", rows)
        self._added.clear()
        self._has_words = True


class Writer:
    """Adds memories to the tables and removes them. `finish` must be called at the end.

    `ids` are the ids of added and removed memories. *risk*: that of a memory, 0..1.
    """

    def __init__(self, db: Connection, risk: Callable[[Memory], float]) -> None:
        self.ids: set[str] = set()
        self._db = db
        self._risk = risk
        self._has_fts5 = has_fts5(db)
        self._codes = Codes(db)
        self._known: dict[str, float] = {}
        self._late: list[tuple[int, Fields]] = []
        self._scanned = 0
        self._memories: dict[str, int] = {}
        self._headlines: dict[str, int] = {}
        *sums, fingerprint = db.execute("select memories, tokens, headline_tokens, fingerprint from about").fetchone()
        self._sums: list[int] = sums
        self._fingerprint = int(fingerprint, 16)
        first, last = db.execute("select min(rowid), max(rowid) from memory").fetchone()
        self._first, self._last = min(0, first or 0), max(0, last or 0)

    def add(self, memory: Memory, name: bytes, stamp: Stamp, part: int = 0) -> None:
        """Store a memory. *name* is its file in the root, *stamp* the stamp of that file, *part* its place in it."""
        summary = memory.summary
        fields = tokens(summary.title), tokens(" ".join(summary.tags)), tokens(memory.body)
        row, encoded = self._new_row(is_active=summary.status == "active"), encode(fields, self._codes)
        shown = (summary.id, summary.category, summary.title, TAG_SEPARATOR.join(summary.tags), summary.path)
        state = (
            summary.status,
            summary.created_at,
            summary.updated_at,
            summary.digest,
            self._risk_of(memory),
            summary.is_loaded,
        )
        self._db.execute(INSERT, (row, name, part, *stamp, None, encoded, *shown, *state))
        if row < 0:
            self._late.append((row, fields))
        else:
            self._index(ADD, row, fields)
        self._count(fields, summary.id, summary.digest, 1)

    def add_unused(
        self,
        skipped: Skipped,
        name: bytes,
        stamp: Stamp,
        part: int = 0,
        memory_id: str | None = None,
        updated_at: str = "",
    ) -> None:
        """Store what is no memory: a file or a part of it. *memory_id*: the id in it, if another memory has it, too."""
        row = self._new_row(is_active=True)
        self._db.execute(
            WITHOUT_MEMORY, (row, name, part, *stamp, skipped.reason, skipped.where, memory_id, updated_at)
        )

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
            fields = decode(self._db, encoded)
            self._index(FORGET, row, fields)
            self._count(fields, memory_id, digest, -1)
        elif memory_id is not None:
            self.ids.add(memory_id)
        self._db.execute("delete from memory where rowid = ?", (row,))

    def finish(self) -> None:
        """Store new words, counts of words, and sums over all memories."""
        self._write_late()
        changes = [(count, self._headlines.get(text, 0), text) for text, count in sorted(self._memories.items())]
        self._db.executemany(COUNT, [change for change in changes if change[0] or change[1]])
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
        self._codes.write(self._memories, self._headlines)
        for row, fields in reversed(self._late):
            self._index(ADD, row, fields)
        self._late.clear()

    def _index(self, statements: dict[str, str], row: int, fields: Fields) -> None:
        if self._has_fts5:
            texts = [" ".join(field) for field in fields]
            self._db.execute(statements["full_text"], (row, *texts))
            self._db.execute(statements["headline"], (row, *texts[:2]))

    def _count(self, fields: Fields, memory_id: str, digest: str, change: int) -> None:
        self.ids.add(memory_id)
        title, tags, body = fields
        for counts, words in ((self._memories, {*title, *tags, *body}), (self._headlines, {*title, *tags})):
            for word in words:
                counts[word] = counts.get(word, 0) + change
        headline = len(title) + len(tags)
        changes = (change, change * (headline + len(body)), change * headline)
        self._sums = [before + more for before, more in zip(self._sums, changes, strict=True)]
        self._fingerprint += change * int(hex_digest(f"{memory_id}\0{digest}")[:16], 16)
