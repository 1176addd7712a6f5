"""The plugin for Claude Code: its manifests, its skills, and its hook."""

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

from engine import __version__
from engine.agents.claude_code.agent import AGENT
from engine.agents.hook_entry import shared_entry
from engine.agents.installation import MARKETPLACE, PLUGIN, PLUGIN_PLACE
from tests.engine.hook.world import PROJECT
from tests.tui.cli.command_line import memsift
from tui.cli import main
from tui.cli.declaring import Commands

FOLDER = Path(PLUGIN_PLACE)


def manifest(name: str) -> Any:
    return json.loads((FOLDER / name).read_text("utf-8"))


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
    called = [(word, rest) for word, rest in named if word in main.table]
    assert called
    for word, rest in called:
        group = main.get_command(click.Context(main), word)
        names = rest.split()[:1] if isinstance(group, Commands) else []
        options = memsift(word, *names, "--help").stdout
        if word == "config":
            assert memsift(word, *rest.split()).exit_code == 0
        assert [one for one in re.findall(r"--[a-z-]+", rest) if one not in options] == []


def test_the_plugin_runs_the_command_that_works_on_any_machine() -> None:
    (group,) = manifest("hooks/hooks.json")["hooks"]["UserPromptSubmit"]
    assert group == {"hooks": [shared_entry(AGENT)]}
