"""The plugin for Claude Code: its manifests, its skills, and a launcher that never blocks a prompt."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine import __version__
from engine.claude_code.installation import MARKETPLACE, PLUGIN, plugin_folder
from engine.paths import hook_start_file
from tests.engine.hook.world import LAUNCHER, PROJECT, World, context_of
from tests.tui.cli.command_line import memsift
from tui.cli import COMMANDS

FOLDER = Path(plugin_folder())
SHELLS = [shell for shell in ("/bin/sh", "/bin/bash", "/bin/dash") if Path(shell).exists()]


def manifest(name: str) -> Any:
    return json.loads((FOLDER / name).read_text("utf-8"))


def command(folder: Path = FOLDER) -> str:
    """The hook's command as the client runs it: with the plugin's folder in place of the placeholder."""
    (group,) = manifest("hooks/hooks.json")["hooks"]["UserPromptSubmit"]
    (entry,) = group["hooks"]
    return str(entry["command"]).replace("${CLAUDE_PLUGIN_ROOT}", str(folder))


def run(world: World, given: str, shell: str = "/bin/sh", **environ: str) -> str:
    """The stdout of a command on a prompt. It must exit with 0."""
    payload = json.dumps(world.payload(session_id=os.urandom(4).hex()))
    where = {"PATH": "/usr/bin:/bin", **world.environ, **environ}
    done = subprocess.run([shell, "-c", given], input=payload, env=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    return done.stdout


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def record(world: World, python: str, launcher: str) -> None:
    path = Path(hook_start_file(world.environ))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{python}\n{launcher}\n", encoding="utf-8")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_manifests_name_this_version_and_each_other() -> None:
    plugin, marketplace = manifest(".claude-plugin/plugin.json"), manifest(".claude-plugin/marketplace.json")
    assert plugin["version"] == __version__
    (listed,) = marketplace["plugins"]
    assert f"{listed['name']}@{marketplace['name']}" == PLUGIN == f"{plugin['name']}@{MARKETPLACE}"
    assert (FOLDER / listed["source"]).resolve() == FOLDER.resolve()
    of_checkout = json.loads((PROJECT / ".claude-plugin/marketplace.json").read_text("utf-8"))
    assert (PROJECT / of_checkout["plugins"][0].pop("source")).resolve() == FOLDER.resolve()
    del listed["source"]
    assert of_checkout == marketplace


@pytest.mark.parametrize("name", sorted(path.parent.name for path in FOLDER.glob("skills/*/SKILL.md")))
def test_a_skill_runs_only_commands_and_options_that_exist(name: str) -> None:
    text = (FOLDER / f"skills/{name}/SKILL.md").read_text("utf-8")
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    assert f"name: {name}\n" in head
    named = re.findall(r"memsift ([a-z-]+)((?: [^`\n]+)?)", body)
    called = [(word, rest) for word, rest in named if word in COMMANDS]
    assert called
    for word, rest in called:
        options = memsift(word, "--help").stdout
        if word == "config":
            assert memsift(word, *rest.split()).exit_code == 0
        assert [one for one in re.findall(r"--[a-z-]+", rest) if one not in options] == []


@pytest.mark.parametrize("shell", SHELLS)
def test_the_launcher_starts_the_hook_that_was_recorded(world: World, shell: str) -> None:
    record(world, os.path.realpath("/proc/self/exe"), str(LAUNCHER))
    assert context_of(run(world, command(), shell)).count("<result ") == 3


def test_without_a_record_it_takes_the_script_of_the_path_or_of_pipx(world: World) -> None:
    on_path, of_pipx = world.folder / "bin dir", world.home / ".local/bin"
    script(of_pipx / "memsift-hook", "cat >/dev/null; echo from pipx")
    assert run(world, command()) == "from pipx"
    script(on_path / "memsift-hook", "cat >/dev/null; echo from the path")
    assert run(world, command(), PATH=f"{on_path}:/usr/bin:/bin") == "from the path"
    record(world, "/gone/python", str(LAUNCHER))
    assert run(world, command()) == "from pipx"


SILENT = {
    "nothing is installed": lambda _: None,
    "the record is cut": lambda world: record(world, "/usr/bin/pyth", ""),
    "the recorded interpreter fails": lambda world: record(
        world, str(script(world.folder / "python", "printf '{\"hook'; exit 2")), str(LAUNCHER)
    ),
    "the script fails": lambda world: script(world.home / ".local/bin/memsift-hook", "printf '{'; kill -KILL $$"),
    "the record is a folder": lambda world: Path(hook_start_file(world.environ)).mkdir(parents=True),
}


@pytest.mark.parametrize("name", SILENT)
def test_the_launcher_is_silent_where_there_is_no_hook(world: World, name: str) -> None:
    SILENT[name](world)
    assert run(world, command()) == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_a_plugin_whose_folder_is_gone_does_not_block_the_prompt(world: World, shell: str) -> None:
    assert run(world, command(world.folder / "gone"), shell) == ""
