"""Eight hooks and two writers at once: each answer is that of a fresh build of some moment of the run."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from engine.opening import index_of, open_index
from engine.stores.roots import read_corpus
from tests.engine.builders import fillers, memory, write_memory
from tests.engine.faults.answers import everything, tries
from tests.engine.faults.moments import Asked, Moments
from tests.engine.faults.writer import CATEGORIES
from tests.engine.hook.world import ASK, FORMS, PROJECT, World, context_of

HOOKS, WRITERS = 8, 2
SECONDS = tries(20, 4)
HURRIED_S = 1.5
"""What takes a hook longer than this may have given up waiting: for SQLite 2 s, for another writer 6 s of its 60 s."""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A root in which a few memories never change and always match; the hooks have time."""
    made = World(tmp_path)
    for path in made.root.rglob("*.json"):
        path.unlink()
    for category in CATEGORIES.values():
        write_memory(made.root, memory(f"cache rule {category}", "cache", memory_id=f"z{category}", category=category))
    for one in fillers(30):
        write_memory(made.root, one)
    (made.root / "index.md").write_text("# Memory Index\n", "utf-8")
    made.environ["MEMSIFT_DEADLINE"] = "60"
    made.environ["MEMSIFT_MIN_STRENGTH"] = "0"
    (made.folder / "writing").mkdir()
    open_index(str(made.root), made.environ).close()  # no hook waits for another one that builds the first index
    return made


def contents(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*.json")}


def start_writer(world: World, seed: int) -> subprocess.Popen[bytes]:
    arguments = [str(world.root), str(world.folder / "writing"), str(seed), str(SECONDS)]
    command = [sys.executable, "-m", "tests.engine.faults.writer", *arguments]
    return subprocess.Popen(command, cwd=PROJECT, stderr=subprocess.PIPE)


def ask(world: World) -> Asked:
    began = time.monotonic()
    done = world.start(FORMS["launcher"], json.dumps(world.payload(session_id="")).encode())
    ended = time.monotonic()
    assert (done.returncode, done.stderr) == (0, b"")
    answer = done.stdout.decode("ascii")
    return Asked(context_of(answer) if answer else "", began, ended)


def ask_for_a_while(world: World) -> list[Asked]:
    until = time.monotonic() + SECONDS
    found = [ask(world)]
    while time.monotonic() < until:
        found.append(ask(world))
    return found


@pytest.mark.long
@pytest.mark.slow
def test_every_answer_is_that_of_a_fresh_build_of_some_moment(world: World) -> None:
    first = contents(world.root)
    writers = [start_writer(world, seed) for seed in range(WRITERS)]
    with ThreadPoolExecutor(HOOKS) as hooks:
        asked = [one for found in hooks.map(ask_for_a_while, [world] * HOOKS) for one in found]
    for writer in writers:
        _, stderr = writer.communicate(timeout=60)
        assert writer.returncode == 0, stderr.decode()

    lines = (world.folder / "writing/journal.jsonl").read_text("utf-8").splitlines()
    moments = Moments(first, map(json.loads, lines), world.folder / "copy", ASK)
    wrong = [one for one in asked if not moments.explains(one, at_any_time=one.ended - one.began > HURRIED_S)]
    assert wrong == []
    assert len({one.text for one in asked}) > HOOKS
    assert len(world.log()) == len(asked)
    assert [row["reason"] for row in world.log() if "Error" in row.get("reason", "")] == []
    assert_at_rest(world)


def assert_at_rest(world: World) -> None:
    """When all is quiet, what is on disk is what a fresh build says."""
    with closing(open_index(str(world.root), world.environ)) as index:
        on_disk = everything(index)
    with closing(index_of(read_corpus(str(world.root)))) as index:
        assert everything(index) == on_disk
