"""Jobs through an executor of the standard library: their results in order, until all are there or the run is ended.

Threads, processes and the workers of a Dask cluster are executors alike.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pickle import dumps, loads
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from engine import __version__
from engine.errors import ConfigError, MemsiftError
from engine.judge.verdict import OK
from tui.workspace.stderr import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from engine.judge.limits import Limits
    from tui.workspace.stderr import Judged

    Task = TypeVar("Task")
    Result = TypeVar("Result", bound=Judged)
    Work = Callable[[Task], list[Result]]

PROCESSES, DASK = "processes", "dask://"
CONNECT_S = 15
CHUNK = 16
"""Jobs that another process does in a row: to send them singly would take longer than to do them."""

AHEAD = 32
"""Chunks of jobs that are given out ahead for each worker, so that a slow one holds up no other for a while."""

POLL_S = 0.1
AGAIN = "Rows that were finished are kept: go on with --resume FILE"


@dataclass(frozen=True)
class JobPool:
    """An executor, and how it is used: `chunk` jobs at a time, with up to `ahead` chunks given out."""

    executor: Executor
    ahead: int
    chunk: int = 1


@dataclass(frozen=True)
class Ending:
    """The end of a run: `done` of `jobs` have all their results."""

    done: int
    jobs: int
    is_interrupted: bool = False
    is_spent: bool = False


def run(
    jobs: Sequence[Task],
    work: Work[Task, Result],
    keep: Callable[[Result], None],
    limits: Limits,
    pool: JobPool,
    label: str = "Replaying",
) -> Ending:
    """Do *jobs*. *keep* receives the results in this thread, in the order of the jobs.

    After Ctrl-C, and when the limit of the cost is reached, no job is started. Finished jobs are kept, also behind an
    unfinished job. At the limit, running jobs are waited for and kept, too.
    """
    stopped = Event()
    done = 0

    def goes_on() -> bool:
        return not (stopped.is_set() or limits.is_spent)

    with progress_bar(len(jobs), label) as advance, interrupting(stopped.set):
        for found in in_order(pool, work, jobs, goes_on, stopped.is_set):
            advance(found)
            answered = [result for result in found if not (limits.is_spent and is_unanswered(result))]
            done += len(answered) == len(found)
            for result in answered:
                keep(result)
    return Ending(done, len(jobs), stopped.is_set(), not stopped.is_set() and done < len(jobs) and limits.is_spent)


def in_order(
    pool: JobPool,
    work: Callable[[Task], Any],
    jobs: Iterable[Task],
    goes_on: Callable[[], bool],
    is_over: Callable[[], bool],
) -> Iterator[Any]:
    """The results of *jobs*, in their order. Raises an exception of *work*.

    No job is started unless *goes_on*. When *is_over*, only results come that are there already.
    """
    waiting: deque[Future[list[Any]]] = deque()
    left = iter(jobs)
    try:
        while True:
            while len(waiting) < pool.ahead and goes_on() and (chunk := list(islice(left, pool.chunk))):
                waiting.append(pool.executor.submit(do_each, work, chunk))
            if not waiting:
                return
            first = waiting.popleft()
            while not (first.done() or is_over()):
                wait_for([first], POLL_S)
            if first.done():
                yield from first.result()
            else:
                first.cancel()
    finally:
        for future in waiting:
            future.cancel()


def do_each(work: Callable[[Task], Any], jobs: Sequence[Task]) -> list[Any]:
    return [work(job) for job in jobs]


def is_unanswered(result: Judged) -> bool:
    """Whether the judge was asked and gave no answer."""
    return result.judgement is not None and result.judgement.status != OK


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


# Executors


@contextmanager
def opened_pool(name: str = "", limits: Limits | None = None) -> Iterator[JobPool]:
    """The pool for the executor called *name*: `processes`, `processes:N` or `dask://HOST:PORT`. Raises MemsiftError.

    Without a name, jobs that ask a judge within *limits* have threads. Others are done here.
    """
    kind, _, count = name.partition(":")
    chunk = CHUNK if limits is None else 1
    if name.startswith(DASK):
        with _opened_cluster(f"tcp://{name.removeprefix(DASK)}") as (cluster, workers):
            yield JobPool(cluster, AHEAD * workers, chunk)
    elif kind == PROCESSES and (not count or (count.isdecimal() and int(count) > 0)):
        workers = int(count) if count else os.cpu_count() or 1
        with _opened_processes(workers) as processes:
            yield JobPool(processes, AHEAD * workers, chunk)
    elif name:
        raise ConfigError(f"There is no executor {name!r}. Choose {PROCESSES}, {PROCESSES}:N or {DASK}HOST:PORT.")
    elif limits is None:
        yield JobPool(Here(), 1)
    else:
        with JudgeThreads(limits) as threads:
            yield JobPool(threads, AHEAD * limits.at_once)


class Here(Executor):
    """Does a job when it is submitted: for pure computation that is faster than threads that take turns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - raised again by `Future.result`
            future.set_exception(error)
        return future


