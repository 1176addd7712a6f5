"""The processes of this machine, or the workers of a Dask cluster, that do the parts of a run."""

from __future__ import annotations

import os
import platform
import signal
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from multiprocessing import get_context
from pickle import dumps, loads
from typing import TYPE_CHECKING, Any, TypeVar

from engine import __version__
from engine.errors import ConfigError, MemsiftError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    class Made(Protocol):
        """The result of a part: its rows as JSON lines."""

        @property
        def text(self) -> bytes: ...

    class Shared(Protocol):
        """A file on this machine that workers read, and from which another machine makes a copy."""

        @property
        def path(self) -> str: ...

        def receive(self, blocks: Iterable[bytes], environ: Mapping[str, str]) -> None: ...

    Key = TypeVar("Key")
    Part = TypeVar("Part")
    Result = TypeVar("Result", bound=Made)

    class Executor(Protocol):
        """Does *work* on each of *parts*, which have keys. Results come in any order.

        *work* gives None where the file *shared* is missing. No more than *most* parts are under way. `workers` is the
        number of workers, and `is_here` says whether they read the files of this machine. Raises MemsiftError where a
        worker is lost for good; finished results came before.
        """

        @property
        def is_here(self) -> bool: ...

        @property
        def workers(self) -> int: ...

        def each(
            self, work: Work[Part, Result], parts: Iterable[tuple[Key, Part]], shared: Shared | None, most: int
        ) -> Iterator[tuple[Key, Result]]: ...

    Work = Callable[[Part], Result | None]

PROCESSES, DASK = "processes", "dask://"
AHEAD = 2
"""Parts under way for each worker: one that it works on, and one that waits for it."""

TRIES = 3
"""How often a part is done again after its worker was lost."""

CONNECT_S = 15

BLOCK_BYTES = 4_000_000
"""Bytes of a shared file that Dask keeps on a worker as one result. Dask warns of ten million in a task."""

FETCH_S = 60
"""How long a worker waits for a block, in seconds."""

AGAIN = "Finished parts are kept: give the same command again"


@contextmanager
def opened_executor(name: str) -> Iterator[Executor]:
    """The executor called *name*: `processes`, `processes:N` or `dask://HOST:PORT`. Raises MemsiftError."""
    kind, _, count = name.partition(":")
    if name.startswith(DASK):
        with _opened_cluster(f"tcp://{name.removeprefix(DASK)}") as cluster:
            yield cluster
    elif kind == PROCESSES and (not count or (count.isdecimal() and int(count) > 0)):
        yield Processes(int(count) if count else os.cpu_count() or 1)
    else:
        raise ConfigError(f"There is no executor {name!r}. Choose {PROCESSES}, {PROCESSES}:N or {DASK}HOST:PORT.")


class Processes:
    """*count* processes of this machine. One that ends too early ends the others, so all are started again."""

    is_here = True

    def __init__(self, count: int) -> None:
        self.workers = count

    def each(
        self, work: Work[Part, Result], parts: Iterable[tuple[Key, Part]], shared: Shared | None, most: int
    ) -> Iterator[tuple[Key, Result]]:
        """See `Executor`."""

        def refuse(_: Part) -> Future[Any]:
            raise MemsiftError(f"{shared.path if shared else 'A file of the run'} was deleted. {AGAIN}.")

        under_way: dict[Any, tuple[Key, Part]] = {}
        rest: Iterator[tuple[Key, Part]] = iter(parts)
        losses = 0
        os.environ["PYTHONSAFEPATH"] = "1"  # or they would run modules of the current folder
        while losses <= TRIES:
            rest = chain(list(under_way.values()), rest)
            under_way.clear()
            pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _leave_interrupts)
            submit = partial(_submitted, pool, work)
            try:
                for done in _windowed(submit, lambda: min(most, AHEAD * self.workers), rest, under_way, refuse):
                    losses = 0
                    yield done
                return
            except BrokenProcessPool:
                losses += 1
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        raise MemsiftError(
            f"Worker processes ended before their parts were done, {losses} times in a row, perhaps for lack of "
            f"memory. {AGAIN}, with fewer processes."
        )


def _submitted(pool: ProcessPoolExecutor, work: Work[Part, Result], part: Part) -> Future[Result | None]:
    """The future of a part. It has failed already if a process of the pool has ended."""
    try:
        return pool.submit(work, part)
    except BrokenProcessPool as error:
        failed: Future[Result | None] = Future()
        failed.set_exception(error)
        return failed


