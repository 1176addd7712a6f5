"""A judge that gives no answers: no command takes the fallback for its verdict. And a server that is slow, not dead."""

import json
import threading
from pathlib import Path

import pytest

from tests.engine.judge.api_server import ApiRequest, ApiServer, Reply, chatted, late
from tests.tui.cli.command_line import jsonl, memsift, refused
from tests.tui.demo import DEMO, DEMO_ROOT

OPENAI = ("--judge", "openai", "--judge-model", "local", "--judge-samples", "1", "--retries", "0")
KEEP = chatted('{"keep": [0]}')


@pytest.fixture
def replay(server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A replay of twelve prompts by an OpenAI-compatible server."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    lines = (DEMO / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    asked = jsonl(tmp_path / "prompts.jsonl", *lines[:12])
    return ("replay", "--root", str(DEMO_ROOT), "--prompts", str(asked), "--systems", "bm25,bm25+judge", *OPENAI)


def statuses(stdout: str) -> list[str]:
    judged = [row["judgement"] for row in map(json.loads, stdout.splitlines()) if row["system"] == "bm25+judge"]
    return [judgement["status"] for judgement in judged if judgement]


@pytest.mark.slow
def test_no_command_passes_on_a_judge_that_nobody_reaches(
    replay: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    where = "No connection to http://127.0.0.1:9/v1/chat/completions (ConnectionRefusedError)."
    replayed = memsift(*replay)
    count = len(statuses(replayed.stdout))
    assert replayed.exit_code == 2
    assert f"The judge answered none of {count} questions (http_error " in replayed.stderr
    assert where in replayed.stderr
    asked = ("how do we handle the cache", "--root", DEMO_ROOT, *OPENAI[:-2])
    for command in (("judge", *asked), ("quality", "judge", *asked[1:])):
        done = memsift(*command)
        assert (done.exit_code, where in done.stderr) == (2, True)

    run = tmp_path / "run.jsonl"
    run.write_text(replayed.stdout, encoding="utf-8")
    on_files = ("--run", run, "--qrels", DEMO / "qrels.txt")
    for target in ("0.01", "0.99"):
        gate = refused(memsift("gate", "--min-precision", target, "--system", "bm25+judge", *on_files))
        assert f"The judge answered for none of {count} prompts, so bm25+judge cannot be measured." in gate
    report = memsift("report", "--full", *on_files)
    assert "bm25+judge: the judge gave no answer on" in " ".join(report.stdout.split())
    assert "may be as good" not in report.stdout


@pytest.mark.slow
def test_a_server_that_answers_one_question_at_a_time_answers_all(server: ApiServer, replay: tuple[str, ...]) -> None:
    one_at_a_time = threading.Lock()

    def answer(_: ApiRequest) -> Reply:
        with one_at_a_time:
            threading.Event().wait(0.15)
        return KEEP

    server.answer = answer
    assert set(statuses(memsift(*replay, "--judge-timeout", "1").stdout)) == {"ok"}


@pytest.mark.slow
def test_questions_without_an_answer_in_time_are_asked_once_more_and_a_replay_waits_longer_than_the_hook(
    server: ApiServer, replay: tuple[str, ...]
) -> None:
    server.answer = lambda _: KEEP if len(server.requests) % 3 else chatted("no JSON")
    done = memsift(*replay)
    failed = statuses(done.stdout).count("parse_error")
    assert (done.exit_code, failed > 2) == (0, True)
    assert f"{failed} of {len(statuses(done.stdout))} questions have no answer of the judge" in done.stderr
    server.requests.clear()
    server.answer = lambda _: KEEP if len(server.requests) > 2 else late(1, KEEP)
    done = memsift(*replay, "--judge-refresh", "--judge-timeout", "0.5", "--retries", "1")
    found = [json.loads(line)["prompt_id"] for line in done.stdout.splitlines()]
    assert (set(statuses(done.stdout)), found) == ({"ok"}, sorted(found))
    assert len(set(found)) == 12 == len(found) / 2
    server.answer = lambda _: late(0.2, KEEP)
    assert set(statuses(memsift(*replay, "--judge-refresh", MEMSIFT_JUDGE_TIMEOUT="0.1").stdout)) == {"ok"}
