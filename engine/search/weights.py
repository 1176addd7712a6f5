"""Weights: what a word counts in a memory, and how it is looked up for some of them.

A very common word's lies in an array over all memories, half a byte for each: to look for a few of them in its lists
would mean to read all of these. Any other word's lies in its lists.
"""

from __future__ import annotations

from engine.json_text import dumps
from engine.search.postings import SEGMENT, SPARSE, List
from engine.search.sqlite import DatabaseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Blob

    from engine.search.postings import Rows
    from engine.search.sqlite import Connection

WEIGHTS = (4, 2, 1)
"""What an occurrence in title, tags and body counts."""

STRONG = WEIGHTS[0]
"""The weight from which on a word counts as if it were in the title."""

STEPS = ((10, 2), (13, 4), (18, 7), (27, 13), (45, 32), (90, 188))
"""Sums of WEIGHTS above 9 are kept as these, the nearest, of which each stands for so many."""

KEPT = bytes(range(10)) + bytes([weight for weight, _ in STEPS])
"""All weights there are: so one fits into half a byte. BM25 tells them apart the less, the higher they are."""

ROUNDED = bytes(range(10)) + b"".join([bytes([weight]) * sums for weight, sums in STEPS])
"""Sum of WEIGHTS -> weight."""

BYTES = SEGMENT // 2
"""Of a segment in an array: for each row the place of its weight among KEPT, the lower half of a byte for the first."""

STORED = """select term, rowid, case when length(content) > ? then null else content end from weight
where term in (select value from json_each(?))"""
LISTED = "select term, segment, rows, content from posting where term in (select value from json_each(?))"


def weights_among(db: Connection, words: Sequence[str], rows: Rows) -> Iterable[tuple[str, dict[int, int]]]:
    """Word, and number -> weight of those of *rows* that hold it; a word may come several times, with other rows.

    Raises what is in DAMAGE.
    """
    if not words:
        return
    listed = {*words}
    most = SPARSE * sum(map(len, rows.values()))
    for word, number, content in db.execute(STORED, (most, dumps(words, ascii_only=False))):
        listed.discard(word)
        if content is None:
            with db.blobopen("weight", "content", number, readonly=True) as stored:
                yield word, _halves(stored, rows)
        elif isinstance(content, bytes):
            yield word, _halves(content, rows)
        else:
            raise DatabaseError("the weights of a word are damaged")
    if listed:
        for word, *one in db.execute(LISTED, (dumps(sorted(listed), ascii_only=False),)):
            yield word, List(*one).among(rows)


def rounded(weights: int) -> int:
    """The weight of a word whose occurrences count so much."""
    return ROUNDED[min(weights, len(ROUNDED) - 1)]


def _halves(content: bytes | Blob, rows: Rows) -> dict[int, int]:
    """Number -> weight for those of *rows* whose half a byte is not 0."""
    end = len(content)
    found: dict[int, int] = {}
    for segment, wanted in rows.items():
        first = segment * BYTES
        for row, number in wanted.items():
            place = first + (row >> 1)
            if place < end and (half := content[place] >> 4 * (row & 1) & 15):
                found[number] = KEPT[half]
    return found
