"""The folder of the auto memory that the real client names to the model is the one that memsift finds."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.paths import project_slug
from engine.settings.roots import find_roots
from engine.settings.trust import trust
from tests.engine.agents.claude_code.test_auto_memory import PLACES, Client, plant_repositories

Named = Callable[..., str]
pytestmark = [pytest.mark.long, pytest.mark.parametrize("version", ["2.1.330"])]


@pytest.fixture
def named(drive: Any) -> Named:
    """The folder that the client names when it is started in a folder, with the environment of its user."""
    return lambda folder, environ: str(drive(folder, environ, "what is where")["memory"])


def found(folder: Path, environ: dict[str, str]) -> str:
    return find_roots(str(folder), environ).auto_memory.folder


def test_in_folders_worktrees_and_submodules(tmp_path: Path, named: Named) -> None:
    plant_repositories(tmp_path)
    environ = {"HOME": str(tmp_path / "home"), "CLAUDE_CONFIG_DIR": str(tmp_path / "home/.claude")}
    long = tmp_path / ("l" * 120) / "日😀" / ("m" * 100)
    long.mkdir(parents=True)
    folders = {tmp_path / place for place in PLACES} | {long}
    assert {one: named(one, environ) for one in folders} == {one: found(one, environ) for one in folders}
    assert found(long, environ).endswith(f"/{project_slug(str(long.resolve()))}/memory")


def test_with_settings_and_variables(tmp_path: Path, named: Named) -> None:
    """Everything that a project names is trusted here. The client, asked once with -p, trusts every project."""
    world = Client(tmp_path.resolve())
    world.environ["CLAUDE_CONFIG_DIR"] = str(world.home / ".claude")
    for name in ("user", "project", "of-worktree", "of-main"):
        (world.home / name).mkdir()
        trust(str(world.home / name), world.environ)

    def same(**environ: str) -> str:
        """The folders of the three places, which client and memsift must name alike."""
        given = {**world.environ, **environ}
        folders = [found(one, given) for one in (world.main, world.package, world.worktree)]
        assert [named(one, given) for one in (world.main, world.package, world.worktree)] == folders
        return " ".join(os.path.relpath(one, world.home) if one else "off" for one in folders)

    usual = f".claude/projects/{world.usual.parent.name}/memory"
    assert same() == f"{usual} {usual} {usual}"
    assert same(CLAUDE_CODE_PROJECT_DIR_NAME="named") == " ".join([".claude/projects/named/memory"] * 3)
    for wrong in ("relative", "~", "~/../x", ""):
        world.set(world.home, autoMemoryDirectory=wrong)
        assert same() == f"{usual} {usual} {usual}"
    world.set(world.home, autoMemoryDirectory="~/user")
    world.set(world.main, autoMemoryDirectory="~/project")
    assert same() == "project user user"
    world.set(world.worktree, "settings.local.json", autoMemoryDirectory="~/of-worktree")
    assert same() == "project user of-worktree"
    world.set(world.main, "settings.local.json", autoMemoryDirectory="~/of-main")
    assert same() == "of-main of-main of-main"
    world.set(world.main, autoMemoryEnabled=False)
    assert same() == "off of-main of-main"
    assert same(CLAUDE_CODE_DISABLE_AUTO_MEMORY="0") == "of-main of-main of-main"
    assert same(CLAUDE_CODE_DISABLE_AUTO_MEMORY="1") == "off off off"
    world.set(world.main, "settings.local.json", autoMemoryEnabled=False)
    assert same() == "off off off"
