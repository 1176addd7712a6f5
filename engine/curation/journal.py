"""The journal: one SQLite file for all roots, with the files before and after each operation.

An operation is written here first, as pending, and then to its files. So an operation whose process dies is known, and
is finished at the next start. The oldest operations are thrown away beyond MOST_OPERATIONS and MOST_BYTES. It also
keeps tombstones: marks of texts that a person rejected, so that an import or a new capture does not bring them back.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.curation.files import FileChange, Hunk, IndexChange
from engine.errors import JournalError
from engine.lean.record import Record, fields
from engine.lean.sections import text_beside
from engine.phrases.writing import Carried
from engine.stores.private_database import PrivateDatabase
from engine.stores.writing import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import Memory

MOST_OPERATIONS, MOST_BYTES = 10_000, 100_000_000
VERSION = 1
PENDING, DONE, INCOMPLETE = "pending", "done", "incomplete"
UNDO = "undo"
DAMAGED = "Move the file away to begin a new one; what is in it can then not be undone."
UNDAMAGED = "Look whether the disk has room, you may write there, and no other memsift is at work"
COLUMNS = "number, at, kind, summary, memories, roots, state, undoes"


class Deed(Record):
    """An operation as the journal holds it, without its files. `undoes` and `undone_by` are numbers of operations.

    `state`: done; pending, if its process died and it was not finished yet; incomplete, if it could not be finished
    because another program had changed a file.
    """

    number: int
    at: str
    kind: str
    summary: str
    memories: tuple[str, ...]
    roots: tuple[str, ...]
    state: str
    undoes: int | None
    undone_by: int | None


class Effect(Record):
    """All that an operation changes: files, and the tombstones that it sets (`buried`) or takes away (`lifted`).

    `carried`: the phrases that go where their memories go.
    """

    files: tuple[FileChange, ...]
    buried: tuple[Tombstone, ...] = ()
    lifted: tuple[Tombstone, ...] = ()
    carried: tuple[Carried, ...] = ()

    def reversed(self) -> Effect:
        files = tuple(file.reversed() for file in reversed(self.files))
        return Effect(files, self.lifted, self.buried, tuple(carried.reversed() for carried in reversed(self.carried)))


class Journal:
    """The open journal. Close it after use."""

    def __init__(self, path: str, *, most: int = MOST_OPERATIONS, most_bytes: int = MOST_BYTES) -> None:
        """Open the journal at *path*, or make it. Raises JournalError."""
        self._path, self._most, self._most_bytes = path, most, most_bytes
        self._file = PrivateDatabase(path, self._make, self._explained)

    def close(self) -> None:
        self._file.close()

    def begin(self, deed: Deed, effect: Effect) -> tuple[int, int]:
        """Write an operation as pending. Its number, and how many old operations were thrown away."""
        document = json.dumps(_as_json(effect))
        row = (
            *(deed.at, deed.kind, deed.summary, json.dumps(deed.memories), json.dumps(deed.roots), PENDING),
            *(deed.undoes, len(document), document),
        )
        with self._file.changing() as db:
            sql = "insert into operation(at, kind, summary, memories, roots, state, undoes, size, document)"
            number = db.execute(f"{sql} values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row).lastrowid or 0
            return number, self._forget(db, number)

    def finish(self, number: int, effect: Effect, state: str = DONE) -> None:
        """Write that the files of an operation are changed, and its tombstones with it."""
        with self._file.changing() as db:
            db.execute("update operation set state = ? where number = ?", (state, number))
            _set_tombstones(db, effect.buried, effect.lifted)

    def cancel(self, number: int) -> None:
        """Forget a pending operation that changed nothing."""
        with self._file.changing() as db:
            db.execute("delete from operation where number = ?", (number,))

    def deed(self, number: int) -> Deed | None:
        return next((deed for deed in self.deeds() if deed.number == number), None)

    def deeds(self, memory: str = "", root: str = "") -> list[Deed]:
        """The operations on a memory or in a root, or all; the oldest first."""
        rows = self._file.rows(f"select {COLUMNS} from operation order by number")
        undone: dict[int, int] = {}
        for number, *_, state, undoes in reversed(rows):
            if undoes is not None and state == DONE and number not in undone:  # an undone undo does not count
                undone[undoes] = number
        found = []
        for number, at, kind, summary, memories, roots, state, undoes in rows:
            ids, places = tuple(json.loads(memories)), tuple(json.loads(roots))
            if memory in ("", *ids) and root in ("", *places):
                found.append(Deed(number, at, kind, summary, ids, places, state, undoes, undone.get(number)))
        return found

    def pending(self) -> list[Deed]:
        """The operations whose processes died, or are at work."""
        found = self._file.rows("select 1 from operation where state = ? limit 1", (PENDING,))
        return [deed for deed in self.deeds() if deed.state == PENDING] if found else []

    def last(self) -> Deed | None:
        """The newest operation that is neither undone nor an undo."""
        found = [deed for deed in self.deeds() if deed.state == DONE and deed.kind != UNDO and deed.undone_by is None]
        return found[-1] if found else None

    def effect(self, number: int) -> Effect:
        """The files, tombstones and phrases of an operation. Operations of version 1.0.0 carried no phrases."""
        ((text,),) = self._file.rows("select document from operation where number = ?", (number,))
        document = json.loads(text)
        buried, lifted = (tuple(Tombstone(**row) for row in document[name]) for name in ("buried", "lifted"))
        files = []
        for row in document["files"]:
            index = row["index"]
            for hunk in index["hunks"]:
                hunk |= {"before": tuple(hunk["before"]), "after": tuple(hunk["after"])}
            index["hunks"] = tuple(Hunk(**hunk) for hunk in index["hunks"])
            files.append(FileChange(**{**row, "index": IndexChange(**index)}))
        return Effect(tuple(files), buried, lifted, tuple(Carried(**row) for row in document.get("carried", ())))

    def rename_root(self, old: str, new: str) -> None:
        """Let the operations in the root *old*, whose folder was moved, be operations in the root *new*."""
        with self._file.changing() as db:
            sql = "select number, roots, document from operation where instr(roots, ?)"
            for number, roots, text in db.execute(sql, (json.dumps(old),)).fetchall():
                moved = [new if root == old else root for root in json.loads(roots)]
                document = json.loads(text)
                for row in (*document["files"], *document.get("carried", ())):
                    row |= {name: new for name in ("root", "to_root") if row.get(name) == old}
                values = json.dumps(moved), json.dumps(document), number
                db.execute("update operation set roots = ?, document = ? where number = ?", values)

    def tombstone(self, digest: str) -> Tombstone | None:
        rows = self._file.rows("select hash, memory, title, reason, at from tombstone where hash = ?", (digest,))
        return Tombstone(*rows[0]) if rows else None

    def set_tombstones(self, buried: Sequence[Tombstone], lifted: Sequence[Tombstone]) -> None:
        """Set and take away tombstones without an operation: the files of their memories do not change."""
        with self._file.changing() as db:
            _set_tombstones(db, buried, lifted)

    def _forget(self, db: sqlite3.Connection, newest: int) -> int:
        """Throw the oldest operations away, as many as the bounds ask; how many. The newest and pending ones stay."""
        count, size = db.execute("select count(*), sum(size) from operation").fetchone()
        if count <= self._most and size <= self._most_bytes:
            return 0
        gone: list[tuple[int]] = []
        sql = "select number, size from operation where state <> ? and number <> ? order by number"
        for number, own_size in db.execute(sql, (PENDING, newest)):
            if count <= self._most and size <= self._most_bytes:
                break
            gone.append((number,))
            count, size = count - 1, size - own_size
        db.executemany("delete from operation where number = ?", gone)
        return len(gone)

    def _make(self, db: sqlite3.Connection) -> None:
        db.execute("pragma synchronous=extra")  # else a power cut may bring back the journal file of SQLite itself
        (version,) = db.execute("pragma user_version").fetchone()
        if version > VERSION:
            raise JournalError(f"The journal {self._path} was written by a newer memsift. Update this one.")
        if version == 0:
            tables = text_beside(__file__, "journal.sql")
            db.executescript(f"begin immediate;{tables}pragma user_version={VERSION};commit;")

    def _explained(self, error: Exception) -> JournalError:
        is_damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
        advice = DAMAGED if is_damaged else f"{UNDAMAGED}; XDG_DATA_HOME names another folder."
        return JournalError(f"The journal {self._path} cannot be used ({error}). {advice}")


def _as_json(value: object) -> object:
    """Records, also in tuples, as JSON; other values stay."""
    if isinstance(value, Record):
        return {name: _as_json(part) for name, part in fields(value).items()}
    return [*map(_as_json, value)] if isinstance(value, tuple) else value


def _set_tombstones(db: sqlite3.Connection, buried: Sequence[Tombstone], lifted: Sequence[Tombstone]) -> None:
    db.executemany("delete from tombstone where hash = ?", [(stone.hash,) for stone in lifted])
    rows = [tuple(fields(stone).values()) for stone in buried]
    db.executemany("insert or replace into tombstone values (?, ?, ?, ?, ?)", rows)


FEWEST_WORDS = 8
"""A body of fewer words says too little by itself, so the title is compared with it."""


class Tombstone(Record):
    """A rejected text: its hash, the id and title of the memory that had it, the reason, and the time."""

    hash: str
    memory: str
    title: str
    reason: str
    at: str


def text_hash(title: str, body: str) -> str:
    """SHA-256 (64 hex digits) of the words of a text: case, spaces, punctuation and headings do not change it.

    It is the body's, whatever the title says; of a short body, that of title and body.
    """
    words = _words(body)
    if len(words) < FEWEST_WORDS:
        words = [*_words(title), *words]
    return sha256(" ".join(words).encode()).hexdigest()


def tombstone_of(memory: Memory, reason: str, at: str) -> Tombstone:
    """The tombstone for the text of *memory*."""
    summary = memory.summary
    return Tombstone(text_hash(summary.title, memory.body), summary.id, summary.title, one_line(reason), at)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
