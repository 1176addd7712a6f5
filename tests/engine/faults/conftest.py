"""A test that would wait for ever, such as on a pipe, must fail instead."""

import faulthandler
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.faults.answers import FaultyRoot
from tests.engine.faults.mounts import small_disk

HANGS_AFTER_S = 600


@pytest.fixture(autouse=True)
def ended_when_hanging() -> Iterator[None]:
    """End the process with a traceback: an exception does not interrupt a system call that waits."""
    faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def root(tmp_path: Path) -> FaultyRoot:
    """A root whose index is up to date, with stamps that can be trusted."""
    made = FaultyRoot(tmp_path)
    made.settle()
    return made


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, which is soon full."""
    with small_disk(tmp_path / "disk", "3m") as folder:
        yield folder
