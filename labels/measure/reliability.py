"""Whether a probability means what it says: of what is called 70 % likely to be relevant, 70 % should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from labels.records import Judgements, Outcome

BINS = 10


class Bin(NamedTuple):
    """Memories of like probability: the mean of what was `said`, the share that was `found` relevant, how many."""

    said: float
    found: float
    interval: Interval
    memories: int


@dataclass(frozen=True)
class Reliability:
    """`brier` is the mean squared error of the probabilities: 0 is perfect, .25 is what saying 50 % always gives."""

    bins: tuple[Bin, ...]
    brier: float
    memories: int


def reliability(rows: Iterable[Outcome], judgements: Judgements) -> Reliability | None:
    """Of all candidates that have both a probability and a judgement; None if there are none.

    The bins are of equal width. Source of the score: G. W. Brier, Monthly Weather Review 78 (1950).
    """
    pairs = list(predictions(rows, judgements))
    if not pairs:
        return None
    binned: dict[int, list[tuple[float, bool]]] = {}
    for said, is_relevant in pairs:
        binned.setdefault(min(int(said * BINS), BINS - 1), []).append((said, is_relevant))
    brier = sum((said - is_relevant) ** 2 for said, is_relevant in pairs) / len(pairs)
    return Reliability(tuple(bin_of(binned[number]) for number in sorted(binned)), brier, len(pairs))


def predictions(rows: Iterable[Outcome], judgements: Judgements) -> Iterator[tuple[float, bool]]:
    for row in rows:
        judged = judgements.get(row.prompt_id, {})
        for memory_id, probability in row.probabilities.items():
            if memory_id in judged:
                yield probability, judged[memory_id]


def bin_of(pairs: list[tuple[float, bool]]) -> Bin:
    n, relevant = len(pairs), sum(is_relevant for _, is_relevant in pairs)
    interval = wilson(relevant, n)
    assert interval is not None  # a bin has at least one memory
    return Bin(sum(said for said, _ in pairs) / n, relevant / n, interval, n)
