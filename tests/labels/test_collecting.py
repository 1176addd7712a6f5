from __future__ import annotations

import gc

import pytest

from labels.measure.collecting import collector_at_rest


def test_the_collector_rests_inside_and_works_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="no"), collector_at_rest():
        assert not gc.isenabled()
        raise ValueError("no")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_at_rest():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
