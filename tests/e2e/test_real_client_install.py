"""The real Claude Code client: what reaches the model after `install` and `uninstall`, and with a broken hook."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.agents.hook_entry import bare_interpreter
from tests.engine.hook.installation import Installation
from tests.engine.hook.world import LAUNCHER, PROJECT

pytestmark = [pytest.mark.long, pytest.mark.parametrize("version", ["2.1.330", "2.1.197"])]

SKILLS = ["memsift:memory-label", "memsift:memory-phrases", "memsift:memory-search"]
JUDGE = {"MEMSIFT_JUDGE_ENABLED": "true", "MEMSIFT_JUDGE": "anthropic-http", "MEMSIFT_JUDGE_TIMEOUT": "5"}


@pytest.fixture
def settings(installation: Installation) -> Path:
    """The user's settings, which hold a hook of another program already."""
    home = installation.world.home / ".claude"
    home.mkdir()
    installation.world.environ["CLAUDE_CONFIG_DIR"] = str(home)
    path = home / "settings.json"
    path.write_text('{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n', "utf-8")
    return path


@pytest.mark.slow
def test_a_hook_is_installed_upgraded_and_uninstalled(installation: Installation, settings: Path, reach: Any) -> None:
    before = settings.read_bytes()
    installation.memsift("install")
    reached = reach()
    assert (reached.exit, reached.requests, reached.memories, reached.judged) == (0, 1, 3, 0)
    installation.world.environ |= JUDGE
    reached = reach()
    assert (reached.requests, reached.memories, reached.judged) == (1, 1, 1)
    for name in JUDGE:
        del installation.world.environ[name]
    newer = installation.packages.with_name("newer")
    installation.packages.rename(newer)
    reached = reach()
    assert (reached.requests, reached.memories) == (1, 0)
    installation.packages = newer
    installation.memsift("install")
    assert reach().memories == 3
    installation.memsift("uninstall")
    assert settings.read_bytes() == before
    reached = reach()
    assert (reached.requests, reached.memories) == (1, 0)


def test_the_plugin_is_installed_moved_removed_and_uninstalled(
    installation: Installation, settings: Path, reach: Any
) -> None:
    before = settings.read_bytes()
    installation.memsift("install", "--plugin")
    reach()  # the older client loads a new plugin only at its second start
    reached = reach()
    assert (reached.exit, reached.requests, reached.memories, reached.skills) == (0, 1, 3, SKILLS)
    package = installation.package
    package.rename(package.with_name("gone"))
    reached = reach()
    assert (reached.exit, reached.requests, reached.memories) == (0, 1, 0)
    assert "ok from fake" in reached.said
    package.with_name("gone").rename(package)
    installation.memsift("install", "--plugin", "--project")
    reach()
    reached = reach()
    assert (reached.memories, reached.skills) == (3, SKILLS)
    installation.memsift("uninstall")
    installation.memsift("uninstall", "--project")
    assert settings.read_bytes() == before
    reached = reach()
    assert (reached.requests, reached.memories, reached.skills) == (1, 0, [])


@pytest.mark.parametrize("form", [(), ("--plugin",)], ids=["hook", "plugin"])
def test_of_a_persons_entry_and_the_teams_one_answers(
    installation: Installation, settings: Path, reach: Any, form: tuple[str, ...]
) -> None:
    before = settings.read_bytes()
    installation.memsift("install", *form)
    installation.memsift("install", "--project")
    shared = installation.world.project / ".claude/settings.json"
    committed = shared.read_bytes()
    reach()
    for _ in range(3):
        reached = reach()
        assert (reached.exit, reached.requests, reached.memories) == (0, 1, 3)
        assert reached.hook == ["hook_additional_context"]
    installation.memsift("uninstall")
    assert (settings.read_bytes(), shared.read_bytes()) == (before, committed)
    installation.memsift("install", "--project")  # records the start that uninstall forgot
    assert reach().memories == 3
    installation.remove(installation.package)
    reached = reach()
    assert (reached.exit, reached.requests, reached.memories, reached.hook) == (0, 1, 0, [])
    assert "ok from fake" in reached.said


def test_the_clients_own_commands_validate_and_install_the_plugin(
    installation: Installation, settings: Path, client: Path, reach: Any
) -> None:
    environ = {"PATH": "/usr/bin:/bin", **installation.world.environ}

    def claude(*arguments: str) -> str:
        command = [str(client), "plugin", *arguments]
        return subprocess.check_output(command, env=environ, stderr=subprocess.STDOUT, text=True)

    for folder in (PROJECT, PROJECT / "engine/plugin"):
        assert "Validation passed" in claude("validate", "--strict", str(folder))
    claude("marketplace", "add", str(PROJECT))
    claude("install", "memsift@memsift")
    script = installation.world.home / ".local/bin/memsift-hook"
    script.parent.mkdir(parents=True)
    start = f"exec '{bare_interpreter()}' -I -S '{LAUNCHER}'"
    script.write_text(f"#!/bin/sh\n{start}\n", encoding="utf-8")
    script.chmod(0o755)
    assert reach().memories == 3
    installation.memsift("uninstall")
    assert "memsift" not in settings.read_text("utf-8")


# The printed settings: a prompt always reaches the model, with memories or without


BROKEN = {
    "uninstalled": lambda it: it.remove(it.package),
    "moved": lambda it: it.packages.rename(it.packages.with_name("moved")),
    "launcher gone": lambda it: it.remove(it.launcher),
    "a module gone": lambda it: it.remove(it.package / "inject.py"),
    "interpreter gone": lambda it: it.remove(it.python),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_installation_lets_the_prompt_through_without_a_word(
    installation: Installation, ask: Any, name: str
) -> None:
    entry = installation.entry()
    BROKEN[name](installation)
    reached = ask(entry)
    assert (reached.exit, reached.requests, reached.memories, reached.hook) == (0, 1, 0, [])
    assert "ok from fake" in reached.said


def test_the_client_waits_for_the_memories_of_the_first_stage_where_the_judge_hangs(
    installation: Installation, ask: Any
) -> None:
    installation.world.environ |= {
        "MEMSIFT_JUDGE_ENABLED": "true",
        "MEMSIFT_JUDGE": "openai",
        "MEMSIFT_JUDGE_MODEL": "some",
        "MEMSIFT_JUDGE_TIMEOUT": "6",
    }
    entry = installation.entry()
    assert entry["timeout"] == 11
    reached = ask(entry)
    assert (reached.requests, reached.memories, reached.judged) == (1, 2, 1)
    assert reached.hook == ["hook_additional_context"]
