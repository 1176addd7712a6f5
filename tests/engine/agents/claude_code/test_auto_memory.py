"""The folder of a project's auto memory, as the real client names it in folders, worktrees and submodules."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.agents.claude_code.auto_memory import VARIABLE
from engine.paths import project_slug
from engine.settings.roots import find_roots
from engine.settings.trust import trust
from tests.engine.builders import put

GIT = ["git", "-c", "user.email=a@b", "-c", "user.name=n", "-c", "protocol.file.allow=always"]
PLACES = {
    "main": "main",
    "main/packages/api": "main",
    "worktree": "main",
    "worktree/below": "main",
    "main/vendor/lib": "main/vendor/lib",
    "main/vendor/lib/deep": "main/vendor/lib",
    "worktree-of-lib": "main/.git/modules/vendor/lib",
    "bare-worktree": "bare.git",
    "hub": "hub",
    "hub/feature": "hub/.bare",
    "apart/x": "apart",
    "link": "main",
    "main/inner/y": "main/inner",
    "main/.git": "main",
    "plain/deep": "plain/deep",
    "empty/z": "empty",
    "garbage": "garbage",
    "stranger": "stranger",
}
"""Where the client is started -> the folder whose name its auto memory has. All were seen with client 2.1.330."""


def git(folder: Path, *words: str) -> None:
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([*GIT, *words], cwd=folder, env=environ, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return folder


def plant_repositories(world: Path) -> None:
    """Repositories of every shape, made by git itself, for the keys of PLACES."""
    main, lib = repository(world / "main"), repository(world / "lib")
    git(main, "worktree", "add", "-q", str(world / "worktree"))
    git(main, "submodule", "add", "-q", str(lib), "vendor/lib")
    git(main / "vendor/lib", "worktree", "add", "-q", str(world / "worktree-of-lib"))
    git(world, "clone", "-q", "--bare", str(main), "bare.git")
    git(world / "bare.git", "worktree", "add", "-q", str(world / "bare-worktree"))
    (world / "hub").mkdir()
    git(world, "clone", "-q", "--bare", str(main), "hub/.bare")
    (world / "hub/.git").write_text("gitdir: ./.bare\n", "utf-8")
    git(world / "hub", "worktree", "add", "-q", str(world / "hub/feature"))
    (world / "apart").mkdir()
    git(world / "apart", "init", "-q", "--separate-git-dir", str(world / "elsewhere"))
    repository(main / "inner")
    (main / "packages").mkdir()
    (world / "link").symlink_to(main / "packages")
    for place in PLACES:
        (world / place).mkdir(parents=True, exist_ok=True)
    (world / "empty/.git").mkdir()
    (world / "garbage/.git").write_text("hello\n", "utf-8")
    (world / "stranger/.git").write_text(f"gitdir: {main}/.git/worktrees/worktree\n", "utf-8")


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = tmp_path_factory.mktemp("repositories")
    plant_repositories(world)
    return world


def test_it_is_named_by_the_main_tree_of_the_repository(repositories: Path) -> None:
    """A `.git` file that leads to another's repository, which does not know of it, names nothing."""
    for place in PLACES:
        start = (repositories / place).resolve()
        slug = project_slug(str((repositories / PLACES[place]).resolve()))
        found = find_roots(str(start), {"HOME": "/home/me"}).auto_memory.folder
        assert found == f"/home/me/.claude/projects/{slug}/memory", place


def test_a_git_file_that_never_ends_is_no_repository(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert find_roots(str(tmp_path), {"HOME": "/h"}).auto_memory.folder.endswith("/memory")


class Client:
    """A project in a repository, with a package and a worktree, and the settings of its user."""

    def __init__(self, folder: Path) -> None:
        self.home, self.main, self.worktree = folder / "user", repository(folder / "main"), folder / "worktree"
        git(self.main, "worktree", "add", "-q", str(self.worktree))
        self.package = self.main / "packages/api"
        for one in (self.home, self.package):
            one.mkdir(parents=True)
        self.environ = {"HOME": str(self.home)}
        self.usual = self.home / ".claude/projects" / project_slug(str(self.main)) / "memory"

    def set(self, folder: Path, name: str = "settings.json", **settings: Any) -> None:
        put(folder / ".claude" / name, json.dumps(settings))

    def names(self, folder: Path, **environ: str) -> str:
        """The folder of the auto memory for a client in *folder*."""
        return find_roots(str(folder), {**self.environ, **environ}).auto_memory.folder


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path.resolve())


