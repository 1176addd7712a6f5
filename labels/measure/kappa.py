"""Agreement of two voices that say yes or no, as pure functions of the four counts of what they said together.

A table is (both yes, only the first yes, only the second yes, both no); the counts need not be whole. Where nothing
can be said (no counts, or only one answer was ever given) the result is None.
"""

from __future__ import annotations

from math import sqrt

Table = tuple[float, float, float, float]


def raw_agreement(table: Table) -> float | None:
    """The share on which both say the same, 0..1."""
    return (table[0] + table[3]) / sum(table) if sum(table) else None


def positive_agreement(table: Table) -> float | None:
    """2a / (2a + b + c): if one says yes, the chance that the other does, 0..1.

    Source: D. V. Cicchetti and A. R. Feinstein, Journal of Clinical Epidemiology 43 (1990).
    """
    both, first, second, _ = table
    return 2 * both / (2 * both + first + second) if both + first + second else None


def negative_agreement(table: Table) -> float | None:
    """2d / (2d + b + c): the same of no."""
    return positive_agreement((table[3], table[1], table[2], table[0]))


def cohens_kappa(table: Table) -> tuple[float | None, float | None]:
    """Cohen's kappa (-1..1) and its standard error; (None, None) when chance agreement is certain.

    Sources: J. Cohen, Educational and Psychological Measurement 20 (1960); the large-sample standard error away from
    zero is that of Fleiss, Cohen and Everitt, Psychological Bulletin 72 (1969), equation 13.
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

    Chance agreement is 2q(1 - q), q the mean share of yes. Source: K. L. Gwet, British Journal of Mathematical and
    Statistical Psychology 61 (2008), equation 5.
    """
    raw = raw_agreement(table)
    if raw is None:
        return None
    yes = (2 * table[0] + table[1] + table[2]) / (2 * sum(table))
    chance = 2 * yes * (1 - yes)
    return (raw - chance) / (1 - chance)
