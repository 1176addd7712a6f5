from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from labels.report.json_form import indented

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(VALUES)
def test_json_is_indented_as_the_standard_library_does(value: object) -> None:
    assert indented(value) == json.dumps(value, indent=2)
