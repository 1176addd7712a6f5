"""`memsift doctor` finds what keeps the hook from working, says how to mend it, and leaves no trace."""

import json
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from engine.agents.hook_entry import ALWAYS_0
from engine.config import CONFIG_FILE, JudgeConfig
from engine.doctor import judge
from engine.paths import config_file, transcripts_dir
from engine.settings.trust import trust
from tests.engine.builders import put, write_root
from tests.engine.judge.api_server import KEY, ApiServer, Reply, failed
from tests.tui.cli.command_line import RULES, memsift


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with memories, in which memsift is installed for the user."""
    folder = tmp_path / "project"
    write_root(folder / ".claude/memory", RULES)
    monkeypatch.chdir(folder)
    assert memsift("install").exit_code == 0
    return folder


def found(exit_code: int | None = None, **environ: str) -> dict[str, list[dict[str, str]]]:
    """Check -> its findings."""
    done = memsift("doctor", "--format", "json", **environ)
    rows = json.loads(done.stdout)
    assert done.exit_code == int(any(row["status"] == "problem" for row in rows))
    assert exit_code in (None, done.exit_code), done.stdout
    checks: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        assert list(row) == ["check", "status", "text", "fix"]
        assert row["fix"] or row["status"] != "problem"
        checks.setdefault(row["check"], []).append(row)
    return checks


def problems(check: str, **environ: str) -> str:
    return " ".join(row["text"] for row in found(1, **environ)[check] if row["status"] == "problem")


def settings(path: Path, **content: Any) -> None:
    put(path, json.dumps(content))


def hooks(*commands: str, **more: Any) -> dict[str, Any]:
    return {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": one, **more} for one in commands]}]}


def test_a_working_installation_has_no_problems_and_the_test_prompt_is_answered(
    project: Path, private_home: Path
) -> None:
    before = sorted(path for path in private_home.rglob("*") if "cache" not in str(path))
    checks = found(0)
    assert set(checks) >= {"python", "sqlite", "clock", "disk", "files", "index", "trust", "settings", "transcripts"}
    assert checks["index"][0]["text"] == f"{project}/.claude/memory: 5 memories"
    assert "FTS5" in checks["sqlite"][0]["text"]
    assert "off" in checks["judge"][0]["text"]
    (tried,) = checks["test prompt"]
    assert "ms" in tried["text"]
    assert "injected" in tried["text"]
    text = memsift("doctor")
    assert text.stdout.splitlines()[-1] == "no problems"
    long = [line.split("  ")[-1].strip().removeprefix("-> ") for line in text.stdout.splitlines() if len(line) > 80]
    assert [line for line in long if " " in line and not line.startswith(("chmod ", "memsift "))] == []
    # neither log nor session
    assert sorted(path for path in private_home.rglob("*") if "cache" not in str(path)) == before


def test_a_command_to_copy_stays_on_a_line(project: Path) -> None:
    root = project / ".claude/memory" / "a folder, with a long name" / "and another one in it" / ".claude/memory"
    write_root(root, RULES)
    settings(root / CONFIG_FILE, retrieval={"deadline": 9})
    put(project / "home/.config/memsift/config.toml", f"roots = ['{root}']")
    shown = memsift("doctor", COLUMNS="80", HOME=str(project / "home")).stdout.splitlines()
    assert [line.strip() for line in shown if "memsift trust" in line] == [f"memsift trust '{root}'"]


@pytest.mark.usefixtures("project")
def test_the_plugins_hook_is_tried_through_its_launcher(private_home: Path) -> None:
    assert memsift("install", "--plugin").exit_code == 0
    checks = found(0)
    assert [row["text"] for row in checks["hooks"]] == ["memsift (memsift@memsift, timeout 30 s)"]
    assert "ms in the hook itself" in checks["test prompt"][0]["text"]
    start = private_home / ".local/state/memsift/hook-start"
    start.write_text("/gone/python\n/gone/launch.py\n", encoding="utf-8")
    assert "did nothing" in problems("test prompt", PATH="/usr/bin:/bin")


def test_the_hooks_are_listed_in_their_order_with_those_that_inject_too(project: Path) -> None:
    settings(project / ".claude/settings.local.json", hooks=hooks("echo hello", "python3 /x/memory_retrieve.py"))
    texts = [row["text"] for row in found(1)["hooks"]]
    assert [text.partition(",")[0] for text in texts] == ["1 of 3", "2 of 3", "3 of 3"]
    assert "echo hello" in texts[1]
    assert "claude-memory injects, too" in problems("hooks")
    settings(project / ".claude/settings.json", hooks=hooks("memsift-hook"))
    notes = [row["text"] for row in found(1)["hooks"] if row["status"] == "note"]
    assert "memsift stands 2 times" in notes[0]
    assert "made by hand" in notes[1]
    settings(project / ".claude/settings.json", disableAllHooks=True)
    assert "keeps memsift's hook from running, by disableAllHooks" in problems("hooks")
    settings(project / ".claude/settings.local.json", disableAllHooks=False)
    assert "keeps memsift's hook" not in str(found())


def test_without_memories_and_without_a_hook_it_says_where_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checks = found(1)
    assert "no memories" in checks["roots"][0]["text"]
    assert checks["hooks"][0]["fix"] == "Run memsift install."
    assert memsift("doctor").stdout.splitlines()[-1] == "2 problems"


COMMANDS = {
    "exit 2; : memsift-hook": "blocks every prompt",
    "/gone/memsift-hook": "shows an error at every prompt",
    "true; : memsift-hook": "did nothing",
}


def test_a_hook_that_does_not_work_is_found_by_a_test_prompt_and_a_slow_or_short_one_is_told(
    project: Path, private_home: Path
) -> None:
    own = private_home / ".claude/settings.json"
    for command, effect in COMMANDS.items():
        settings(own, hooks=hooks(command))
        assert effect in problems("test prompt"), command
    settings(own, hooks=hooks(f"{ALWAYS_0}: memsift-hook", timeout=1))
    texts = [row["text"] for row in found()["hooks"] if row["status"] == "note"]
    assert texts == ["the client ends the hook after 1 s, but the settings allow it 2 s"]
    script = project / "bin/memsift-hook"
    put(script, "#!/bin/sh\n# import re\n")
    script.chmod(0o755)
    settings(own, hooks=hooks(f"{ALWAYS_0}memsift-hook"))
    (row,) = [row for row in found(PATH=f"{script.parent}:{os.environ['PATH']}")["hooks"] if row["status"] == "note"]
    assert ("pip older than 25.2" in row["text"], "memsift install" in row["fix"]) == (True, True)


def of_root(project: Path, **retrieval: Any) -> None:
    settings(project / ".claude/memory" / CONFIG_FILE, retrieval=retrieval)


def changed_since_trust(project: Path) -> None:
    of_root(project, deadline=10)
    trust(str(project / ".claude/memory"), os.environ)
    of_root(project, deadline=20)


def open_log(_: Path) -> None:
    log = Path(os.environ["HOME"], ".local/state/memsift/activity.jsonl")
    put(log, "")
    log.chmod(0o644)


GONE = 'roots = ["/gone"]'
FAULTS: dict[str, tuple[Callable[[Path], object], str, str, str]] = {
    "a comment": (lambda it: put(it / ".claude/settings.json", "{\n //\n}"), "client settings", "problem", "line 2"),
    "a wrong value": (lambda it: of_root(it, max_inject="many"), "settings", "problem", "max_inject"),
    "a key that needs trust": (lambda it: of_root(it, deadline=20), "trust", "note", "memsift trust"),
    "settings that changed": (changed_since_trust, "trust", "note", "not trusted any more (its settings changed)"),
    "a broken file": (lambda it: put(it / ".claude/memory/decisions/a.json", "{"), "index", "note", "1 file skipped"),
    "a root that is gone": (lambda _: put(Path(config_file(os.environ)), GONE), "roots", "problem", "/gone"),
    "an open log": (open_log, "files", "note", "chmod -R go="),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_its_mending_named(project: Path, name: str) -> None:
    break_it, check, status, text = FAULTS[name]
    break_it(project)
    rows = [row for row in found()[check] if row["status"] == status]
    assert [text in f"{row['text']} -> {row['fix']}" for row in rows] == [True]


def test_transcripts_are_counted_and_a_label_store_that_cannot_be_opened_is_a_problem(
    project: Path, tmp_path: Path
) -> None:
    checks, folder = found(), Path(transcripts_dir(str(project), os.environ))
    assert (checks["transcripts"][0]["status"], checks["labels"][0]["status"]) == ("note", "note")
    folder.mkdir(parents=True)
    (folder / "one.jsonl").touch()
    store = tmp_path / "labels.db"
    store.write_bytes(b"this is no database, " * 100)
    checks = found(MEMSIFT_DB=str(store))
    assert (checks["transcripts"][0]["status"], checks["labels"][0]["status"]) == ("ok", "problem")
    assert checks["transcripts"][0]["text"] == f"1 transcript in {folder}"


ANSWERS = {
    "takes the key": (Reply(b'{"data": []}'), "ok", "answers and takes the key"),
    "refuses the key": (failed(401, f"bad key {KEY}"), "problem", "refuses the key"),
    "out of order": (failed(503), "problem", "out of order"),
    "another server": (failed(404), "note", "lists no models"),
}


def test_the_judge_is_asked_for_its_models_and_no_key_is_shown() -> None:
    for provider, (reply, status, text) in product(("anthropic-http", "anthropic", "openai"), ANSWERS.values()):
        with ApiServer(lambda _, reply=reply: reply) as server:
            keys = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
            places = {"ANTHROPIC_BASE_URL": server.url, "OPENAI_BASE_URL": f"{server.url}/v1"}
            found_one = judge.finding(JudgeConfig(enabled=True, provider=provider, model="m"), {**keys, **places})
            (request,) = server.requests
        assert (found_one.status, text in found_one.text, KEY in repr(found_one)) == (status, True, False), found_one
        assert (request.path, request.raw, KEY in "".join(request.headers.values())) == ("/v1/models", b"", True)


@pytest.mark.usefixtures("project")
def test_no_memory_is_sent_to_the_judge_and_one_without_a_key_or_a_server_is_a_problem() -> None:
    judged = {"MEMSIFT_JUDGE_ENABLED": "true", "ANTHROPIC_API_KEY": KEY}
    with ApiServer(lambda _: ANSWERS["takes the key"][0]) as server:
        assert "injected" in found(0, **judged, ANTHROPIC_BASE_URL=server.url)["test prompt"][0]["text"]
        assert [request.path for request in server.requests] == ["/v1/models"]
    assert "ANTHROPIC_API_KEY" in problems("judge", MEMSIFT_JUDGE_ENABLED="true")
    told = problems("judge", **judged, ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    assert ("No connection to http://127.0.0.1" in told, KEY in told) == (True, False)
    (row,) = found(MEMSIFT_JUDGE_ENABLED="true", MEMSIFT_JUDGE="claude-cli")["judge"]
    assert (row["status"], "the hook never asks it" in row["text"]) == ("note", True)
