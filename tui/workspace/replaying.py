"""Many prompts through systems: several at once, rows in the order of the prompts, and nothing lost on the way."""

from __future__ import annotations

import signal
import threading
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import MemsiftError
from engine.judge.bulk.capped import CappedProvider
from engine.judge.bulk.patient import PatientProvider
from engine.judge.verdict import OK
from engine.pipeline import retrieve
from tui.workspace.stderr import progress_bar
from tui.workspace.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from engine.judge.provider import Provider
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from engine.search.index import Index
    from engine.systems import System
    from labels.exchange.unfinished import UnfinishedRun
    from tui.workspace.batching import Batches

    Work = Callable[["Job"], list[Retrieval]]


@dataclass(frozen=True)
class Job:
    """One prompt and the systems that it has yet to go through."""

    prompt: Prompt
    systems: tuple[System, ...]


@dataclass(frozen=True)
class Ending:
    """How a replay ended: `done` of its `jobs` gave a row for every system."""

    done: int
    jobs: int
    is_interrupted: bool = False
    is_spent: bool = False


class Terms:
    """On what terms a judge is asked many times: to ask again up to *retries* times, and to cost at most *most_usd*.

    `around` puts them around a provider; raises ConfigError where there is a limit and no known price.
    """

    def __init__(self, retries: int, most_usd: float | None = None) -> None:
        self._retries = retries
        self._most_usd = most_usd
        self._capped: CappedProvider | None = None

    @property
    def is_spent(self) -> bool:
        return self._capped is not None and self._capped.is_spent

    def around(self, provider: Provider) -> Provider:
        if self._most_usd is not None:
            provider = self._capped = CappedProvider(provider, self._most_usd)
        return PatientProvider(provider, self._retries)


def jobs_left(prompts: Sequence[Prompt], systems: Sequence[System], finished: Collection[tuple[str, str]]) -> list[Job]:
    """A job for each prompt that has not gone through every system, in order."""
    jobs = (Job(each, tuple(one for one in systems if (each.id, one.name) not in finished)) for each in prompts)
    return [job for job in jobs if job.systems]


def refuse_another_judge(found: UnfinishedRun, judge: Judge, mode: str) -> None:
    """Raise MemsiftError where rows of *found* were judged by another judge, or in other words."""
    now = judge.identity(mode)
    if others := found.judges - {now}:
        before, after = ("{} ({}), template {}".format(*one) for one in (min(others), now))
        raise MemsiftError(
            f"The run was judged by {before}; to go on with {after} would mix two judges. Name the same judge, or "
            "another file."
        )


def retrievals(
    job: Job, index: Index, config: Config, judge: Judge | None, cutoff: Cutoff | None = None
) -> list[Retrieval]:
    """What the systems of *job* do with its prompt."""
    return [
        retrieve(
            job.prompt,
            index,
            system.of(config),
            judge=judge if system.has_judge else None,
            cutoff=cutoff if system.has_cutoff else None,
        )
        for system in job.systems
    ]


def run(jobs: Sequence[Job], work: Work, keep: Callable[[Retrieval], None], terms: Terms, count: int) -> Ending:
    """Do *jobs* in *count* threads, and give what comes of them to *keep*, in this thread and in the order of the jobs.

    On Ctrl-C, and where the judge may cost no more, no job is begun any more. What is done is kept: also behind a job
    that is not, and in the latter case what is under way as well.
    """
    waiting: dict[int, list[Retrieval]] = {}
    done = following = 0
    with (
        closing(Workers(work, jobs, count)) as workers,
        interrupting(workers.interrupt),
        progress_bar(len(jobs)) as advance,
    ):
        for position, found in workers:
            advance(found)
            answered = [one for one in found if not (terms.is_spent and is_unanswered(one))]
            if len(answered) < len(found):
                workers.finish()
            else:
                done += 1
            waiting[position] = answered
            while following in waiting:
                keep_all(waiting.pop(following), keep)
                following += 1
        for position in sorted(waiting):
            keep_all(waiting[position], keep)
    return Ending(done, len(jobs), workers.is_interrupted, done < len(jobs) and terms.is_spent)


def run_in_batches(jobs: Sequence[Job], work: Work, keep: Callable[[Retrieval], None], batches: Batches) -> Ending:
    """As `run`, with a judge that *batches* answer; no row before all are there. Ctrl-C leaves them under way."""
    try:
        for found in batches.answers(jobs, work):
            keep_all(found, keep)
    except KeyboardInterrupt:
        return Ending(0, len(jobs), is_interrupted=True)
    batches.done()
    return Ending(len(jobs), len(jobs))


def is_unanswered(retrieval: Retrieval) -> bool:
    """Whether a judge was to be asked and gave no answer."""
    return retrieval.judgement is not None and retrieval.judgement.status != OK


def keep_all(found: Sequence[Retrieval], keep: Callable[[Retrieval], None]) -> None:
    for retrieval in found:
        keep(retrieval)


@contextmanager
def interrupting(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call *interrupt* on the first Ctrl-C, so that it comes between two rows; the second is as ever.

    Nothing changes where the signal is ignored, as in a script's background, or where this thread cannot get it.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before == signal.SIG_IGN:
        yield
        return

    def first(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        interrupt()

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
