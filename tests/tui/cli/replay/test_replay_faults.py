"""`memsift replay --executor` where a worker, its disk or the scheduler fails: the same rows, or a clear error."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace as replace_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.config import SYSTEMS as SYSTEMS_BY_NAME
from engine.config import Config
from engine.errors import MemsiftError
from engine.lean.record import replace
from engine.paths import cache_dir
from engine.roots import OpenRoot
from tests.tui.cli.command_line import PROJECT, process
from tests.tui.cli.replay.test_replay_in_parts import command, parts_in, prompts, rows_in
from tests.tui.demo import DEMO_ROOT
from tui.workspace.judging import Asking, JudgeOptions
from tui.workspace.parts.executors import opened_executor
from tui.workspace.parts.replay import ReplayRun
from tui.workspace.replay.replaying import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui.workspace.parts.executors import Executor

    Cluster = tuple[str, list[subprocess.Popen[bytes]]]

pytestmark = pytest.mark.long
OLD_WORKER = "import sys, engine; engine.__version__ = '0.0.1'; from distributed.cli.dask_worker import main; main()"


class Elsewhere:
    """A Dask cluster on machines that do not have the index file of the command."""

    def __init__(self, cluster: Executor) -> None:
        self._cluster, self.workers, self.is_here = cluster, cluster.workers, False

    def each(self, work: Any, parts: Any, shared: Any, most: int) -> Any:
        (setup,) = work.args
        away = replace_dataclass(setup, shared=replace(setup.shared, path="/nowhere/index.db"))
        return self._cluster.each(partial(work.func, away), parts, shared, most)


def run_of(file: Path, folder: Path) -> ReplayRun:
    root = OpenRoot(str(DEMO_ROOT), Config(), None)
    asking = Asking(JudgeOptions(is_off=True), concurrency=1, retries=0, batch_poll_s=0.0)
    return ReplayRun(root, [SYSTEMS_BY_NAME["bm25"]], {}, asking, [str(file)], folder, 10)


def rows_alone(file: Path) -> list[str]:
    return rows_in(process(*command(file)[:-1], "bm25").stdout)


def start(*given: object) -> subprocess.Popen[str]:
    code = "from tui.cli import main; main(prog_name='memsift')"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, given)], stderr=subprocess.PIPE, text=True, cwd=PROJECT
    )


def wait_for_parts(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while not (folder.exists() and len(parts_in(folder)) >= count):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def workers_of(command_id: int) -> Iterator[int]:
    """The worker processes of a command."""
    for child in Path(f"/proc/{command_id}/task/{command_id}/children").read_text("utf-8").split():
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            yield int(child)


def test_machines_without_the_index_share_one_copy(tmp_path: Path, cluster: Cluster) -> None:
    file, folder = prompts(tmp_path / "prompts.jsonl"), tmp_path / "parts"
    with opened_executor(cluster[0]) as workers:
        assert run_of(file, folder).over(Elsewhere(workers)) == Ending(6, 6)
    assert rows_in("".join(parts_in(folder).values())) == rows_alone(file)
    assert len([*Path(cache_dir(os.environ), "copies").iterdir()]) == 1
    assert not [*folder.glob("index-*")]


def test_a_machine_without_room_for_the_index_ends_the_run_and_a_later_start_goes_on(
    tmp_path: Path, cluster: Cluster
) -> None:
    file, folder = prompts(tmp_path / "prompts.jsonl"), tmp_path / "parts"
    in_the_way = Path(cache_dir(os.environ), "copies")
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    in_the_way.touch()
    with opened_executor(cluster[0]) as workers:
        with pytest.raises(MemsiftError, match=r"Dask worker tcp.* has no room for a copy of the index"):
            run_of(file, folder).over(Elsewhere(workers))
        in_the_way.unlink()
        assert run_of(file, folder).over(Elsewhere(workers)) == Ending(6, 6)
    assert rows_in("".join(parts_in(folder).values())) == rows_alone(file)


def test_a_worker_of_another_version_that_joins_later_is_named(tmp_path: Path, cluster: Cluster) -> None:
    address, (one, other, _) = cluster
    file, folder = prompts(tmp_path / "prompts.jsonl"), tmp_path / "parts"
    options = ["--nthreads", "1", "--no-dashboard", "--no-nanny"]
    with opened_executor(address) as workers:
        one.kill()
        other.kill()
        wanted = [sys.executable, "-c", OLD_WORKER, f"tcp://{address.removeprefix('dask://')}", *options]
        old = subprocess.Popen(wanted, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=PROJECT)
        try:
            with pytest.raises(MemsiftError, match=r"Dask worker tcp.* has memsift 0\.0\.1, not"):
                run_of(file, folder).over(workers)
        finally:
            old.kill()
            old.wait()


def test_a_killed_dask_worker_costs_no_row(tmp_path: Path, cluster: Cluster) -> None:
    address, workers = cluster
    file, folder = prompts(tmp_path / "prompts.jsonl", copies=8), tmp_path / "parts"
    running = start(*command(file, "--executor", address, "--parts", folder, "--part-size", 26))
    wait_for_parts(folder, 1)
    workers[0].send_signal(signal.SIGKILL)
    assert len(parts_in(folder)) < 16
    _, told = running.communicate(timeout=120)
    assert running.returncode == 0, told
    assert "416 prompts replayed in 16 parts." in told
    assert rows_in("".join(parts_in(folder).values())) == rows_in(process(*command(file)).stdout)


def test_processes_killed_at_three_moments_cost_no_row(tmp_path: Path) -> None:
    file, folder = prompts(tmp_path / "prompts.jsonl", copies=8), tmp_path / "parts"
    running = start(*command(file, "--executor", "processes:2", "--parts", folder, "--part-size", 26))
    chance = random.Random(36)
    for count in (1, 4, 8):
        wait_for_parts(folder, count)
        time.sleep(chance.random() / 10)
        for worker in [*workers_of(running.pid)][:1]:
            os.kill(worker, signal.SIGKILL)
    _, told = running.communicate(timeout=120)
    assert running.returncode == 0, told
    assert "416 prompts replayed in 16 parts." in told
    assert rows_in("".join(parts_in(folder).values())) == rows_in(process(*command(file)).stdout)


def test_a_lost_scheduler_ends_the_run_and_a_later_start_goes_on(tmp_path: Path, cluster: Cluster) -> None:
    file, folder = prompts(tmp_path / "prompts.jsonl", copies=8), tmp_path / "parts"
    wanted = command(file, "--parts", folder, "--part-size", 26)
    running = start(*wanted, "--executor", cluster[0])
    wait_for_parts(folder, 2)
    cluster[1][-1].kill()
    _, told = running.communicate(timeout=120)
    assert running.returncode == 2, told
    assert "The Dask scheduler was lost. Finished parts are kept" in told
    kept = len(parts_in(folder))
    assert f"replayed in {16 - kept} parts." in process(*wanted, "--executor", "processes:2").stderr
    assert rows_in("".join(parts_in(folder).values())) == rows_in(process(*command(file)).stdout)
