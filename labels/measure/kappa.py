"""Coefficients of agreement, as pure functions of counts: Cohen's kappa, Gwet's AC1, Krippendorff's alpha.

A table counts the answers of two voices: (both yes, only the first yes, only the second yes, both no). The counts need
not be whole. The result is None where nothing can be said: without counts, or if only one answer was ever given.
scikit-learn has a kappa without a standard error, from lists of answers, and neither AC1 nor alpha.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from labels.measure.intervals import Drawn, Interval, jackknife_interval, sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Votes = tuple[int, int]
    """The numbers of people who call a memory relevant, and not relevant."""

Table = tuple[float, float, float, float]


def positive_agreement(table: Table) -> float | None:
    """2a / (2a + b + c): the chance that the other voice says yes, if one says yes, 0..1.

    Source: D. V. Cicchetti and A. R. Feinstein, Journal of Clinical Epidemiology 43 (1990).
    """
    both, first, second, _ = table
    return 2 * both / (2 * both + first + second) if both + first + second else None


def negative_agreement(table: Table) -> float | None:
    """2d / (2d + b + c): the same for no."""
    return positive_agreement((table[3], table[1], table[2], table[0]))


def cohens_kappa(table: Table) -> tuple[float | None, float | None]:
    """Cohen's kappa (-1..1) and its standard error; (None, None) if agreement by chance is certain.

    Sources: J. Cohen, Educational and Psychological Measurement 20 (1960). The standard error is the large-sample one
    of Fleiss, Cohen and Everitt, Psychological Bulletin 72 (1969), equation 13.
    """
    n = sum(table)
    if not n:
        return None, None
    cells = ((table[0] / n, table[1] / n), (table[2] / n, table[3] / n))
    rows = [sum(row) for row in cells]
    columns = [sum(column) for column in zip(*cells, strict=True)]
    chance = sum(row * column for row, column in zip(rows, columns, strict=True))
    if chance == 1:
        return None, None
    kappa = (cells[0][0] + cells[1][1] - chance) / (1 - chance)
    on_diagonal = sum(cells[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    off_diagonal = sum(cells[i][1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1))
    spread = on_diagonal + (1 - kappa) ** 2 * off_diagonal - (kappa - chance * (1 - kappa)) ** 2
    return kappa, sqrt(max(0.0, spread) / n) / (1 - chance)


def gwet_ac1(table: Table) -> float | None:
    """Gwet's AC1 (-1..1): like kappa, but it does not collapse where nearly all answers are the same.

    Chance agreement is 2q(1 - q), with q the mean share of yes. Source: K. L. Gwet, British Journal of Mathematical and
    Statistical Psychology 61 (2008), equation 5.
    """
    both_yes, first, second, both_no = table
    n = sum(table)
    if not n:
        return None
    yes = (2 * both_yes + first + second) / (2 * n)
    chance = 2 * yes * (1 - yes)
    return ((both_yes + both_no) / n - chance) / (1 - chance)


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha: agreement of any number of people, who need not have labelled the same memories.

    `value` is at most 1, and 0 for chance. `interval` is 95 %, None from a single prompt. `memories` counts
    the memories with labels of at least two people.
    """

    value: float
    interval: Interval | None
    memories: int


def krippendorffs_alpha(prompts: Mapping[str, Sequence[Votes]]) -> Alpha | None:
    """Alpha for two categories, from the votes on each memory of each prompt; None if it is not defined.

    It is 1 - D_o / D_e, with missing labels. The interval leaves out whole prompts.
    Source: K. Krippendorff, Content Analysis (2004), section 11.3.
    """
    rows = [row for votes in prompts.values() if (row := alpha_sums(votes))[3]]
    if not rows:
        return None
    total = sums(rows)
    value, interval = alpha(total), jackknife_interval([Drawn(Counter(rows))], alpha, Interval(-1, 1))
    return None if value is None else Alpha(value, interval, round(total[3]))


def alpha_sums(votes: Iterable[Votes]) -> tuple[float, float, float, float]:
    """(disagreement, relevant labels, other labels, memories) of one prompt.

    The disagreement on a memory with n >= 2 labels, a relevant and b not, is 2ab / (n - 1).
    """
    several = [(a, b) for a, b in votes if a + b > 1]
    disagreement = sum(2 * a * b / (a + b - 1) for a, b in several)
    return disagreement, sum(a for a, _ in several), sum(b for _, b in several), len(several)


def alpha(total: Sequence[float]) -> float | None:
    """1 - observed / expected disagreement; with a relevant and b other labels, 2ab / (a + b - 1) is expected."""
    observed, a, b, _ = total
    expected = 2 * a * b / (a + b - 1) if a + b > 1 else 0.0
    return 1 - observed / expected if expected else None
