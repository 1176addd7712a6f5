"""A builder that is killed at any moment: the next answer is right, and so is every later one."""

import random
import time
from pathlib import Path

import pytest

from engine.memory import Memory
from tests.engine.builders import memory, write_memory
from tests.engine.faults.answers import FaultyRoot, shown, tries
from tests.engine.faults.builder import finish, kill, seconds_of, start

pytestmark = pytest.mark.slow
MEMORIES = 120
KILLS = tries(25, 5)
"""Of a first build and of an update each."""

SHARES = (0.3, 1.1)
"""When to kill, as a share of the whole run: its first third is the interpreter's start."""


@pytest.fixture
def root(tmp_path: Path) -> FaultyRoot:
    root = FaultyRoot(tmp_path)
    for number in range(MEMORIES):
        write_memory(root.root, written(0, number))
    return root


def written(turn: int, number: int) -> Memory:
    body = f"the cache of the token rule is cold and holds an auth migration {turn}\n" * 20
    return memory(f"cache rule {turn} of {number}", "auth", body=body, memory_id=f"m{number}")


def edit(root: FaultyRoot, turn: int) -> None:
    """Change, add and remove some memories, and retire one."""
    for number in range(turn % 7, MEMORIES, 7):
        write_memory(root.root, written(turn, number))
    write_memory(root.root, memory(f"auth token {turn}", memory_id=f"new{turn}"))
    write_memory(root.root, memory("cache rule retired", memory_id=f"m{turn}", status="retired"))
    (root.root / "decisions" / f"new{turn - 3}.json").unlink(missing_ok=True)


def test_a_first_build_that_is_killed_anywhere_is_done_without(root: FaultyRoot) -> None:
    whole, made = seconds_of(root), random.Random(11)
    right = root.fresh()
    for turn in range(KILLS):
        for path in root.files:
            path.unlink()
        killed_after(root, whole * made.uniform(*SHARES))
        assert root.hook() == right[0]
        if turn % 5 == 0:
            assert root.opened() == right


def test_an_update_that_is_killed_anywhere_is_done_again(root: FaultyRoot) -> None:
    made = random.Random(12)
    finish(start(root))
    edit(root, 1)
    whole = seconds_of(root)
    for turn in range(2, KILLS + 2):
        edit(root, turn)
        right = root.fresh()
        killed_after(root, whole * made.uniform(*SHARES))
        if turn % 2:
            assert root.hook() == right[0]
        assert root.opened() == right
        assert root.hook() == right[0]


def test_without_time_a_hook_shows_only_what_is_there_after_a_kill(root: FaultyRoot) -> None:
    made = random.Random(13)
    whole = seconds_of(root)
    for turn in range(1, 6):
        edit(root, turn)
        killed_after(root, whole * made.uniform(*SHARES))
        assert {one for text in root.hook(deadline_s=0.0) for one in shown(text)} <= root.there()
    assert root.opened() == root.fresh()


def killed_after(root: FaultyRoot, seconds: float) -> None:
    process = start(root)
    time.sleep(seconds)
    kill(process)
