import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa
from statsmodels.stats.inter_rater import fleiss_kappa

from labels.measure.agreement import (
    Table,
    cohens_kappa,
    gwet_ac1,
    krippendorffs_alpha,
    negative_agreement,
    positive_agreement,
)

TABLES = [(40, 9, 6, 45), (1, 2, 3, 4), (0, 5, 5, 0), (30, 0, 1, 200), (7, 0, 0, 7), (12.5, 3.25, 0.5, 80.0)]


@pytest.mark.parametrize("table", TABLES)
def test_kappa_and_its_error_equal_those_of_statsmodels(table: Table) -> None:
    oracle = statsmodels_kappa(np.array(table).reshape(2, 2))
    kappa, error = cohens_kappa(table)
    assert kappa == pytest.approx(oracle.kappa, abs=1e-6)
    assert error == pytest.approx(oracle.std_kappa, abs=1e-6)


@pytest.mark.parametrize("table", TABLES)
def test_weighted_kappa_and_agreement_equal_those_of_scikit_learn(table: Table) -> None:
    first, second = [1, 1, 0, 0], [1, 0, 1, 0]
    assert cohens_kappa(table)[0] == pytest.approx(cohen_kappa_score(first, second, sample_weight=table), abs=1e-6)
    assert positive_agreement(table) == pytest.approx(f1_score(first, second, sample_weight=table), abs=1e-6)
    assert negative_agreement(table) == pytest.approx(
        f1_score(first, second, pos_label=0, sample_weight=table), abs=1e-6
    )


@pytest.mark.parametrize("table", [(0, 0, 0, 0), (9, 0, 0, 0), (0, 0, 0, 9)])
def test_kappa_is_unknown_when_only_one_answer_was_given(table: Table) -> None:
    assert cohens_kappa(table) == (None, None)


def test_ac1_does_not_collapse_where_nearly_all_answers_are_alike() -> None:
    """The table that Gwet (2008) gives for the paradox: raw agreement .944, kappa below chance."""
    table = (118, 5, 2, 0)
    kappa, _ = cohens_kappa(table)
    assert kappa == pytest.approx(-0.0234, abs=1e-4)
    assert gwet_ac1(table) == pytest.approx(0.9408, abs=1e-4)


def test_without_counts_there_is_no_coefficient() -> None:
    assert [each((0, 0, 0, 0)) for each in (positive_agreement, negative_agreement, gwet_ac1)] == [None] * 3


@given(st.tuples(*[st.integers(0, 1000)] * 4).filter(any))
def test_agreement_stays_in_its_range(table: Table) -> None:
    kappa, _ = cohens_kappa(table)
    assert -1 <= (kappa or 0) <= 1
    assert -1 <= (gwet_ac1(table) or 0) <= 1
    assert 0 <= (positive_agreement(table) or 0) <= 1


# Krippendorff's alpha


MEG, OWEN = "0100000010", "1110010000"
"""Two observers and ten articles, by K. Krippendorff, Computing Krippendorff's alpha-reliability (2011), section A."""


def test_alpha_equals_the_published_example() -> None:
    counts = [(int(a) + int(b), 2 - int(a) - int(b)) for a, b in zip(MEG, OWEN, strict=True)]
    found = krippendorffs_alpha({f"article {number}": [count] for number, count in enumerate(counts)})
    assert found is not None
    assert found.value == pytest.approx(0.095, abs=5e-4)
    assert found.memories == 10


def test_with_complete_data_it_is_fleiss_kappa_less_a_correction_for_small_samples() -> None:
    """1 - alpha = (1 - kappa) (nN - 1) / nN, for n people and N memories."""
    made = random.Random(1)
    counts = [(yes := made.choice((0, 0, 1, 2, 3, 4, 4)), 4 - yes) for _ in range(60)]
    prompts = {f"p{number}": counts[3 * number : 3 * number + 3] for number in range(20)}
    found = krippendorffs_alpha(prompts)
    assert found is not None
    labels = 4 * 60
    expected = 1 - (1 - fleiss_kappa(np.array(counts))) * (labels - 1) / labels
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high


def test_a_memory_with_one_label_does_not_change_alpha() -> None:
    some = {"p1": [(2, 0), (1, 1)], "p2": [(0, 2)]}
    assert krippendorffs_alpha({**some, "p3": [(1, 0), (0, 1)]}) == krippendorffs_alpha(some)


@pytest.mark.parametrize("prompts", [{}, {"p1": [(1, 0)]}, {"p1": [(2, 0)], "p2": [(3, 0)]}])
def test_alpha_is_unknown_where_only_one_answer_was_given(prompts: dict[str, list[tuple[int, int]]]) -> None:
    assert krippendorffs_alpha(prompts) is None
