"""A replay: its jobs, what a worker does with one, and the file of its rows."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pickle import loads
from platform import node
from time import perf_counter
from typing import TYPE_CHECKING, Any

from engine.config import is_injected
from engine.errors import MemsiftError
from engine.judge.limits import Limits
from engine.lean.json_text import printed_json
from engine.pipeline import OpenSystem, Query, retrieve
from engine.roots import open_together
from engine.stores.files import open_named, write_whole
from tui.workspace.judging import make_judge
from tui.workspace.retrievals import Injections

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from engine.config import Config, System
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex, OpenRoots
    from labels.exchange.replay_file import UnfinishedRun
    from tui.workspace.judging import JudgeOptions

NO_CUTOFFS: Mapping[str, Cutoff] = {}


@dataclass(frozen=True)
class Job:
    """A prompt and the systems that have not run it yet."""

    prompt: Prompt
    systems: tuple[System, ...]


def jobs_left(prompts: Sequence[Prompt], systems: Sequence[System], finished: Collection[tuple[str, str]]) -> list[Job]:
    """A job for each prompt that some system has not run, in the order of *prompts*."""
    jobs = (
        Job(prompt, tuple(system for system in systems if (prompt.id, system.name) not in finished))
        for prompt in prompts
    )
    return [job for job in jobs if job.systems]


def refuse_another_judge(found: UnfinishedRun, judge: Judge, mode: str) -> None:
    """Raise MemsiftError if rows of *found* have another judge, or another wording of its prompt."""
    now = judge.identity(mode)
    if others := found.judges - {now}:
        before, after = ("{} ({}), template {}".format(*identity) for identity in (min(others), now))
        raise MemsiftError(
            f"The run was judged by {before}; to go on with {after} would mix two judges. Name the same judge, or "
            "another file."
        )


def retrievals(
    job: Job,
    index: OpenIndex,
    config: Config,
    judge: Judge | None,
    cutoffs: Mapping[str, Cutoff] = NO_CUTOFFS,
    clock: Callable[[], float] = perf_counter,
    injections: Injections | None = None,
) -> list[Retrieval]:
    """Run the prompt of *job* through its systems. *cutoffs*: kind -> the cutoff of the systems with that kind.

    *clock* gives seconds. *injections* answers for the systems that are records of injections, which come last; where
    nothing is known about a prompt, there is no retrieval.
    """
    found: list[Retrieval | None] = []
    for system in sorted(job.systems, key=lambda system: is_injected(system.name)):
        if is_injected(system.name):
            found.append(injections.retrieval(job.prompt, system.name) if injections else None)
        else:
            own, cutoff = judge if system.has_judge else None, cutoffs.get(system.cutoff)
            opened = OpenSystem(system.of(config), cutoff, own, clock=clock)
            found.append(retrieve(Query(job.prompt), index, opened))
    return [retrieval for retrieval in found if retrieval]


@dataclass(frozen=True)
class ReplaySetup:
    """What all jobs of a replay have in common. A worker in another process or on another machine opens it for itself.

    `corpus_hash` is that of the memories: a worker with other memories ends the run. `judge` finds its API key in the
    environment of the worker.
    """

    roots: OpenRoots
    systems: tuple[System, ...]
    cutoffs: Mapping[str, Cutoff]
    judge: JudgeOptions
    retries: int
    corpus_hash: str


class Replayer:
    """Does the jobs of a replay over memories that are open."""

    def __init__(self, setup: ReplaySetup, index: OpenIndex, judge: Judge | None) -> None:
        self.setup, self.index, self.judge = setup, index, judge
        self.injections = Injections(index)

    def __call__(self, job: Job) -> list[Retrieval]:
        config = self.setup.roots.config
        return retrievals(job, self.index, config, self.judge, self.setup.cutoffs, injections=self.injections)


def replay_elsewhere(pickled: bytes, job: Job) -> list[Retrieval]:
    """Do a job of the pickled ReplaySetup in a worker. Raises MemsiftError."""
    return _opened(pickled)(job)


@lru_cache(1)
def _opened(pickled: bytes) -> Replayer:
    """The setup of the run that this worker does, open until the worker ends or does another run."""
    setup: ReplaySetup = loads(pickled)
    roots = setup.roots
    with ExitStack() as opened:
        index = opened.enter_context(closing(open_together(roots.paths, os.environ, roots.others)))
        if index.corpus_hash != setup.corpus_hash:
            raise MemsiftError(
                f"The memories of {roots.paths[0]} on {node()} are not those of the command, or have changed since it "
                "began. Workers need the same folder at the same path."
            )
        judge = make_judge(setup.judge, roots.config, os.environ, Limits(retries=setup.retries))
        if judge and any(system.has_judge for system in setup.systems):
            opened.enter_context(closing(judge))
            judge.prepare()
        opened.pop_all()
    return Replayer(setup, index, judge)


@contextmanager
def appending(path: Path, size: int, content: bytes | None = None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A function that adds a row to a file of JSON lines, whole before it returns.

    First the file is cut to *size* bytes, after *content*, if given, has taken the place of its own. Raises
    MemsiftError if it cannot be written, and then it is unchanged.
    """
    try:
        if content is not None:
            write_whole(str(path), content, open_named)
        rows = open(path, "ab", opener=open_named)  # noqa: SIM115
        rows.truncate(size)
    except OSError as error:
        raise MemsiftError(f"{path}: {error.strerror or error}. Name a file that can be written.") from None
    with rows:

        def write(row: dict[str, Any]) -> None:
            rows.write(f"{printed_json(row)}\n".encode())
            rows.flush()

        yield write
