"""What a worker does: run the prompts of one part through systems, over an index of its own."""

from __future__ import annotations

import hashlib
import json
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from engine.conversations.prompt_files import read_prompts
from engine.errors import PromptFileError
from engine.lean.json_text import printed_json
from engine.opening import index_of
from engine.quality.decisions import SAFETY, decisions, may_be_injected
from engine.settings.roots import is_own_root
from engine.stores.roots import read_corpus
from tui.workspace.judge_options import opened_judge
from tui.workspace.parts.executors import describe, part_name, run_parts
from tui.workspace.replay import replaying
from tui.workspace.spending import Answers, Terms
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from engine.config import Config, System
    from engine.cutoff import Cutoff
    from engine.memory import Corpus, Skipped
    from engine.retrieval import Retrieval
    from engine.search.index import Index
    from tui.workspace.judge_options import Asking
    from tui.workspace.parts.executors import Executor
    from tui.workspace.replay.replaying import Ending


@dataclass(frozen=True)
class ReplaySetup:
    """What is the same for all parts of a run. `key` identifies it; the memories travel with it.

    `verdicts`: (id, digest) of risky memories that a person decided on -> the verdict. `is_own`: the root is the
    person's, see `is_own_root`.
    """

    key: str
    corpus: Corpus
    verdicts: Mapping[tuple[str, str], str]
    is_own: bool
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
    from labels.exchange.replay_file import run_row

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / lines.file
        path.write_bytes(lines.text)
        reading = read_prompts([str(path)])
    index, asking = _index(setup), setup.asking
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


def _index(setup: ReplaySetup) -> Index:
    """The index over the memories of *setup*, in memory. A worker builds it for its first part of a run."""
    with _opening:
        if setup.key not in _indexes:
            _indexes.clear()
            _indexes[setup.key] = index_of(
                setup.corpus,
                is_accepted=lambda memory: may_be_injected(
                    memory.risk, setup.verdicts.get((memory.id, memory.digest), ""), is_own=setup.is_own
                ),
            )
        return _indexes[setup.key]


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
    verdicts = {(name, digest): verdict for (check, name, digest), verdict in decided if check == SAFETY}
    is_own = is_own_root(corpus.root, environ)
    described = {
        "memories": [[memory.summary.id, memory.summary.digest, memory.summary.status] for memory in corpus.memories],
        "verdicts": [*sorted(verdicts.items()), is_own],
        "systems": [system.name for system in systems],
        "config": repr(config),
        "cutoffs": {kind: [repr(cutoff.model), cutoff.threshold] for kind, cutoff in cutoffs.items()},
        "judge": asdict(asking.judge),
    }
    key = hashlib.sha256(printed_json(described).encode()).hexdigest()
    return ReplaySetup(key, corpus, verdicts, is_own, tuple(systems), config, dict(cutoffs), asking)


def replay_in_parts(
    executor: Executor, setup: ReplaySetup, files: Sequence[str], folder: Path, size: int
) -> tuple[Ending, int, Answers]:
    """Write a file of rows into *folder* for each part that is not done. Returns the end, in parts, the prompts, and
    how the judge fared.

    A part is done when its file is there, and the judge, if it has one, answered for every row. Raises as `run_parts`
    and `describe`, and ExchangeError for a file that is no run.
    """
    parts = [(part_name(number), read) for number, read in enumerate(parts_of(files, size))]
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
    left = [(name, read) for name, read in parts if not _is_done(folder / name, judged)]
    ending = run_parts(executor, replay_part, setup, left, folder, keep, "Replaying parts", len(parts) - len(left))
    return ending, prompts, answers


def _is_done(file: Path, judged: Sequence[str]) -> bool:
    """Whether a part has its rows, and the judge's answers for the systems *judged*."""
    if not judged or not file.exists():
        return file.exists()
    from labels.exchange.replay_file import read_unfinished

    return not read_unfinished(file, judged).failed
