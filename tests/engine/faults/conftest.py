"""A test that would wait for ever, such as on a pipe, must fail instead."""

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
    """End the process with a traceback: an exception does not interrupt a system call that waits."""
    faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()
