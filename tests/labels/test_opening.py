"""Opening a label store: a place that does not allow it, several processes, and processes that are killed."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from engine.errors import LabelStoreError, NewerStoreError
from labels.store import LabelStore
from tests.labels.samples import known, pool_of, query

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "labels.db"


def test_opening_makes_the_folders_and_a_store_in_wal_mode(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there yet" / "labels.db"
    (tmp_path / "empty.db").touch()
    for place in (path, tmp_path / "empty.db"):
        with LabelStore.open(place) as store:
            assert store.labels() == ()
            assert query(place, "PRAGMA journal_mode") == [("wal",)]


@pytest.mark.parametrize("content", [b"x", b"not a database at all\n", b"a" * 5000, b"SQLite format 3\0" + b"a" * 5000])
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(LabelStoreError, match=r"notes\.txt.*(not an SQLite database|damaged).*--db or MEMSIFT_DB"):
        LabelStore.open(path)
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["notes.txt"]


def test_another_programs_database_and_a_newer_store_are_left_alone(path: Path) -> None:
    other = path.with_name("history.db")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE visits (url)")
    before = other.read_bytes()
    with pytest.raises(LabelStoreError, match=r"history\.db: it is another program's database.*left alone"):
        LabelStore.open(other)
    assert other.read_bytes() == before
    LabelStore.open(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)",
            ["memsift.labels", "m999_x", "now"],
        )
    before = path.read_bytes()
    with pytest.raises(NewerStoreError, match=r"labels\.db: a newer memsift made it \(it has m999_x\).*Update memsift"):
        LabelStore.open(path)
    assert path.read_bytes() == before


def test_a_new_store_is_its_owners_alone_until_its_owner_shares_it(path: Path) -> None:
    with LabelStore.open(path) as store:
        store.record_pool(pool_of("a"))
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.glob("labels.db*")}
    assert modes == {"labels.db": 0o600, "labels.db-wal": 0o600, "labels.db-shm": 0o600}

    path.chmod(0o660)
    LabelStore.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_a_place_that_cannot_hold_a_file_is_named_and_a_pipe_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LabelStoreError, match=r"file/labels\.db: .*Check its folder.*--db or MEMSIFT_DB"):
        LabelStore.open(tmp_path / "file" / "labels.db")
    with pytest.raises(LabelStoreError, match="it is a folder"):
        LabelStore.open(tmp_path)
    os.mkfifo(pipe := tmp_path / "pipe")
    pipe.chmod(0o666)
    with pytest.raises(LabelStoreError, match=r"pipe: it is a folder, a device or a pipe, so it was left alone\."):
        LabelStore.open(pipe)
    assert pipe.stat().st_mode & 0o777 == 0o666


READ_ONLY = """
import os, sys
from pathlib import Path
from engine.errors import LabelStoreError
from labels.store import LabelStore
if os.getuid() == 0:
    os.setuid(65534)  # root may write everything
try:
    LabelStore.open(Path(sys.argv[1]))
except LabelStoreError as error:
    print(error)
"""


def test_a_file_that_may_not_be_written_is_named() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.db"
        LabelStore.open(path).close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        done = subprocess.run([sys.executable, "-c", READ_ONLY, str(path)], cwd=PROJECT, capture_output=True, text=True)
        path.parent.chmod(0o755)
    assert "labels.db: it may not be written. Check the permissions" in done.stdout, done.stderr


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from engine.errors import LabelStoreError
from labels.store import LabelStore
from tests.labels.samples import pool_of, say
store = LabelStore.open(Path(sys.argv[1]))
store.record_pool(pool_of("a"))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
saved = 0
try:
    for _ in range(10_000):
        say(store, "p1 a", note="x" * 5000)
        saved += 1
except LabelStoreError as error:
    print(saved, error)
"""


@pytest.mark.slow
def test_a_full_disk_is_named_and_every_saved_label_stays(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], cwd=PROJECT, capture_output=True, text=True)
    saved, message = done.stdout.split(" ", 1)
    assert "labels.db: the disk" in message
    assert "What was saved before is untouched" in message
    with LabelStore.open(path) as store:
        assert len(store.events()) == int(saved) > 10


def test_a_store_that_another_program_holds_is_read_and_the_program_named_when_something_is_written(
    path: Path,
) -> None:
    LabelStore.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with LabelStore.open(path, busy_timeout_s=0.05) as store:
            assert store.labels() == ()
            with pytest.raises(LabelStoreError, match="another program is writing to it"):
                store.record_seen("ann", "p1")


# Several processes

LABELLER = """
import sys
from pathlib import Path
from labels.store import LabelStore
from tests.labels.samples import pool_of, say
path, who, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with LabelStore.open(path) as store:
    store.record_pool(pool_of("a"))
    for _ in range(times):
        print(say(store, "p1 a", who=who).event_id, flush=True)
"""


def labeller(path: Path, who: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LABELLER, str(path), who, str(times)]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(processes: Sequence[subprocess.Popen[str]]) -> list[list[int]]:
    """What each printed; fails if one did not end well."""
    ids = []
    for process in processes:
        printed, complaints = process.communicate(timeout=60)
        assert process.returncode == 0, complaints
        ids.append([int(line) for line in printed.split()])
    return ids


@pytest.mark.slow
@pytest.mark.parametrize("labels_before_the_kill", [0, 1, 7, 40])
def test_a_killed_process_loses_no_label_that_it_was_told_of(path: Path, labels_before_the_kill: int) -> None:
    with labeller(path, "ann", 100_000) as process:
        stdout = known(process.stdout)
        while not path.exists():  # it may be killed while it makes the store
            pass
        printed = [stdout.readline() for _ in range(labels_before_the_kill)]
        os.kill(process.pid, signal.SIGKILL)
        rest = stdout.read()  # not `communicate`, which does not see what `readline` has read ahead
    # a line without its end was cut by the kill and acknowledged nothing
    acknowledged = [int(line) for line in "".join([*printed, rest]).split("\n")[:-1]]
    with LabelStore.open(path) as store:
        kept = [event.event_id for event in store.events()]
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) - len(acknowledged) in (0, 1)
        assert len(store.labels()) == min(1, len(kept))


def test_two_processes_may_label_at_once_and_a_reader_sees_what_they_have_just_written(path: Path) -> None:
    with LabelStore.open(path) as store:
        assert store.events() == ()
        ann, bob = finish([labeller(path, "ann", 20), labeller(path, "bob", 20)])
        assert [event.event_id for event in store.events("ann")] == ann
        assert [event.event_id for event in store.events("bob")] == bob
        assert sorted(ann + bob) == list(range(1, 41))
        assert {label.annotator: label.event_id for label in store.labels()} == {"ann": ann[-1], "bob": bob[-1]}


@pytest.mark.slow
def test_many_processes_may_make_the_same_store_at_once(path: Path) -> None:
    ids = finish([labeller(path, f"person {number}", 1) for number in range(6)])
    assert sorted(event_id for (event_id,) in ids) == [1, 2, 3, 4, 5, 6]
