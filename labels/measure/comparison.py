"""Two systems on the same prompts: the differences between them, with intervals and tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Interval
from labels.measure.metrics import Tally, tally

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence, Set

    import numpy as np
    from numpy.typing import NDArray

    from labels.measure.evidence import Evidence
    from labels.records import Judgements, Outcome

    Totals = NDArray[np.float64]
    """Weighted sums over prompts: a column for each of `Both.row`, a row for each resampling."""

RESAMPLINGS = 2000
EXACT_UP_TO = 15
"""Up to this number of prompts with a difference, the test tries all ways of flipping the signs: 2 ** 15."""

NORMAL_FROM = 1000
"""From this number on, the test uses the normal distribution."""

SEED = 20250101
"""The same labels always give the same resamplings."""


class Both(NamedTuple):
    """The memories that two systems injected for one prompt.

    `first_only` and `second_only` are (relevant, irrelevant) counts of memories that only one system injected. `weight`
    is the number of prompts in the frame for which this one stands.
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
        """Second minus first, -1..1; None where either injects no judged memory."""
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

    `precision` is the difference of the set precisions, -1..1, None where either injects nothing. `p_value` (0..1) is
    that of the sign-flip test on the `compared` prompts, for which both inject something. `irrelevant` and `relevant`
    are differences in memories per prompt: below 0 the second injects fewer. `first_only` and `second_only` are
    (relevant, irrelevant) counts of memories that only one injects. `mcnemar` is the p-value of the exact test on them,
    which treats the memories of one prompt as independent. `gain` is the value of the change per prompt, in
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
    mcnemar: float | None
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
    made = []
    for systems in compared_systems([name for name in evidence.systems if not evidence.is_dead(name)]):
        prompts = evidence.measured if evidence.moments is None else evidence.finished(systems)
        made.append(
            compare(evidence.answered, evidence.judgements, systems, prompts, strata=evidence.strata_of(systems))
        )
    return tuple(filter(None, made))


def compared_systems(systems: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(base, system) for each system but the first.

    The base of bm25+judge is bm25. A system that builds on none of the others is compared with the first.
    """
    for system in systems[1:]:
        bases = [other for other in systems if system.startswith(f"{other}+")]
        yield max(bases, key=len, default=systems[0]), system


def compare(
    rows: Sequence[Outcome],
    judgements: Judgements,
    systems: tuple[str, str],
    prompts: Set[str],
    *,
    strata: Mapping[str, Hashable] | None = None,
    worth: float | None = None,
) -> SystemComparison | None:
    """Compare two *systems* on the *prompts* for which both have an outcome; None if there are none.

    *prompts* should be judged for both. *strata* are the strata of all prompts in the frame; None means that *prompts*
    are a random draw. Unjudged memories are not counted.
    """
    pairs = both(rows, judgements, systems, prompts, strata)
    if not pairs:
        return None
    gains = [gain for pair in pairs if (gain := pair.precision_gain) is not None]
    freedom = len(pairs) - len({pair.stratum for pair in pairs})
    first_only, second_only = added([pair.first_only for pair in pairs]), added([pair.second_only for pair in pairs])
    values, resampled = differences(totals(pairs), worth), differences(resampled_totals(pairs), worth)
    made = {
        name: Difference(float(value[0]), percentile_interval(resampled[name], freedom))
        for name, value in values.items()
    }
    return SystemComparison(
        *systems,
        prompts=len(pairs),
        compared=len(gains),
        precision=made["precision"] if isfinite(made["precision"].value) else None,
        p_value=sign_flip_p_value(gains),
        irrelevant=made["irrelevant"],
        relevant=made["relevant"],
        first_only=first_only,
        second_only=second_only,
        mcnemar=mcnemar_p_value(first_only, second_only),
        worth=worth,
        gain=None if worth is None else made["gain"],
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


def differences(sums: Totals, worth: float | None) -> dict[str, Totals]:
    """Second minus first, by the names of `SystemComparison`, from sums of `Both.row`."""
    import numpy as np

    first_relevant, first_judged, relevant, judged, prompts = sums.T
    more_relevant = (relevant - first_relevant) / prompts
    more_irrelevant = (judged - relevant - first_judged + first_relevant) / prompts
    with np.errstate(divide="ignore", invalid="ignore"):  # a resampling may hold no memory of a system
        precision = relevant / judged - first_relevant / first_judged
    gain = (worth or 0.0) * more_relevant - more_irrelevant
    return {"precision": precision, "irrelevant": more_irrelevant, "relevant": more_relevant, "gain": gain}


# Intervals and tests


def totals(pairs: Sequence[Both]) -> Totals:
    import numpy as np

    weights = np.array([pair.weight for pair in pairs])
    rows = np.array([pair.row for pair in pairs])
    summed: Totals = (weights[:, None] * rows).sum(axis=0, keepdims=True)
    return summed


def resampled_totals(pairs: Sequence[Both]) -> Totals:
    """`totals` of RESAMPLINGS draws of the prompts with replacement, each stratum by itself.

    Of n prompts, n - 1 are drawn, each with a weight of n / (n - 1): otherwise the variance would be too small.
    The result is not a number where a stratum has a single prompt, as its variance is not known.
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
        # thousands of prompts have few distinct counts, so it is enough to draw how often each of these comes
        kinds = Counter(pair.row for pair in group)
        times = rng.multinomial(n - 1, [number / n for number in kinds.values()], size=RESAMPLINGS)
        sums += group[0].weight * n / (n - 1) * (times @ np.array(list(kinds), dtype=np.float64))
    return sums


def percentile_interval(values: Totals, freedom: int) -> Interval | None:
    """The middle 95 % of resampled *values*, widened for few degrees of *freedom* as Student's t widens the normal
    distribution. None where a value is not a number.

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
    """The probability (0..1) of a mean difference at least as large if every sign were random; None without any.

    Two-sided. It is exact for up to EXACT_UP_TO differences that are not 0, from 9,999 random flips below NORMAL_FROM,
    and from the normal approximation of the sum of flipped differences beyond.
    Source: M. Smucker, J. Allan and B. Carterette, A comparison of statistical significance tests for information
    retrieval evaluation, CIKM 2007.
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


def mcnemar_p_value(first_only: tuple[int, int], second_only: tuple[int, int]) -> float | None:
    """McNemar's exact test of which system is right more often on memories that only one injects; None without any.

    It is right to inject a relevant memory, and not to inject an irrelevant one.
    Source: Q. McNemar, Psychometrika 12 (1947).
    """
    from scipy.stats import binomtest

    first_right, second_right = first_only[0] + second_only[1], second_only[0] + first_only[1]
    if not first_right + second_right:
        return None
    return float(binomtest(first_right, first_right + second_right).pvalue)
