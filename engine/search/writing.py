"""Memories -> rows of an index, and their removal. The caller begins and ends the transaction."""

from __future__ import annotations

import zlib

from engine.lean.sha256 import hex_digest
from engine.memory import UNSCANNED, Skipped
from engine.search.database import TAG_SEPARATOR, has_fts5
from engine.search.stems import stem
from engine.search.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.memory import Memory

    FilePlace = tuple[bytes, int, int, int, int]
    """A file in the root, the place of a memory in it, and the stamp of the file."""

INSERT = f"insert into memory values (?{', ?' * 18})"
WITHOUT_MEMORY = (
    f"insert into memory(rowid, name, part, size, mtime, ctime, reason, path, id, updated_at) values (?{', ?' * 9})"
)
ADD = "insert into full_text(rowid, title, tags, body) values (?, ?, ?, ?)"
FORGET = "insert into full_text(full_text, rowid, title, tags, body) values ('delete', ?, ?, ?, ?)"

OTHER_SIZE = 0.1
"""By how much, as a share, the number of memories may differ before the words of phrases are weighed again."""

SCANNED_AT_ONCE = 1000
"""Memories that the safety scan reads before an update ends. Others have no risk yet: they are scanned when shown."""


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
        self._known: dict[str, float] = {}
        self._scanned = 0
        self._memories, self._tokens, fingerprint = db.execute(
            "select memories, tokens, fingerprint from about"
        ).fetchone()
        self._fingerprint = int(fingerprint, 16)
        self._last = db.execute("select max(rowid) from memory").fetchone()[0] or 0

    def add(self, item: Memory | Skipped, place: FilePlace) -> None:
        """Store a memory, or the reason why there is none."""
        if isinstance(item, Skipped):
            self.add_unused(item, place)
            return
        about = item.summary
        self.is_by_line |= item.is_by_line
        fields = [tokens(text) for text in (about.title, " ".join(about.tags), item.body)]
        texts = [" ".join(map(stem, field)) for field in fields]
        length = sum(map(len, fields))
        row = self._new_row()
        shown = about.id, about.category, about.title, TAG_SEPARATOR.join(about.tags), about.path
        times = about.status, about.created_at, about.updated_at
        safety = about.digest, self._risk_of(item), about.is_loaded
        packed = zlib.compress("\n".join(texts).encode())
        self._db.execute(INSERT, (row, *place, None, packed, *shown, *times, *safety))
        self._db.execute("insert into size values (?, ?, ?)", (row, length, about.status == "active"))
        if self._has_fts5:
            self._db.execute(ADD, (row, *texts))
        self._count(about.id, about.digest, length, 1)

    def add_unused(
        self, skipped: Skipped, place: FilePlace, memory_id: str | None = None, updated_at: str = ""
    ) -> None:
        """Store what is no memory: a file or a part of it. *memory_id*: the id in it, if another memory has it, too."""
        row = self._new_row()
        self._db.execute(WITHOUT_MEMORY, (row, *place, skipped.reason, skipped.where, memory_id, updated_at))

    def remove(self, row: int) -> None:
        """Remove a row, and its memory."""
        sql = "select stems, id, digest, risk, reason from memory where rowid = ?"
        packed, memory_id, digest, risk, reason = self._db.execute(sql, (row,)).fetchone()
        if reason is None:
            self._known[digest] = risk
            if self._has_fts5:
                self._db.execute(FORGET, (row, *unpack(packed)))
            (length,) = self._db.execute("select tokens from size where row = ?", (row,)).fetchone()
            self._db.execute("delete from size where row = ?", (row,))
            self._count(memory_id, digest, length, -1)
        elif memory_id is not None:
            self.ids.add(memory_id)
        self._db.execute("delete from memory where rowid = ?", (row,))

    def finish(self, phrases: Mapping[str, Sequence[str]] | None = None) -> None:
        """Store the sums over all memories, and *phrases*: memory id -> phrases, or None for those before."""
        sums = self._memories, self._tokens, f"{self._fingerprint % 2**64:016x}"
        self._db.execute("update about set memories = ?, tokens = ?, fingerprint = ?", sums)
        if self._has_fts5:
            (before,) = self._db.execute("select phrased from about").fetchone()
            is_other_size = before and abs(self._memories - before) > OTHER_SIZE * before
            if phrases or is_other_size or (phrases is not None and before):
                from engine.search.phrases import write

                write(self._db, phrases, self._memories)

    def _risk_of(self, memory: Memory) -> float:
        """The risk of a memory. A text that was indexed until now is not scanned again, and of many only the first."""
        known = self._known.get(memory.summary.digest, UNSCANNED)
        if known != UNSCANNED or self._scanned == SCANNED_AT_ONCE:
            return known
        self._scanned += 1
        return self._risk(memory)

    def _new_row(self) -> int:
        self._last += 1
        return self._last

    def _count(self, memory_id: str, digest: str, length: int, change: int) -> None:
        self.ids.add(memory_id)
        self._memories += change
        self._tokens += change * length
        self._fingerprint += change * int(hex_digest(f"{memory_id}\0{digest}")[:16], 16)


def unpack(packed: bytes) -> list[str]:
    """The stems of title, tags and body, as `memory.stems` keeps them. Raises ValueError for a damaged index."""
    try:
        return zlib.decompress(packed).decode().split("\n")
    except zlib.error as error:
        raise ValueError(f"the index is damaged ({error})") from None
