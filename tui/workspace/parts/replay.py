"""A replay in parts: the parts of the prompt files, and everything that is the same for all of them."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import PromptFileError
from engine.lean.json_text import printed_json
from engine.quality.decisions import ACCEPTED, SAFETY, decisions
from engine.stores.roots import read_corpus
from tui.workspace.parts.replay_part import PartLines, ReplaySetup, replay_part
from tui.workspace.parts.run import describe, part_name, run_parts
from tui.workspace.replay.answers import Answers
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.config import Config, System
    from engine.cutoff import Cutoff
    from tui.workspace.judge_options import Asking
    from tui.workspace.parts.executors import Executor
    from tui.workspace.parts.replay_part import PartRows
    from tui.workspace.replay.replaying import Ending

MOST_TOLD = 20
"""Bad rows that are told to a person, one line each."""


@dataclass(frozen=True)
class PartPlace:
    """Where a part begins: its number, its file of prompts, the first line from 1, and the offset in bytes."""

    number: int
    file: str
    line: int
    start: int
    end: int

    @property
    def name(self) -> str:
        return part_name(self.number)


def places_of(files: Sequence[str], size: int) -> list[PartPlace]:
    """The parts of *files*, with *size* lines each, the last of a file with fewer.

    Raises PromptFileError if a file cannot be read, or is not JSON Lines with a `prompt` in its first line.
    """
    found: list[PartPlace] = []
    for file in files:
        try:
            found += _places_in(file, size, len(found))
        except OSError as error:
            raise PromptFileError(f"{file}: the prompts cannot be read ({error.strerror or error}).") from None
    return found


def _places_in(file: str, size: int, number: int) -> Iterator[PartPlace]:
    with Path(file).open("rb") as lines:
        _require_prompts(file, lines.readline())
        lines.seek(0)
        start, line = 0, 1
        while block := list(islice(lines, size)):
            end = start + sum(map(len, block))
            yield PartPlace(number, file, line, start, end)
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
) -> ReplaySetup:
    """The setup of a run over *root*, with all its memories. Raises RootError and DecisionsError."""
    corpus = read_corpus(root)
    decided = decisions(root, environ).items()
    accepted = {(name, digest) for (check, name, digest), verdict in decided if (check, verdict) == (SAFETY, ACCEPTED)}
    described = {
        "memories": [[memory.summary.id, memory.summary.digest, memory.summary.status] for memory in corpus.memories],
        "accepted": sorted(accepted),
        "systems": [system.name for system in systems],
        "config": repr(config),
        "cutoffs": {kind: [repr(cutoff.model), cutoff.threshold] for kind, cutoff in cutoffs.items()},
        "judge": asdict(asking.judge),
    }
    key = hashlib.sha256(printed_json(described).encode()).hexdigest()
    return ReplaySetup(key, corpus, frozenset(accepted), tuple(systems), config, dict(cutoffs), asking)


def replay_in_parts(
    executor: Executor, setup: ReplaySetup, files: Sequence[str], folder: Path, size: int
) -> tuple[Ending, int, Answers]:
    """Write a file of rows into *folder* for each part that is not done. Returns the end, in parts, the prompts, and
    how the judge fared.

    A part is done when its file is there, and the judge, if it has one, answered for every row. Raises as `run_parts`
    and `describe`, and ExchangeError for a file that is no run.
    """
    places = places_of(files, size)
    sizes = [[Path(file).name, Path(file).stat().st_size] for file in files]
    systems = [system.name for system in setup.systems]
    describe(folder, {"setup": setup.key, "prompts": sizes, "part_size": size, "systems": systems})
    prompts = told = 0
    answers = Answers()

    def keep(rows: PartRows) -> None:
        nonlocal prompts, told, answers
        prompts, answers = prompts + rows.prompts, answers.plus(rows.answers)
        for line in rows.skipped[: max(0, MOST_TOLD - told)]:
            tell(f"Skipped: {line}")
        told += len(rows.skipped)

    judged = [system.name for system in setup.systems if system.has_judge]
    left = [(place.name, partial(_lines, place)) for place in places if not _is_done(folder / place.name, judged)]
    finished = len(places) - len(left)
    ending = run_parts(executor, replay_part, setup, left, folder, keep, "Replaying parts", finished)
    return ending, prompts, answers


def _is_done(file: Path, judged: Sequence[str]) -> bool:
    """Whether a part has its rows, and the judge's answers for the systems *judged*."""
    if not judged or not file.exists():
        return file.exists()
    from labels.exchange.replay_file import read_unfinished

    return not read_unfinished(file, judged).failed


def _lines(place: PartPlace) -> PartLines:
    with Path(place.file).open("rb") as file:
        file.seek(place.start)
        return PartLines(Path(place.file).name, place.line, file.read(place.end - place.start))
