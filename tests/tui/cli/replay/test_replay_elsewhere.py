"""`memsift replay --executor`: the rows of one process, from several processes and from a Dask cluster."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.judge.api_server import ApiServer
from tests.tui.cli.command_line import PROJECT, jsonl, memsift, process, read_rows, refused, started, wait_until
from tests.tui.demo import DEMO, DEMO_ROOT

Cluster = tuple[str, list[subprocess.Popen[bytes]]]
SYSTEMS = ("--systems", "bm25,memsift+default")
OLD_WORKER = "import sys, engine; engine.__version__ = '0.0.1'; from distributed.cli.dask_worker import main; main()"


def prompts(path: Path, copies: int = 1) -> Path:
    """The example prompts, *copies* times, each with an id of its own."""
    rows = read_rows(DEMO / "prompts.jsonl")
    return jsonl(path, *({**row, "id": f"{row['id']}-{copy}"} for copy in range(copies) for row in rows))


def rows_in(text: str) -> list[dict[str, object]]:
    """The rows of a run without the time that each took."""
    return [{**json.loads(line), "ms": 0} for line in text.splitlines()]


def command(file: Path, *more: object) -> list[str]:
    return ["replay", "--root", str(DEMO_ROOT), "--prompts", str(file), *SYSTEMS, *map(str, more)]


def disturbed(file: Path, run: Path, executor: str, disturb: Callable[[subprocess.Popen[str]], object]) -> Any:
    """The exit code and stderr of a replay that *disturb* gets after its first rows."""
    with started(*command(file, "--executor", executor, "--resume", run)) as running:
        wait_until(lambda: run.exists() and run.read_bytes().count(b"\n") >= 64)
        disturb(running)
        _, told = running.communicate(timeout=120)
    return running.returncode, told


def is_whole(file: Path, run: Path, *executor: str) -> bool:
    """Whether a later start, if there is an *executor* for it, leaves the rows of a run in a single process."""
    if executor:
        assert process(*command(file, *executor, "--resume", run)).returncode == 0
    return rows_in(run.read_text("utf-8")) == rows_in(process(*command(file)).stdout)


def workers_of(command_id: int) -> Iterator[int]:
    """The worker processes of a command."""
    for child in Path(f"/proc/{command_id}/task/{command_id}/children").read_text("utf-8").split():
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            yield int(child)


def test_what_cannot_be_replayed_elsewhere_is_refused(tmp_path: Path) -> None:
    file = prompts(tmp_path / "prompts.jsonl")
    for name in ("threads", "processes:0", "processes:two", "dask"):
        assert f"There is no executor {name!r}" in refused(memsift(*command(file, "--executor", name)))
    done = memsift(*command(file, "--executor", "processes", "--max-cost", "1"))
    assert (done.exit_code, "--max-cost counts only the calls of this process" in done.stderr) == (2, True)


@pytest.mark.slow
def test_processes_print_the_rows_of_a_single_process_in_the_same_order_and_save_them(tmp_path: Path) -> None:
    file, db = prompts(tmp_path / "prompts.jsonl", copies=2), tmp_path / "labels.db"
    done = process(*command(file, "--executor", "processes:2", "--save", "--db", db))
    assert (done.returncode, done.stderr) == (0, "")
    assert rows_in(done.stdout) == rows_in(process(*command(file)).stdout)
    saved = json.loads(memsift("diff", "--db", db, "--root", DEMO_ROOT, "--format", "json").stdout.splitlines()[0])
    assert saved["prompts"] == 104


@pytest.mark.slow
def test_workers_ask_the_judge_with_the_key_of_their_environment(server: ApiServer, root: Path, tmp_path: Path) -> None:
    asked = [f"how do we handle the cache rule {number}" for number in range(4)]
    file = jsonl(tmp_path / "prompts.jsonl", *({"id": f"p{n}", "prompt": text} for n, text in enumerate(asked)))
    judged = ("--judge", "anthropic-http", "--judge-samples", "1", "--systems", "memsift+judge")
    done = process("replay", "--root", root, "--prompts", file, *judged, "--executor", "processes:2")
    assert [row["fallback"] for row in rows_in(done.stdout)] == [""] * 4, done.stderr
    assert len(server.requests) == 4


@pytest.mark.slow
def test_a_run_that_is_stopped_or_loses_a_process_keeps_its_rows_and_a_later_start_goes_on(tmp_path: Path) -> None:
    file, run = prompts(tmp_path / "prompts.jsonl", copies=40), tmp_path / "run.jsonl"
    code, told = disturbed(file, run, "processes:2", lambda running: running.send_signal(signal.SIGINT))
    kept = f"Stopped after {len(rows_in(run.read_text('utf-8'))) // 2:,} of 2,080 prompts. Give the same command again"
    assert (code, kept in told, is_whole(file, run, "--strict")) == (130, True, True)
    run.unlink()
    kill = lambda running: os.kill(next(workers_of(running.pid)), signal.SIGKILL)  # noqa: E731
    code, told = disturbed(file, run, "processes:2", kill)
    lost = (
        "A worker process ended before its jobs were done, perhaps for lack of memory. Rows that were finished are kept"
    )
    assert (code, lost in told, is_whole(file, run, "--executor", "processes:2")) == (2, True, True)


# A Dask cluster


@pytest.mark.slow
def test_a_dask_cluster_prints_the_rows_of_a_single_process(tmp_path: Path, cluster: Cluster) -> None:
    file = prompts(tmp_path / "prompts.jsonl", copies=2)
    done = process(*command(file, "--executor", cluster[0]))
    assert done.returncode == 0, done.stderr
    assert rows_in(done.stdout) == rows_in(process(*command(file)).stdout)


@pytest.mark.long
def test_a_killed_dask_worker_costs_no_row_and_a_lost_scheduler_ends_the_run(tmp_path: Path, cluster: Cluster) -> None:
    file, run = prompts(tmp_path / "prompts.jsonl", copies=20), tmp_path / "run.jsonl"
    code, told = disturbed(file, run, cluster[0], lambda _: cluster[1][0].send_signal(signal.SIGKILL))
    assert (code, is_whole(file, run)) == (0, True), told
    run.unlink()
    code, told = disturbed(file, run, cluster[0], lambda _: cluster[1][-1].kill())
    assert (code, "The Dask scheduler was lost. Rows that were finished are kept" in told) == (2, True), told
    assert is_whole(file, run, "--executor", "processes:2")


@pytest.mark.long
def test_a_worker_of_another_version_is_named(tmp_path: Path, cluster: Cluster) -> None:
    address, (one, other, _) = cluster
    one.kill()
    other.kill()
    options = ["--nthreads", "1", "--no-dashboard", "--no-nanny"]
    wanted = [sys.executable, "-c", OLD_WORKER, f"tcp://{address.removeprefix('dask://')}", *options]
    old = subprocess.Popen(wanted, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=PROJECT)
    try:
        time.sleep(5)
        told = process(*command(prompts(tmp_path / "prompts.jsonl"), "--executor", address)).stderr
        assert "Dask worker tcp" in told
        assert "has memsift 0.0.1, not" in told
    finally:
        old.kill()
        old.wait()


@pytest.mark.slow
def test_a_worker_with_other_memories_ends_the_run() -> None:
    from pickle import dumps

    from engine.config import SYSTEMS as BY_NAME
    from engine.config import Config
    from engine.errors import MemsiftError
    from engine.prompt import typed_prompt
    from engine.roots import OpenRoots
    from tui.workspace.judging import JudgeOptions
    from tui.workspace.replay.replaying import Job, ReplaySetup, replay_elsewhere

    roots = OpenRoots((str(DEMO_ROOT),), str(DEMO_ROOT), Config())
    setup = ReplaySetup(roots, (BY_NAME["bm25"],), {}, JudgeOptions(is_off=True), 0, "another hash")
    with pytest.raises(MemsiftError, match="are not those of the command"):
        replay_elsewhere(dumps(setup), Job(typed_prompt("hello"), setup.systems))
