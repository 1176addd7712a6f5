"""Worker threads: every result comes once, and none is lost when they are stopped."""

import threading
import time
from contextlib import closing

import pytest

from tui.workspace.replay.replaying import Workers


@pytest.mark.parametrize("count", [0, 1, 4, 50])
def test_every_item_is_done_once(count: int) -> None:
    with closing(Workers(lambda item: item * 2, range(40), count)) as workers:
        assert sorted(workers) == [(item, item * 2) for item in range(40)]


def test_as_many_run_at_once_as_there_are_threads() -> None:
    barrier = threading.Barrier(8, timeout=5)
    with closing(Workers(lambda _: barrier.wait(), range(16), 8)) as workers:
        assert sorted(number for _, number in workers) == sorted([*range(8)] * 2)


def test_results_come_in_the_order_in_which_they_are_done() -> None:
    gate = threading.Event()
    with closing(Workers(lambda item: item or gate.wait(5), range(4), 2)) as workers:
        results = iter(workers)
        assert [next(results)[0] for _ in range(3)] == [1, 2, 3]
        gate.set()
        assert list(results) == [(0, True)]


@pytest.mark.parametrize("count", [0, 2])
def test_what_the_work_raises_is_raised(count: int) -> None:
    with closing(Workers(lambda item: 1 // item, [0], count)) as workers, pytest.raises(ZeroDivisionError):
        list(workers)


@pytest.mark.parametrize("count", [0, 3])
def test_finishing_waits_for_what_is_under_way_and_begins_nothing(count: int) -> None:
    begun: list[int] = []
    with closing(Workers(lambda item: begun.append(item), range(1000), count)) as workers:
        results = []
        for position, _ in workers:
            results.append(position)
            workers.finish()
    assert sorted(results) == sorted(begun)
    if count == 0:
        assert begun == [0]


def test_an_interrupt_gives_what_is_done_and_waits_for_nothing() -> None:
    never = threading.Event()
    with closing(Workers(lambda item: never.wait(20) if item == 2 else item, range(3), 3)) as workers:
        threading.Timer(0.2, workers.interrupt).start()
        started = time.monotonic()
        assert sorted(position for position, _ in workers) == [0, 1]
        assert workers.is_interrupted
    assert time.monotonic() - started < 10
    never.set()
