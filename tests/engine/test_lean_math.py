"""Logarithm and root without the module for them."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from engine import lean_math


@given(st.floats(min_value=1, max_value=1e15))
def test_the_logarithm_is_the_one_of_the_library(x: float) -> None:
    assert abs(lean_math.log(x) - math.log(x)) <= max(4e-16, 2 * math.ulp(math.log(x)))


@given(st.floats(min_value=0, max_value=1e15))
def test_the_root_is_the_one_of_the_library(x: float) -> None:
    assert math.isclose(lean_math.sqrt(x), math.sqrt(x), rel_tol=3e-16)
