"""The label store of the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from labels.store import LabelStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    with LabelStore.open(tmp_path / "labels.db") as store:
        yield store
