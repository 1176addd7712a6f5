import random
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from scipy import stats

from labels.measure.comparison import SystemComparison, compare, comparisons, sign_flip_p_value
from labels.measure.evidence import Evidence
from labels.measure.intervals import Interval, jackknife_interval, student_quantile
from labels.measure.report import build_report
from labels.records import Outcome
from labels.report.sections import sections
from tests.labels.samples import known, outcome

OLD, NEW = "bm25", "bm25+judge"
Said = dict[str, dict[str, bool]]


def rows_of(prompts: Mapping[str, tuple[str, str]]) -> list[Outcome]:
    """*prompts*: the memories of the old and the new system, a letter each; capitals are relevant."""
    return [
        outcome(list(injected), prompt_id=prompt_id, system=system)
        for prompt_id, both in prompts.items()
        for system, injected in zip((OLD, NEW), both, strict=True)
    ]


def said_of(prompts: Mapping[str, tuple[str, str]]) -> Said:
    return {name: {letter: letter.isupper() for letter in old + new} for name, (old, new) in prompts.items()}


def compared(prompts: Mapping[str, tuple[str, str]], **options: object) -> SystemComparison:
    return known(compare(rows_of(prompts), said_of(prompts), (OLD, NEW), prompts.keys(), **options))  # type: ignore[arg-type]


def random_prompts(number: int, seed: int = 1) -> dict[str, tuple[str, str]]:
    rng = random.Random(seed)
    prompts = {}
    for name in range(number):
        old = "".join(rng.choice("aA") for _ in range(3))
        old = "".join(chr(ord(letter) + place) for place, letter in enumerate(old))
        kept = [letter for letter in old if rng.random() < (0.8 if letter.isupper() else 0.5)]
        prompts[f"p{name}"] = (old, "".join(kept))
    return prompts


def test_the_differences_are_of_the_second_against_the_first() -> None:
    made = compared({"p1": ("Abc", "A"), "p2": ("DEf", "D"), "p3": ("", "g")})
    assert (made.prompts, made.compared) == (3, 2)
    assert known(made.precision).value == pytest.approx(2 / 3 - 3 / 6)
    assert made.irrelevant.value == pytest.approx((1 - 3) / 3)
    assert made.relevant.value == pytest.approx((2 - 3) / 3)
    assert made.break_even == pytest.approx(2.0)
    assert (made.first_only, made.second_only) == ((1, 3), (0, 1))


def test_only_given_prompts_with_judged_memories_of_both_systems_count_and_one_gives_no_interval() -> None:
    prompts = {"p1": ("Ab", "A"), "p2": ("b", "")}
    rows = [*rows_of(prompts), outcome(["A"], prompt_id="p3", system=OLD)]
    made = known(compare(rows, said_of(prompts), (OLD, NEW), {"p1", "p3"}))
    assert (made.prompts, made.irrelevant.value) == (1, -1)
    assert compare(rows, said_of(prompts), (OLD, NEW), {"p3"}) is None
    rows = rows_of({"p1": ("Abx", "Ax")})
    made = known(compare(rows, {"p1": {"A": True, "b": False}}, (OLD, NEW), {"p1"}))
    precision = known(made.precision)
    assert (precision.value, made.irrelevant.value, made.relevant.value) == (0.5, -1, 0)
    assert (precision.interval, made.irrelevant.interval) == (None, None)


def test_a_system_that_injects_nothing_has_no_precision() -> None:
    made = compared({"p1": ("Ab", ""), "p2": ("c", "")})
    assert (made.precision, made.p_value, made.compared) == (None, None, 0)
    assert made.irrelevant.value == -1


GAINS = [Fraction(part, 6) for part in (-6, -3, -2, 0, 1, 2, 3, 4)]


@pytest.mark.parametrize("gains", [[Fraction(1)] * 7, [*GAINS, Fraction(1, 2)], [Fraction(1, 10)] * 14])
def test_the_sign_flip_test_is_exact_for_few_prompts(gains: list[Fraction]) -> None:
    moved = np.array([float(each) for each in gains if each])
    oracle = stats.permutation_test((moved,), np.sum, permutation_type="samples", vectorized=True, n_resamples=2**14)
    assert sign_flip_p_value(gains) == pytest.approx(float(oracle.pvalue), abs=1e-9)


@pytest.mark.parametrize("number", [200, 1500])
def test_the_sign_flip_test_is_near_students_for_many_prompts(number: int) -> None:
    gains = random.Random(number).choices(GAINS, [8, 8, 8, 4, 9, 9, 9, 9], k=number)
    student = stats.ttest_1samp([float(each) for each in gains], 0).pvalue
    assert sign_flip_p_value(gains) == pytest.approx(student, abs=0.02)


