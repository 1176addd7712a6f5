"""Weights: what a word counts in a memory, and how it is looked up for some words in some memories.

A very common word's lies in an array over all memories, half a byte for each: to look for a few of them in its lists
would mean to read all of these. Any other word's lies in its lists.

Of many words in few memories the common ones' are sooner found by memory, in bags: texts with a character for each
common word that the memory holds, whose code is the number of the word's bitmaps (see `engine.search.bitmaps`), and
then a character for the weight of each.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.sqlite import DatabaseError
from engine.search.postings import SEGMENT, SPARSE, List
from engine.search.rows import bag_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set
    from sqlite3 import Blob

    from engine.lean.sqlite import Connection
    from engine.search.postings import Rows

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
NUMBERS = "select term, rowid from bitmap where term in (select value from json_each(?))"
BAGS = "select rowid, content, check_sum from bag where rowid in (select value from json_each(?))"


def weights_among(
    db: Connection, words: Set[str], rows: Rows, numbers: Mapping[str, int]
) -> Iterable[tuple[str, dict[int, int]]]:
    """Word, and number -> weight of those of *rows* that hold it; a word may come several times, with other rows.

    *numbers*: those of common words, as far as they are known. Raises what is in DAMAGE.
    """
    rest = {*words}
    if are_many(len(words), rows):
        common = _common(db, words, numbers)
        rest -= common.keys()
        if common:
            yield from _in_bags(db, common, rows).items()
    elif words:
        for word, weights in _in_arrays(db, words, rows):
            rest.discard(word)
            yield word, weights
    if rest:
        for word, *one in db.execute(LISTED, (dumps(sorted(rest), ascii_only=False),)):
            yield word, List(*one).among(rows)


def are_many(words: int, rows: Rows) -> bool:
    """Whether so many common words are sooner found in bags: to read one takes 7 us, to look up a word 10 a segment."""
    return words * (len(rows) + 1) > sum(map(len, rows.values()))


def _in_arrays(db: Connection, words: Set[str], rows: Rows) -> Iterable[tuple[str, dict[int, int]]]:
    """`weights_among` for very common words, by a look for each word."""
    most = SPARSE * sum(map(len, rows.values()))
    for word, number, content in db.execute(STORED, (most, dumps(sorted(words), ascii_only=False))):
        if content is None:
            with db.blobopen("weight", "content", number, readonly=True) as stored:
                yield word, _halves(stored, rows)
        elif isinstance(content, bytes):
            yield word, _halves(content, rows)
        else:
            raise DatabaseError("the weights of a word are damaged")


def _common(db: Connection, words: Set[str], numbers: Mapping[str, int]) -> dict[str, int]:
    """Those of *words* that are common, with their numbers."""
    found = {word: numbers[word] for word in words & numbers.keys()}
    unknown = sorted(words - numbers.keys())
    return found | dict(db.execute(NUMBERS, (dumps(unknown, ascii_only=False),))) if unknown else found


def _in_bags(db: Connection, numbers: Mapping[str, int], rows: Rows) -> dict[str, dict[int, int]]:
    """`weights_among` for common words, by a look for each memory."""
    found: dict[str, dict[int, int]] = {word: {} for word in numbers}
    sought = [(chr(number), found[word]) for word, number in numbers.items()]
    places = {segment * SEGMENT + row: place for segment, wanted in rows.items() for row, place in wanted.items()}
    read = db.execute(BAGS, (dumps(sorted(places)),)).fetchall()
    if len(read) != len(places):
        raise DatabaseError("memories have no bag")
    for row, content, check_sum in read:
        bag = bag_in((content, check_sum))
        place, end, find = places[row], len(bag) // 2, bag.find
        for code, weights in sought:
            held = find(code, 0, end)
            if held >= 0:
                weights[place] = ord(bag[end + held])
    return found


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
