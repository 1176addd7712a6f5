"""`memsift replay --batch`: the same verdicts for half the price, and no question is paid for twice after a crash."""

import itertools
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.builders import write_root
from tests.engine.judge.api_server import ApiServer, kept_titles
from tests.tui.cli.command_line import MAIN, PROJECT, RULES, jsonl, memsift, refused, rows

IDS = [f"p{number}" for number in range(6)]
PRICE = 0.000165 / 2
BATCH = ("--batch", "--batch-poll", "0.05")


@pytest.fixture
def replay(tmp_path: Path) -> list[str]:
    root = write_root(tmp_path / "root", RULES)
    prompts = jsonl(tmp_path / "prompts.jsonl", *({"id": name, "prompt": f"the cache rule of {name}"} for name in IDS))
    arguments = ["replay", "--root", root, "--prompts", prompts, "--systems", "memsift,memsift+judge"]
    return [*map(str, arguments), "--judge", "anthropic"]


def without_time(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for row in found:
        row["ms"] = 0
        if row["judgement"]:
            row["judgement"] |= {"elapsed_ms": 0, "cost_usd": 0}
    return found


def cost(found: list[dict[str, Any]]) -> float:
    return sum(row["judgement"]["cost_usd"] for row in found if row["judgement"])


def test_a_batch_gives_the_rows_of_a_replay_for_half_the_price(server: ApiServer, replay: list[str]) -> None:
    result = memsift(*replay, *BATCH)
    batched = rows(result)
    assert "Batch msgbatch_1 with 12 requests is under way" in result.stderr  # two samples of six prompts
    live = rows(memsift(*replay, "--judge-refresh"))
    assert cost(batched) == pytest.approx(cost(live) / 2)
    assert without_time(batched) == without_time(live)
    assert server.batches.submitted == 12


def test_what_is_known_is_not_submitted_again(server: ApiServer, replay: list[str]) -> None:
    rows(memsift(*replay, *BATCH))
    again = rows(memsift(*replay, *BATCH))
    assert (cost(again), server.batches.submitted) == (0, 12)


@pytest.mark.parametrize("more", [[], ["--judge-refresh"]], ids=["cache", "refresh"])
def test_samples_that_disagree_are_another_batch(server: ApiServer, replay: list[str], more: list[str]) -> None:
    answers = itertools.cycle([kept_titles("cache rule 1"), kept_titles("cache rule 2"), kept_titles("cache rule 1")])
    server.answer = lambda request: next(answers)(request)
    found = [row for row in rows(memsift(*replay, *BATCH, *more)) if row["judgement"]]
    first, second = (len(items) for items in server.batches.requests.values())
    assert first == 12
    assert 0 < second <= 6
    assert sum(row["judgement"]["input_tokens"] for row in found) == 120 * server.batches.submitted
    assert cost(found) == pytest.approx(server.batches.submitted * PRICE)


def test_what_failed_in_a_batch_is_told_and_asked_again_the_next_time(server: ApiServer, replay: list[str]) -> None:
    server.batches.failing = {0: "errored", 1: "expired", 2: "canceled"}
    result = memsift(*replay, *BATCH, "--judge-samples", "1")
    found = [row for row in rows(result) if row["judgement"]]
    assert [row["fallback"] for row in found] == ["http_error", "timeout", "cancelled", "", "", ""]
    assert "3 of 6 requests of batch msgbatch_1 failed." in result.stderr
    again = rows(memsift(*replay, *BATCH, "--judge-samples", "1"))
    assert {row["fallback"] for row in again} == {""}
    assert server.batches.submitted == 9


@pytest.mark.slow
def test_a_process_that_died_is_gone_on_with(server: ApiServer, replay: list[str]) -> None:
    server.batches.polls = 1_000_000
    process = subprocess.Popen([*MAIN, *replay, *BATCH], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=PROJECT)
    until = time.monotonic() + 60
    while len(server.requests) < 4 and time.monotonic() < until:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert (process.returncode, server.batches.submitted) == (-signal.SIGKILL, 12)
    server.batches.polls = 0
    found = rows(memsift(*replay, *BATCH))
    assert {row["fallback"] for row in found} == {""}
    assert cost(found) == pytest.approx(12 * PRICE)
    assert server.batches.submitted == 12


def test_a_batch_that_is_gone_is_submitted_again(tmp_path: Path, server: ApiServer, replay: list[str]) -> None:
    rows(memsift(*replay, *BATCH))
    cache = tmp_path / "home/.cache/memsift"
    names = [item["custom_id"] for item in server.batches.requests["msgbatch_1"]]
    jsonl(cache / "batches.jsonl", {"id": "msgbatch_gone", "names": names}, "no entry")
    (cache / "judge.db").unlink()
    assert {row["fallback"] for row in rows(memsift(*replay, *BATCH))} == {""}
    assert list(server.batches.requests) == ["msgbatch_1", "msgbatch_2"]
    assert (cache / "batches.jsonl").read_text() == ""


@pytest.mark.usefixtures("server")
def test_a_batch_needs_a_judge_that_has_batches(replay: list[str]) -> None:
    line = refused(memsift(*replay, *BATCH, "--judge", "anthropic-http"))
    assert "not anthropic-http. Name the judge anthropic." in line
    assert "ANTHROPIC_API_KEY" in refused(memsift(*replay, *BATCH, ANTHROPIC_API_KEY=""))
    for more in (["--judge", "none"], ["--max-cost", "1"]):
        assert memsift(*replay, *BATCH, *more).exit_code == 2
