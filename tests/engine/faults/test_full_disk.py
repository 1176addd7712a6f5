"""A disk that is full, or as good as full: answers come from memory, and once there is space again all is well."""

import json
import random
from pathlib import Path

import pytest

from tests.engine.builders import fillers, memory, write_memory
from tests.engine.faults.answers import FaultyRoot, assert_works, tries
from tests.engine.faults.builder import OPEN_SMALL, finish, start
from tests.engine.faults.mounts import fill
from tests.engine.hook.world import FORMS, World, context_of

FREE_BYTES = [0, 1, 5_000, 40_000, 150_000, 300_000][:: tries(1, 2)]
"""What is left on the disk. The index of the root takes 300 kB, its log up to as much again."""


def assert_heals(root: FaultyRoot) -> None:
    """Once more on disk: there is an index again, and without time the hook answers from it."""
    root.settle()
    assert root.file.stat().st_size > 0
    assert root.hook(deadline_s=0.0) == root.fresh()[0]


def edit(root: FaultyRoot) -> None:
    for number in range(60):
        body = f"the auth token of the cache {number}\n" * 40
        write_memory(root.root, memory(f"cache rule new {number}", "auth", body=body))
    (root.root / "decisions/cache-rule-0.json").unlink()


@pytest.mark.slow
@pytest.mark.parametrize("has_index", [False, True])
@pytest.mark.parametrize("free", FREE_BYTES)
def test_without_space_for_an_index_or_a_change_answers_come_from_memory(
    disk: Path, tmp_path: Path, free: int, has_index: bool
) -> None:
    root = FaultyRoot(tmp_path, home=disk / "person")
    if has_index:
        root.settle()
    ballast = fill(disk, free)
    if has_index:
        edit(root)
    assert_works(root)
    assert_works(root)
    ballast.unlink()
    assert_heals(root)


@pytest.mark.slow
def test_a_disk_that_fills_up_again_and_again_leaves_nothing_wrong(disk: Path, tmp_path: Path) -> None:
    root = FaultyRoot(tmp_path, home=disk / "person")
    made = random.Random(3)
    for turn in range(12):
        ballast = fill(disk, made.randrange(600_000))
        for one in fillers(turn):
            write_memory(root.root, one)
        write_memory(root.root, memory(f"cache rule {turn}", body=f"auth {made.random()}\n" * made.randrange(400)))
        assert_works(root)
        ballast.unlink()
    assert_heals(root)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 1, 4_096, 20_000, 100_000, 250_000][:: tries(1, 2)])
def test_a_limit_on_the_size_of_files_is_a_full_disk(tmp_path: Path, limit: int) -> None:
    root = FaultyRoot(tmp_path)
    finish(start(root, OPEN_SMALL, str(limit)))
    assert_works(root)
    edit(root)
    finish(start(root, OPEN_SMALL, str(limit)))
    assert_works(root)
    assert_heals(root)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_hook_answers_on_a_full_disk_and_logs_again_when_it_can(disk: Path, tmp_path: Path, form: str) -> None:
    world = World(tmp_path)
    world.configure(deadline=60.0)
    world.environ |= {"XDG_CACHE_HOME": str(disk / "cache"), "XDG_STATE_HOME": str(disk / "state")}
    right = world.context(session_id="")

    for number, free in enumerate([*range(0, 9000, 450), None]):
        ballast = fill(disk, free) if free is not None else disk / "none"
        done = world.start(FORMS[form], json.dumps(world.payload(session_id=f"full {number}")).encode())
        assert (done.returncode, done.stderr, context_of(done.stdout.decode("ascii"))) == (0, b"", right)
        ballast.unlink(missing_ok=True)
    lines = (world.state / "activity.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[0])["injected"] == json.loads(lines[-1])["injected"]
    written = [path for path in (world.state / "sessions").glob("??/*") if path.is_file()]
    assert [path for path in written if path.suffix != ".json"] == []


def test_a_line_of_the_log_that_was_cut_costs_only_itself(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.send()
    log = world.state / "activity.jsonl"
    log.write_text(log.read_text("utf-8") + '{"time": "2026', "utf-8")
    world.send(session_id="2")
    first, _, last = log.read_text("utf-8").splitlines()
    assert json.loads(first)["injected"] == json.loads(last)["injected"]
