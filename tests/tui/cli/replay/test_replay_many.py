"""`memsift replay` of many prompts: concurrency, order, cost limit, Ctrl-C and --resume."""

import json
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.engine.builders import write_root
from tests.engine.judge.api_server import ApiRequest, ApiServer, Reply, failed, late, rate_limited
from tests.tui.cli.command_line import KEEP, MAIN, RULES, jsonl, memsift, read_rows, refused, rows, started, wait_until
from tests.tui.terminal import printed_in

COUNT = 24
IDS = [f"p{number:02}" for number in range(COUNT)]
ALL = [(name, system) for name in IDS for system in ("memsift", "memsift+judge")]


@pytest.fixture
def replay(tmp_path: Path) -> list[str]:
    root = write_root(tmp_path / "root", RULES)
    prompts = jsonl(tmp_path / "prompts.jsonl", *({"id": name, "prompt": f"the cache rule of {name}"} for name in IDS))
    arguments = ["replay", "--root", root, "--prompts", prompts, "--systems", "memsift,memsift+judge"]
    return [*map(str, arguments), "--judge", "anthropic-http", "--judge-samples", "1", "--judge-timeout", "10"]


def pairs(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["prompt_id"], row["system"]) for row in found]


# Several at once


def test_rows_come_in_the_order_of_the_prompts_and_as_many_calls_run_at_once_as_was_said(
    server: ApiServer, replay: list[str]
) -> None:
    running: list[int] = []
    most: list[int] = []

    def answer(request: ApiRequest) -> Reply:
        running.append(1)
        most.append(len(running))
        time.sleep(0.3 if b"of p00" in request.raw else 0.05)
        running.pop()
        return KEEP(request)

    server.answer = answer
    found = rows(memsift(*replay, "--concurrency", "6"))
    assert pairs(found) == ALL
    assert {len(row["injected"]) for row in found if row["judgement"]} == {2}
    assert len(server.requests) == COUNT
    assert 1 < max(most) <= 6


@pytest.mark.slow
def test_a_rate_limit_is_waited_for_and_asked_again(server: ApiServer, replay: list[str]) -> None:
    server.answers.extend([rate_limited(1), failed(529), failed(500)])
    started_at = time.monotonic()
    found = rows(memsift(*replay))
    assert time.monotonic() - started_at >= 1
    assert (pairs(found), {row["fallback"] for row in found}) == (ALL, {""})
    assert len(server.requests) == COUNT + 3


# Stopping and going on


def test_a_run_file_is_gone_on_with_and_what_the_judge_did_not_answer_is_asked_again(
    tmp_path: Path, server: ApiServer, replay: list[str]
) -> None:
    run = tmp_path / "run.jsonl"
    server.answers.extend([failed(400)] * 3)
    first = memsift(*replay, "--resume", run)
    assert (first.stdout, sum(row["fallback"] == "http_error" for row in read_rows(run))) == ("", 3)
    result = memsift(*replay, "--resume", run)
    assert "memsift: The judge gave no answer for 3 rows. It is asked again." in result.stderr
    assert sorted(pairs(read_rows(run))) == sorted(ALL)
    assert ({row["fallback"] for row in read_rows(run)}, len(server.requests)) == ({""}, COUNT + 3)
    assert list(tmp_path.glob("run*")) == [run]
    run.unlink()
    memsift(*replay, "--resume", run)
    whole = run.read_bytes()
    assert pairs(read_rows(run)) == ALL
    memsift(*replay, "--resume", run)
    assert run.read_bytes() == whole
    lines = whole.splitlines(keepends=True)
    run.write_bytes(b"".join(lines[:9]) + lines[9][:50])  # a judged row is cut off; the other of its prompt is whole
    assert memsift(*replay, "--resume", run, "--judge-refresh").exit_code == 0
    assert (pairs(read_rows(run)), run.read_bytes()[: len(b"".join(lines[:9]))]) == (ALL, b"".join(lines[:9]))
    assert len(server.requests) == COUNT + 3 + COUNT - 4


