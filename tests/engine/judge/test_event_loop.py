"""An event loop for callers that have none, and the deadlines that it keeps."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest

from engine.errors import ProviderCancelledError
from engine.judge.deadline import Deadline
from engine.judge.providers.event_loop import EventLoop

if TYPE_CHECKING:
    from collections.abc import Iterator


async def nothing() -> None:
    """What is left to do when a loop closes."""


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    loop = EventLoop()
    yield loop
    loop.close(nothing)


async def done() -> str:
    await asyncio.sleep(0)
    return "done"


def test_a_result_in_time_is_returned_and_the_loop_is_kept(loop: EventLoop) -> None:
    async def where() -> int:
        return id(asyncio.get_running_loop())

    assert loop.run(done, 5) == "done"
    assert loop.run(where, 5) == loop.run(where, 5)


def test_a_slow_coroutine_is_cancelled(loop: EventLoop) -> None:
    cancelled = threading.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(TimeoutError):
        loop.run(work, 0.05)
    assert cancelled.wait(5)


@pytest.mark.parametrize("blocks_loop", [False, True], ids=["thread", "loop"])
def test_nothing_that_hangs_holds_the_deadline(loop: EventLoop, blocks_loop: bool) -> None:
    release = threading.Event()

    async def work() -> None:
        if blocks_loop:
            release.wait(30)
        # What a name lookup is: a call in the loop's own threads, which nobody can cancel.
        await asyncio.get_running_loop().run_in_executor(None, release.wait, 30)

    started = time.perf_counter()
    with pytest.raises(TimeoutError):
        loop.run(work, 0.1)
    elapsed_s = time.perf_counter() - started
    release.set()
    assert elapsed_s < 5


def test_an_error_comes_through(loop: EventLoop) -> None:
    async def work() -> None:
        raise KeyError("k")

    with pytest.raises(KeyError, match="k"):
        loop.run(work, 5)


def test_closing_cancels_what_runs_and_the_loop_may_start_again(loop: EventLoop) -> None:
    started = threading.Event()
    ended: list[object] = []

    async def work() -> None:
        started.set()
        await asyncio.sleep(30)

    def call() -> None:
        try:
            loop.run(work, 30)
        except ProviderCancelledError as error:
            ended.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert started.wait(5)
    loop.close(nothing)
    thread.join(5)
    assert [str(error) for error in ended] == ["The judge was stopped before it answered."]
    assert loop.run(done, 5) == "done"


def test_what_is_left_to_do_is_done_before_the_loop_ends(loop: EventLoop) -> None:
    last: list[str] = []

    async def work() -> None:
        last.append("closed")

    loop.close(work)
    assert last == []
    loop.run(done, 5)
    loop.close(work)
    assert last == ["closed"]


def test_a_deadline_counts_down_and_passes() -> None:
    deadline = Deadline(2.0, iter([10.0, 10.5, 11.5, 12.0, 13.0]).__next__)
    assert (deadline.left_s(), deadline.check()) == (1.5, 0.5)
    with pytest.raises(TimeoutError):
        deadline.check()
    assert deadline.left_s() == -1.0
