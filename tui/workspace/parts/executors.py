"""A run in parts: its folder, and the processes or the workers of a Dask cluster that do the parts."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeVar

from engine import __version__
from engine.errors import ConfigError, MemsiftError
from engine.lean.json_text import printed_json
from engine.stores.files import UnreadableFileError, open_named, require_inside, write_whole
from tui.workspace.replay.replaying import Ending
from tui.workspace.stderr import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, Protocol, TypeVar

    class Made(Protocol):
        """The result of a part: its rows as JSON lines."""

        @property
        def text(self) -> bytes: ...

    Key = TypeVar("Key")
    Setup = TypeVar("Setup")
    Part = TypeVar("Part")
    Result = TypeVar("Result", bound=Made)

    class Executor(Protocol):
        """Does *work* on (setup, part) for each of *parts*, which have keys. Results come in any order.

        Raises MemsiftError where a worker is lost for good; finished results came before.
        """

        def each(
            self, work: Callable[[Setup, Part], Result], setup: Setup, parts: Iterable[tuple[Key, Part]]
        ) -> Iterator[tuple[Key, Result]]: ...

    Parts = Sequence[tuple[str, Callable[[], Part]]]
    """The name of each part's file, and a function that reads the part."""

PROCESSES, DASK = "processes", "dask://"
AHEAD = 2
"""Parts under way for each worker: one that it works on, and one that waits for it."""

TRIES = 3
"""How often a part is done again after its worker was lost."""

CONNECT_S = 15

_setup: Any = None


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

    def __init__(self, count: int) -> None:
        self._count = count

    def each(
        self, work: Callable[[Setup, Part], Result], setup: Setup, parts: Iterable[tuple[Key, Part]]
    ) -> Iterator[tuple[Key, Result]]:
        """See `Executor`."""
        under_way: dict[Any, tuple[Key, Part]] = {}
        rest: Iterator[tuple[Key, Part]] = iter(parts)
        losses = 0
        os.environ["PYTHONSAFEPATH"] = "1"  # or they would run modules of the current folder
        while losses <= TRIES:
            rest = chain(list(under_way.values()), rest)
            under_way.clear()
            pool = ProcessPoolExecutor(self._count, get_context("spawn"), _start_process, (setup,))
            submit = partial(_submitted, pool, work)
            try:
                for done in _windowed(submit, self._count, rest, under_way):
                    losses = 0
                    yield done
                return
            except BrokenProcessPool:
                losses += 1
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        raise MemsiftError(
            f"Worker processes ended before their parts were done, {losses} times in a row, perhaps for lack of "
            "memory. Finished parts are kept: give the same command again, with fewer processes."
        )


def _submitted(pool: ProcessPoolExecutor, work: Callable[[Any, Part], Result], part: Part) -> Future[Result]:
    """The future of a part. It has failed already if a process of the pool has ended."""
    try:
        return pool.submit(_work, work, part)
    except BrokenProcessPool as error:
        failed: Future[Result] = Future()
        failed.set_exception(error)
        return failed


def _start_process(setup: Any) -> None:
    """Keep the setup for all parts, and leave Ctrl-C to the process that waits for them."""
    global _setup
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _setup = setup


def _work(work: Callable[[Any, Part], Result], part: Part) -> Result:
    return work(_setup, part)


class _Cluster:
    """The workers of a Dask cluster. Dask gives the parts of a lost worker to another."""

    def __init__(self, client: Any, workers: int) -> None:
        self._client = client
        self._workers = workers

    def each(
        self, work: Callable[[Setup, Part], Result], setup: Setup, parts: Iterable[tuple[Key, Part]]
    ) -> Iterator[tuple[Key, Result]]:
        """See `Executor`. The setup is sent once to each worker."""
        from distributed import KilledWorker

        there = self._client.scatter(setup, broadcast=True, hash=False)
        submit = partial(self._client.get_executor(pure=False, retries=TRIES).submit, work, there)
        try:
            yield from _windowed(submit, self._workers, parts, {})
        except KilledWorker as error:
            raise MemsiftError(
                f"A part ended several Dask workers, perhaps for lack of memory ({error}). Finished parts are kept: "
                "give the same command again, with smaller parts."
            ) from None


@contextmanager
def _opened_cluster(address: str) -> Iterator[_Cluster]:
    from distributed import Client

    try:
        client = Client(address, timeout=CONNECT_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise MemsiftError(f"There is no Dask scheduler at {address}: {error}. Start one: dask scheduler") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise MemsiftError(f"The Dask scheduler at {address} has no workers. Start some: dask worker {address}")
        _check_versions(client)
        yield _Cluster(client, workers)


def _check_versions(client: Any) -> None:
    """Raise MemsiftError unless each worker has this version of memsift."""
    try:
        found = set(client.run(version).values())
    except Exception as error:  # noqa: BLE001 - Dask raises on this side whatever went wrong on a worker
        raise MemsiftError(
            f"A Dask worker cannot load memsift: {error}. Install memsift {__version__} where it runs."
        ) from None
    if found != {__version__}:
        versions = ", ".join(sorted(found))
        raise MemsiftError(f"The Dask workers have memsift {versions}, not {__version__}. Install the same version.")


def version() -> str:
    """The version of memsift on a worker."""
    return __version__


def _windowed(
    submit: Callable[[Part], Future[Any]],
    workers: int,
    parts: Iterable[tuple[Key, Part]],
    under_way: dict[Any, tuple[Key, Part]],
) -> Iterator[tuple[Key, Any]]:
    """Submit *parts*, a few ahead of the workers, and yield the results as they come.

    *under_way* holds each future with its part, until its result is taken.
    """
    rest = iter(parts)
    while True:
        for key, part in islice(rest, AHEAD * workers - len(under_way)):
            under_way[submit(part)] = key, part
        if not under_way:
            return
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            result = future.result()
            key, _ = under_way.pop(future)
            yield key, result


DESCRIPTION = "run.json"


def part_name(number: int) -> str:
    return f"part-{number:06}.jsonl"


def run_parts(
    executor: Executor,
    work: Callable[[Setup, Part], Result],
    setup: Setup,
    left: Parts[Part],
    folder: Path,
    keep: Callable[[Result], None],
    label: str,
    finished: int = 0,
) -> Ending:
    """Write a file of rows into *folder* for each part in *left*. Returns the end, in parts. Raises MemsiftError.

    *keep* gets each result before its file is written. *finished* parts were done by an earlier start. Ctrl-C ends the
    run; the parts that are done stay.
    """
    done = 0
    with progress_bar(finished + len(left), label) as advance:
        for _ in range(finished):
            advance(())
        try:
            for name, made in executor.each(work, setup, ((name, read()) for name, read in left)):
                keep(made)
                _write(folder / name, made.text)
                done += 1
                advance(())
        except KeyboardInterrupt:
            return Ending(done, len(left), is_interrupted=True)
    return Ending(done, len(left))


def describe(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Write what the run in *folder* is, or compare it with what is written. Raises MemsiftError for another run."""
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
            "give the same input, memories and options as before."
        )


def _write(path: Path, text: bytes) -> None:
    """Write a file whole, or raise MemsiftError: also for a link that leads out of the folder."""
    try:
        require_inside(os.path.realpath(path.parent), str(path))
        write_whole(str(path), text, open_named)
    except (OSError, UnreadableFileError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MemsiftError(f"{path}: {reason}. Finished parts are kept.") from None