def test_without_a_difference_there_is_nothing_to_test() -> None:
    assert sign_flip_p_value([]) is None
    assert sign_flip_p_value([Fraction(0), Fraction(0)]) == 1.0
    assert sign_flip_p_value([Fraction(0), Fraction(1, 2)]) == 1.0


def test_the_interval_is_near_scipys_bootstrap_over_whole_prompts() -> None:
    prompts = random_prompts(60)
    counts = np.array([[sum(map(str.isupper, each)) for each in both] + [*map(len, both)] for both in prompts.values()])

    def statistic(x: np.ndarray, y: np.ndarray, m: np.ndarray, n: np.ndarray, axis: int = -1) -> np.ndarray:
        return y.sum(axis) / n.sum(axis) - x.sum(axis) / m.sum(axis)

    oracle = stats.bootstrap(
        tuple(counts.T), statistic, paired=True, method="percentile", n_resamples=4000, rng=np.random.default_rng(1)
    ).confidence_interval
    interval = known(known(compared(prompts).precision).interval)
    assert (interval.low, interval.high) == pytest.approx((oracle.low, oracle.high), abs=0.015)


def test_a_precision_that_few_prompts_tell_has_no_interval() -> None:
    prompts = {f"p{number}": ("Ab", "A" if number < 7 else "") for number in range(30)}
    made = known(compared(prompts).precision)
    assert (made.value, made.interval) == (0.5, None)
    assert known(compared(prompts | {"p7": ("Ab", "A")}).precision).interval


# In a report


PEOPLE = {f"p{number}": {"a": True, "b": number % 2 == 0} for number in range(30)}
ROWS = [
    outcome(found, prompt_id=prompt_id, system=system)
    for prompt_id in PEOPLE
    for system, found in {"bm25": ["a", "b"], "bm25+judge": ["a"], "memsift": ["a", "b"]}.items()
]


def test_a_system_is_compared_with_the_system_that_it_extends() -> None:
    systems = ["bm25", "bm25+cutoff", "bm25+cutoff+judge", "bm25+judge", "memsift", "memsift+judge"]
    found = comparisons(Evidence([outcome(["a"], system=system) for system in systems], {"p1": {"a": True}}))
    assert [(made.first, made.second) for made in found] == [
        ("bm25", "bm25+cutoff"),
        ("bm25+cutoff", "bm25+cutoff+judge"),
        ("bm25", "bm25+judge"),
        ("bm25", "memsift"),
        ("memsift", "memsift+judge"),
    ]


def test_the_report_has_the_differences_of_each_system() -> None:
    evidence = Evidence(ROWS, PEOPLE)
    judge, memsift = comparisons(evidence)
    assert judge == compare(ROWS, PEOPLE, ("bm25", "bm25+judge"), set(PEOPLE))
    assert known(memsift.precision).value == 0
    report = build_report(evidence)
    (section,) = (each for each in sections(report) if each.name == "comparison")
    assert "Over the prompts labelled in full for both systems." in section.about
    assert known(section.table).texts[0] == ("bm25+judge", "bm25", "+0.25", "+0.16", "+0.34", "-0.50", "-0.50")
    compared = "bm25+judge against bm25: 30 prompts. Both inject something on 30 of them. By chance alone"
    assert section.lines[0].startswith(compared), "p is about other prompts than the interval"
    assert section.lines[0].endswith("with probability <0.001 (sign-flip test).")


def test_students_quantile_is_scipys() -> None:
    for freedom in [*range(1, 60), 99, 100, 1000, 9999]:
        for confidence in (0.5, 0.95, 0.99):
            oracle = stats.t.ppf((1 + confidence) / 2, freedom)
            assert student_quantile(freedom, confidence) == pytest.approx(oracle, rel=1e-9), freedom


def drawn(numbers: list[float]) -> Counter[tuple[float, ...]]:
    return Counter((number, 1.0) for number in numbers)


def average(sums: object) -> float:
    total, number = sums  # type: ignore[misc]
    return float(total / number)


def test_the_interval_of_a_mean_is_students() -> None:
    numbers = random.Random(1).choices([0.0, 1.0, 2.0, 5.0], k=30)
    oracle = stats.t(29, mean(numbers), stdev(numbers) / sqrt(30)).interval(0.95)
    found = known(jackknife_interval(drawn(numbers), average))
    assert (found.low, found.high) == pytest.approx(oracle, abs=1e-9)


def test_an_interval_stays_within_what_is_possible_and_is_missing_where_one_prompt_carries_the_number() -> None:
    found = known(jackknife_interval(drawn([0.0, 1.0, 1.0]), average, Interval(0, 1)))
    assert (found.low, found.high) == (0, 1)
    assert jackknife_interval(drawn([0.0, 0.0, 3.0]), lambda sums: sums[0] or None) is None
