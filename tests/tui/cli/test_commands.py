"""The command line: search, prompts, and what every command does with bad input."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from engine.version import __version__
from tests.engine.builders import memory, write_root
from tests.tui.apps import DEMO, DEMO_ROOT
from tests.tui.cli.command_line import MAIN, PROJECT, jsonl, memsift, printed, process, refused, rows
from tui.cli import COMMANDS, main

if TYPE_CHECKING:
    from pathlib import Path

RESULT_KEYS = [
    *("id", "title", "category", "path", "tags", "status", "snippet", "updated_at", "score", "confidence"),
    "matches",
]
PROMPT_KEYS = ["id", "prompt", "context", "session_id", "cwd", "timestamp", "source"]
HEAVY = ("textual", "rich", "sqlite_utils", "anthropic", "scipy", "sklearn", "numpy", "httpx2", "labels")
LOADED = """
import sys
from tui.cli import main
try:
    main(sys.argv[1:], prog_name="memsift")
except SystemExit as end:
    assert not end.code, end.code
print("\\n".join(sys.modules), file=sys.stderr)
"""


def top_level_modules(*arguments: str | Path) -> set[str]:
    """What is loaded when a command has done its work."""
    done = process(*arguments, code=[sys.executable, "-c", LOADED])
    assert done.returncode == 0, done.stderr
    return {name.split(".")[0] for name in done.stderr.split()}


# Every command


@pytest.mark.parametrize("command", ["", *COMMANDS])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_explains_itself(command: str, option: str) -> None:
    result = memsift(*command.split(), option)
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: memsift")
    assert all(name in result.stdout for name in (COMMANDS if not command else ()))


def test_the_version_is_printed() -> None:
    result = memsift("--version")
    assert (result.exit_code, result.stdout) == (0, f"memsift, version {__version__}\n")


@pytest.mark.parametrize("arguments", [["nonsense"], ["search"], ["--nonsense"], ["search", "x", "--max-results", "0"]])
def test_a_wrong_call_says_how_to_call_it(arguments: list[str]) -> None:
    result = memsift(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: memsift" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["search", "job queue", "--root", DEMO_ROOT],
        ["search", "job queue", "--root", DEMO_ROOT, "--mode", "auto", "--format", "text"],
        ["prompts", DEMO / "prompts.jsonl"],
    ],
)
def test_a_command_that_needs_little_loads_little(arguments: list[str | Path]) -> None:
    assert top_level_modules(*arguments) & set(HEAVY) == set()


def test_replay_and_report_load_no_screen() -> None:
    loaded = top_level_modules("replay", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl")
    assert loaded & {"textual", "rich", "anthropic", "sqlite_utils", "scipy"} == set()
    assert top_level_modules("report", "--root", DEMO_ROOT) & {"textual", "rich", "anthropic"} == set()


# Search


def test_search_prints_the_documented_shape_best_first() -> None:
    found = printed(memsift("search", "job queue", "--root", DEMO_ROOT))
    assert list(found) == ["query", "total_results", "results"]
    assert found["query"] == "job queue"
    assert found["total_results"] == len(found["results"]) == 10
    assert all(list(one) == RESULT_KEYS for one in found["results"])
    first = found["results"][0]
    assert first["id"] == "job-queue-skip-locked"
    assert first["path"] == ".claude/memory/decisions/job-queue-skip-locked.json"
    assert first["category"] == "decision"
    assert first["tags"] == ["queue", "worker", "postgres", "job_queue"]
    assert first["status"] == "active"
    assert first["confidence"] == "high"
    assert "job_queue" in first["snippet"]
    scores = [one["score"] for one in found["results"]]
    assert scores == sorted(scores)
    assert scores[-1] < 0


def test_search_shows_what_the_hook_would_find_too_weak() -> None:
    query = ("search", "Celery beat schedule drift on old brokers", "--root", DEMO_ROOT, "--include-retired")
    assert "rq-on-redis" in [one["id"] for one in printed(memsift(*query))["results"]]
    assert printed(memsift(*query, "--mode", "auto"))["results"] == []


def test_auto_finds_at_most_what_the_hook_injects() -> None:
    assert printed(memsift("search", "job queue", "--root", DEMO_ROOT, "--mode", "auto"))["total_results"] == 3


def test_retired_memories_come_only_when_asked_for() -> None:
    without = printed(memsift("search", "RQ Redis", "--root", DEMO_ROOT))["results"]
    assert {one["status"] for one in without} == {"active"}
    with_them = printed(memsift("search", "RQ Redis", "--root", DEMO_ROOT, "--include-retired"))["results"]
    assert [one["status"] for one in with_them if one["id"] == "rq-on-redis"] == ["retired"]


@pytest.mark.parametrize("mode", ["search", "auto"])
@pytest.mark.parametrize("number", [1, 3])
def test_max_results_is_how_many_there_are(mode: str, number: int) -> None:
    found = printed(memsift("search", "job queue", "--root", DEMO_ROOT, "--mode", mode, "--max-results", str(number)))
    assert found["total_results"] == number


@pytest.mark.parametrize("query", ["", "   ", "the of and", '"*()^:-', "AND OR NOT", "\x1b[2J", "zzzqqq", "🦆"])
def test_a_query_that_finds_nothing_is_an_empty_result(query: str) -> None:
    assert printed(memsift("search", query, "--root", DEMO_ROOT)) == {"query": query, "total_results": 0, "results": []}


def test_search_as_text_names_confidence_title_and_path() -> None:
    result = memsift("search", "job queue", "--root", DEMO_ROOT, "--format", "text", "--max-results", "1")
    assert result.exit_code == 0
    for part in ("high", "Run background jobs from a Postgres job_queue table", "job-queue-skip-locked.json"):
        assert part in result.stdout


def test_the_matches_of_a_snippet_are_character_offsets(tmp_path: Path) -> None:
    one = memory("Replies", body="🦆 the response is cached; caching it twice is שלום", memory_id="one")
    root = write_root(tmp_path / "root", [one])
    (found,) = printed(memsift("search", "cache שלום", "--root", root))["results"]
    assert [found["snippet"][start:end] for start, end in found["matches"]] == ["cached", "caching", "שלום"]


def test_matches_are_bold_for_a_terminal_and_plain_for_a_pipe(tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("Replies", body="a \x07 cached reply", memory_id="one")])
    asked = ["search", "caching", "--root", str(root), "--format", "text"]
    assert "a · cached reply" in memsift(*asked).stdout
    in_terminal = CliRunner().invoke(main, asked, prog_name="memsift", color=True)
    assert "a · \x1b[1mcached\x1b[0m reply" in in_terminal.stdout


def test_text_output_carries_no_control_characters(tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("red \x1b[31m alert", body="\x1b]0;owned\x07 red", memory_id="red")])
    result = memsift("search", "red", "--root", root, "--format", "text")
    assert "alert" in result.stdout
    assert "\x1b" not in result.stdout
    assert "\x07" not in result.stdout


# Roots


def test_the_root_of_the_project_we_are_in_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_root(tmp_path / "project" / ".claude" / "memory", [memory("signing keys")])
    inside = tmp_path / "project" / "src" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert printed(memsift("search", "signing"))["total_results"] == 1


def test_an_empty_root_has_no_results_and_no_complaint(tmp_path: Path) -> None:
    result = memsift("search", "anything", "--root", tmp_path)
    assert printed(result)["total_results"] == 0
    assert result.stderr == ""


def test_a_missing_root_is_named_with_what_to_do(tmp_path: Path) -> None:
    line = refused(memsift("search", "x", "--root", tmp_path / "no[/b]where"))
    assert line.startswith("memsift: ")
    assert str(tmp_path / "no[/b]where") in line
    assert "--root" in line


def test_a_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    assert str(file) in refused(memsift("search", "x", "--root", file))


@pytest.mark.parametrize("arguments", [["search", "x"], ["report"], []])
def test_without_any_root_it_says_how_to_name_one(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = refused(memsift(*arguments))
    assert "--root" in line
    assert "memsift demo" in line


def test_a_broken_configuration_is_refused_with_its_file(tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    (root / "memory-config.json").write_text('{"retrieval": {"max_inject": ', encoding="utf-8")
    assert "memory-config.json" in refused(memsift("search", "signing", "--root", root))
    (root / "memory-config.json").write_text('{"retrieval": {"max_inject": "many"}}', encoding="utf-8")
    line = refused(memsift("search", "signing", "--root", root))
    assert "retrieval.max_inject" in line
    assert "many" in line


def test_skipped_files_are_counted_on_stderr_and_the_rest_is_found(tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    (root / "decisions" / "a-broken.json").write_text("{", encoding="utf-8")
    (root / "decisions" / "b-bytes.json").write_bytes(b"\xff\xfe\x00")
    (root / "decisions" / "c-deep.json").write_text("[" * 200_000, encoding="utf-8")
    (root / "runbooks").symlink_to(tmp_path)
    result = memsift("search", "signing", "--root", root)
    assert printed(result)["total_results"] == 1
    (line,) = result.stderr.splitlines()
    assert "4 skipped" in line


def test_an_error_is_one_line_that_cannot_command_the_terminal(tmp_path: Path) -> None:
    line = refused(memsift("search", "x", "--root", tmp_path / "evil\n\x1b[2Jname"))
    assert "\x1b" not in line


# Prompts


def test_prompts_of_a_transcript_are_what_a_person_typed(tmp_path: Path) -> None:
    common = {"sessionId": "s1", "cwd": "/p", "version": "2.1.330", "isSidechain": False, "userType": "external"}
    transcript = jsonl(
        tmp_path / "session.jsonl",
        {**common, "type": "user", "uuid": "u1", "parentUuid": None, "timestamp": "2026-01-01T10:00:00Z",
         "message": {"role": "user", "content": "how do tokens expire?"}},
        {**common, "type": "assistant", "uuid": "u2", "parentUuid": "u1", "timestamp": "2026-01-01T10:00:01Z",
         "message": {"role": "assistant", "content": [{"type": "text", "text": "After an hour."}]}},
        {**common, "type": "user", "uuid": "u3", "parentUuid": "u2", "timestamp": "2026-01-01T10:00:02Z",
         "message": {"role": "user", "content": "and sessions?"}},
    )  # fmt: skip
    found = rows(memsift("prompts", transcript))
    assert [list(row) for row in found] == [PROMPT_KEYS, PROMPT_KEYS]
    assert [row["prompt"] for row in found] == ["how do tokens expire?", "and sessions?"]
    assert found[1]["context"] == [
        {"role": "user", "text": "how do tokens expire?"},
        {"role": "assistant", "text": "After an hour."},
    ]
    assert {row["session_id"] for row in found} == {"s1"}


def test_prompts_of_real_transcripts_come_once_each(shared_data: Path) -> None:
    result = memsift("prompts", shared_data / "transcripts")
    found = rows(result)
    assert len(found) == 24
    assert len({row["id"] for row in found}) == 24
    assert not [row for row in found if row["prompt"].startswith(("<", "[Request interrupted"))]
    assert len(rows(memsift("prompts", "--include-sdk", shared_data / "transcripts"))) == 29


def test_what_prompts_prints_can_be_read_again(tmp_path: Path) -> None:
    first = memsift("prompts", DEMO / "prompts.jsonl")
    assert len(rows(first)) == 52
    again = tmp_path / "again.jsonl"
    again.write_text(first.stdout, encoding="utf-8")
    for before, after in zip(rows(first), rows(memsift("prompts", again)), strict=True):
        assert {**after, "source": ""} == {**before, "source": ""}


def test_a_prompt_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    assert "gone.jsonl" in refused(memsift("prompts", tmp_path / "gone.jsonl"))
    assert "gone.jsonl" in refused(memsift("replay", "--root", DEMO_ROOT, "--prompts", tmp_path / "gone.jsonl"))


def test_rows_that_are_no_prompts_are_told_on_stderr(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "prompts.jsonl", {"prompt": "how do tokens expire?"}, {"text": "no prompt"}, "{broken")
    result = memsift("prompts", file)
    assert [row["prompt"] for row in rows(result)] == ["how do tokens expire?"]
    assert result.stderr.count("skipped") >= 1
    replayed = memsift("replay", "--root", DEMO_ROOT, "--prompts", file)
    assert len(rows(replayed)) == 1
    assert "skipped" in replayed.stderr


# The app and the terminal


@pytest.mark.parametrize("arguments", [["--root", DEMO_ROOT], ["demo"]])
def test_the_app_without_a_terminal_is_refused_before_anything_is_opened(
    arguments: list[str], private_home: Path
) -> None:
    done = process(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "terminal" in line
    assert list(private_home.rglob("labels.db")) == []


def test_a_reader_that_stops_early_gets_no_traceback() -> None:
    command = f'{sys.executable} -c "{MAIN[2]}" prompts {DEMO / "prompts.jsonl"} | head -1'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=PROJECT, timeout=60, check=False)
    assert done.stdout.startswith('{"id": "p01"')
    assert done.stderr == ""
