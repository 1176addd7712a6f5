"""The bitmaps of common words, kept in step with their lists. See `engine.search.bitmaps`."""

from __future__ import annotations

from engine.search.bitmaps import LEVELS
from engine.search.postings import SEGMENT, List

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.search.sqlite import Connection

COMMON = 256
"""A word that so many memories of a segment hold, or so many of the few there are that its list is full, is common: it
has bitmaps from then on, until no memory holds it."""

BYTES = SEGMENT // 8
"""A segment's share of a bitmap."""

COLUMNS = ("held", "strong")
SIZES = "select rowid, length(held), length(strong) from bitmap where term = ?"
LISTS_OF = "select segment, rows, is_full, content from posting where term = ?"
FORGET = "delete from bitmap where term = ?1 and not exists (select 1 from posting where term = ?1)"


def update_bitmaps(db: Connection, word: str, segment: int, one: List | None) -> None:
    """Let the bitmaps of a word say what its list in a segment does, which was written; None: it is gone."""
    found = db.execute(SIZES, (word,)).fetchone()
    if found:
        row, *sizes = found
        for column, size, level in zip(COLUMNS, sizes, LEVELS, strict=True):
            rows = one.held(level) if one else 0
            _write(db, row, column, size, segment, rows.to_bytes(BYTES, "little"))
        if one is None:
            db.execute(FORGET, (word,))
    elif one and (one.is_full or one.memories >= COMMON):
        db.execute("insert into bitmap values (?, x'', x'')", (word,))
        for listed in db.execute(LISTS_OF, (word,)).fetchall():
            update_bitmaps(db, word, listed[0], List(*listed))


def _write(db: Connection, row: int, column: str, size: int, segment: int, rows: bytes) -> None:
    """Set the rows of a segment in a bitmap of *size* bytes: in place, where it reaches so far."""
    start, end = segment * BYTES, (segment + 1) * BYTES
    if size >= end:
        with db.blobopen("bitmap", column, row) as stored:
            stored.seek(start)
            stored.write(rows)
        return
    ((before,),) = db.execute(f"select {column} from bitmap where rowid = ?", (row,))
    content = (before[:start].ljust(start, b"\0") + rows).rstrip(b"\0")
    db.execute(f"update bitmap set {column} = ? where rowid = ?", (content, row))