def test_the_strongest_settings_file_names_the_folder(client: Client) -> None:
    """The user's, the project's and its local ones where the client starts, and the local ones of the main tree."""
    client.set(client.home, autoMemoryDirectory="~/user/")
    assert client.names(client.main) == client.names(client.worktree) == f"{client.home}/user"
    for name in ("project", "of-worktree", "of-main"):
        (client.home / name).mkdir()
        trust(str(client.home / name), client.environ)
    client.set(client.main, autoMemoryDirectory=f"{client.home}/x/../project")
    assert client.names(client.main) == f"{client.home}/project"
    assert client.names(client.package) == f"{client.home}/user"
    client.set(client.worktree, "settings.local.json", autoMemoryDirectory="~/of-worktree")
    assert client.names(client.worktree) == f"{client.home}/of-worktree"
    client.set(client.main, "settings.local.json", autoMemoryDirectory="~/of-main")
    assert {client.names(one) for one in (client.main, client.package, client.worktree)} == {f"{client.home}/of-main"}


@pytest.mark.parametrize("value", ["relative/x", "~", "~/..", "/", "", 3, None])
def test_a_folder_that_the_client_ignores_is_ignored(client: Client, value: object) -> None:
    client.set(client.home, autoMemoryDirectory=value)
    assert client.names(client.main) == str(client.usual)
    (client.home / ".claude/settings.json").write_text('{"autoMemoryDirectory": "/x", }', "utf-8")
    assert client.names(client.main) == str(client.usual)


def test_it_can_be_switched_off(client: Client) -> None:
    """A project may only switch it off. The variable is stronger than all files."""
    client.set(client.main, autoMemoryEnabled=False)
    assert (client.names(client.main), client.names(client.package)) == ("", str(client.usual))
    assert client.names(client.main, **{VARIABLE: "0"}) == str(client.usual)
    client.set(client.home, autoMemoryEnabled=False)
    client.set(client.main, autoMemoryEnabled=True)
    assert client.names(client.main) == client.names(client.package) == ""
    client.set(client.home)
    assert client.names(client.package, **{VARIABLE: "true"}) == ""
    found = find_roots(str(client.main), {**client.environ, VARIABLE: "1"})
    assert (found.roots, found.auto_memory.said_by) == ((), VARIABLE)


def test_a_variable_names_the_projects_folder_and_the_user_that_of_another_user(client: Client, tmp_path: Path) -> None:
    named = {"CLAUDE_CODE_PROJECT_DIR_NAME": "my-proj_1"}
    assert client.names(client.main, **named) == str(client.usual)
    assert client.names(client.main, CLAUDE_CONFIG_DIR="/c", **named) == "/c/projects/my-proj_1/memory"
    for odd in ("../x", "a b", "x" * 65, ""):
        found = client.names(client.main, CLAUDE_CONFIG_DIR="/c", CLAUDE_CODE_PROJECT_DIR_NAME=odd)
        assert found == f"/c/projects/{client.usual.parent.name}/memory"
    shared = tmp_path / "shared"
    shared.mkdir()
    client.set(client.home, autoMemoryDirectory=str(shared))
    assert find_roots(str(client.main), client.environ, users={4242}).roots == (str(shared.resolve()),)


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_folder_that_a_project_names_counts_once_it_is_trusted(client: Client, name: str) -> None:
    notes = client.home / "notes"
    for folder in (notes, client.usual):
        folder.mkdir(parents=True)
    client.set(client.main, name, autoMemoryDirectory="~/notes")
    found = find_roots(str(client.main), client.environ)
    assert found.roots == (str(client.usual),)
    (refused,) = found.refused
    file = client.main / ".claude" / name
    assert refused.text == f"{notes} is not used: {file} names it as autoMemoryDirectory, and you have not trusted it."
    assert refused.remedy == f"To allow: memsift trust {notes}"
    trust(str(notes), client.environ)
    found = find_roots(str(client.main), client.environ)
    assert (found.roots, found.refused, found.auto_memory.said_by) == ((str(notes),), (), str(file))


def test_a_worktree_finds_the_memories_that_git_ignores_in_the_main_tree(client: Client) -> None:
    """At each place its own folder comes first. A worktree that the repository does not know finds nothing there."""
    top, package = client.main / ".claude/memory", client.package / ".claude/memory"
    for folder in (top, package, client.worktree / "packages/api/src"):
        folder.mkdir(parents=True)
    start = str(client.worktree / "packages/api/src")
    assert find_roots(start, client.environ).roots == (str(package), str(top))
    own = client.worktree / ".claude/memory"
    own.mkdir(parents=True)
    assert find_roots(start, client.environ).roots == (str(package), str(own))
    assert find_roots(str(client.main), client.environ).roots == (str(top),)
    (client.main / ".git/worktrees/worktree/gitdir").write_text("/elsewhere/.git\n", "utf-8")
    assert find_roots(start, client.environ).roots == (str(own),)


def test_the_hook_asks_for_the_folder_in_which_the_client_was_started(client: Client) -> None:
    """The project's settings count there, whatever folder the model went to since."""
    client.usual.mkdir(parents=True)
    client.set(client.main, autoMemoryEnabled=False)
    assert find_roots(str(client.package), client.environ).roots == (str(client.usual),)
    assert find_roots(str(client.package), client.environ, str(client.main)).roots == ()
