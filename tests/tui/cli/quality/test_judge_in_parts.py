"""`memsift quality judge --executor`: the ratings of a single process, resumed, and after a worker is killed."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from engine.config import Config
from engine.quality.judging.rubric import read_rubric
from engine.quality.judging.store import RatingStore
from tests.engine.builders import memory, write_root
from tests.engine.judge.api_server import ApiRequest, ApiServer, Reply, failed, late
from tests.engine.quality.judging.answers import rated_by_title, title_in
from tests.tui.cli.command_line import HTTP, MAIN, PROJECT, Here, memsift, printed, process
from tui.workspace.judging import Asking, JudgeOptions
from tui.workspace.parts.rating import RatingRun
from tui.workspace.quality.rating import RatingPlan, subjects

COUNT = 12
ASKING = Asking(JudgeOptions("anthropic-http", is_refreshing=True), concurrency=1, retries=0, batch_poll_s=0.0)
SCORES = {f"Rule {number}": float(number % 10) for number in range(COUNT)}


@pytest.fixture
def roots(tmp_path: Path) -> list[str]:
    """Two roots, with a heading that no model is asked about."""
    rules = [memory(f"Rule {number}", body=f"The cache {number} is cold.") for number in range(COUNT)]
    first = [*rules[:7], memory("## Executive Summary", body="All is well.", memory_id="summary")]
    return [str(write_root(tmp_path / "one", first)), str(write_root(tmp_path / "two", rules[7:]))]


@pytest.fixture
def server(server: ApiServer) -> ApiServer:
    server.answer = rated_by_title(SCORES)
    return server


def command(roots: list[str], *more: object) -> list[str]:
    given = [text for root in roots for text in ("--root", root)]
    return ["quality", "judge", "--format", "json", *given, *HTTP, *map(str, more)]


def without_times(memories: list[dict[str, Any]]) -> list[str]:
    """The rows in one order, without the time that each took."""
    rows = [{**row, "judgement": {**row["judgement"], "elapsed_ms": 0}} for row in memories]
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def rows_in(folder: Path) -> list[str]:
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("part-*.jsonl"))
    return without_times([json.loads(line) for line in text.splitlines()])


def run_over(roots: list[str], folder: Path, size: int | None = 3, asking: Asking = ASKING) -> RatingRun:
    plan = RatingPlan(read_rubric("memory"), 5.0, has_search=False, asking=asking)
    return RatingRun(plan, dict.fromkeys(roots, Config()), subjects(roots, ()), folder, size, Here())


def test_a_later_start_asks_only_about_memories_without_an_answer(
    server: ApiServer, roots: list[str], tmp_path: Path
) -> None:
    def all_but_one(request: Any) -> Any:
        return failed(500) if title_in(request) == "Rule 4" else rated_by_title(SCORES)(request)

    server.answer = all_but_one
    kept: dict[str, str] = {}
    first = run_over(roots, tmp_path / "parts")
    (estimate,) = first.estimates().values()
    assert (estimate.memories, estimate.by_rule, estimate.asked) == (COUNT + 1, 1, COUNT)
    ending = first.over(lambda one, found: kept.update({one.memory.summary.id: found.decision}))
    assert (ending.done, ending.jobs, ending.is_interrupted) == (COUNT + 1, COUNT + 1, False)
    assert (len(kept), kept["Rule-4"], kept["Rule-5"], kept["summary"]) == (13, "unanswered", "accepted", "rejected")
    assert len(list((tmp_path / "parts").glob("part-*.jsonl"))) == 5

    server.answer = rated_by_title(SCORES)
    server.requests.clear()
    again = run_over(roots, tmp_path / "parts")
    assert len(again.rated) == COUNT
    again.over(lambda one, found: kept.update({one.memory.summary.id: found.decision}))
    assert [title_in(request) for request in server.requests] == ["Rule 4"]
    assert (len(again.rated), len(rows_in(tmp_path / "parts")), kept["Rule-4"]) == (COUNT + 1, COUNT + 1, "rejected")

    (tmp_path / "parts" / "part-000001.jsonl").unlink()
    server.requests.clear()
    run_over(roots, tmp_path / "parts").over(lambda *_: None)
    assert sorted(map(title_in, server.requests)) == ["Rule 3", "Rule 4", "Rule 5"]
    with pytest.raises(Exception, match="holds the parts of another run: part_size differ"):
        run_over(roots, tmp_path / "parts", size=4)
    with pytest.raises(Exception, match="another run: memories differ"):
        run_over(roots[:1], tmp_path / "parts")
    for content in ("[]\n", '{"root": "r"}\n', "nothing of ours", "[" * 9_000 + "\n"):
        (tmp_path / "parts" / "part-000001.jsonl").write_text(content, encoding="utf-8")
        with pytest.raises(Exception, match="line 1: a row of memsift quality judge is needed"):
            run_over(roots, tmp_path / "parts")


@pytest.mark.slow
def test_a_part_is_one_batch_of_a_root_for_half_the_price(server: ApiServer, roots: list[str], tmp_path: Path) -> None:
    single = JudgeOptions("anthropic", is_refreshing=True)
    batched = replace(ASKING, judge=replace(single, is_batched=True), batch_poll_s=0.01)
    whole, half = (
        run_over(roots[1:], tmp_path / name, 3, asking)
        for name, asking in (("single", replace(ASKING, judge=single)), ("batches", batched))
    )
    costs = [one.usual_usd for run in (whole, half) for one in run.estimates().values()]
    assert costs[1] == pytest.approx(costs[0] / 2)
    half.over(lambda *_: None)
    assert {one.memory.title: one.rating.overall for one in half.rated.values() if one.rating} == {
        name: score for name, score in SCORES.items() if int(name.split()[1]) >= 7
    }
    assert (server.batches.submitted, [*map(len, server.batches.requests.values())]) == (5, [3, 2])


def test_what_cannot_be_rated_in_parts_is_refused(roots: list[str], tmp_path: Path) -> None:
    parts = ("--parts", tmp_path / "parts")
    for more in (("--executor", "processes"), parts, (*parts, "--executor", "processes", "--max-cost", "1")):
        done = memsift(*command(roots, *more))
        assert (done.exit_code, "--executor and --parts go together" in done.stderr) == (2, True)
    assert "There is no executor 'threads'" in memsift(*command(roots, *parts, "--executor", "threads")).stderr


@pytest.mark.slow
def test_processes_give_the_ratings_of_a_single_process_and_keep_them(
    server: ApiServer, roots: list[str], tmp_path: Path
) -> None:
    alone = printed(memsift(*command(roots, "--judge-refresh")))
    done = process(
        *command(roots, "--judge-refresh", "--executor", "processes:2", "--parts", tmp_path / "parts", "--part-size", 4)
    )
    assert done.returncode == 0, done.stderr
    assert "anthropic-http (claude-haiku-4-5) is asked about 12 memories, besides 1 rejected by rule. It costs" in (
        done.stderr
    )
    found = json.loads(done.stdout)
    assert without_times(found["memories"]) == without_times(alone["memories"]) == rows_in(tmp_path / "parts")
    assert [row["id"] for row in found["memories"]] == [row["id"] for row in alone["memories"]]
    assert found["summary"] == alone["summary"]
    store = RatingStore(os.environ)
    assert len(store.ratings(roots[0], "memory")) + len(store.ratings(roots[1], "memory")) == COUNT
    store.close()
    server.requests.clear()
    again = process(*command(roots, "--executor", "processes:2", "--parts", tmp_path / "parts", "--part-size", 4))
    assert (json.loads(again.stdout)["summary"], server.requests) == (alone["summary"], [])


def scores_after_a_kill(server: ApiServer, rate: list[str], victim: Callable[[int], int]) -> dict[str, float]:
    """The scores of the command *rate* with two workers, of which one is killed while both wait for an answer.

    *victim* gives the process id of a worker by that of the command.
    """
    waits = iter([2.0, 2.0])
    server.answer = lambda request: late(next(waits, 0.0), rated_by_title(SCORES)(request))
    pipe = subprocess.PIPE
    running = subprocess.Popen([*MAIN, *rate], stdout=pipe, stderr=pipe, text=True, cwd=PROJECT)
    deadline = time.monotonic() + 60
    while len(server.requests) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(victim(running.pid), signal.SIGKILL)
    stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 0, stderr
    return {row["title"]: row["overall"] for row in json.loads(stdout)["memories"] if row["id"] != "summary"}


def worker_of(pid: int) -> int:
    """A worker process of the process *pid*."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return next(int(one) for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_the_part_of_a_killed_process_is_done_again(server: ApiServer, roots: list[str], tmp_path: Path) -> None:
    parts = ("--executor", "processes:2", "--parts", tmp_path / "parts", "--part-size", 4, "--concurrency", 1)
    assert scores_after_a_kill(server, command(roots, *parts), worker_of) == SCORES
    assert len(server.requests) > COUNT  # the killed worker got no answer, so its question was asked again


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2])
def test_workers_share_the_limit_of_questions_at_once(
    roots: list[str], server: ApiServer, tmp_path: Path, limit: int
) -> None:
    lock, running, most, rates = Lock(), 0, 0, server.answer

    def answer(request: ApiRequest) -> Reply:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.2)
        with lock:
            running -= 1
        return rates(request)

    server.answer = answer
    more = ("--concurrency", limit, "--executor", "processes:2", "--parts", tmp_path / "parts", "--part-size", 3)
    done = process(*command(roots, *more))
    assert (done.returncode, most) == (0, limit), done.stderr
