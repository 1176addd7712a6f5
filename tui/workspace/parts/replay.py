"""What a worker does: run the prompts of one part through systems, over the index of the run."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

from engine.conversations.prompt_files import read_prompts
from engine.errors import PromptFileError
from engine.lean.json_text import printed_json
from tui.workspace import opening
from tui.workspace.judging import Answers, Terms, opened_judge
from tui.workspace.parts.run_folder import describe, judged_size, part_name, planned_size, read_size, run_parts
from tui.workspace.parts.shared_index import approvals_of, scanned, shared_index
from tui.workspace.replay import replaying
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from engine.config import Config, System
    from engine.cutoff import Cutoff
    from engine.memory import Skipped
    from engine.retrieval import Retrieval
    from engine.roots import OpenRoot
    from engine.search.index import Index
    from tui.workspace.judging import Asking
    from tui.workspace.parts.executors import Executor
    from tui.workspace.parts.shared_index import Approvals, SharedIndex
    from tui.workspace.replay.replaying import Ending


@dataclass(frozen=True)
class ReplaySetup:
    """What is the same for all parts of a run."""

    shared: SharedIndex
    systems: tuple[System, ...]
    config: Config
    cutoffs: Mapping[str, Cutoff]
    asking: Asking


@dataclass(frozen=True)
class PartLines:
    """The JSON lines of a part, the name of their file, and the number of the first line in it, from 1."""

    file: str
    first: int
    text: bytes


@dataclass(frozen=True)
class PartRows:
    """The run file's rows for a part, the number of its prompts, its bad rows as sentences, and how the judge fared."""

    text: bytes
    prompts: int
    skipped: tuple[str, ...]
    answers: Answers


_indexes: dict[str, Index] = {}
_opening = Lock()


def replay_part(setup: ReplaySetup, lines: PartLines) -> PartRows | None:
    """Run the prompts in *lines* through the systems of *setup*; None without the index. Raises MemsiftError."""
    from labels.exchange.replay_file import run_row

    index = _index(setup.shared)
    if index is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / lines.file
        path.write_bytes(lines.text)
        reading = read_prompts([str(path)])
    asking = setup.asking
    terms = Terms(asking)
    config = terms.applied(setup.config)
    rows: list[bytes] = []
    answers = Answers()
    with opened_judge(asking.judge, config, terms.around) as judge:
        has_judge = judge is not None and any(system.has_judge for system in setup.systems)
        if judge and has_judge:
            judge.prepare()

        def work(job: replaying.Job) -> list[Retrieval]:
            return replaying.retrievals(job, index, config, judge, setup.cutoffs)

        def keep(retrieval: Retrieval) -> None:
            nonlocal answers
            asking.judge.refuse_a_miss(retrieval)
            answers = answers.plus(Answers.of([retrieval]))
            rows.append(f"{printed_json(run_row(retrieval))}\n".encode())

        jobs = replaying.jobs_left(reading.prompts, setup.systems, ())
        replaying.run(jobs, work, keep, terms, is_judged=has_judge, label="")
    skipped = tuple(_told(file, path, lines) for file in reading.skipped)
    return PartRows(b"".join(rows), len(reading.prompts), skipped, answers)


def _told(bad: Skipped, path: Path, lines: PartLines) -> str:
    """A sentence about a bad row with its line in the whole file, or about several rows from a line on."""
    number = bad.where.removeprefix(f"{path}:")
    if number.isdecimal():
        return f"{lines.file}:{lines.first + int(number) - 1}: {bad.reason}"
    return f"{lines.file}, from line {lines.first}: {bad.reason}"


def _index(shared: SharedIndex) -> Index | None:
    """The index of the run. A worker opens it for its first part, and then keeps it open."""
    with _opening:
        if shared.digest not in _indexes and (opened := shared.opened(os.environ)):
            _indexes.clear()
            _indexes[shared.digest] = opened
        return _indexes.get(shared.digest)


JUDGE_S = 1.5
"""A guess of the time of a call of the judge, in seconds."""

SAMPLE = 20
"""Prompts that show the speed of a worker, at the second time."""

MEMORIES = "select id, digest, status from memory where reason is null order by id"

MOST_TOLD = 20
"""Bad rows that are told to a person, one line each."""


def parts_of(files: Sequence[str], size: int) -> list[Callable[[], PartLines]]:
    """A function for each part of *files* that reads it: *size* lines, the last of a file with fewer.

    Raises PromptFileError if a file cannot be read, or is not JSON Lines with a `prompt` in its first line.
    """
    found: list[Callable[[], PartLines]] = []
    for file in files:
        try:
            found += _parts_in(file, size)
        except OSError as error:
            raise PromptFileError(f"{file}: the prompts cannot be read ({error.strerror or error}).") from None
    return found


def _parts_in(file: str, size: int) -> Iterator[Callable[[], PartLines]]:
    with Path(file).open("rb") as lines:
        _require_prompts(file, lines.readline())
        lines.seek(0)
        start, line = 0, 1
        while block := list(islice(lines, size)):
            count = sum(map(len, block))
            yield partial(_lines, file, line, start, count)
            start, line = start + count, line + len(block)


