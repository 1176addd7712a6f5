"""The judge on the command line: its options, `memsift judge`, a judged search, its cache and its samples."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.pipeline import BY_KEYWORDS
from labels.store import LabelStore
from tests.engine.hook.world import NO_FTS5
from tests.engine.judge.api_server import ApiServer, Reply, kept, kept_titles, late, overloaded, rate_limited, said
from tests.tui.cli.command_line import ASK, HTTP, configure, jsonl, memsift, printed, process, refused, rows
from tests.tui.cli.every_command import loaded_by


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})


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
    assert "no memory was left to judge" in memsift("judge", "zanzibar", "--root", root, *HTTP).stdout
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
    assert (result.exit_code, found["fallback"]) == (2, "http_error")
    assert " answered 529: Overloaded" in result.stderr
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


@pytest.mark.slow
def test_the_judge_has_flags_variables_and_keys_in_this_order(root: Path, server: ApiServer, tmp_path: Path) -> None:
    def asked(*flags: str, **environ: str) -> dict[str, Any]:
        found = json.loads(memsift("judge", ASK, "--root", root, "--format", "json", *flags, **environ).stdout)
        return found["judgement"]  # type: ignore[no-any-return]

    script = f"scripted:{jsonl(tmp_path / 'judge.jsonl', {'prompt': ASK, 'keep': []})}"
    assert asked()["provider"] == "anthropic"
    configure(root, judge={"provider": "anthropic-http", "depth": "explained", "timeout_per_call": 0.3})
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
    configure(root, judge={"enabled": True})
    assert printed(memsift("search", ASK, "--root", root, "--no-judge"))["total_results"] == 5
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


def test_without_fts5_each_command_says_so_once_and_asks_nobody(root: Path, prompts: Path, server: ApiServer) -> None:
    code = [sys.executable, "-c", f"{NO_FTS5}; from tui.cli import main; main(prog_name='memsift')"]
    for command in (["search", ASK], ["replay", "--prompts", prompts]):
        done = process(*command, "--root", root, *HTTP, code=code)
        assert (done.returncode, done.stderr.splitlines()) == (0, [f"memsift: {BY_KEYWORDS}."])
    assert {row["fallback"] for row in map(json.loads, done.stdout.splitlines())} == {"no_fts5"}
    assert server.requests == []


def verdicts(root: Path, *flags: str, **environ: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    found = printed(memsift("judge", ASK, "--root", root, "--format", "json", *flags, **environ))
    return found["verdicts"], found["judgement"]


def test_what_was_asked_is_not_asked_or_paid_for_again_until_a_refresh_replaces_it(
    root: Path, server: ApiServer
) -> None:
    first, _ = verdicts(root, *HTTP)
    second, remembered = verdicts(root, *HTTP)
    assert {one["source"] for one in first} == {"live"}
    assert [{**one, "source": "cache"} for one in first] == second
    assert (len(server.requests), remembered["cost_usd"]) == (1, 0.0)
    server.answer = kept_titles("cache rule 0")
    for flags, source in ((("--judge-refresh",), "live"), ((), "cache")):
        found, _ = verdicts(root, *HTTP, *flags)
        approved = [one["title"] for one in found if one["decision"] == "approved"]
        assert (approved, found[0]["source"]) == (["cache rule 0"], source)
    assert len(server.requests) == 2


APP = """
import asyncio, os, sys
from tests.tui.apps import SIZE
from tui.app import MemsiftApp
from tui.workspace.judging import JudgeOptions
from tui.workspace.opening import open_workspace

async def start():
    judge = JudgeOptions("anthropic")
    workspace = open_workspace(sys.argv[1], [sys.argv[2]], judge, None, os.environ, asks_first=True)
    async with MemsiftApp(workspace).run_test(size=SIZE) as pilot:
        await pilot.press("P")
        await pilot.pause()
    workspace.close()