def _leave_interrupts() -> None:
    """Leave Ctrl-C to the process that waits for the parts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Cluster:
    """The workers of a Dask cluster. Dask gives the parts of a lost worker to another, also to one that joins later."""

    is_here = False

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def workers(self) -> int:
        """See `Executor`; at least 1, because others may join."""
        return sum(self._client.nthreads().values()) or 1

    def each(
        self, work: Work[Part, Result], parts: Iterable[tuple[Key, Part]], shared: Shared | None, most: int
    ) -> Iterator[tuple[Key, Result]]:
        """See `Executor`. The shared file is sent when a worker lacks it, and each machine makes one copy.

        The blocks of the file are freed as soon as no part waits for them.
        """
        from distributed import wait as finish
        from memsift import work_on_cluster as work_there

        executor = self._client.get_executor(pure=False, retries=TRIES)
        start: Callable[..., Future[Any]] = partial(executor.submit, work_there, __version__, dumps((work, shared)))
        blocks: list[Any] = []
        waiting: list[Future[Any]] = []

        def submit(part: Part) -> Future[Any]:
            if all(future.done() for future in waiting):
                blocks.clear()
                waiting.clear()
            return start(dumps(part), [])

        def send(part: Part) -> Future[Any]:
            if shared and not blocks:
                with open(shared.path, "rb") as file:  # noqa: PTH123
                    read = iter(partial(file.read, BLOCK_BYTES), b"")
                    blocks.extend(self._client.submit(bytes, block, pure=False, retries=TRIES) for block in read)
            finish(blocks)
            waiting.append(start(dumps(part), [block.key for block in blocks]))
            return waiting[-1]

        with _told_plainly(self._client):
            yield from _windowed(submit, lambda: min(most, AHEAD * self.workers), parts, {}, send)


def work_on_cluster(wanted: str, job: bytes, pickled: bytes, blocks: Sequence[str]) -> Any:
    """Do a part on a Dask worker, if it has the version *wanted*: another version may not be able to unpickle it.

    *job*: pickled work and shared file. *blocks*: the keys of the results that are the bytes of that file, if they were
    sent. They are fetched and written one by one, and the worker takes other work meanwhile, such as to make a block.
    """
    from distributed import Future, Lock, get_worker, worker_client

    name = get_worker().address
    if wanted != __version__:
        raise MemsiftError(f"The Dask worker {name} has memsift {__version__}, not {wanted}. Install the same version.")
    work, shared = loads(job)
    part = loads(pickled)
    result = work(part)
    if result is not None or not shared or not blocks:
        return result
    try:
        with worker_client() as client, Lock(f"memsift {platform.node()}"):
            found = (Future(key, client, state="memory").result(FETCH_S) for key in blocks)
            shared.receive(found, os.environ)
    except TimeoutError:  # the worker that held a block was lost: all are sent again
        return None
    except OSError as error:
        raise MemsiftError(
            f"The Dask worker {name} has no room for a copy of the index: {error}. Make room there, or end the worker."
        ) from None
    return work(part)


@contextmanager
def _told_plainly(client: Any) -> Iterator[None]:
    """Raise a MemsiftError where a worker, the network or the scheduler failed."""
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise MemsiftError(
            f"A part ended several Dask workers, perhaps for lack of memory ({error}). {AGAIN}, with smaller parts."
        ) from None
    except (CancelledError, OSError, ImportError, AttributeError) as error:
        if isinstance(error, CancelledError) or client.status != "running":
            raise MemsiftError(f"The Dask scheduler was lost. {AGAIN} when it runs.") from None
        raise MemsiftError(
            f"A Dask worker failed ({type(error).__name__}): {error}. Each needs memsift {__version__}. {AGAIN}."
        ) from None


@contextmanager
def _opened_cluster(address: str) -> Iterator[_Cluster]:
    from distributed import Client

    try:
        client = Client(address, timeout=CONNECT_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise MemsiftError(f"There is no Dask scheduler at {address}: {error}. Start one: dask scheduler") from None
    with client:
        if not client.nthreads():
            raise MemsiftError(f"The Dask scheduler at {address} has no workers. Start some: dask worker {address}")
        yield _Cluster(client)


def _windowed(
    submit: Callable[[Part], Future[Any]],
    room: Callable[[], int],
    parts: Iterable[tuple[Key, Part]],
    under_way: dict[Any, tuple[Key, Part]],
    send: Callable[[Part], Future[Any]],
) -> Iterator[tuple[Key, Any]]:
    """Submit *parts*, with *room* for this number at once, and yield the results as they come.

    *under_way* holds each future with its part, until its result is taken. *send* submits a part without a result
    again, with the shared file.
    """
    rest = iter(parts)
    while True:
        for key, part in islice(rest, max(0, room() - len(under_way))):
            under_way[submit(part)] = key, part
        if not under_way:
            return
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            result = future.result()
            key, part = under_way.pop(future)
            if result is None:
                under_way[send(part)] = key, part
            else:
                yield key, result
