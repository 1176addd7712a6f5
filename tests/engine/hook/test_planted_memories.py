"""The hook as a process, in places where somebody else planted memories: nothing of them reaches the prompt."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.paths import state_home
from tests.engine.builders import memory, put, write_root
from tests.engine.faults.answers import eventually
from tests.engine.hook.world import FORMS, PROJECT, SCRIPT, Prompted, World

STRANGER = 4242
BAIT = [memory(f"cache rule {number} of a stranger", "cache") for number in range(3)]
needs_chown = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")


def plant(folder: Path) -> Path:
    return write_root(folder / ".claude/memory", BAIT)


def given_away(folder: Path) -> None:
    """Give a folder, and everything in it, to another user."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, STRANGER, -1)


def sent(world: World, folder: Path, session_id: str = "session-1") -> tuple[str, str]:
    """The context and stderr of the hook's own process for a prompt typed in *folder*."""
    done = Prompted(world, cwd=str(folder), session_id=session_id)
    return done.context, "\n".join(done.stderr)


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
def test_memories_planted_in_a_parent_folder_are_refused_and_logged(world: World) -> None:
    """As in a folder that all may write to, such as /tmp."""
    project = world.folder / "shared/mine"
    project.mkdir(parents=True)
    planted = plant(project.parent)
    place = project.parent / ".claude"
    given_away(place)
    context, stderr = sent(world, project)
    reason = f"{planted} is not used: {place} belongs to another user (number {STRANGER})."
    assert (context, stderr) == ("", f"memsift-hook: {reason}")
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


def test_a_folder_that_a_cloned_project_names_is_refused_with_dots_in_its_name(world: World) -> None:
    """Neither its own memories nor the user's notes elsewhere come into a prompt by its settings."""
    shutil.rmtree(world.root)
    named = write_root(world.home / "notes", BAIT)
    (world.project / ".claude/settings.json").write_text('{"autoMemoryDirectory": "~/notes"}', "utf-8")
    context, stderr = sent(world, world.project)
    assert (context, f"memsift-hook: {named} is not used: " in stderr) == ("", True)
    assert "you have not trusted it" in lines_of_no_root(world)[0]["refused"][0]
    named = write_root(world.folder / "a\x1b[2Jb\u202e/memory", BAIT)
    (world.project / ".claude/settings.json").write_text(json.dumps({"autoMemoryDirectory": str(named)}), "utf-8")
    _, stderr = sent(world, world.project)
    assert "/a·[2Jb·/memory is not used" in stderr


def test_memories_beside_a_transcript_out_of_its_place_are_refused(world: World) -> None:
    shutil.rmtree(world.root)
    write_root(world.folder / "memory", BAIT)
    assert sent(world, world.project) == ("", "")


def test_a_git_file_that_leads_to_another_repository_brings_none_of_its_memories(world: World) -> None:
    """A worktree and its repository name each other: a clone can write only one of the two."""
    (world.project / ".git/worktrees/w").mkdir(parents=True)
    (world.project / ".git/worktrees/w/commondir").write_text("../..\n", "utf-8")
    (world.project / ".git/worktrees/w/gitdir").write_text(f"{world.folder}/own/.git\n", "utf-8")
    for name in ("own", "clone"):
        (world.folder / name).mkdir()
        (world.folder / name / ".git").write_text(f"gitdir: {world.project}/.git/worktrees/w\n", "utf-8")
    assert "cache rule" in sent(world, world.folder / "own", session_id="own")[0]
    assert sent(world, world.folder / "clone", session_id="clone") == ("", "")


def test_modules_planted_in_a_project_are_not_run(world: World) -> None:
    """Neither by the hook, in both of its forms, nor by the process that it starts for the index."""
    marker = world.folder / "ran"
    for name in ("json.py", "_json.py", "_sqlite3.py", "unicodedata.py", "sitecustomize.py", "engine/__init__.py"):
        path = world.project / name
        put(path, f"open({str(marker)!r}, 'w')\nraise SystemExit\n")
    payload = json.dumps(world.payload()).encode()
    environ = {**world.environ, "PATH": os.environ["PATH"], "PYTHONPATH": ""}
    for command in (FORMS["launcher"], *([str(SCRIPT)] for _ in range(SCRIPT.exists()))):
        done = subprocess.run(command, input=payload, capture_output=True, cwd=world.project, env=environ, check=True)
        assert done.stderr == b""
    index = world.folder / "other.db"
    code = f"import sys; sys.path.insert(0, {str(PROJECT)!r}); from engine.opening import start_update; "
    code += f"start_update({str(index)!r}, {str(world.root)!r})"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=world.project, env=environ, check=True)
    eventually(index.exists)
    assert not marker.exists()
