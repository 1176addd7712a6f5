"""The judge on the command line: its options, `memsift judge`, a judged search, and every status through replay."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.pipeline import BY_KEYWORDS
from tests.engine.hook.world import NO_FTS5
from tests.engine.judge.api_server import (
    ApiServer,
    Reply,
    kept,
    late,
    overloaded,
    rate_limited,
    said,
)
from tests.tui.cli import command_line
from tests.tui.cli.command_line import ASK, HTTP, jsonl, memsift, printed, process, refused


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})


def configure(root: Path, **judge: object) -> None:
    command_line.configure(root, judge=judge)


def explained(*decisions: str) -> Reply:
    entries = [
        {"index": index, "reasoning": f"Reason {index}.", "decision": decision, "confidence": 0.5}
        for index, decision in enumerate(decisions)
    ]
    return said(json.dumps({"verdicts": entries}))


# memsift judge


@pytest.mark.usefixtures("server")
def test_verdicts_are_printed_with_how_they_came_about(root: Path) -> None:
    found = printed(memsift("judge", ASK, "--root", root, *HTTP, "--format", "json"))
    assert list(found) == ["prompt", "mode", "fallback", "judgement", "verdicts"]
    assert (found["prompt"], found["mode"], found["fallback"]) == (ASK, "auto", "")
    asked = found["judgement"]
    assert (asked["status"], asked["provider"], asked["model"]) == ("ok", "anthropic-http", "claude-haiku-4-5")
    assert (asked["depth"], asked["input_tokens"], asked["output_tokens"]) == ("keep", 120, 9)
    assert asked["cost_usd"] == pytest.approx(0.000165)
    assert len(asked["template_hash"]) == 16
    decisions = {one["title"]: one["decision"] for one in found["verdicts"]}
    assert decisions == {f"cache rule {n}": "approved" if n in (1, 3) else "rejected" for n in range(5)}
    named = {"id": "cache-rule-1", "title": "cache rule 1", "category": "decision", "source": "live", "injected": True}
    verdict = {"decision": "approved", "status": "ok", "reasoning": "", "confidence": None, "samples": 1}
    assert found["verdicts"][1] == {**named, **verdict, "agreement": 1.0, "dropped_by": None}


def test_a_prompt_that_brings_nothing_up_costs_no_call_and_search_mode_asks_leniently(
    root: Path, server: ApiServer
) -> None:
    found = printed(memsift("judge", "zanzibar treasure", "--root", root, *HTTP, "--format", "json"))
    assert (found["judgement"], found["verdicts"], server.requests) == (None, [], [])
    assert "nothing was left to judge" in memsift("judge", "zanzibar", "--root", root, *HTTP).stdout
    for mode in ("auto", "search"):
        memsift("judge", ASK, "--root", root, *HTTP, "--mode", mode)
    strict, lenient = (request.body["system"] for request in server.requests)
    assert strict.startswith("You decide which stored memories")
    assert lenient.startswith("You sort the results")


def test_a_table_has_a_line_for_each_memory_and_a_judge_that_fails_is_told(root: Path, server: ApiServer) -> None:
    server.answers.extend([explained("approved", "flagged", "rejected", "rejected", "rejected"), overloaded()])
    result = memsift("judge", ASK, "--root", root, *HTTP, "--judge-depth", "explained")
    head, *lines = result.stdout.splitlines()
    assert (result.exit_code, head.split()) == (0, ["decision", "sure", "injected", "category", "title"])
    table, summary = lines[: lines.index("")], lines[-1]
    assert sorted(line.split()[0] for line in table[::2]) == ["approved", "flagged", *["rejected"] * 3]
    assert all(line.startswith("    Reason ") for line in table[1::2])
    assert [line.split()[2] for line in table if line.startswith("approved")] == ["yes"]
    assert summary.startswith("anthropic-http (claude-haiku-4-5), depth explained, template ")
    assert summary.endswith("120 tokens in and 9 out, $0.000165.")
    result = memsift("judge", ASK, "--root", root, *HTTP, "--format", "json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["fallback"], " answered 529: Overloaded" in result.stderr) == (
        2,
        "http_error",
        True,
    )
    assert {(one["decision"], one["status"]) for one in found["verdicts"]} == {("flagged", "http_error")}
    assert [one["injected"] for one in found["verdicts"]] == [True, True, False, False, False]


# Options


def test_a_missing_key_ends_with_2_and_the_next_step(root: Path, prompts: Path) -> None:
    for command in (("judge", ASK), ("search", ASK), ("replay", "--prompts", prompts)):
        for name in ("anthropic", "anthropic-http"):
            line = refused(memsift(*command, "--root", root, "--judge", name))
            assert "set ANTHROPIC_API_KEY" in line
            assert "billed apart from a Claude subscription" in line
        openai = (*command, "--root", root, "--judge", "openai")
        assert "OPENAI_BASE_URL" in refused(memsift(*openai, "--judge-model", "llama3.2"))
        assert "--judge-model" in refused(memsift(*openai))


def test_the_judge_has_flags_variables_and_keys_in_this_order(root: Path, server: ApiServer, tmp_path: Path) -> None:
    def asked(*flags: str, **environ: str) -> dict[str, Any]:
        found = json.loads(memsift("judge", ASK, "--root", root, "--format", "json", *flags, **environ).stdout)
        return found["judgement"]  # type: ignore[no-any-return]

    script = f"scripted:{jsonl(tmp_path / 'judge.jsonl', {'prompt': ASK, 'keep': []})}"
    assert asked()["provider"] == "anthropic"
    configure(root, provider="anthropic-http", depth="explained", timeout_per_call=0.3)
    assert [asked()[name] for name in ("provider", "depth")] == ["anthropic-http", "explained"]
    assert asked(MEMSIFT_JUDGE=script)["provider"] == "scripted"
    assert asked(*HTTP, MEMSIFT_JUDGE=script)["provider"] == "anthropic-http"
    assert asked(MEMSIFT_JUDGE_DEPTH="keep")["depth"] == "keep"
    assert asked("--judge-depth", "explained", MEMSIFT_JUDGE_DEPTH="keep")["depth"] == "explained"
    server.answer = lambda _: late(1, kept(0))
    assert asked("--judge-refresh")["detail"].startswith("No answer within 0.3 s from http://127.0.0.1:")
    assert "--judge-timeout" in memsift("judge", ASK, "--root", root, *HTTP, "--judge-refresh").stderr
    assert "within 0.2 s" in asked("--judge-timeout", "0.2", "--judge-refresh", MEMSIFT_JUDGE_TIMEOUT="0.4")["detail"]


def test_options_that_make_no_sense_say_so(root: Path, server: ApiServer) -> None:
    wrong = ("--judge-depth deep", "--judge-timeout 0", "--no-judge --judge anthropic", "--judge none --judge-refresh")
    for flags in wrong:
        result = memsift("judge", ASK, "--root", root, *flags.split())
        assert (result.exit_code, result.stdout, "Error: " in result.stderr) == (2, "", True), flags
    assert "--judge anthropic" in refused(memsift("judge", ASK, "--root", root, "--no-judge"))
    configure(root, enabled=True)
    assert printed(memsift("search", ASK, "--root", root, "--no-judge"))["total_results"] == 5
    for search, reason in (
        ({"prompt": "Keep all."}, "judge.modes.search.prompt needs the placeholder {format}"),
        ({"prompt_file": "no such file"}, "'no such file', which does not exist"),
    ):
        configure(root, modes={"search": search})
        assert reason in refused(memsift("search", ASK, "--root", root, *HTTP))
    assert server.requests == []


# Search


def test_a_judged_search_leaves_out_what_is_rejected_and_marks_what_is_flagged(root: Path, server: ApiServer) -> None:
    reply = explained("approved", "flagged", "rejected", "rejected", "rejected")
    server.answers.extend([reply, rate_limited()])
    arguments = ("search", ASK, "--root", root, *HTTP, "--judge-depth", "explained")
    found = printed(memsift(*arguments))
    assert sorted(one["verdict"]["decision"] for one in found["results"]) == ["approved", "flagged"]
    lines = memsift(*arguments, "--format", "text").stdout.splitlines()
    assert [line[-4:] == " [?]" for line in lines if " decision " in line].count(True) == 1
    failed = memsift("search", ASK, "--root", root, *HTTP, "--format", "text", "--judge-refresh")
    assert failed.exit_code == 0
    assert failed.stdout.count("[? http_error]") == 2
    assert " answered 429: slow down" in failed.stderr


def test_statuses_of_a_script_are_told_by_replay(tmp_path: Path, root: Path, prompts: Path) -> None:
    for status, injected in (("no_key", 3), ("cancelled", 2)):
        script = jsonl(tmp_path / f"{status}.jsonl", {"prompt": ASK, "status": status})
        arguments = ("replay", "--root", root, "--prompts", prompts, "--systems", "memsift+judge")
        result = memsift(*arguments, "--judge", f"scripted:{script}")
        row = json.loads(result.stdout)
        assert (result.exit_code, f"The judge answered none of 1 questions ({status} 1)" in result.stderr) == (2, True)
        assert (row["fallback"], len(row["injected"])) == (status, injected)


def test_without_fts5_each_command_says_so_once_and_asks_nobody(root: Path, prompts: Path, server: ApiServer) -> None:
    code = [sys.executable, "-c", f"{NO_FTS5}; from tui.cli import main; main(prog_name='memsift')"]
    for command in (["search", ASK], ["replay", "--prompts", prompts]):
        done = process(*command, "--root", root, *HTTP, code=code)
        assert (done.returncode, done.stderr.splitlines()) == (0, [f"memsift: {BY_KEYWORDS}."])
    assert {row["fallback"] for row in map(json.loads, done.stdout.splitlines())} == {"no_fts5"}
    assert server.requests == []
