"""The best of many rows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SAMPLED = 16
"""Of many values one in so many is looked at to see which are high."""


def best(
    values: Mapping[int, float],
    size: int,
    counts: Callable[[int], bool],
    in_order: Callable[[list[int], int], list[int]],
) -> list[int]:
    """The rows with the best values: *size* that count, and what stands among them.

    Of equal ones those that come first *in_order*, which is asked only where not all of them have room, and for how
    many that count there is.
    """
    ordered = _sorted(_high(values, 2 * size), values)
    last = place_of(size, ordered, counts)
    if last is None:
        ordered = _sorted(values, values)
        last = place_of(size, ordered, counts)
    if last is None or last + 1 == len(ordered):
        return ordered
    least = values[ordered[last]]
    if values[ordered[last + 1]] < least:
        return ordered[: last + 1]
    better = [row for row in ordered[:last] if values[row] > least]
    room = size - sum(map(counts, better))
    equal = in_order([row for row in ordered[len(better) :] if values[row] == least], room)
    last = place_of(room, equal, counts)
    return better + (equal if last is None else equal[: last + 1])


def _sorted(rows: Iterable[int], values: Mapping[int, float]) -> list[int]:
    return sorted(rows, key=values.__getitem__, reverse=True)


def _high(values: Mapping[int, float], size: int) -> Iterable[int]:
    """Rows with high values, about twice *size* of them, and all whose value is that of the lowest of these."""
    if len(values) <= SAMPLED * size:
        return values
    sample = sorted([*values.values()][::SAMPLED], reverse=True)
    least = sample[2 * size // SAMPLED]
    return [row for row, value in values.items() if value >= least]


def place_of(size: int, rows: Iterable[int], counts: Callable[[int], bool]) -> int | None:
    """The place of the *size*th that counts; None where there are fewer."""
    for place, row in enumerate(rows):
        size -= counts(row)
        if not size:
            return place
    return None
