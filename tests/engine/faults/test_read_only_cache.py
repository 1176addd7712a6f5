"""A cache that cannot be written, and roots and caches on file systems of their own."""

import shutil
from pathlib import Path

import pytest

from tests.engine.builders import memory, write_memory
from tests.engine.faults.answers import FaultyRoot, assert_works
from tests.engine.faults.mounts import read_only, small_disk
from tests.engine.hook.world import FORMS, Prompted, World


@pytest.fixture
def root(disk: Path, tmp_path: Path) -> FaultyRoot:
    """A root whose cache has a file system of its own."""
    return FaultyRoot(tmp_path, home=disk / "person")


def edit(root: FaultyRoot) -> None:
    write_memory(root.root, memory("cache rule new", "cache", body="auth token"))
    write_memory(root.root, memory("cache rule 0", "cache", body="another"))
    (root.root / "decisions/cache-rule-5.json").unlink(missing_ok=True)


@pytest.mark.slow
def test_an_index_that_cannot_be_written_is_read_and_where_it_is_behind_done_without(
    root: FaultyRoot, disk: Path
) -> None:
    root.settle()
    with read_only(disk):
        assert root.hook(deadline_s=0.0) == root.fresh()[0]
        assert_works(root)
        edit(root)
        assert_works(root)
    assert_works(root)


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
def test_an_empty_cache_that_cannot_be_written_is_done_without(root: FaultyRoot, disk: Path, is_there: bool) -> None:
    if is_there:
        root.file.parent.mkdir(parents=True)
    with read_only(disk):
        assert_works(root)
    assert_works(root)
    assert root.file.exists()


@pytest.mark.parametrize("form", FORMS)
def test_the_hook_answers_where_it_can_write_nothing(disk: Path, tmp_path: Path, form: str) -> None:
    world = World(tmp_path)
    world.configure(deadline=60.0)
    world.environ |= {"XDG_CACHE_HOME": str(disk / "cache"), "XDG_STATE_HOME": str(disk / "state")}
    right = world.context(session_id="")
    with read_only(disk):
        for session_id in ("1", "1"):
            done = Prompted(world, FORMS[form], session_id=session_id)
            assert (done.context, done.stderr) == (right, [])
    assert len(world.log()) == 1


@pytest.mark.slow
def test_a_root_on_another_file_system_is_like_any_other(disk: Path, tmp_path: Path) -> None:
    root = FaultyRoot(disk, home=tmp_path / "person")
    assert_works(root)
    edit(root)
    assert_works(root)
    with read_only(disk):
        assert_works(root)


def test_a_root_whose_disk_is_taken_away_is_silent(tmp_path: Path) -> None:
    world = World(tmp_path)
    with small_disk(tmp_path / "disk") as disk:
        world.root.rename(tmp_path / "before")
        shutil.copytree(tmp_path / "before", disk / "root")
        world.root.symlink_to(disk / "root")
        assert world.context(session_id="").count("<result ") == 3
    assert world.send(session_id="") == ""
    (tmp_path / "disk/root").mkdir()
    assert world.send(session_id="") == ""
