"""The hook as a process, in places where somebody else planted memories: nothing of them reaches the prompt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from engine.paths import state_home
from tests.engine.builders import memory, write_root
from tests.engine.faults.mounts import small_disk
from tests.engine.hook.world import FORMS, PROJECT, RULES, SCRIPT, World, context_of

STRANGER = 4242
BAIT = [memory(f"cache rule {number} of a stranger", "cache") for number in range(3)]
needs_chown = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A world whose own memories are in `world.project`; strangers plant theirs elsewhere."""
    return World(tmp_path)


def plant(folder: Path) -> Path:
    return write_root(folder / ".claude/memory", BAIT)


def given_away(folder: Path) -> None:
    """Give a folder, and everything in it, to another user."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, STRANGER, -1)


def sent(world: World, folder: Path, **changes: object) -> tuple[str, str]:
    """The context and stderr of the hook's own process for a prompt typed in *folder*."""
    payload = json.dumps(world.payload(cwd=str(folder), **changes)).encode()
    done = world.start(FORMS["launcher"], payload)
    assert done.returncode == 0
    return context_of(done.stdout.decode()) if done.stdout else "", done.stderr.decode()


def lines_of_no_root(world: World) -> list[dict[str, Any]]:
    path = Path(state_home(world.environ)) / "activity.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def test_the_bait_would_be_taken_in_a_folder_of_ones_own(world: World) -> None:
    """The other tests cannot pass only because the bait is never found."""
    plant(world.folder)
    project = world.folder / "other/src"
    project.mkdir(parents=True)
    assert "of a stranger" in sent(world, project)[0]


@needs_chown
@pytest.mark.parametrize("is_shared", [False, True], ids=["parent", "shared like /tmp"])
def test_memories_planted_in_a_parent_folder_are_refused_and_logged(world: World, is_shared: bool) -> None:
    project = world.folder / "shared/mine"
    project.mkdir(parents=True)
    planted = plant(project.parent)
    given_away(project.parent / ".claude" if is_shared else project.parent)
    os.chown(project, os.geteuid(), -1)
    if is_shared:
        project.parent.chmod(0o1777)
    context, stderr = sent(world, project)
    place = project.parent / ".claude" if is_shared else project.parent
    reason = f"{planted} is not used: {place} belongs to another user (number {STRANGER})."
    assert (context, stderr) == ("", f"memsift-hook: {reason}\n")
    (line,) = lines_of_no_root(world)
    assert (line["refused"], line["reason"], line["injected"]) == ([reason], "no folder of memories was taken", [])
    assert (line["session_id"], "prompt" in line) == ("session-1", False)


@needs_chown
def test_the_search_goes_on_to_ones_own_memories_and_their_log_names_the_refused(world: World) -> None:
    inner = world.project / "vendor"
    given_away(plant(inner).parent)
    context, _ = sent(world, inner)
    assert "cache rule" in context
    assert "of a stranger" not in context
    (line,) = world.log()
    assert line["refused"][0].startswith(f"{inner}/.claude/memory is not used: ")
    assert "reason" not in line
    assert lines_of_no_root(world) == []


@needs_chown
def test_auto_memory_of_another_user_is_refused(world: World) -> None:
    project = world.home / "project"
    project.mkdir()
    folder = world.home / ".claude/projects/p/memory"
    write_root(folder, BAIT)
    transcript = str(folder.with_name("session.jsonl"))
    assert "of a stranger" in sent(world, project, transcript_path=transcript, session_id="own")[0]
    given_away(folder)
    context, stderr = sent(world, project, transcript_path=transcript, session_id="foreign")
    assert (context, f"{folder} belongs to another user" in stderr) == ("", True)


@needs_chown
def test_a_link_into_a_folder_of_another_user_is_refused(world: World) -> None:
    target = write_root(world.folder / "elsewhere/memory", BAIT)
    given_away(target)
    project = world.home / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude/memory").symlink_to(target)
    context, stderr = sent(world, project)
    assert (context, "belongs to another user" in stderr) == ("", True)


def test_memories_beside_a_transcript_out_of_its_place_are_refused(world: World) -> None:
    write_root(world.folder / "memory", BAIT)
    project = world.home / "project"
    project.mkdir()
    context, stderr = sent(world, project)
    assert (context, "the transcript beside it is not in" in stderr) == ("", True)
    assert len(lines_of_no_root(world)) == 1


@pytest.mark.parametrize("place", ["above the repository", "above a worktree", "above home", "in home"])
def test_memories_beyond_the_end_of_the_search_are_not_looked_at(world: World, place: str) -> None:
    project = world.home / "work/project/src"
    project.mkdir(parents=True)
    if place == "above the repository":
        (project.parent / ".git").mkdir()
    if place == "above a worktree":
        (project.parent / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    plant({"above home": world.folder, "in home": world.home}.get(place, world.home / "work"))
    assert sent(world, project) == ("", "")
    assert lines_of_no_root(world) == []
    write_root(project.parent / ".claude/memory", RULES)
    assert "cache rule" in sent(world, project, session_id="top")[0]


def test_memories_beyond_a_mount_are_not_looked_at(world: World) -> None:
    plant(world.folder)
    with small_disk(world.folder / "disk") as disk:
        (disk / "project").mkdir()
        assert sent(world, disk / "project") == ("", "")
        write_root(disk / ".claude/memory", RULES)
        assert "cache rule" in sent(world, disk / "project", session_id="same")[0]


def test_a_name_that_could_command_a_terminal_is_shown_with_dots(world: World) -> None:
    write_root(world.folder / "a\x1b[2Jb\u202e/memory", BAIT)
    project = world.home / "project"
    project.mkdir()
    transcript = str(world.folder / "a\x1b[2Jb\u202e/t.jsonl")
    _, stderr = sent(world, project, transcript_path=transcript)
    assert "/a·[2Jb·/memory is not used" in stderr


def test_modules_planted_in_a_project_are_not_run(world: World) -> None:
    """Neither by the hook, in both of its forms, nor by the process that it starts for the index."""
    marker = world.folder / "ran"
    for name in ("json.py", "_json.py", "_sqlite3.py", "unicodedata.py", "sitecustomize.py", "engine/__init__.py"):
        path = world.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(marker)!r}, 'w')\nraise SystemExit\n", encoding="utf-8")
    payload = json.dumps(world.payload()).encode()
    environ = {**world.environ, "PATH": os.environ["PATH"], "PYTHONPATH": ""}
    for command in (FORMS["launcher"], *([str(SCRIPT)] for _ in range(SCRIPT.exists()))):
        done = subprocess.run(command, input=payload, capture_output=True, cwd=world.project, env=environ, check=True)
        assert done.stderr == b""
    index = world.folder / "other.db"
    code = f"import sys; sys.path.insert(0, {str(PROJECT)!r}); from engine.search.opening import start_update; "
    code += f"start_update({str(index)!r}, {str(world.root)!r})"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=world.project, env=environ, check=True)
    until = time.monotonic() + 20
    while not index.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert index.exists()
    assert not marker.exists()
