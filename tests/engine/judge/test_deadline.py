"""The wall clock over a call."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from engine.judge.deadline import run_within


def test_a_result_in_time_is_returned() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    assert run_within(5, work) == "done"


def test_a_slow_coroutine_is_cancelled() -> None:
    cancelled = []

    async def work() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    with pytest.raises(TimeoutError):
        run_within(0.05, work)
    assert cancelled == [True]


def test_a_thread_that_hangs_does_not_hold_the_deadline() -> None:
    release = threading.Event()

    async def work() -> None:
        # What a name lookup is: a call in the loop's own threads, which nobody can cancel.
        await asyncio.get_running_loop().run_in_executor(None, release.wait, 30)

    started = time.perf_counter()
    with pytest.raises(TimeoutError):
        run_within(0.1, work)
    elapsed_s = time.perf_counter() - started
    release.set()
    assert elapsed_s < 5


def test_an_error_comes_through() -> None:
    async def work() -> None:
        raise KeyError("k")

    with pytest.raises(KeyError, match="k"):
        run_within(5, work)
