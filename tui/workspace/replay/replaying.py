"""Ask a judge about many prompts or memories: several at once, results in the order of the jobs, rows in a file."""

from __future__ import annotations

import signal
import threading
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engine.config import is_injected
from engine.errors import MemsiftError
from engine.judge.verdict import OK, TIMEOUT
from engine.lean.json_text import printed_json
from engine.lean.record import replace
from engine.pipeline import OpenSystem, Question
from engine.roots import retrieve
from engine.stores.files import open_named, write_whole
from tui.workspace.stderr import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from engine.config import Config, System
    from engine.cutoff import Cutoff
    from engine.judge.batches import Batches
    from engine.judge.judge import Judge
    from engine.judge.retries import Pace
    from engine.judge.verdict import Judgement
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex
    from labels.exchange.replay_file import UnfinishedRun
    from tui.workspace.judging import Terms
    from tui.workspace.retrievals import Injections
    from tui.workspace.stderr import Judged

    Task = TypeVar("Task")
    Result = TypeVar("Result", bound=Judged)

NO_CUTOFFS: Mapping[str, Cutoff] = {}


@dataclass(frozen=True)
class Job:
    """A prompt and the systems that have not run it yet."""

    prompt: Prompt
    systems: tuple[System, ...]


@dataclass(frozen=True)
class Ending:
    """The end of a run: `done` of `jobs` have all their results."""

    done: int
    jobs: int
    is_interrupted: bool = False
    is_spent: bool = False


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
            found.append(retrieve(Question(job.prompt), index, opened))
    return [retrieval for retrieval in found if retrieval]


def run(
    jobs: Sequence[Task],
    work: Callable[[Task], list[Result]],
    keep: Callable[[Result], None],
    terms: Terms,
    *,
    is_judged: bool = True,
    label: str = "Replaying",
) -> Ending:
    """Do *jobs*: in batches, or in threads if a judge is asked.

    *keep* receives the results, in this thread and in the order of the jobs.

    With batches the rows come when all answers are there, and after Ctrl-C the batches go on.

    Jobs whose question had no answer in time are done once more at the end, if the judge answered others, and their
    results come last. After Ctrl-C, and when the cost limit is reached, no job is started. Finished jobs are kept, also
    behind an unfinished job. At the cost limit, running jobs are waited for and kept, too.
    """
    if terms.batches and is_judged:
        return _run_in_batches(jobs, work, keep, terms.batches)
    late: list[tuple[Task, list[Result]]] = []
    has_answers = False

    def kept_in_time(position: int, found: list[Result]) -> list[Result]:
        nonlocal has_answers
        has_answers |= any(result.judgement and result.judgement.is_answer for result in found)
        if not any(result.judgement and result.judgement.status == TIMEOUT for result in found):
            return found
        late.append((jobs[position], found))
        return []

    with progress_bar(len(jobs), label) as advance:
        count = terms.asking.concurrency if is_judged else 0
        ending = _run_once(jobs, work, keep, terms, count, advance, kept_in_time)
        if not late:
            return ending
        if ending.is_interrupted or ending.is_spent or not has_answers:
            for _, found in late:
                keep_all(found, keep)
            return ending

        def again(job: tuple[Task, list[Result]]) -> list[Result]:
            return paid_together(work(job[0]), job[1])

        second = _run_once(late, again, keep, terms, count, lambda _: None, lambda _, found: found)
    done = ending.done - (len(late) - second.done)
    return Ending(done, ending.jobs, second.is_interrupted, second.is_spent)


def _run_once(
    jobs: Sequence[Task],
    work: Callable[[Task], list[Result]],
    keep: Callable[[Result], None],
    terms: Terms,
    count: int,
    advance: Callable[[Sequence[Judged]], None],
    chosen: Callable[[int, list[Result]], list[Result]],
) -> Ending:
    """Do *jobs* in *count* threads. *keep* receives the *chosen* results of each."""
    waiting: dict[int, list[Result]] = {}
    done = following = 0
    with (
        closing(Workers(work, jobs, count, terms.pace)) as workers,
        interrupting(workers.interrupt),
    ):
        for position, found in workers:
            advance(found)
            answered = [result for result in found if not (terms.is_spent and is_unanswered(result))]
            if len(answered) < len(found):
                workers.finish()
            else:
                done += 1
            waiting[position] = chosen(position, answered)
            while following in waiting:
                keep_all(waiting.pop(following), keep)
                following += 1
        for position in sorted(waiting):
            keep_all(waiting[position], keep)
    return Ending(done, len(jobs), workers.is_interrupted, done < len(jobs) and terms.is_spent)


