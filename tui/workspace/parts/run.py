"""A run in parts: a folder with a file of rows for each part, and a description that a later start must fit.

A part is done when its file is there: files are renamed into place whole. So the same command goes on where a run was
stopped, also on other machines.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from engine.errors import ConfigError, MemsiftError
from engine.lean.json_text import printed_json
from engine.stores.files import UnreadableFileError, open_named, require_inside, write_whole
from tui.workspace.replay.replaying import Ending
from tui.workspace.stderr import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any, Protocol, TypeVar

    from tui.workspace.parts.executors import Executor

    class Made(Protocol):
        """The result of a part: its rows as JSON lines."""

        @property
        def text(self) -> bytes: ...

    Setup = TypeVar("Setup")
    Part = TypeVar("Part")
    Result = TypeVar("Result", bound=Made)
    Parts = Sequence[tuple[str, Callable[[], Part]]]
    """The name of each part's file, and a function that reads the part."""

DESCRIPTION = "run.json"


def part_name(number: int) -> str:
    return f"part-{number:06}.jsonl"


def run_parts(
    executor: Executor,
    work: Callable[[Setup, Part], Result],
    setup: Setup,
    left: Parts[Part],
    folder: Path,
    keep: Callable[[Result], None],
    label: str,
    finished: int = 0,
) -> Ending:
    """Write a file of rows into *folder* for each part in *left*. Returns the end, in parts. Raises MemsiftError.

    *keep* gets each result before its file is written. *finished* parts were done by an earlier start. Ctrl-C ends the
    run; the parts that are done stay.
    """
    done = 0
    with progress_bar(finished + len(left), label) as advance:
        for _ in range(finished):
            advance(())
        try:
            for name, made in executor.each(work, setup, ((name, read()) for name, read in left)):
                keep(made)
                _write(folder / name, made.text)
                done += 1
                advance(())
        except KeyboardInterrupt:
            return Ending(done, len(left), is_interrupted=True)
    return Ending(done, len(left))


def describe(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Write what the run in *folder* is, or compare it with what is written. Raises MemsiftError for another run."""
    path = folder / DESCRIPTION
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _write(path, f"{printed_json(wanted)}\n".encode())
            return
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise MemsiftError(
            f"{path}: the run cannot be read or written ({error}). Name another folder with --parts."
        ) from None
    if found != wanted:
        other = [name for name in wanted if not isinstance(found, dict) or found.get(name) != wanted[name]]
        raise ConfigError(
            f"{folder} holds the parts of another run: {', '.join(other)} differ. Name another folder with --parts, or "
            "give the same input, memories and options as before."
        )


def _write(path: Path, text: bytes) -> None:
    """Write a file whole, or raise MemsiftError: also for a link that leads out of the folder."""
    try:
        require_inside(os.path.realpath(path.parent), str(path))
        write_whole(str(path), text, open_named)
    except (OSError, UnreadableFileError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MemsiftError(f"{path}: {reason}. Finished parts are kept.") from None
