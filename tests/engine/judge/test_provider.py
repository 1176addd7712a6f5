"""The deadline of a provider's call, which holds even if the call hangs."""

import threading
import time

import pytest

from engine.errors import ProviderCancelledError, ProviderTimeoutError
from engine.judge.provider import Calls


def test_a_result_in_time_is_returned() -> None:
    assert Calls().run(lambda: "done", 5) == "done"


def test_an_error_comes_through() -> None:
    def call() -> None:
        raise KeyError("k")

    with pytest.raises(KeyError, match="k"):
        Calls().run(call, 5)


def test_nothing_that_hangs_holds_the_deadline() -> None:
    release = threading.Event()
    started = time.perf_counter()
    with pytest.raises(ProviderTimeoutError, match=r"No answer within 0\.1 s\."):
        Calls().run(lambda: release.wait(30), 0.1)
    elapsed_s = time.perf_counter() - started
    release.set()
    assert 0.1 <= elapsed_s < 5


def test_closing_ends_every_wait_and_calls_may_be_made_again() -> None:
    calls, release, started = Calls(), threading.Event(), threading.Barrier(4)
    ended: list[str] = []

    def work() -> None:
        started.wait(5)
        release.wait(30)

    def ask() -> None:
        try:
            calls.run(work, 30)
        except ProviderCancelledError as error:
            ended.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    started.wait(5)
    calls.close()
    for thread in threads:
        thread.join(5)
    release.set()
    assert ended == ["The judge was stopped before it answered."] * 3
    assert calls.run(lambda: "done", 5) == "done"