def test_a_run_of_another_judge_and_a_file_that_is_no_run_are_not_gone_on_with(
    tmp_path: Path, server: ApiServer, replay: list[str]
) -> None:
    run = tmp_path / "run.jsonl"
    run.write_text('{"prompt_id": "p01"}\n')
    assert "line 1" in refused(memsift(*replay, "--resume", run))
    assert (run.read_text(), server.requests) == ('{"prompt_id": "p01"}\n', [])
    run.unlink()
    memsift(*replay, "--resume", run)
    before = run.read_bytes()
    for more in (["--judge-model", "claude-other"], ["--judge-depth", "explained"]):
        line = refused(memsift(*replay, "--resume", run, *more))
        assert "would mix two judges" in line
        assert "anthropic-http (claude-haiku-4-5), template " in line
    assert run.read_bytes() == before
    assert len(server.requests) == COUNT


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path, server: ApiServer, replay: list[str]) -> None:
    """The first prompt hangs, so that all finished prompts stand behind it."""
    server.answer = lambda request: late(20 if b"of p00" in request.raw else 0.01, KEEP(request))
    process = started(*replay, "--concurrency", "4")
    wait_until(lambda: len(server.requests) >= COUNT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=15)
    assert process.returncode == 130
    found = [json.loads(line) for line in stdout.splitlines()]
    assert pairs(found) == ALL[2:]
    assert {row["fallback"] for row in found} == {""}
    assert stderr.splitlines() == [
        f"memsift: Stopped after {COUNT - 1} of {COUNT} prompts. Keep the rows in a file, and repeat the command with "
        "--resume FILE to go on with the rest."
    ]
    server.answer = KEEP
    run = tmp_path / "run.jsonl"
    run.write_text(stdout, encoding="utf-8")
    assert memsift(*replay, "--resume", run).exit_code == 0
    assert sorted(pairs(read_rows(run))) == sorted(ALL)
    assert len(server.requests) == COUNT + 1


@pytest.mark.slow
def test_after_kill_9_no_finished_call_is_repeated(tmp_path: Path, server: ApiServer, replay: list[str]) -> None:
    asked: list[bytes] = []

    def answer(request: ApiRequest) -> Reply:
        asked.append(request.raw)
        return late(0.05, KEEP(request))

    server.answer = answer
    run = tmp_path / "run.jsonl"
    for target in (6, 14):
        process = started(*replay, "--resume", run, "--concurrency", "3")
        wait_until(lambda target=target: len(asked) >= target)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    assert memsift(*replay, "--resume", run, "--concurrency", "3").exit_code == 0
    assert pairs(read_rows(run)) == ALL
    assert len(set(asked)) == COUNT
    repeated = sum(count - 1 for count in Counter(asked).values())
    assert repeated <= 2 * 3  # the calls that were running when it was killed


# Money


def test_a_limit_stops_before_it_is_crossed_and_keeps_what_is_done(
    tmp_path: Path, server: ApiServer, replay: list[str]
) -> None:
    line = refused(memsift(*replay, "--max-cost", "1", "--judge-model", "claude-unheard-of"))
    assert "needs the price of anthropic-http (claude-unheard-of)" in line
    assert memsift(*replay, "--max-cost", "0").exit_code == 2
    run = tmp_path / "run.jsonl"
    result = memsift(*replay, "--resume", run, "--max-cost", "0.005")
    judged = [row for row in read_rows(run) if row["judgement"]]
    cost = sum(row["judgement"]["cost_usd"] for row in judged)
    assert (result.exit_code, 0 < len(judged) < COUNT, 0 < cost <= 0.005) == (1, True, True)
    assert len(server.requests) == len(judged)
    assert f"--max-cost is reached after {len(judged)} of {COUNT} prompts. Give the same command again" in result.stderr
    assert memsift(*replay, "--resume", run).exit_code == 0
    assert sorted(pairs(read_rows(run))) == sorted(ALL)
    found = rows(memsift(*replay, "--max-cost", "0.000001"))
    assert {row["judgement"]["cost_usd"] for row in found if row["judgement"]} == {0.0}, "the cache costs nothing"
    assert len(server.requests) == COUNT


# Watching


@pytest.mark.slow
def test_a_terminal_shows_how_far_it_is_and_what_it_cost(server: ApiServer, replay: list[str]) -> None:
    text = printed_in([*MAIN, *replay])
    assert f"{COUNT}/{COUNT}" in text
    assert f"${COUNT * 0.000165:.4f}" in text
    assert len(server.requests) == COUNT
