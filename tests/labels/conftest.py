"""The label store of the tests of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from labels.store import LabelStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    with LabelStore.open(tmp_path / "labels.db") as store:
        yield store