class JudgeThreads(ThreadPoolExecutor):
    """Threads whose jobs ask a judge, as many at once as *limits* say. Nothing waits for them at the end."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits.at_once)
        self._limits = limits
        self._is_over = Event()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(self._in_turn, fn, *args, **kwargs)

    def _in_turn(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with self._limits.turn(self._is_over.is_set):
            return None if self._is_over.is_set() else fn(*args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:  # noqa: ARG002
        """Start nothing more. A call under way ends when its judge is closed."""
        self._is_over.set()
        super().shutdown(wait=False, cancel_futures=cancel_futures)


@contextmanager
def _opened_processes(count: int) -> Iterator[Executor]:
    """Processes of this machine. Raises MemsiftError if one is lost."""
    os.environ["PYTHONSAFEPATH"] = "1"  # or they would run modules of the current folder
    try:
        # Ctrl-C is for the process that waits for the results
        with ProcessPoolExecutor(count, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
            yield pool
    except BrokenExecutor:
        raise MemsiftError(
            f"A worker process ended before its jobs were done, perhaps for lack of memory. {AGAIN}."
        ) from None


class Cluster(Executor):
    """A Dask cluster. Its workers have to import `memsift`, which finds `tui`, before they can read a job."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        from memsift import do_on_cluster as do_there

        return self._executor.submit(do_there, __version__, dumps((fn, args, kwargs)))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        self._executor.shutdown(wait=wait)


def do_on_cluster(wanted: str, pickled: bytes) -> Any:
    """Do a job on a Dask worker that has the version *wanted*: another version may not be able to read it."""
    if wanted != __version__:
        from distributed import get_worker

        name = get_worker().address
        raise MemsiftError(f"The Dask worker {name} has memsift {__version__}, not {wanted}. Install the same version.")
    fn, args, kwargs = loads(pickled)
    return fn(*args, **kwargs)


@contextmanager
def _opened_cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """The cluster, and its number of workers. Raises MemsiftError where worker, network or scheduler fail."""
    from distributed import Client, KilledWorker

    try:
        client = Client(address, timeout=CONNECT_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise MemsiftError(f"There is no Dask scheduler at {address}: {error}. Start one: dask scheduler") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise MemsiftError(f"The Dask scheduler at {address} has no workers. Start some: dask worker {address}")
        try:
            with Cluster(client.get_executor(pure=False)) as cluster:
                yield cluster, workers
        except KilledWorker as error:
            raise MemsiftError(
                f"Jobs ended several Dask workers, perhaps for lack of memory ({error}). {AGAIN}."
            ) from None
        except (CancelledError, OSError, ImportError, AttributeError, RuntimeError) as error:
            if isinstance(error, CancelledError) or client.status != "running":
                raise MemsiftError(f"The Dask scheduler was lost. {AGAIN} when it runs.") from None
            if isinstance(error, OSError):
                raise
            raise MemsiftError(
                f"A Dask worker failed ({type(error).__name__}): {error}. Each needs memsift {__version__}. {AGAIN}."
            ) from None
