"""What a worker does: run the prompts of one part through systems, over an index of its own."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from engine.claude_code.prompt_files import read_prompts
from engine.lean.json_text import printed_json
from engine.opening import index_of
from tui.workspace.judge_options import opened_judge
from tui.workspace.replay import replaying
from tui.workspace.replay.answers import Answers
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.config import Config, System
    from engine.cutoff import Cutoff
    from engine.memory import Corpus, MemorySummary, Skipped
    from engine.retrieval import Retrieval
    from engine.search.index import Index
    from tui.workspace.judge_options import Asking


@dataclass(frozen=True)
class ReplaySetup:
    """What is the same for all parts of a run. `key` identifies it; the memories travel with it.

    `accepted` holds (id, digest) of the risky memories that a person approved.
    """

    key: str
    corpus: Corpus
    accepted: frozenset[tuple[str, str]]
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


def replay_part(setup: ReplaySetup, lines: PartLines) -> PartRows:
    """Run the prompts in *lines* through the systems of *setup*. Raises MemsiftError."""
    from engine.judge.bulk.batches import Batches, without_split
    from labels.exchange.replay_file import run_row

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / lines.file
        path.write_bytes(lines.text)
        reading = read_prompts([str(path)])
    index, asking = _index(setup), setup.asking
    batches = Batches(os.environ, asking.batch_poll_s, tell) if asking.batch_poll_s else None
    config = without_split(setup.config) if batches else setup.config
    terms = replaying.Terms(asking.concurrency, asking.retries)
    rows: list[bytes] = []
    answers = Answers()
    with opened_judge(asking.judge, config, (batches or terms).around) as judge:
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
        if batches and has_judge:
            replaying.run_in_batches(jobs, work, keep, batches)
        else:
            replaying.run(jobs, work, keep, terms, is_judged=has_judge, label="")
    skipped = tuple(_told(file, path, lines) for file in reading.skipped)
    return PartRows(b"".join(rows), len(reading.prompts), skipped, answers)


def _told(bad: Skipped, path: Path, lines: PartLines) -> str:
    """A bad row with its line in the whole file; several bad rows with the first line of the part."""
    number = bad.where.removeprefix(f"{path}:")
    if number.isdecimal():
        return f"{lines.file}:{lines.first + int(number) - 1}: {bad.reason}"
    return f"{lines.file}, from line {lines.first}: {bad.reason}"


def _index(setup: ReplaySetup) -> Index:
    """The index over the memories of *setup*, in memory. A worker builds it for its first part of a run."""
    with _opening:
        if setup.key not in _indexes:
            _indexes.clear()
            _indexes[setup.key] = index_of(setup.corpus, is_accepted=_acceptance(setup.accepted))
        return _indexes[setup.key]


def _acceptance(accepted: frozenset[tuple[str, str]]) -> Callable[[MemorySummary], bool]:
    def is_accepted(memory: MemorySummary) -> bool:
        return (memory.id, memory.digest) in accepted

    return is_accepted
