"""A replay in parts: a folder with a file of rows for each part, and a description that a later start must fit.

A part is done when its file is there: files are renamed into place whole. So the same command goes on where a run was
stopped, also on other machines.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import ConfigError, MemsiftError, PromptFileError
from engine.lean.json_text import printed_json
from engine.quality.decisions import ACCEPTED, SAFETY, decisions
from engine.stores.files import open_named, write_whole
from engine.stores.roots import read_corpus
from tui.workspace.parts.replay_part import Lines, Setup, replay_part
from tui.workspace.replay.replaying import Ending
from tui.workspace.stderr import progress_bar, tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.systems import System
    from tui.workspace.parts.executors import Executor
    from tui.workspace.parts.replay_part import Asking, Rows

DESCRIPTION = "run.json"
MOST_TOLD = 20
"""Bad rows that are told to a person, one line each."""


@dataclass(frozen=True)
class Place:
    """Where a part begins: its number, its file of prompts, the first line from 1, and the offset in bytes."""

    number: int
    file: str
    line: int
    start: int
    end: int

    @property
    def name(self) -> str:
        return f"part-{self.number:06}.jsonl"


def places_of(files: Sequence[str], size: int) -> list[Place]:
    """The parts of *files*, with *size* lines each, the last of a file with fewer.

    Raises PromptFileError if a file cannot be read, or is not JSON Lines with a `prompt` in its first line.
    """
    found: list[Place] = []
    for file in files:
        try:
            found += _places_in(file, size, len(found))
        except OSError as error:
            raise PromptFileError(f"{file}: the prompts cannot be read ({error.strerror or error}).") from None
    return found


def _places_in(file: str, size: int, number: int) -> Iterator[Place]:
    with Path(file).open("rb") as lines:
        _require_prompts(file, lines.readline())
        lines.seek(0)
        start, line = 0, 1
        while block := list(islice(lines, size)):
            end = start + sum(map(len, block))
            yield Place(number, file, line, start, end)
            start, line, number = end, line + len(block), number + 1


def _require_prompts(file: str, first: bytes) -> None:
    with suppress(ValueError):
        row = json.loads(first)
        if isinstance(row, dict) and isinstance(row.get("prompt"), str):
            return
    raise PromptFileError(
        f"{file}: line 1 is no JSON object with a `prompt`. A run in parts takes JSON Lines: memsift prompts {file} > "
        "prompts.jsonl makes them from transcripts and history files."
    )


def setup_of(
    root: str,
    config: Config,
    systems: Sequence[System],
    cutoffs: Mapping[str, Cutoff],
    asking: Asking,
    environ: Mapping[str, str],
) -> Setup:
    """The setup of a run over *root*, with all its memories. Raises RootError and DecisionsError."""
    corpus = read_corpus(root)
    decided = decisions(root, environ).items()
    accepted = {(name, digest) for (check, name, digest), verdict in decided if (check, verdict) == (SAFETY, ACCEPTED)}
    described = {
        "memories": [[one.summary.id, one.summary.digest, one.summary.status] for one in corpus.memories],
        "accepted": sorted(accepted),
        "systems": [one.name for one in systems],
        "config": repr(config),
        "cutoffs": {kind: [repr(one.model), one.threshold] for kind, one in cutoffs.items()},
        "judge": asdict(asking.judge),
    }
    key = hashlib.sha256(printed_json(described).encode()).hexdigest()
    return Setup(key, corpus, frozenset(accepted), tuple(systems), config, dict(cutoffs), asking)


def replay_in_parts(
    executor: Executor, setup: Setup, files: Sequence[str], folder: Path, size: int
) -> tuple[Ending, int]:
    """Write a file of rows into *folder* for each part that has none. Returns the end, in parts, and the prompts.

    Ctrl-C ends the run; the parts that are done stay. Raises MemsiftError where *folder* belongs to another run.
    """
    places = places_of(files, size)
    _describe(folder, setup, files, size)
    left = [place for place in places if not (folder / place.name).exists()]
    done, prompts, told = 0, 0, 0
    with progress_bar(len(places), "Replaying parts") as advance:
        for _ in range(len(places) - len(left)):
            advance(())
        try:
            for place, rows in executor.each(replay_part, setup, ((place, _lines(place)) for place in left)):
                _write(folder / place.name, rows.text)
                done, prompts = done + 1, prompts + rows.prompts
                told = _tell_skipped(rows, told)
                advance(())
        except KeyboardInterrupt:
            return Ending(done, len(left), is_interrupted=True), prompts
    return Ending(done, len(left)), prompts


def _lines(place: Place) -> Lines:
    with Path(place.file).open("rb") as file:
        file.seek(place.start)
        return Lines(Path(place.file).name, place.line, file.read(place.end - place.start))


def _tell_skipped(rows: Rows, told: int) -> int:
    for line in rows.skipped[: max(0, MOST_TOLD - told)]:
        tell(f"Skipped: {line}")
    return told + len(rows.skipped)


def _describe(folder: Path, setup: Setup, files: Sequence[str], size: int) -> None:
    """Write what the run is, or compare it with what is written."""
    sizes = [[Path(file).name, Path(file).stat().st_size] for file in files]
    wanted = {"setup": setup.key, "prompts": sizes, "part_size": size, "systems": [one.name for one in setup.systems]}
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
            "give the same prompts, memories and options as before."
        )


def _write(path: Path, text: bytes) -> None:
    """Write a file whole, or raise MemsiftError."""
    try:
        write_whole(str(path), text, open_named)
    except OSError as error:
        raise MemsiftError(f"{path}: {error.strerror or error}. Finished parts are kept.") from None