asyncio.run(start())
print(*sys.modules)
"""


@pytest.mark.slow
def test_the_sdk_is_loaded_only_for_a_question(tmp_path: Path, root: Path, prompts: Path, server: ApiServer) -> None:
    judge = ("--root", root, "--judge", "anthropic", "--judge-samples", "1")
    commands = (("judge", ASK), ("search", ASK), ("replay", "--prompts", prompts, "--systems", "memsift+judge"))
    for command in commands:
        assert memsift(*command, *judge).exit_code == 0
    assert "anthropic" in sys.modules, "nothing is shown by a name that is never loaded"
    configure(root, judge={"enabled": True, "provider": "anthropic"})
    settings = (("config", "--root", root), ("doctor",), ("prompts", prompts), ("list", "--root", root))
    lines = [[*map(str, command)] for command in (*(each + judge for each in commands), *settings)]
    asked = len(server.requests)
    environ = {name: os.environ[name] for name in ("HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")}
    ended = loaded_by([[line] for line in lines], tmp_path, **environ)
    assert [lines[place] for place, one in enumerate(ended) if "anthropic" in one.modules] == []
    assert len(server.requests) == asked
    started = process(root, prompts, code=[sys.executable, "-c", APP])
    assert (started.returncode, started.stderr) == (0, "")
    assert "tui.screens.replay" in started.stdout.split()
    assert "anthropic" not in started.stdout.split()


def test_none_answers_from_the_cache_of_the_configured_judge_and_a_miss_ends_with_2(
    root: Path, prompts: Path, server: ApiServer
) -> None:
    replay = ("replay", "--prompts", prompts, "--systems", "memsift+judge")
    for command in (("judge", ASK), ("search", ASK), replay):
        line = refused(memsift(*command, "--root", root, "--judge", "none", "--judge-model", "claude-x"))
        assert ("has no answer of anthropic (claude-x)" in line, "--judge anthropic" in line) == (True, True)
    live, _ = verdicts(root, *HTTP)
    remembered, asked = verdicts(root, "--judge", "none", ANTHROPIC_API_KEY="", MEMSIFT_JUDGE="anthropic-http")
    assert [one["decision"] for one in live] == [one["decision"] for one in remembered]
    assert (asked["provider"], asked["model"]) == ("anthropic-http", "claude-haiku-4-5")
    none = ("judge", ASK, "--root", root, "--judge", "none")
    for environ in ({"MEMSIFT_JUDGE": "openai", "OPENAI_BASE_URL": server.url}, {"MEMSIFT_JUDGE": "anthropic-http"}):
        assert f"answer of {environ['MEMSIFT_JUDGE']} (local)" in refused(
            memsift(*none, "--judge-model", "local", **environ)
        )
    configure(root, judge={"provider": "anthropic-http"})
    assert (memsift(*none).exit_code, len(server.requests)) == (0, 1)


def test_a_script_that_changed_is_another_judge(tmp_path: Path, root: Path) -> None:
    for title in ("cache rule 1", "cache rule 2"):
        script = jsonl(tmp_path / "judge.jsonl", {"prompt": ASK, "keep": [title]})
        found, _ = verdicts(root, "--judge", f"scripted:{script}")
        assert [one["title"] for one in found if one["decision"] == "approved"] == [title]


# Several samples of the judge: their number, and --strict, which checks that they agree


@pytest.fixture
def replay(root: Path, prompts: Path) -> tuple[str | Path, ...]:
    return ("replay", "--root", root, "--prompts", prompts, "--systems", "memsift+judge", *HTTP)


def test_replay_asks_up_to_three_times_and_judge_once_unless_a_flag_or_a_variable_says_more(
    root: Path, server: ApiServer, replay: tuple[str | Path, ...]
) -> None:
    (row,) = rows(memsift(*replay))
    assert len(server.requests) == 2  # the third could not change anything
    assert {(one["verdict"]["samples"], one["verdict"]["agreement"]) for one in row["candidates"]} == {(2, 1.0)}
    ask = ("judge", ASK, "--root", root, *HTTP)
    memsift(*ask, "--judge-refresh")
    assert len(server.requests) == 3
    memsift(*replay, "--judge-samples", "1", "--judge-refresh")
    assert len(server.requests) == 4
    memsift(*ask, "--judge-refresh", MEMSIFT_JUDGE_SAMPLES="5")
    assert len(server.requests) == 7
    assert "Invalid value for MEMSIFT_JUDGE_SAMPLES" in memsift(*ask, MEMSIFT_JUDGE_SAMPLES="many").stderr
    flag = memsift(*ask, "--judge-samples", "0", MEMSIFT_JUDGE_SAMPLES="3")
    assert (flag.exit_code, "Invalid value for '--judge-samples'" in flag.stderr) == (2, True)


@pytest.mark.usefixtures("server")
def test_a_replay_with_other_samples_does_not_overwrite_the_first(
    tmp_path: Path, replay: tuple[str | Path, ...]
) -> None:
    store = tmp_path / "labels.db"
    for count in ("1", "3"):
        rows(memsift(*replay, "--judge-samples", count, "--save", "--db", store))
    with closing(sqlite3.connect(store)) as kept:
        samples = "SELECT max(samples) FROM judge_verdict GROUP BY call_id ORDER BY call_id"
        assert kept.execute(samples).fetchall() == [(1,), (2,)]  # of three, the third could not change anything
    with LabelStore.open(store) as opened:
        assert len(opened.outcomes()) == 1


def test_strict_fails_where_samples_disagree_and_judge_says_how_far(
    root: Path, server: ApiServer, replay: tuple[str | Path, ...]
) -> None:
    agreed = memsift(*replay, "--strict")
    assert (agreed.exit_code, agreed.stderr) == (0, "")
    server.answers.extend([kept(), kept(*range(5)), kept()])
    disputed = memsift(*replay, "--strict", "--judge-refresh")
    assert (disputed.exit_code, len(disputed.stdout.splitlines())) == (1, 1)
    assert "disagrees with itself on 5 memories" in disputed.stderr
    assert memsift(*replay).exit_code == 0
    server.answers.extend([kept(*range(5)), kept()])
    result = memsift("judge", ASK, "--root", root, *HTTP, "--judge-samples", "2", "--strict", "--judge-refresh")
    assert result.exit_code == 1
    assert result.stdout.count("flagged (50% agree)") == 5
    assert result.stdout.count("The samples disagree: 1 approved, 1 rejected.") == 5
    assert "disagrees with itself on 5 memories" in result.stderr
