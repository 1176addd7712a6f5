"""Krippendorff's alpha: agreement of any number of people, who need not all have labelled the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Counts = tuple[int, int]
    """How many said relevant, and how many said not, of one memory."""

RESAMPLINGS, PORTION = 2000, 100
SEED = 20250102
"""Of the resamplings: the same labels always give the same numbers."""


@dataclass(frozen=True)
class Alpha:
    """`value` is at most 1, 0 is chance; `interval` is 95 %, None where resampling cannot tell; `memories` are those
    that at least two people have labelled."""

    value: float
    interval: Interval | None
    memories: int


def alpha_of(prompts: Mapping[str, Sequence[Counts]]) -> Alpha | None:
    """Alpha for two categories; None where no memory has two labels, or only one answer was ever given.

    1 - D_o / D_e from the counts of values, with missing labels. The interval is the middle 95 % of resamplings of
    whole prompts. Source: K. Krippendorff, Content Analysis (2004), section 11.3.
    """
    rows = [sums(counts) for counts in prompts.values()]
    rows = [row for row in rows if row[3]]
    total = [sum(column) for column in zip(*rows, strict=True)] or [0.0] * 4
    value = alpha(total)
    if value is None:
        return None
    return Alpha(value, resampled_interval(rows), round(total[3]))


def sums(counts: Iterable[Counts]) -> tuple[float, float, float, float]:
    """What one prompt adds: disagreement, labels that say relevant, labels that say not, and memories.

    Of a memory with n >= 2 labels, a of which say relevant and b not, the disagreement is 2ab / (n - 1).
    """
    several = [(a, b) for a, b in counts if a + b > 1]
    return (
        sum(2 * a * b / (a + b - 1) for a, b in several),
        sum(a for a, _ in several),
        sum(b for _, b in several),
        len(several),
    )


def alpha(total: Sequence[float]) -> float | None:
    """1 - (observed / n) / (expected / n), with n labels, a relevant and b not: expected is 2ab / (n - 1)."""
    observed, a, b, _ = total
    expected = 2 * a * b / (a + b - 1) if a + b > 1 else 0.0
    return 1 - observed / expected if expected else None


def resampled_interval(rows: Sequence[tuple[float, ...]]) -> Interval | None:
    import numpy as np

    if len(rows) < 2:
        return None
    rng, n, values_of = np.random.default_rng(SEED), len(rows), np.array(rows)
    # in portions, as all draws at once would be 160 MB for 10,000 prompts
    drawn = (rng.multinomial(n, [1 / n] * n, size=PORTION) @ values_of for _ in range(RESAMPLINGS // PORTION))
    observed, a, b, _ = np.concatenate(list(drawn)).T
    values: NDArray[np.float64] = 1 - observed * (a + b - 1) / np.where(a * b > 0, 2 * a * b, np.nan)
    if np.isnan(values).any():
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(float(low), float(high))
