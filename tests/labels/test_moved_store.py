"""What becomes of labels when another program moves, replaces, deletes or overwrites the open label store."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from engine.errors import MovedStoreError
from labels.exchange.merge import carry
from labels.store import LabelStore
from tests.labels.samples import pool_of, say


def label(store: LabelStore, memory_id: str) -> None:
    say(store, f"p1 {memory_id}")


def labelled(path: Path) -> str:
    """The memories with labels on disk, as another program sees them; the file is sound."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return "".join(name for (name,) in db.execute("SELECT memory_id FROM label_event ORDER BY 1"))


def replaced(path: Path, backup: Path) -> None:
    shutil.copyfile(backup, path.with_name("fresh"))
    path.with_name("fresh").replace(path)


def overwritten(path: Path, backup: Path) -> None:
    shutil.copyfile(backup, path)


def deleted(path: Path, _: Path) -> None:
    path.unlink()


def moved_away(path: Path, _: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with labels a to d in its file, and beside it a backup with a and b."""
    path = tmp_path / "labels.db"
    for memories in ("ab", "cd"):
        with LabelStore.open(path) as store:
            store.record_pool(pool_of(*"abcdefgh"))
            for memory_id in memories:
                label(store, memory_id)
        if memories == "ab":
            shutil.copyfile(path, tmp_path / "backup.db")
    return path


@pytest.mark.parametrize(
    ("change", "there", "everything"),
    [
        (replaced, "abef", "abcdef"),
        (overwritten, "abef", "ef"),
        (deleted, "ef", "abcdef"),
        (moved_away, "ef", "abcdef"),
    ],
)
@pytest.mark.parametrize("is_new", [False, True])
def test_the_labels_of_a_session_go_to_the_file_that_is_there_now_or_to_a_new_one(
    path: Path, change: Callable[[Path, Path], None], there: str, everything: str, is_new: bool
) -> None:
    with LabelStore.open(path) as store:
        store.record_pool(pool_of(*"abcdefgh"))
        label(store, "e")
        label(store, "f")
        change(path, path.with_name("backup.db"))
        with pytest.raises(MovedStoreError, match=r"labels\.db: another program moved, replaced or deleted it"):
            label(store, "g")
        session, into = ("", path.with_name("new.db")) if is_new else (store.session, path)
        store.move(into, partial(carry, session=session))
        assert labelled(into) == (everything if is_new else there)
        label(store, "h")
        assert labelled(into) == (everything if is_new else there) + "h"
    assert labelled(into) == (everything if is_new else there) + "h"
    if change is moved_away:
        assert labelled(path.with_name("elsewhere.db")) == "abcdef"


def test_no_second_connection_makes_a_new_file_beside_an_open_store_that_was_moved(path: Path) -> None:
    with LabelStore.open(path) as store:
        moved_away(path, path)
        with pytest.raises(MovedStoreError):
            LabelStore.open(path)
        assert not path.exists()
        with pytest.raises(MovedStoreError):
            store.has_news()


def test_a_label_that_was_taken_back_stays_so_in_another_file(path: Path) -> None:
    with LabelStore.open(path) as store:
        label(store, "e")
        store.undo("ann")
        store.undo("ann")  # of d, which the backup does not have
        replaced(path, path.with_name("backup.db"))
        with pytest.raises(MovedStoreError):
            label(store, "f")
        store.move(path, partial(carry, session=store.session))
        assert [given.memory_id for given in store.labels()] == ["a", "b"]


def test_a_log_that_another_program_moves_into_the_file_is_no_overwriting(path: Path) -> None:
    checkpoint = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA wal_checkpoint(TRUNCATE)')"
    with LabelStore.open(path) as store:
        for memory_id in "efgh":
            label(store, memory_id)
            subprocess.run([sys.executable, "-c", checkpoint, str(path)], check=True)
    assert labelled(path) == "abcdefgh"
