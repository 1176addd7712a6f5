"""The folder of a run in parts: what the run is, the plan of its parts, and a file of rows for each."""

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
    from typing import Any

    from tui.workspace.judging import Asking
    from tui.workspace.parts.executors import Executor, Part, Result, Shared, Work

    Parts = Sequence[tuple[str, Callable[[], Part]]]
    """The name of each part's file, and a function that reads the part."""

DESCRIPTION, PART_SIZE = "run.json", "part_size"

PART_S, JUDGED_PART_S, PARTS_EACH = 3.0, 30.0, 8
"""The seconds of a part, without and with a judge: Ctrl-C loses no more, and a judge's answers are in its cache.
With at least eight parts for each worker, none waits long for the last."""

IN_BATCH = 10_000
"""Questions of a batch."""


def planned_size(count: int, workers: int, per_second: float, part_s: float = PART_S) -> int:
    """The prompts or memories in a part. *count* are left to do, *per_second* by each worker."""
    return max(1, min(int(per_second * part_s), -(-count // (PARTS_EACH * workers))))


def judged_size(count: int, workers: int, asking: Asking, call_s: float) -> int:
    """As `planned_size`, for questions to a judge that answers in *call_s* seconds."""
    if asking.batch_poll_s:
        return min(IN_BATCH, -(-count // workers))
    return planned_size(count, workers, asking.concurrency / call_s, JUDGED_PART_S)


def read_size(folder: Path, wanted: Mapping[str, Any], given: int | None) -> int | None:
    """The size of the parts of the run in *folder*; *given* for a new run. Raises MemsiftError for another run."""
    path = folder / DESCRIPTION
    try:
        if not path.exists():
            return given
        found = json.loads(path.read_bytes())
        size = int(found[PART_SIZE])
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise MemsiftError(f"{path}: the run cannot be read ({error}). Name another folder with --parts.") from None
    other = [name for name in wanted if found.get(name) != wanted[name]]
    if other := [*other, PART_SIZE] if given not in (None, size) else other:
        raise ConfigError(
            f"{folder} holds the parts of another run: {', '.join(other)} differ. Name another folder with --parts, or "
            "give the same input, memories and options as before."
        )
    return size


def describe(folder: Path, wanted: Mapping[str, Any], size: int) -> None:
    """Write what the run in *folder* is, and the size of its parts, for `read_size`. Raises MemsiftError."""
    folder.mkdir(parents=True, exist_ok=True)
    write_part(folder / DESCRIPTION, f"{printed_json({**wanted, PART_SIZE: size})}\n".encode())


def part_name(number: int) -> str:
    return f"part-{number:06}.jsonl"


def run_parts(
    executor: Executor,
    work: Work[Part, Result],
    left: Parts[Part],
    folder: Path,
    keep: Callable[[Result], None],
    label: str,
    finished: int,
    most: int,
    shared: Shared | None = None,
) -> Ending:
    """Write a file of rows into *folder* for each part in *left*. Returns the end, in parts. Raises MemsiftError.

    *keep* gets each result before its file is written. *finished* parts were done by an earlier start. *most* parts are
    under way at once. Ctrl-C ends the run; the parts that are done stay.
    """
    done = 0
    with progress_bar(finished + len(left), label) as advance:
        for _ in range(finished):
            advance(())
        try:
            for name, made in executor.each(work, ((name, read()) for name, read in left), shared, most):
                keep(made)
                write_part(folder / name, made.text)
                done += 1
                advance(())
        except KeyboardInterrupt:
            return Ending(done, len(left), is_interrupted=True)
    return Ending(done, len(left))


def write_part(path: Path, text: bytes) -> None:
    """Write a file whole, or raise MemsiftError: also for a link that leads out of the folder."""
    try:
        require_inside(os.path.realpath(path.parent), str(path))
        write_whole(str(path), text, open_named)
    except (OSError, UnreadableFileError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MemsiftError(f"{path}: {reason}. Finished parts are kept.") from None
