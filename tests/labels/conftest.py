"""The label store of the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from labels.store import LabelStore
from tests.labels.exchange.datasets import made


@pytest.fixture(autouse=True)
def close_extracts() -> Iterator[None]:
    yield
    while made:
        made.pop().close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    with LabelStore.open(tmp_path / "labels.db") as store:
        yield store