def _count(file: str) -> int:
    with Path(file).open("rb") as lines:
        return sum(1 for _ in lines)


def _lines(file: str, line: int, start: int, count: int) -> PartLines:
    """*count* bytes from *start* on; *line* is the number of the first line, from 1."""
    with Path(file).open("rb") as lines:
        lines.seek(start)
        return PartLines(Path(file).name, line, lines.read(count))


def _require_prompts(file: str, first: bytes) -> None:
    with suppress(ValueError):
        row = json.loads(first)
        if isinstance(row, dict) and isinstance(row.get("prompt"), str):
            return
    raise PromptFileError(
        f"{file}: line 1 is no JSON object with a `prompt`. A run in parts takes JSON Lines: memsift prompts {file} > "
        "prompts.jsonl makes them from transcripts and history files."
    )


class ReplayRun:
    """A replay of the prompts in *files* over *root*, in *folder*. *size*: prompts in a part; None for a plan."""

    def __init__(
        self,
        root: OpenRoot,
        systems: Sequence[System],
        cutoffs: Mapping[str, Cutoff],
        asking: Asking,
        files: Sequence[str],
        folder: Path,
        size: int | None,
    ) -> None:
        self._root, self._systems, self._cutoffs, self._asking = root, tuple(systems), dict(cutoffs), asking
        self._files, self._folder, self._size = files, folder, size
        self._judged = [system.name for system in systems if system.has_judge]
        self.prompts = 0
        self.answers = Answers()
        self._told = 0

    def over(self, executor: Executor) -> Ending:
        """Write a file of rows for each part that is not done. Returns the end, in parts; `prompts` and `answers` tell
        about these parts.

        A part is done when its file is there, and the judge, if it has one, answered for every row. Raises as
        `run_parts` and `describe`, and ExchangeError for a file that is no run.
        """
        with opening.opened_index(self._root.root) as index:
            approvals = approvals_of(index, os.environ)
            wanted = self._described(index, approvals)
            size = read_size(self._folder, wanted, self._size)
            shared = shared_index(index, self._folder, approvals, {} if executor.is_here else scanned(index))
        asking, most = self._asking.shared(executor.workers)
        setup = ReplaySetup(shared, self._systems, self._root.config, self._cutoffs, asking)
        try:
            size = size or self._planned(setup, executor.workers)
            describe(self._folder, wanted, size)
            parts = [(part_name(number), read) for number, read in enumerate(parts_of(self._files, size))]
            left = [(name, read) for name, read in parts if not _is_done(self._folder / name, self._judged)]
            finished = len(parts) - len(left)
            work, most = partial(replay_part, setup), most if self._judged else len(left)
            return run_parts(executor, work, left, self._folder, self._keep, "Replaying parts", finished, most, shared)
        finally:
            Path(shared.path).unlink(missing_ok=True)

    def _keep(self, rows: PartRows) -> None:
        self.prompts, self.answers = self.prompts + rows.prompts, self.answers.plus(rows.answers)
        for line in rows.skipped[: max(0, MOST_TOLD - self._told)]:
            tell(f"Skipped: {line}")
        self._told += len(rows.skipped)

    def _described(self, index: Index, approvals: Approvals) -> dict[str, object]:
        """The run, as a later start must describe it again."""
        described = {
            "memories": index.ask(lambda db: db.execute(MEMORIES).fetchall()),
            "approvals": [sorted(approvals.verdicts.items()), approvals.is_own, sorted(approvals.loaded)],
            "systems": [system.name for system in self._systems],
            "config": repr(self._root.config),
            "cutoffs": {kind: [repr(cutoff.model), cutoff.threshold] for kind, cutoff in self._cutoffs.items()},
            "judge": asdict(self._asking.judge),
        }
        return {
            "setup": hashlib.sha256(printed_json(described).encode()).hexdigest(),
            "prompts": [[Path(file).name, Path(file).stat().st_size] for file in self._files],
            "systems": described["systems"],
        }

    def _planned(self, setup: ReplaySetup, workers: int) -> int:
        """The prompts of a part, by the speed of some that are done here. A judge is not asked for that."""
        count = sum(map(_count, self._files))
        if self._judged:
            return judged_size(count, workers, setup.asking, JUDGE_S)
        sample = parts_of(self._files, SAMPLE)[0]()
        replay_part(setup, sample)
        began = perf_counter()
        replay_part(setup, sample)
        return planned_size(count, workers, sample.text.count(b"\n") / (perf_counter() - began))


def _is_done(file: Path, judged: Sequence[str]) -> bool:
    """Whether a part has its rows, and the judge's answers for the systems *judged*."""
    if not judged or not file.exists():
        return file.exists()
    from labels.exchange.replay_file import read_unfinished

    return not read_unfinished(file, judged).failed
