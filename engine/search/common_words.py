"""What is kept of common words besides their lists, in step with these: bitmaps, and weights by row.

See `engine.search.bitmaps` and `engine.search.weights`, which read them. Both are arrays over all rows, segment by
segment. Once a word has them it keeps them until no memory holds it.
"""

from __future__ import annotations

from engine.record import Record
from engine.search.bitmaps import LEVELS
from engine.search.postings import SEGMENT, List
from engine.search.weights import BYTES, KEPT, ROUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.search.sqlite import Connection

COMMON = 256
"""A word that so many memories of a segment hold, or a good share of few, is common: it has bitmaps."""

LEAST, SHARE = 32, 32
"""A word that so many memories of a segment hold, and at least one in SHARE, is very common: its weights lie by row."""

HELD = {least: b"0" * least + b"1" * (256 - least) for least in LEVELS}
"""Least weight -> for each weight whether it is as much, as a binary digit."""

HALVED = bytes([KEPT.index(weight) for weight in ROUNDED])
"""Weight -> its place among KEPT."""

LISTS_OF = "select segment, rows, content from posting where term = ?"
GONE = "term = ?1 and not exists (select 1 from posting where term = ?1)"


class Arrays(Record):
    """A table of arrays, the words that have them, and column -> how a segment's share follows from its weights."""

    table: str
    is_for: Callable[[List], bool]
    columns: Mapping[str, Callable[[bytes], bytes]]


def _is_very_common(one: List) -> bool:
    return one.size >= LEAST and SHARE * one.size > one.within[-1]


def _is_common(one: List) -> bool:
    return one.size >= COMMON or _is_very_common(one)


def _bits(least: int) -> Callable[[bytes], bytes]:
    return lambda weights: int(weights[::-1].translate(HELD[least]) or b"0", 2).to_bytes(SEGMENT // 8, "little")


def _halves(weights: bytes) -> bytes:
    halved = weights.translate(HALVED)
    first, second = (int.from_bytes(halved[start::2], "little") for start in (0, 1))
    return (first | second << 4).to_bytes(BYTES, "little")


def _by_row(one: List | None) -> bytes:
    """The weight for each row of a segment, up to the last that holds the word."""
    weights = bytearray(one.within[-1] + 1 if one else 0)
    for row, weight in zip(one.within, one.weights, strict=True) if one else ():
        weights[row] = weight
    return bytes(weights)


BITMAPS = Arrays("bitmap", _is_common, {"held": _bits(LEVELS[0]), "strong": _bits(LEVELS[1])})
HALVES = Arrays("weight", _is_very_common, {"content": _halves})


def update_common(db: Connection, word: str, segment: int, one: List | None) -> None:
    """Let the arrays of a word say what its list in a segment does, which was written; None: it is gone."""
    weights = b""
    for arrays in (BITMAPS, HALVES):
        found = db.execute(f"select rowid from {arrays.table} where term = ?", (word,)).fetchone()
        if found:
            weights = weights or _by_row(one)
            _put(db, arrays, found[0], segment, weights)
            if one is None:
                db.execute(f"delete from {arrays.table} where {GONE}", (word,))
        elif one and arrays.is_for(one):
            _start(db, arrays, word)
        else:
            return


def _start(db: Connection, arrays: Arrays, word: str) -> None:
    db.execute(f"insert into {arrays.table}(term) values (?)", (word,))
    ((row,),) = db.execute("select last_insert_rowid()")
    for segment, *listed in db.execute(LISTS_OF, (word,)).fetchall():
        _put(db, arrays, row, segment, _by_row(List(segment, *listed)))


def _put(db: Connection, arrays: Arrays, row: int, segment: int, weights: bytes) -> None:
    for column, share_of in arrays.columns.items():
        _write(db, arrays.table, column, row, segment, share_of(weights))


def _write(db: Connection, table: str, column: str, row: int, segment: int, share: bytes) -> None:
    """Set the share of a segment in an array: in place, where it reaches so far."""
    start, end = segment * len(share), (segment + 1) * len(share)
    ((size,),) = db.execute(f"select length({column}) from {table} where rowid = ?", (row,))
    if size >= end:
        with db.blobopen(table, column, row, readonly=False) as stored:
            stored.seek(start)
            stored.write(share)
        return
    ((before,),) = db.execute(f"select {column} from {table} where rowid = ?", (row,))
    content = (before[:start].ljust(start, b"\0") + share).rstrip(b"\0")
    db.execute(f"update {table} set {column} = ? where rowid = ?", (content, row))
