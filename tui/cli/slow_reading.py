"""Saying so where the memories of a root take long to read: the first time, and after much has changed."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

import click

from tui.cli.output import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW_SECONDS = 1.5
"""After so long without an answer a person wonders."""


@contextmanager
def announced(root: str) -> Iterator[None]:
    """While *root* is opened: one line on stderr if that takes long, where somebody watches it."""
    if not sys.stderr.isatty():
        yield
        return
    timer = Timer(SLOW_SECONDS, _announce, [root])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # lest it writes into the app


def _announce(root: str) -> None:
    from engine.search.updating import build_seconds

    seconds = max(SLOW_SECONDS, build_seconds(os.path.realpath(root)))
    first = f"The first time takes about {seconds:,.0f} s; later only what changed is read."
    click.echo(f"memsift: reading the memories of {visible(root)}. {first}", err=True)
