"""Two systems on the same prompts: what the second changes, and how sure that is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Interval
from labels.measure.metrics import Tally, tally

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence, Set

    import numpy as np
    from numpy.typing import NDArray

    from labels.records import Judgements, Outcome

    Totals = NDArray[np.float64]
    """Weighted sums over prompts, a column for each of `Both.row`; a row for each resampling."""

RESAMPLINGS = 2000
EXACT_UP_TO = 15
"""Prompts whose precision differs, up to which every way of flipping their signs is tried: 2 ** 15."""

NORMAL_FROM = 1000

SEED = 20250101
"""Of the resamplings: the same labels always give the same numbers."""


class Both(NamedTuple):
    """What two systems injected for one prompt.

    `first_only` and `second_only` are (relevant, irrelevant) counts of what only one of them injected; `weight` is how
    many prompts of the frame this one stands for.
    """

    first: Tally
    second: Tally
    first_only: tuple[int, int]
    second_only: tuple[int, int]
    stratum: Hashable
    weight: float

    @property
    def row(self) -> tuple[float, ...]:
        return (self.first.relevant, self.first.judged, self.second.relevant, self.second.judged, 1.0)

    @property
    def precision_gain(self) -> float | None:
        """Second minus first, -1..1; None where either injects nothing that was judged."""
        if not (self.first.judged and self.second.judged):
            return None
        return self.second.relevant / self.second.judged - self.first.relevant / self.first.judged


@dataclass(frozen=True)
class Difference:
    """Second minus first with its 95 % interval, which is None where resampling cannot tell."""

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class SystemComparison:
    """The second system against the first, on the prompts that are judged for both.

    `precision` is the difference of the set precisions, -1..1, None where either injects nothing. `p_value` is that of
    the sign-flip test over the `compared` prompts for which both inject something: how often chance alone would make
    their precisions differ as much, 0..1. `irrelevant` and `relevant` are differences in memories per prompt: below 0
    the second injects fewer. `first_only` and `second_only` are (relevant, irrelevant) counts of what only one
    injects, `mcnemar` the exact test on them, which takes memories of one prompt for independent. `gain` is what
    the change is worth per prompt in irrelevant memories, with one relevant memory worth *worth* of them.
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
    mcnemar: float | None
    worth: float | None
    gain: Difference | None

    @property
    def break_even(self) -> float | None:
        """Irrelevant memories fewer for each relevant one fewer; None unless the second injects fewer of both."""
        if self.irrelevant.value >= 0 or self.relevant.value >= 0:
            return None
        return self.irrelevant.value / self.relevant.value


def compare(
    rows: Sequence[Outcome],
    judgements: Judgements,
    systems: tuple[str, str],
    prompts: Set[str],
    *,
    strata: Mapping[str, Hashable] | None = None,
    worth: float | None = None,
) -> SystemComparison | None:
    """Compare the outcomes of two *systems* on those of *prompts* that both have; None if there is none.

    *prompts* should be judged for both. *strata* hold the stratum of every prompt in the frame, None means that
    *prompts* are a random draw. Unjudged memories count nowhere.
    """
    pairs = both(rows, judgements, systems, prompts, strata)
    if not pairs:
        return None
    gains = [gain for pair in pairs if (gain := pair.precision_gain) is not None]
    sums, resampled = totals(pairs), resampled_totals(pairs)
    freedom = len(pairs) - len({pair.stratum for pair in pairs})

    def difference(statistic: Callable[[Totals], Totals]) -> Difference:
        return Difference(float(statistic(sums)[0]), percentile_interval(statistic(resampled), freedom))

    fires = all(sums[0, [1, 3]] > 0)
    return SystemComparison(
        *systems,
        prompts=len(pairs),
        compared=len(gains),
        precision=difference(precision_difference) if fires else None,
        p_value=sign_flip_p_value(gains),
        irrelevant=difference(irrelevant_difference),
        relevant=difference(relevant_difference),
        first_only=added([pair.first_only for pair in pairs]),
        second_only=added([pair.second_only for pair in pairs]),
        mcnemar=mcnemar_p_value(pairs),
        worth=worth,
        gain=None if worth is None else difference(lambda each: worth_of_change(each, worth)),
    )


def both(
    rows: Sequence[Outcome],
    judgements: Judgements,
    systems: tuple[str, str],
    prompts: Set[str],
    strata: Mapping[str, Hashable] | None,
) -> list[Both]:
    first, second = ({row.prompt_id: row for row in rows if row.system == name} for name in systems)
    shared = [name for name in first if name in second and name in prompts and (strata is None or name in strata)]
    group = {name: strata[name] if strata else "" for name in shared}
    drawn, frame = Counter(group.values()), Counter((strata or group).values())
    weight = {stratum: frame[stratum] / number for stratum, number in drawn.items()}
    return [
        Both(
            tally(first[name], judgements),
            tally(second[name], judgements),
            judged_counts(first[name], second[name], judgements),
            judged_counts(second[name], first[name], judgements),
            group[name],
            weight[group[name]],
        )
        for name in shared
    ]


