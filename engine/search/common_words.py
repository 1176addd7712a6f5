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

LISTS_OF = "select segment, rows, is_full, content from posting where term = ?"
GET = "select held, strong from bitmap where term = ?"
PUT = "insert or replace into bitmap values (?, ?, ?)"
FORGET = "delete from bitmap where term = ?"


def update_bitmaps(db: Connection, word: str, segment: int, one: List | None) -> None:
    """Let the bitmaps of a word say what its list in a segment does, which was written; None: it is gone."""
    stored = db.execute(GET, (word,)).fetchone()
    if stored:
        bitmaps = _with(stored, segment, one)
    elif one and (one.is_full or one.memories >= COMMON):
        bitmaps = (b"", b"")
        for listed in db.execute(LISTS_OF, (word,)):
            bitmaps = _with(bitmaps, listed[0], List(*listed))
    else:
        return
    if any(bitmaps):
        db.execute(PUT, (word, *bitmaps))
    else:
        db.execute(FORGET, (word,))


def _with(bitmaps: tuple[bytes, ...], segment: int, one: List | None) -> tuple[bytes, ...]:
    """Bitmaps with the rows of a segment set anew; without the zeros at their ends."""
    start, end = segment * BYTES, (segment + 1) * BYTES
    rows = [one.held(level).to_bytes(BYTES, "little") if one else bytes(BYTES) for level in LEVELS]
    replaced = [old[:start].ljust(start, b"\0") + new + old[end:] for old, new in zip(bitmaps, rows, strict=True)]
    return tuple(bitmap.rstrip(b"\0") for bitmap in replaced)
