"""The judge's cache: no question is asked twice, and `--judge none` makes no calls."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from labels.store import LabelStore
from tests.engine.judge.api_server import ApiServer, kept, kept_titles
from tests.tui.cli.command_line import ASK, HTTP, configure, jsonl, memsift, printed, process, refused, rows
from tests.tui.cli.every_command import loaded_by


def verdicts(root: Path, *flags: str, **environ: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    found = printed(memsift("judge", ASK, "--root", root, "--format", "json", *flags, **environ))
    return found["verdicts"], found["judgement"]


def test_what_was_asked_is_not_asked_or_paid_for_again_until_a_refresh_replaces_it(
    root: Path, server: ApiServer
) -> None:
    first, asked = verdicts(root, *HTTP)
    second, remembered = verdicts(root, *HTTP)
    assert len(server.requests) == 1
    assert [one["source"] for one in first + second] == ["live"] * 5 + ["cache"] * 5
    assert [{**one, "source": ""} for one in first] == [{**one, "source": ""} for one in second]
    assert (asked["cost_usd"], remembered["cost_usd"]) == (pytest.approx(0.000165), 0.0)
    assert (remembered["input_tokens"], remembered["output_tokens"]) == (0, 0)
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
def test_the_sdk_is_loaded_only_for_a_question(tmp_path: Path, root: Path, server: ApiServer) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
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
    tmp_path: Path, root: Path, server: ApiServer
) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
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
    script = jsonl(tmp_path / "judge.jsonl", {"prompt": ASK, "keep": ["cache rule 1"]})
    named = f"scripted:{script}"
    verdicts(root, "--judge", named)
    assert {one["source"] for one in verdicts(root, "--judge", "none", MEMSIFT_JUDGE=named)[0]} == {"cache"}
    jsonl(script, {"prompt": ASK, "keep": ["cache rule 2"]})
    none = refused(memsift("judge", ASK, "--root", root, "--judge", "none", MEMSIFT_JUDGE=named))
    assert "answer of scripted (judge.jsonl)" in none
    changed, _ = verdicts(root, "--judge", named)
    assert [one["title"] for one in changed if one["decision"] == "approved"] == ["cache rule 2"]


def test_a_second_replay_is_the_first_byte_for_byte_but_for_time(tmp_path: Path, root: Path, server: ApiServer) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", *({"id": f"p{n}", "prompt": f"{ASK} {n}"} for n in range(4)))
    arguments = ("replay", "--root", root, "--prompts", prompts, "--systems", "memsift+judge", *HTTP)
    rows(memsift(*arguments))
    asked = len(server.requests)

    def remembered() -> list[str]:
        found = rows(memsift(*arguments))
        for row in found:
            row["ms"] = row["judgement"]["elapsed_ms"] = 0
        return [json.dumps(row) for row in found]

    assert remembered() == remembered()
    assert len(server.requests) == asked >= 4
    configure(root, judge={"modes": {"auto": {"prompt": "x {format}"}}})
    rows(memsift(*arguments))
    assert len(server.requests) == 2 * asked


# Several samples of the judge: their number, and --strict, which checks that they agree


@pytest.fixture
def replay(tmp_path: Path, root: Path) -> tuple[str | Path, ...]:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
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