def judged_counts(one: Outcome, other: Outcome, judgements: Judgements) -> tuple[int, int]:
    """(relevant, irrelevant) memories that *one* injects and *other* does not."""
    judged, both = judgements.get(one.prompt_id, {}), other.injected
    found = [judged.get(memory_id) for memory_id in one.injected if memory_id not in both]
    return found.count(True), found.count(False)


def added(counts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(relevant for relevant, _ in counts), sum(irrelevant for _, irrelevant in counts)


# What the columns of `Both.row` say


def precision_difference(sums: Totals) -> Totals:
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):  # a resampling may leave a system with nothing
        difference: Totals = sums[:, 2] / sums[:, 3] - sums[:, 0] / sums[:, 1]
    return difference


def irrelevant_difference(sums: Totals) -> Totals:
    return (sums[:, 3] - sums[:, 2] - sums[:, 1] + sums[:, 0]) / sums[:, 4]


def relevant_difference(sums: Totals) -> Totals:
    return (sums[:, 2] - sums[:, 0]) / sums[:, 4]


def worth_of_change(sums: Totals, worth: float) -> Totals:
    return worth * relevant_difference(sums) - irrelevant_difference(sums)


# How sure that is


def totals(pairs: Sequence[Both]) -> Totals:
    import numpy as np

    weights = np.array([pair.weight for pair in pairs])
    rows = np.array([pair.row for pair in pairs])
    summed: Totals = (weights[:, None] * rows).sum(axis=0, keepdims=True)
    return summed


def resampled_totals(pairs: Sequence[Both]) -> Totals:
    """`totals` of RESAMPLINGS draws of the prompts, with replacement, each stratum by itself.

    Of n prompts n - 1 are drawn and count n / (n - 1), without which the spread would be too small by (n - 1) / n; no
    numbers where a stratum has one prompt, of which no spread is known.
    Source: J. N. K. Rao and C. F. J. Wu, Resampling inference with complex survey data, JASA 83 (1988).
    """
    import numpy as np

    rng = np.random.default_rng(SEED)
    groups: dict[Hashable, list[Both]] = {}
    for pair in pairs:
        groups.setdefault(pair.stratum, []).append(pair)
    sums: Totals = np.zeros((RESAMPLINGS, len(pairs[0].row)))
    for group in groups.values():
        n = len(group)
        if n == 1:
            return np.full_like(sums, np.nan)
        # few prompts differ in their counts: how often each kind is drawn is all that matters, and quick for thousands
        kinds = Counter(pair.row for pair in group)
        times = rng.multinomial(n - 1, [number / n for number in kinds.values()], size=RESAMPLINGS)
        sums += group[0].weight * n / (n - 1) * (times @ np.array(list(kinds), dtype=np.float64))
    return sums


def percentile_interval(values: Totals, freedom: int) -> Interval | None:
    """The middle 95 % of resampled *values*, a little more where degrees of *freedom* are few, as Student's t is
    wider than the normal distribution. None where a value is not a number, as something was divided by nothing.

    Source: T. Hesterberg, What teachers should know about the bootstrap, The American Statistician 69 (2015).
    """
    import numpy as np
    from scipy.special import ndtr, stdtrit

    if not np.isfinite(values).all():
        return None
    tail = ndtr(stdtrit(freedom, 0.025))
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))


def sign_flip_p_value(differences: Sequence[float]) -> float | None:
    """How often differences as large on average come about if each had its sign by chance; None without any.

    Two-sided; exact up to EXACT_UP_TO that are not 0, from 9,999 random flips up to NORMAL_FROM, and beyond from the
    normal distribution that the sum of so many flipped differences has. Source: M. Smucker, J. Allan and B. Carterette,
    A comparison of statistical significance tests for information retrieval evaluation, CIKM 2007.
    """
    import numpy as np
    from scipy.stats import norm, permutation_test

    if not differences:
        return None
    moved = np.array([each for each in differences if each])
    if len(moved) < 2:
        return 1.0
    if len(moved) >= NORMAL_FROM:
        return float(2 * norm.sf(abs(moved.sum()) / np.sqrt((moved**2).sum())))
    flips = 2**EXACT_UP_TO if len(moved) <= EXACT_UP_TO else 9999
    rng = np.random.default_rng(SEED)
    test = permutation_test(
        (moved,), np.sum, permutation_type="samples", vectorized=True, n_resamples=flips, batch=1000, rng=rng
    )
    return float(test.pvalue)


def mcnemar_p_value(pairs: Sequence[Both]) -> float | None:
    """McNemar's exact test of which system decides right more often on what only one injects; None without any.

    To inject a relevant memory is right, and so is not to inject an irrelevant one. Source: Q. McNemar, Psychometrika
    12 (1947).
    """
    from scipy.stats import binomtest

    first_right = sum(pair.first_only[0] + pair.second_only[1] for pair in pairs)
    second_right = sum(pair.second_only[0] + pair.first_only[1] for pair in pairs)
    if not first_right + second_right:
        return None
    return float(binomtest(first_right, first_right + second_right).pvalue)