def _run_in_batches(
    jobs: Sequence[Task], work: Callable[[Task], list[Result]], keep: Callable[[Result], None], batches: Batches
) -> Ending:
    try:
        for found in batches.answers(jobs, work, paid_together):
            keep_all(found, keep)
    except KeyboardInterrupt:
        return Ending(0, len(jobs), is_interrupted=True)
    batches.done()
    return Ending(len(jobs), len(jobs))


def paid_together(now: list[Result], before: list[Result]) -> list[Result]:
    """The results of a job, with the tokens and cost of its earlier rounds, which the cache answers now."""
    return [
        replace(result, judgement=_added_up(result.judgement, other.judgement))
        if result.judgement and other.judgement
        else result
        for result, other in zip(now, before, strict=True)
    ]


def _added_up(now: Judgement, before: Judgement) -> Judgement:
    costs = [cost for cost in (now.cost_usd, before.cost_usd) if cost is not None]
    return replace(
        now,
        input_tokens=now.input_tokens + before.input_tokens,
        output_tokens=now.output_tokens + before.output_tokens,
        cost_usd=sum(costs) if costs else None,
    )


def is_unanswered(result: Judged) -> bool:
    """Whether the judge was asked and gave no answer."""
    return result.judgement is not None and result.judgement.status != OK


def keep_all(found: Sequence[Result], keep: Callable[[Result], None]) -> None:
    for result in found:
        keep(result)


@contextmanager
def interrupting(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call *interrupt* on the first Ctrl-C, so that no row is cut off. A second Ctrl-C works as usual.

    Nothing changes if the signal is ignored, as for a script in the background, or if this is not the main thread.
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


T = TypeVar("T")
R = TypeVar("R")

GRACE_S = 0.5
"""How long `close` waits for threads that are still working."""


class Workers(Generic[T, R]):
    """Runs *work* on *items* in *count* threads. Iterate once for (position, result), in order of completion.

    An exception in *work* is raised while iterating. The threads do not keep a process alive. With a *count* of 0 the
    iterating thread does the work itself: for pure computation that is faster than threads that take turns. *pace* may
    let fewer threads work at a time.
    """

    def __init__(self, work: Callable[[T], R], items: Sequence[T], count: int, pace: Pace | None = None) -> None:
        self._work = work
        self._pace = pace
        self._left = iter(enumerate(items))
        self._lock = Lock()
        self._is_finishing = False
        self.is_interrupted = False
        self._done: SimpleQueue[tuple[int, R] | Exception | None] = SimpleQueue()
        self._threads = [Thread(target=self._run, daemon=True) for _ in range(count)]

    def __iter__(self) -> Iterator[tuple[int, R]]:
        for thread in self._threads:
            thread.start()
        yield from self._from_threads() if self._threads else self._from_here()

    def finish(self) -> None:
        """Start no more items. Results of running items still come."""
        self._is_finishing = True

    def interrupt(self) -> None:
        """Start no more items and wait for none: only finished results still come. A signal handler may call this."""
        self._is_finishing = self.is_interrupted = True
        self._done.put(None)

    def close(self) -> None:
        """Start no more items, and wait up to GRACE_S for the threads."""
        self.finish()
        until = monotonic() + GRACE_S
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until - monotonic()))

    def _from_here(self) -> Iterator[tuple[int, R]]:
        for position, item in self._left:
            if self._is_finishing:
                return
            yield position, self._work(item)

    def _from_threads(self) -> Iterator[tuple[int, R]]:
        """Results from the queue. None means that a thread ended, or an interrupt came."""
        running = len(self._threads)
        while running:
            try:
                arrived = self._done.get(block=not self.is_interrupted)
            except Empty:
                return
            if isinstance(arrived, Exception):
                raise arrived
            if arrived is None:
                running -= 1
            else:
                yield arrived

    def _run(self) -> None:
        is_left = True
        while is_left and not self._is_finishing:
            with self._pace.turn(lambda: self._is_finishing) if self._pace else nullcontext():
                is_left = not self._is_finishing and self._has_done_next()
        self._done.put(None)

    def _has_done_next(self) -> bool:
        """Work on the next item; False if there is none."""
        with self._lock:
            following = next(self._left, None)
        if following is None:
            return False
        position, item = following
        try:
            self._done.put((position, self._work(item)))
        except Exception as error:  # noqa: BLE001 - raised again while iterating
            self._done.put(error)
        return True
