"""After memsift was moved or upgraded, commands offer `memsift install` for hooks that start nothing any more.

A hook of the person whose command only contains memsift's path is never taken for memsift's.
"""

import json
import os
from pathlib import Path

import pytest

from engine.agents.agent import USER
from engine.agents.hook_entry import PACKAGES, is_ours, launcher
from engine.agents.registry import NAMES, agent_of
from engine.paths import hook_start_file
from tests.tui.cli.command_line import memsift, refused
from tests.tui.cli.setup.test_install_agents import is_installed, path_of, project
from tests.tui.demo import DEMO_ROOT

__all__ = ["project"]
pytestmark = pytest.mark.usefixtures("project")
SEARCH = ("search", "job queue", "--root", DEMO_ROOT)
OLD, NEW = "/gone/lib/site-packages", "/gone/lib/site-packages/memsift"
OURS = (
    "/usr/bin/python3 -I -S /x/site-packages/engine/hook/launch.py",
    "out=$(/usr/bin/python3 -I -S /x/site-packages/memsift/engine/hook/launch.py --agent codex) && printf %s; exit 0",
    """out=$('/it'"'"'s/python' -I -S '/My "own" Dir/it'"'"'s/engine/hook/launch.py') && printf %s "$out"; exit 0""",
    "python3 -I -S engine/hook/launch.py",
    "memsift-hook --agent gemini",
    "/home/me/.local/bin/memsift-hook",
    '"${CLAUDE_PLUGIN_ROOT}/hooks/memsift-hook.sh"',
)
NOT_OURS = (
    "echo engine/hook/launch.py.bak",
    "echo /x/site-packages/engine/hook/launch.py",
    "python3 -I -S /x/engine/hook/launch.py.bak",
    "python3 -I -S /x/engine/hook/launch.py/mine.py",
    "python3 -I -S /x/my-engine/hook/launch.py",
    "python3 -S '/x/engine/hook/launch.py my own'",
    "/x/memsift-hook.bak",
    "/x/memsift-hook/mine.sh",
    "/x/my-memsift-hook",
    "python3 -S 'a text that never ends",
)


def install_all(*places: str) -> None:
    """Install memsift for each agent, then put each of *places* in the place of its folder."""
    for name, place in zip(NAMES, places, strict=True):
        assert memsift("install", "--agent", name).exit_code == 0
        path = path_of(agent_of(name), USER)
        path.write_text(path.read_text("utf-8").replace(PACKAGES, place), "utf-8")


def test_a_command_is_memsifts_only_if_it_starts_it() -> None:
    assert [command for command in OURS if not is_ours(command)] == []
    assert [command for command in NOT_OURS if is_ours(command)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_hook_whose_command_only_contains_memsifts_path_stays(name: str) -> None:
    agent = agent_of(name)
    path = path_of(agent)
    entries = [{**agent.hook.entry, agent.hook.command_key: command} for command in NOT_OURS]
    if agent.hook.text:
        path.write_text(before := f"// {entries}", "utf-8")
        assert str(path) in refused(memsift("install", "--agent", name))
    else:
        items = [{"hooks": [entry]} if agent.hook.is_grouped else entry for entry in entries]
        path.write_text(before := json.dumps({**agent.hook.around, "hooks": {agent.hook.event: items}}), "utf-8")
        assert memsift("install", "--agent", name).exit_code == 0
        assert all(json.dumps(command)[1:-1] in path.read_text("utf-8") for command in NOT_OURS)
        assert is_installed(agent)
    memsift("uninstall", "--agent", name)
    assert path.read_text("utf-8") == before


def test_a_command_offers_to_install_hooks_again_that_start_nothing() -> None:
    install_all(OLD, NEW, PACKAGES, OLD, NEW, OLD)
    done = memsift(*SEARCH)
    assert done.exit_code == 0
    (told,) = [line for line in done.stderr.splitlines() if "memsift install" in line]
    assert told.startswith("memsift: Claude Code, Codex, Qwen Code, Copilot CLI and opencode get no memories: ")
    assert f"{OLD}/engine/hook/launch.py in the settings is gone" in told
    names = ("claude", "codex", "qwen", "copilot", "opencode")
    assert told.endswith(f"Run memsift install {' '.join(f'--agent {name}' for name in names)}.")
    found = json.loads(memsift("doctor", "--format", "json").stdout)
    gone = [row["text"] for row in found if row["status"] == "problem" and row["text"].endswith("which is gone")]
    assert len(gone) == len(names)
    for name in names:
        memsift("install", "--agent", name)
    assert "memsift install" not in memsift(*SEARCH).stderr
    assert all(is_installed(agent_of(name)) for name in NAMES)


def test_a_plugin_whose_folder_is_gone_is_offered_again_and_a_shared_command_finds_the_new_place() -> None:
    memsift("install", "--plugin")
    path = path_of(agent_of("claude"))
    assert "memsift install" not in memsift(*SEARCH).stderr
    path.write_text(path.read_text("utf-8").replace(PACKAGES, OLD), "utf-8")
    assert "Run memsift install --plugin." in memsift(*SEARCH).stderr
    memsift("install", "--plugin")
    assert "memsift install" not in memsift(*SEARCH).stderr
    start = Path(hook_start_file(os.environ))
    memsift("install", "--project")
    for content in (f"/usr/bin/python3\n{OLD}/engine/hook/launch.py\n", "", "\n\n\n"):
        start.write_text(content, "utf-8")
        assert memsift(*SEARCH).exit_code == 0
        assert content == "" or start.read_text("utf-8").splitlines()[1] == launcher()
    start.unlink()
    memsift(*SEARCH)
    assert not start.exists()
