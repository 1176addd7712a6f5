"""Postings: in which memories a word stands and how much it counts there, ready to be added up.

A word has a list for each SEGMENT memories, by row: so a changed memory rewrites little, and a build needs little room.
A list is two arrays of 16 bits in this machine's order: rows within the segment, ascending; and as many weights, which
add up `bags.WEIGHTS` once per occurrence. Beside them lies a number of 32 bits for each row: `of_memory`.
"""

from __future__ import annotations

from engine.json_text import dumps
from engine.search.sqlite import DatabaseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine.search.sqlite import Connection

    Numbers = memoryview[int]
    List = tuple[int, Numbers, Numbers]
    """The row before the first of the segment, rows counted from there, and their weights."""

SEGMENT = 8192
READ = "select term, segment, content from posting where term in (select value from json_each(?))"


def of_memory(tokens: int, *, is_active: bool) -> int:
    """What is kept of each row: whether a memory lies there (1), whether it is retired (2), its tokens x 4."""
    return tokens << 2 | (not is_active) << 1 | 1


def is_active(value: int) -> bool:
    return not value & 2


def tokens_in(value: int) -> int:
    return value >> 2


class Lengths:
    """The memories of an index by row. `rows` of them, of `mean_length` tokens; `values` holds `of_memory` per row."""

    def __init__(self, db: Connection) -> None:
        read = db.execute("select segment, memories, tokens, content from length order by segment").fetchall()
        contents = [one[3] for one in read]
        if [one[0] for one in read] != [*range(len(read))]:
            raise DatabaseError("the lengths of the memories are damaged")
        self.rows = sum(one[1] for one in read)
        self.mean_length = sum(one[2] for one in read) / self.rows if self.rows else 0.0
        padded = [content.ljust(4 * SEGMENT, b"\0") for content in contents[:-1]]
        self.values: Numbers = memoryview(b"".join((*padded, *contents[-1:]))).cast("I")


def lists_of(db: Connection, words: Iterable[str]) -> dict[str, list[List]]:
    """The lists of those of *words* that the corpus holds. Raises what is in DAMAGE where one was damaged."""
    found: dict[str, list[List]] = {}
    for word, segment, content in db.execute(READ, (dumps(sorted(words), ascii_only=False),)):
        found.setdefault(word, []).append((segment * SEGMENT, *arrays_in(content)))
    return found


def arrays_in(content: bytes) -> tuple[Numbers, Numbers]:
    """Rows and weights in a stored list."""
    numbers = memoryview(content).cast("H")
    half = len(numbers) // 2
    if not half or len(numbers) % 2:
        raise DatabaseError("the list of a word is damaged")
    return numbers[:half], numbers[half:]


def bisector() -> Callable[[Sequence[int], int], int]:
    """`bisect_left`. To load it takes a cold process 0.2 ms, and in a small root every list is read as a whole."""
    try:
        from _bisect import bisect_left
    except ImportError:
        from bisect import bisect_left
    return bisect_left
