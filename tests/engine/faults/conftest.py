"""What would wait for ever must fail instead: a pipe or a device that is read does not come back."""

from __future__ import annotations

import faulthandler
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HANGS_AFTER_S = 600


@pytest.fixture(autouse=True)
def ended_when_hanging() -> Iterator[None]:
    """End the process with a traceback, because no exception gets through to a system call that waits."""
    faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()
