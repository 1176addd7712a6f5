from __future__ import annotations

import random

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa

from labels.measure.alpha import alpha_of

MEG, OWEN = "0100000010", "1110010000"
"""Two observers and ten articles, by K. Krippendorff, Computing Krippendorff's alpha-reliability (2011), section A."""


def test_alpha_is_what_krippendorff_computes() -> None:
    counts = [(int(a) + int(b), 2 - int(a) - int(b)) for a, b in zip(MEG, OWEN, strict=True)]
    found = alpha_of({f"article {number}": [count] for number, count in enumerate(counts)})
    assert found is not None
    assert found.value == pytest.approx(0.095, abs=5e-4)
    assert found.memories == 10


def test_with_complete_data_it_is_fleiss_kappa_less_a_correction_for_small_samples() -> None:
    """1 - alpha = (1 - kappa) (nN - 1) / nN, for n people and N memories."""
    made = random.Random(1)
    counts = [(yes := made.choice((0, 0, 1, 2, 3, 4, 4)), 4 - yes) for _ in range(60)]
    prompts = {f"p{number}": counts[3 * number : 3 * number + 3] for number in range(20)}
    found = alpha_of(prompts)
    assert found is not None
    labels = 4 * 60
    expected = 1 - (1 - fleiss_kappa(np.array(counts))) * (labels - 1) / labels
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high


def test_a_memory_with_one_label_says_nothing_of_agreement() -> None:
    some = {"p1": [(2, 0), (1, 1)], "p2": [(0, 2)]}
    assert alpha_of({**some, "p3": [(1, 0), (0, 1)]}) == alpha_of(some)


@pytest.mark.parametrize("prompts", [{}, {"p1": [(1, 0)]}, {"p1": [(2, 0)], "p2": [(3, 0)]}])
def test_alpha_is_unknown_where_only_one_answer_was_given(prompts: dict[str, list[tuple[int, int]]]) -> None:
    assert alpha_of(prompts) is None
