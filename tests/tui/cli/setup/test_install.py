"""`memsift install --print` prints a command that a shell can run unchanged."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.agents.hook_entry import bare_interpreter
from engine.config import CONFIG_FILE
from engine.opening import hook_index
from engine.paths import config_file
from tests.engine.hook.world import World, context_of
from tests.tui.cli.command_line import memsift, printed, refused


def printed_entry(environ: dict[str, str]) -> dict[str, Any]:
    (group,) = printed(memsift("install", "--print", **environ))["hooks"]["UserPromptSubmit"]
    (entry,) = group["hooks"]
    assert isinstance(entry, dict)
    return entry


@pytest.mark.usefixtures("no_cutoff")
def test_the_printed_command_is_the_hook(tmp_path: Path) -> None:
    entry = printed_entry({})
    assert (entry["type"], entry["timeout"]) == ("command", 5)
    world = World(tmp_path)
    payload = json.dumps(world.payload()).encode()
    answer = subprocess.run(["/bin/sh", "-c", entry["command"]], input=payload, capture_output=True, check=True)
    assert context_of(answer.stdout.decode()).count("<result ") == 3


@pytest.mark.usefixtures("no_cutoff")
def test_the_first_prompt_after_install_finds_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more memories than a prompt could wait for, in the project's root and in the user's."""
    world = World(tmp_path)
    monkeypatch.chdir(world.project)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "one.md").write_text("# The treasure of zanzibar\n\nIt lies deep.\n", encoding="utf-8")
    settings = Path(config_file(os.environ))
    settings.parent.mkdir(parents=True)
    settings.write_text(f'roots = ["{notes}"]\n', encoding="utf-8")
    assert memsift("install").exit_code == 0
    for root in (world.root, notes):
        index = hook_index(str(root), os.environ, 0.0)
        assert index
        assert len(index) > 0
        index.close()


TIMEOUTS = (
    ({"MEMSIFT_DEADLINE": "0.05"}, 5),
    ({"MEMSIFT_DEADLINE": "2.1"}, 6),
    ({"MEMSIFT_JUDGE_TIMEOUT": "60"}, 5),
    ({"MEMSIFT_JUDGE_ENABLED": "true"}, 8),
    ({"MEMSIFT_JUDGE_ENABLED": "true", "MEMSIFT_JUDGE_TIMEOUT": "10.2"}, 16),
    ({"MEMSIFT_JUDGE_ENABLED": "true", "MEMSIFT_JUDGE_TIMEOUT": "60", "MEMSIFT_DEADLINE": "60"}, 123),
)


def test_the_timeout_leaves_three_seconds_after_the_deadlines_of_settings_that_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for environ, timeout in TIMEOUTS:
        assert printed_entry(environ)["timeout"] == timeout
    world = World(tmp_path)
    monkeypatch.chdir(world.project)
    (world.root / CONFIG_FILE).write_text(json.dumps({"retrieval": {"deadline": 20}}), encoding="utf-8")
    assert printed_entry({})["timeout"] == 5
    assert "memsift trust" in memsift("install", "--print").stderr
    assert memsift("trust").exit_code == 0
    assert printed_entry({})["timeout"] == 23
    assert "MEMSIFT_DEADLINE" in refused(memsift("install", "--print", MEMSIFT_DEADLINE="soon"))


def test_the_interpreter_is_this_one_without_its_environment() -> None:
    code = "import sys; print(sys.version_info[:3], sys.prefix == sys.base_prefix)"
    done = subprocess.run([bare_interpreter(), "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{sys.version_info[:3]} True"
