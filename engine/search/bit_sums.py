"""Sums for all memories at once: a set of rows is an integer with a bit for each row, and so is each digit of the sums.

To add a set takes five operations on such integers, as an adder has five gates: 4 us for 65,536 rows. After P. O'Neil
and D. Quass, Improved Query Performance with Variant Indexes, SIGMOD 1997, and D. Rinfret, P. O'Neil and E. O'Neil,
Bit-Sliced Index Arithmetic, SIGMOD 2001.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SET = bytes([0]) + bytes([1]) * 255


class BitSums:
    """What has been added for each row."""

    def __init__(self) -> None:
        self._waiting: list[list[int]] = []

    def add(self, rows: int, digit: int) -> None:
        """Add 2 ** *digit* for each row of a set."""
        while True:
            while digit >= len(self._waiting):
                self._waiting.append([])
            sets = self._waiting[digit]
            sets.append(rows)
            if len(sets) < 3:
                break
            first, second, third = sets
            either = first ^ second
            self._waiting[digit] = [either ^ third]
            rows = first & second | either & third
            digit += 1

    def digits(self) -> list[int]:
        """For each binary digit of the sums the rows that have it, the least digit first."""
        digit = 0
        while digit < len(self._waiting):
            if len(self._waiting[digit]) == 2:
                self.add(0, digit)
            digit += 1
        return [sets[0] if sets else 0 for sets in self._waiting]


def highest(digits: Sequence[int], size: int) -> tuple[int, int]:
    """The rows with the highest sums: all above that of the *size*th, and all that are equal to it; none that is 0.

    *digits*: see `BitSums.digits`.
    """
    above, equal = 0, 0
    for rows in digits:
        equal |= rows
    for rows in reversed(digits):
        high = rows & equal
        count = high.bit_count()
        if count >= size:
            equal = high
        else:
            size -= count
            above |= high
            equal ^= high
    return above, equal


def rows_of(rows: int, most: int | None = None) -> list[int]:
    """The rows of a set, ascending: all, or *most*."""
    found: list[int] = []
    content = rows.to_bytes((rows.bit_length() + 7) // 8, "little")
    next_set = content.translate(SET).find
    place = next_set(1)
    while place >= 0 and (most is None or len(found) < most):
        before = 8 * place - 1
        byte = content[place]
        while byte:
            lowest = byte & -byte
            found.append(before + lowest.bit_length())
            byte ^= lowest
        place = next_set(1, place + 1)
    return found
