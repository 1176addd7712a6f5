"""What is kept of common words besides their lists, in step with these: bitmaps, weights by row, and bags.

See `engine.search.bitmaps` and `engine.search.weights`, which read them. The first two are arrays over all rows,
segment by segment. Once a word has them it keeps them until no memory holds it.
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.search.bags import weights_of
from engine.search.bit_sums import rows_of
from engine.search.bitmaps import LEVELS
from engine.search.postings import SEGMENT, List
from engine.search.rows import text_check
from engine.search.weights import BYTES, KEPT, ROUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from engine.lean.sqlite import Connection

COMMON = 128
"""A word that so many memories of a segment hold, or a good share of few, is common: it has bitmaps."""

LEAST, SHARE = 32, 32
"""A word that so many memories of a segment hold, and at least one in SHARE, is very common: its weights lie by row."""

HELD = {least: b"0" * least + b"1" * (256 - least) for least in LEVELS}
"""Least weight -> for each weight whether it is as much, as a binary digit."""

HALVED = bytes([KEPT.index(weight) for weight in ROUNDED])
"""Weight -> its place among KEPT."""

SURROGATES = range(0xD800, 0xE000)
"""Codes of no character: numbers that no word has."""

WORDS = "select title, tags, body from words where rowid = ?"
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


class CommonWords:
    """Keeps all this in step with the lists. `write_bags` has to be called at the end."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._due = 0  # the rows whose bags are behind, a bit for each

    def update(self, word: str, segment: int, one: List | None) -> None:
        """Let the arrays of a word say what its list in a segment does, which was written; None: it is gone."""
        weights = b""
        for arrays in (BITMAPS, HALVES):
            found = self._db.execute(f"select rowid from {arrays.table} where term = ?", (word,)).fetchone()
            if found:
                weights = weights or _by_row(one)
                _put(self._db, arrays, found[0], segment, weights)
                if one is None:
                    self._db.execute(f"delete from {arrays.table} where {GONE}", (word,))
            elif one and arrays.is_for(one):
                self._start(arrays, word)
            else:
                return

    def changed(self, rows: Collection[int]) -> None:
        """Other memories lie in *rows* now, or none."""
        marked = bytearray(max(rows, default=0) // 8 + 1)
        for row in rows:
            marked[row >> 3] |= 1 << (row & 7)
        self._due |= int.from_bytes(marked, "little")

    def write_bags(self) -> None:
        """Let the bags say what the memories hold that lie in their rows now, if any do."""
        if not self._due:
            return  # to read all common words of 50,000 memories takes 5 ms, more than a changed memory
        codes = {word: chr(number) for word, number in self._db.execute("select term, rowid from bitmap")}
        for row in rows_of(self._due):
            words = self._db.execute(WORDS, (row,)).fetchone()
            if words is None:
                self._db.execute("delete from bag where rowid = ?", (row,))
                continue
            held = {word: weight for word, weight in weights_of(words).items() if word in codes}
            bag = "".join([*map(codes.__getitem__, held), *map(chr, held.values())])
            self._db.execute("insert or replace into bag values (?, ?, ?)", (row, bag, text_check(bag)))
        self._due = 0

    def _start(self, arrays: Arrays, word: str) -> None:
        """Give a word arrays. The bags of memories that it was in before are behind."""
        ((last,),) = self._db.execute(f"select coalesce(max(rowid), 0) from {arrays.table}")
        number = SURROGATES.stop if last + 1 in SURROGATES else last + 1
        self._db.execute(f"insert into {arrays.table}(rowid, term) values (?, ?)", (number, word))
        for segment, *listed in self._db.execute(LISTS_OF, (word,)).fetchall():
            _put(self._db, arrays, number, segment, _by_row(List(segment, *listed)))
        if arrays is BITMAPS:
            ((held,),) = self._db.execute("select held from bitmap where rowid = ?", (number,))
            self._due |= int.from_bytes(held, "little")


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
