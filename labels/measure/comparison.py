"""Two systems on the same prompts: the differences between them, with intervals and tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import lcm, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Interval, jackknife_interval, sums
from labels.measure.metrics import Tally, tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from labels.measure.evidence import Evidence
    from labels.records import Judgements, Outcome

FEWEST_INJECTING = 8
"""Prompts with judged injected memories that a system needs before its precision is compared."""

MOST_SUMS = 1_000_000
"""Additions up to which the sign-flip test is exact; beyond, the sum of hundreds of differences is nearly normal."""

EXACT_UP_TO = 15
"""Prompts with a difference up to which it is exact whatever the differences are: 2 ** 15 ways of flipping signs."""


class Both(NamedTuple):
    """The memories that two systems injected for one prompt, and those that only one of them injected."""

    first: Tally
    second: Tally
    first_only: Tally
    second_only: Tally

    @property
    def row(self) -> tuple[float, ...]:
        return (self.first.relevant, self.first.judged, self.second.relevant, self.second.judged, 1.0)


@dataclass(frozen=True)
class Difference:
    """Second minus first with its 95 % interval, which is None where too few prompts are judged."""

    value: float
    interval: Interval | None

    @property
    def sign(self) -> int:
        """1 or -1 if it is surely above or below 0; 0 if that is not known."""
        return 0 if self.interval is None else (self.interval.low > 0) - (self.interval.high < 0)


@dataclass(frozen=True)
class SystemComparison:
    """The second system against the first, on the prompts that are judged for both.

    `precision` is the difference of the set precisions, -1..1, None where either injects nothing. `p_value` (0..1) is
    that of the sign-flip test on the `compared` prompts, for which both inject something. `irrelevant` and `relevant`
    are differences in memories per prompt: below 0 the second injects fewer. `first_only` and `second_only` are
    (relevant, irrelevant) counts of memories that only one injects. `gain` is the value of the change per prompt, in
    irrelevant memories, if one relevant memory is worth *worth* of them.
    """

    first: str
    second: str
    prompts: int
    compared: int
    precision: Difference | None
    p_value: float | None
    irrelevant: Difference
    relevant: Difference
    first_only: tuple[int, int]
    second_only: tuple[int, int]
    worth: float | None
    gain: Difference | None

    @property
    def break_even(self) -> float | None:
        """Irrelevant memories saved per relevant one lost; None unless the second injects fewer of both."""
        if self.irrelevant.value >= 0 or self.relevant.value >= 0:
            return None
        return self.irrelevant.value / self.relevant.value


def comparisons(evidence: Evidence) -> tuple[SystemComparison, ...]:
    """Each system against the one that it builds on, on the prompts that are completely judged for both."""
    alive, found = [name for name in evidence.systems if not evidence.is_dead(name)], []
    for system in alive[1:]:
        # the base of bm25+judge is bm25; a system that builds on none of the others is compared with the first
        bases = [other for other in alive if system.startswith(f"{other}+")]
        found.append(comparison_of(evidence, (max(bases, key=len, default=alive[0]), system)))
    return tuple(filter(None, found))


def comparison_of(evidence: Evidence, systems: tuple[str, str], worth: float | None = None) -> SystemComparison | None:
    """The two systems on the prompts that are completely judged for both; None if there are none."""
    prompts = evidence.measured if evidence.moments is None else evidence.finished(systems)
    return compare(evidence.rows, evidence.judgements, systems, prompts, worth=worth)


def compare(
    rows: Sequence[Outcome],
    judgements: Judgements,
    systems: tuple[str, str],
    prompts: Set[str],
    *,
    worth: float | None = None,
) -> SystemComparison | None:
    """Compare two *systems* on the *prompts* for which both have an outcome; None if there are none.

    *prompts* should be judged for both, and a random draw. Unjudged memories are not counted, and prompts without an
    answer of the judge are left out.
    """
    found = both(rows, judgements, systems, prompts)
    if not found:
        return None
    compared = [(first, second) for first, second, *_ in found if first.judged and second.judged]
    gains = [Fraction(new.relevant, new.judged) - Fraction(old.relevant, old.judged) for old, new in compared]
    counts = Counter(pair.row for pair in found)
    firing = min(sum(pair.first.judged > 0 for pair in found), sum(pair.second.judged > 0 for pair in found))
    interval = jackknife_interval(counts, more_precise, Interval(-1, 1)) if firing >= FEWEST_INJECTING else None
    value = more_precise(sums(counts))
    return SystemComparison(
        *systems,
        prompts=len(found),
        compared=len(gains),
        precision=None if value is None else Difference(value, interval),
        p_value=sign_flip_p_value(gains),
        irrelevant=mean_difference(counts, more_irrelevant),
        relevant=mean_difference(counts, more_relevant),
        first_only=counts_of([pair.first_only for pair in found]),
        second_only=counts_of([pair.second_only for pair in found]),
        worth=worth,
        gain=None if worth is None else mean_difference(counts, partial(balance, worth)),
    )


def both(rows: Sequence[Outcome], judgements: Judgements, systems: tuple[str, str], prompts: Set[str]) -> list[Both]:
    """A row for each of *prompts* for which both systems have an outcome."""
    found: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in systems}
    for row in rows:
        if row.system in found and row.prompt_id in prompts and not row.is_unanswered:
            found[row.system][row.prompt_id] = row.injected
    first, second = found.values()
    made = []
    for name in [name for name in first if name in second]:
        one, other = first[name], second[name]
        sets = (one, other, [own for own in one if own not in other], [own for own in other if own not in one])
        made.append(Both._make(tally(name, own, judgements) for own in sets))
    return made


def counts_of(tallies: Sequence[Tally]) -> tuple[int, int]:
    """(relevant, irrelevant) memories."""
    return sum(own.relevant for own in tallies), sum(own.irrelevant for own in tallies)


# Intervals and tests


def more_relevant(row: Sequence[float]) -> float:
    """Relevant memories per prompt, second minus first, from sums of `Both.row`."""
    first, _, second, _, prompts = row
    return (second - first) / prompts


def more_irrelevant(row: Sequence[float]) -> float:
    first, first_judged, second, second_judged, prompts = row
    return (second_judged - second - first_judged + first) / prompts


def balance(worth: float, row: Sequence[float]) -> float:
    return worth * more_relevant(row) - more_irrelevant(row)


def more_precise(row: Sequence[float]) -> float | None:
    """Second minus first set precision; None where either injects nothing."""
    first, first_judged, second, second_judged, _ = row
    return second / second_judged - first / first_judged if first_judged and second_judged else None


def mean_difference(rows: Counter[tuple[float, ...]], mean: Callable[[Sequence[float]], float]) -> Difference:
    return Difference(mean(sums(rows)), jackknife_interval(rows, mean))


def sign_flip_p_value(differences: Sequence[Fraction]) -> float | None:
    """The probability (0..1) of a mean difference at least as large if every sign were random; None without any.

    Two-sided. It is exact, by adding up whole multiples of a common fraction, up to MOST_SUMS; beyond, it is the normal
    approximation of the sum of flipped differences.
    Source: M. Smucker, J. Allan and B. Carterette, A comparison of statistical significance tests for information
    retrieval evaluation, CIKM 2007.
    """
    if not differences:
        return None
    unit = lcm(*(difference.denominator for difference in differences))
    moved = [int(difference * unit) for difference in differences if difference]
    least, sizes = abs(sum(moved)), [abs(size) for size in moved]
    if len(sizes) > EXACT_UP_TO and len(sizes) * sum(sizes) > MOST_SUMS:
        return 2 * NormalDist().cdf(-least / sqrt(sum(size * size for size in sizes)))
    chances = {0: 1.0}
    for size in sizes:
        flipped: dict[int, float] = defaultdict(float)
        for total, chance in chances.items():
            flipped[total + size] += chance / 2
            flipped[total - size] += chance / 2
        chances = flipped
    return sum(chance for total, chance in chances.items() if abs(total) >= least)
