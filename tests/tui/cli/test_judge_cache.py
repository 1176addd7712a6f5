"""The judge's cache: no question is asked twice, and `--judge none` makes no calls."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.judge.api_server import ApiServer, kept_titles
from tests.tui.cli.command_line import ASK, HTTP, configure, jsonl, memsift, printed, refused, rows


def verdicts(root: Path, *flags: str, **environ: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    found = printed(memsift("judge", ASK, "--root", root, "--format", "json", *flags, **environ))
    return found["verdicts"], found["judgement"]


def test_what_was_asked_is_not_asked_or_paid_for_again(root: Path, server: ApiServer) -> None:
    first, asked = verdicts(root, *HTTP)
    second, remembered = verdicts(root, *HTTP)
    assert len(server.requests) == 1
    assert [one["source"] for one in first + second] == ["live"] * 5 + ["cache"] * 5
    assert [{**one, "source": ""} for one in first] == [{**one, "source": ""} for one in second]
    assert (asked["cost_usd"], remembered["cost_usd"]) == (pytest.approx(0.000165), 0.0)
    assert (remembered["input_tokens"], remembered["output_tokens"]) == (0, 0)


def test_a_refresh_asks_anew_and_replaces_what_was_kept(root: Path, server: ApiServer) -> None:
    verdicts(root, *HTTP)
    server.answer = kept_titles("cache rule 0")
    refreshed, _ = verdicts(root, *HTTP, "--judge-refresh")
    remembered, _ = verdicts(root, *HTTP)
    for found, source in ((refreshed, "live"), (remembered, "cache")):
        approved = [one["title"] for one in found if one["decision"] == "approved"]
        assert (approved, found[0]["source"]) == (["cache rule 0"], source)
    assert len(server.requests) == 2


def test_none_answers_from_the_cache_without_a_key(root: Path, server: ApiServer) -> None:
    live, _ = verdicts(root, "--judge", "anthropic")
    remembered, asked = verdicts(root, "--judge", "none", ANTHROPIC_API_KEY="")
    assert [one["decision"] for one in live] == [one["decision"] for one in remembered]
    assert (asked["provider"], asked["model"], len(server.requests)) == ("anthropic", "claude-haiku-4-5", 1)


@pytest.mark.parametrize(
    "command", [["judge", ASK], ["search", ASK], ["replay", "--prompts", "FILE"]], ids=["judge", "search", "replay"]
)
def test_a_miss_of_none_ends_with_2_and_the_next_step(
    tmp_path: Path, root: Path, server: ApiServer, command: list[str]
) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    arguments = [str(prompts) if part == "FILE" else part for part in command]
    more = ["--systems", "memsift+judge"] if command[0] == "replay" else []
    line = refused(memsift(*arguments, *more, "--root", root, "--judge", "none", "--judge-model", "claude-x"))
    assert "holds no answer of anthropic (claude-x)" in line
    assert "--judge anthropic" in line
    assert server.requests == []


def test_the_judge_whose_answers_none_gives_is_the_configured_one(root: Path, server: ApiServer) -> None:
    verdicts(root, *HTTP)
    none = ("judge", ASK, "--root", root, "--judge", "none")
    assert "answer of anthropic (" in refused(memsift(*none))
    assert memsift(*none, MEMSIFT_JUDGE="anthropic-http").exit_code == 0
    configure(root, judge={"provider": "anthropic-http"})
    assert memsift(*none).exit_code == 0
    assert "answer of openai (local)" in refused(
        memsift(*none, "--judge-model", "local", MEMSIFT_JUDGE="openai", OPENAI_BASE_URL=server.url)
    )
    assert len(server.requests) == 1


def test_a_script_that_changed_is_another_judge(tmp_path: Path, root: Path) -> None:
    script = jsonl(tmp_path / "judge.jsonl", {"prompt": ASK, "keep": ["cache rule 1"]})
    named = f"scripted:{script}"
    verdicts(root, "--judge", named)
    assert {one["source"] for one in verdicts(root, "--judge", "none", MEMSIFT_JUDGE=named)[0]} == {"cache"}
    jsonl(script, {"prompt": ASK, "keep": ["cache rule 2"]})
    assert "answer of scripted (judge.jsonl)" in refused(
        memsift("judge", ASK, "--root", root, "--judge", "none", MEMSIFT_JUDGE=named)
    )
    changed, _ = verdicts(root, "--judge", named)
    assert [one["title"] for one in changed if one["decision"] == "approved"] == ["cache rule 2"]


def test_a_second_replay_is_the_first_byte_for_byte_but_for_time(tmp_path: Path, root: Path, server: ApiServer) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", *({"id": f"p{n}", "prompt": f"{ASK} {n}"} for n in range(12)))
    arguments = ("replay", "--root", root, "--prompts", prompts, "--systems", "memsift+judge", *HTTP)
    rows(memsift(*arguments))
    asked = len(server.requests)

    def remembered() -> list[str]:
        found = rows(memsift(*arguments))
        for row in found:
            row["ms"] = row["judgement"]["elapsed_ms"] = 0
        return [json.dumps(row) for row in found]

    assert remembered() == remembered()
    assert len(server.requests) == asked >= 12
    configure(root, judge={"modes": {"auto": {"prompt": "x {format}"}}})
    rows(memsift(*arguments))
    assert len(server.requests) == 2 * asked
