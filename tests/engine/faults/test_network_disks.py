"""A home on a disk where processes share no memory, or where no file can be locked."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.curation.curator import Curator
from engine.errors import JournalError, LabelStoreError, RootLockedError
from engine.stores.lock import locked
from labels.store import LabelStore
from tests.engine.faults.answers import FaultyRoot, assert_works
from tests.engine.faults.mounts import network_disk
from tests.engine.hook.world import FORMS, Prompted, World

pytestmark = pytest.mark.slow
LEAVE_A_LOG = """
import os, pathlib, sys
from labels.store import LabelStore
LabelStore.open(pathlib.Path(sys.argv[1])).record_seen("ann", "before")
os._exit(0)
"""


def see(path: Path, prompt: str = "") -> None:
    """Two connections write and read; each its own *prompt*."""
    with LabelStore.open(path) as one, LabelStore.open(path) as two:
        one.record_seen("ann", f"{prompt} one")
        two.record_seen("ann", f"{prompt} two")
        assert one.seen_prompts("ann") == two.seen_prompts("ann") >= {f"{prompt} one", f"{prompt} two"}
        assert one.has_news()


def test_labels_are_kept_without_shared_memory_with_the_log_of_a_store_that_moved_there(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", LEAVE_A_LOG, str(tmp_path / "labels.db")], check=True)
    with network_disk(tmp_path / "disk", tmp_path / "behind") as disk:
        for turn in ("first", "second"):
            see(disk / "new.db", turn)
        for name in ("labels.db", "labels.db-wal"):
            shutil.copy(tmp_path / name, disk)
        see(disk / "labels.db")
        with LabelStore.open(disk / "labels.db") as store:
            assert "before" in store.seen_prompts("ann")


def test_without_locks_every_store_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with network_disk(tmp_path / "disk", tmp_path / "behind", errno.ENOLCK) as disk:
        with pytest.raises(LabelStoreError, match=r"labels\.db: its file system has no locks.* --db or MEMSIFT_DB"):
            LabelStore.open(disk / "labels.db")
        monkeypatch.setenv("XDG_DATA_HOME", str(disk))
        with pytest.raises(JournalError, match=r"its file system has no locks.* XDG_DATA_HOME"):
            Curator(os.environ)
        monkeypatch.setenv("XDG_STATE_HOME", str(disk))
        with (
            pytest.raises(RootLockedError, match=r"cannot be locked.* XDG_STATE_HOME"),
            locked("/root", "", os.environ),
        ):
            pytest.fail("no lock was needed")


@pytest.mark.parametrize("lock_error", [0, errno.ENOLCK])
def test_memories_are_found_on_every_disk(tmp_path: Path, lock_error: int) -> None:
    with network_disk(tmp_path / "disk", tmp_path / "behind", lock_error) as disk:
        root = FaultyRoot(tmp_path, home=disk / "person")
        assert_works(root)
        assert root.file.exists()


@pytest.mark.parametrize("lock_error", [0, errno.ENOLCK])
@pytest.mark.parametrize("form", FORMS)
def test_the_hook_answers_and_logs_on_every_disk(tmp_path: Path, lock_error: int, form: str) -> None:
    world = World(tmp_path)
    world.configure(deadline=60.0)
    right = world.context(session_id="")
    with network_disk(tmp_path / "disk", tmp_path / "behind", lock_error) as disk:
        world.environ |= {"XDG_CACHE_HOME": str(disk / "cache"), "XDG_STATE_HOME": str(disk / "state")}
        for session_id in ("1", "2"):
            done = Prompted(world, FORMS[form], session_id=session_id)
            assert (done.context, done.stderr) == (right, [])
        assert len(world.log()) == 2
