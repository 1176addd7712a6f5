"""Several processes, and processes that are killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from labels.store import LabelStore
from tests.labels.samples import pool_of

PROJECT = Path(__file__).resolve().parents[2]
LABELLER = """
import sys
from pathlib import Path
from labels.records import RELEVANT
from labels.store import LabelStore
from tests.labels.samples import card, pool_of
path, who, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with LabelStore.open(path) as store:
    store.record_pool(pool_of("a"))
    for _ in range(times):
        event = store.label(who, "p1", card("a"), RELEVANT, seed=1, blind=True, elapsed_ms=1)
        print(event.event_id, flush=True)
"""


def labeller(path: Path, who: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LABELLER, str(path), who, str(times)]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(processes: Sequence[subprocess.Popen[str]]) -> list[list[int]]:
    """What each printed; fails if one did not end well."""
    ids = []
    for process in processes:
        printed, complaints = process.communicate(timeout=60)
        assert process.returncode == 0, complaints
        ids.append([int(line) for line in printed.split()])
    return ids


@pytest.mark.slow
@pytest.mark.parametrize("labels_before_the_kill", [0, 1, 7, 40])
def test_a_killed_process_loses_no_label_that_it_was_told_of(tmp_path: Path, labels_before_the_kill: int) -> None:
    path = tmp_path / "labels.db"
    with labeller(path, "ann", 100_000) as process:
        assert process.stdout is not None
        while not path.exists():  # it may be killed while it makes the store
            pass
        printed = [process.stdout.readline() for _ in range(labels_before_the_kill)]
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read()  # not `communicate`, which does not see what `readline` has read ahead
    # a line without its end was cut by the kill and acknowledged nothing
    acknowledged = [int(line) for line in "".join([*printed, rest]).split("\n")[:-1]]
    with LabelStore.open(path) as store:
        kept = [event.event_id for event in store.events()]
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) - len(acknowledged) in (0, 1)
        assert len(store.labels()) == min(1, len(kept))


def test_two_processes_may_label_at_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    ann, bob = finish([labeller(path, "ann", 20), labeller(path, "bob", 20)])
    with LabelStore.open(path) as store:
        assert [event.event_id for event in store.events("ann")] == ann
        assert [event.event_id for event in store.events("bob")] == bob
        assert sorted(ann + bob) == list(range(1, 41))
        assert {label.annotator: label.event_id for label in store.labels()} == {"ann": ann[-1], "bob": bob[-1]}


@pytest.mark.slow
def test_many_processes_may_make_the_same_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    ids = finish([labeller(path, f"person {number}", 1) for number in range(6)])
    assert sorted(event_id for (event_id,) in ids) == [1, 2, 3, 4, 5, 6]


def test_a_reader_sees_what_another_process_has_just_written(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with LabelStore.open(path) as store:
        store.record_pool(pool_of("a"))
        finish([labeller(path, "ann", 2)])
        assert len(store.labels("ann")) == 1
        assert len(store.events()) == 2
