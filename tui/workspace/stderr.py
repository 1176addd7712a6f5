"""Lines for people on stderr. stdout is for data only."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from engine.judge.verdict import Judgement

    class Judged(Protocol):
        """A result for which a judge may have been asked."""

        @property
        def judgement(self) -> Judgement | None: ...


MANY = 1000
"""The first reading of this number of memories has a progress bar."""

SLOW_SECONDS = 1.5
"""Opening a root may take this long before a line explains the wait."""


def visible(line: str) -> str:
    """*line* with a dot in place of each character that could command a terminal."""
    return "".join(character if character.isprintable() else "·" for character in line)


def tell(message: str) -> None:
    """Write one line. Text that it quotes cannot command the terminal. A full stderr costs the line, nothing else."""
    with suppress(OSError):
        click.echo(f"memsift: {visible(' '.join(message.split()))}", err=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put ctrl+c off until the block ends: around the last step of a change, and the line that tells of it.

    Else a command could end with "Stopped." although all of it is done. The exit code is then 130, as after ctrl+c.
    """
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came and before is signal.default_int_handler:
        sys.exit(130)


@contextmanager
def explained_if_slow(root: str) -> Iterator[None]:
    """Around the opening of *root*: on a terminal, a line explains a wait of more than SLOW_SECONDS.

    The first index of many memories is built before, with a progress bar.
    """
    if not sys.stderr.isatty():
        yield
        return
    _build_visibly(root)
    why = f"memsift: reading the memories of {visible(root)}. Later only what changed is read."
    timer = Timer(SLOW_SECONDS, click.echo, [why], {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # the line must not appear inside the app


def _build_visibly(root: str) -> None:
    from engine.opening import build, files_to_build

    count = files_to_build(root, os.environ)
    if count < MANY:
        return
    label = f"Reading {count:,} memories for the first time"
    with click.progressbar(length=count, label=label, file=sys.stderr, show_pos=True) as bar:

        def advance(done: int, _: int) -> None:
            if done == count or done - bar.pos >= count // 100:
                bar.update(done - bar.pos)

        build(root, os.environ, advance)


@contextmanager
def progress_bar(count: int, label: str) -> Iterator[Callable[[Sequence[Judged]], None]]:
    """A progress bar of *count* jobs, only on a terminal: time left, and the judge's cost in US dollars so far.

    Without a *label* it is hidden, as in a worker, whose terminal shows the bar of the whole run.
    Call the yielded function with the results of each finished job.
    """
    cost = 0.0
    with click.progressbar(
        range(count),
        label=label,
        file=sys.stderr,
        hidden=not label or not sys.stderr.isatty(),
        show_pos=True,
        item_show_func=lambda _: f"${cost:.4f}" if cost else None,
    ) as bar:

        def advance(found: Sequence[Judged]) -> None:
            nonlocal cost
            cost += sum(retrieval.judgement.cost_usd or 0.0 for retrieval in found if retrieval.judgement)
            bar.update(1)

        yield advance
