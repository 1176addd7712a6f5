"""`memsift replay --executor`: parts on processes and on a Dask cluster, resumed, and after a worker is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.cli.command_line import PROJECT, jsonl, memsift, process, refused
from tests.tui.demo import DEMO, DEMO_ROOT

if TYPE_CHECKING:
    from pathlib import Path

SYSTEMS = "bm25,memsift+default"


def prompts(path: Path, copies: int = 1) -> Path:
    """The example prompts, *copies* times, each with an id of its own."""
    rows = [json.loads(line) for line in (DEMO / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    return jsonl(path, *({**row, "id": f"{row['id']}-{copy}"} for copy in range(copies) for row in rows))


def rows_in(text: str) -> list[str]:
    """The rows of a run in one order, without the time that each took."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    return sorted(json.dumps({**row, "ms": 0}, sort_keys=True) for row in rows)


def parts_in(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("part-*.jsonl"))}


def command(file: Path, *more: object) -> list[str]:
    return ["replay", "--root", str(DEMO_ROOT), "--prompts", str(file), "--systems", SYSTEMS, *map(str, more)]


@pytest.mark.slow
def test_processes_write_the_rows_of_a_single_process_and_a_later_start_makes_only_missing_parts(
    tmp_path: Path,
) -> None:
    file, folder = prompts(tmp_path / "prompts.jsonl"), tmp_path / "parts"
    wanted = command(file, "--executor", "processes:2", "--parts", folder, "--part-size", 20)
    done = process(*wanted)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "52 prompts replayed in 3 parts." in done.stderr
    parts = parts_in(folder)
    assert rows_in("".join(parts.values())) == rows_in(process(*command(file)).stdout)

    (folder / "part-000001.jsonl").unlink()
    assert "20 prompts replayed in 1 parts." in process(*wanted).stderr
    assert [*map(rows_in, parts_in(folder).values())] == [*map(rows_in, parts.values())]

    other = refused(memsift(*command(file, "--executor", "processes:2", "--parts", folder, "--part-size", 30)))
    assert "holds the parts of another run: part_size differ" in other


@pytest.mark.slow
def test_a_killed_dask_worker_costs_no_row(tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]) -> None:
    address, workers = cluster
    file, folder = prompts(tmp_path / "prompts.jsonl", copies=30), tmp_path / "parts"
    running = subprocess.Popen(
        [
            *(sys.executable, "-c", "from tui.cli import main; main(prog_name='memsift')"),
            *command(file, "--executor", address, "--parts", folder, "--part-size", 100),
        ],
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    deadline = time.monotonic() + 60
    while not (folder.exists() and parts_in(folder)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers[0].send_signal(signal.SIGKILL)
    assert len(parts_in(folder)) < 16
    _, told = running.communicate(timeout=120)
    assert running.returncode == 0, told
    assert "1,560 prompts replayed in 16 parts." in told
    assert rows_in("".join(parts_in(folder).values())) == rows_in(process(*command(file)).stdout)


def test_what_cannot_be_replayed_in_parts_is_refused(tmp_path: Path) -> None:
    file, parts = prompts(tmp_path / "prompts.jsonl"), ("--parts", tmp_path / "parts")
    text = jsonl(tmp_path / "text.jsonl", "why do we compute it on read?")
    assert "line 1 is no JSON object with a `prompt`" in refused(
        memsift(*command(text, "--executor", "processes", *parts))
    )
    assert "There is no executor 'threads'" in refused(memsift(*command(file, "--executor", "threads", *parts)))
    done = memsift(*command(file, "--executor", "processes"))
    assert done.exit_code == 2
    assert "--executor and --parts go together" in done.stderr
