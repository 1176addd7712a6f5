"""Where the rows of a replay go: to stdout, or behind what a run file holds already."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from engine.errors import MemsiftError
from labels.exchange.unfinished import UnfinishedRun, read_unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    Write = Callable[[dict[str, Any]], None]


@contextmanager
def opened_output(file: str | None, systems: Collection[str]) -> Iterator[tuple[UnfinishedRun, Write]]:
    """What is there already of *systems* and others, and what writes a row: whole, and before it returns.

    Raises ExchangeError for a *file* that is no run file, MemsiftError for one that cannot be written.
    """
    if file is None:
        yield UnfinishedRun(), lambda row: click.echo(line_of(row))
        return
    path = Path(file)
    found = read_unfinished(path, systems)
    try:
        rows = reopened(path, found)
    except OSError as error:
        raise MemsiftError(f"{path}: {error.strerror or error}. Name a file that can be written.") from None
    with rows:

        def write(row: dict[str, Any]) -> None:
            rows.write(f"{line_of(row)}\n".encode("utf-8", "surrogatepass"))
            rows.flush()

        yield found, write


def reopened(path: Path, found: UnfinishedRun) -> BinaryIO:
    """The file at *path* with what was *found* in it and no more, at its end. Raises OSError; it is as it was, then."""
    if found.failed:
        made = path.with_name(f"{path.name}.new")
        made.write_bytes(found.content)
        made.replace(path)
    rows = path.open("ab")
    rows.truncate(len(found.content))
    return rows


def line_of(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)
