"""An index that something else wrote into, cut or took away in part: answers are right or none, and it heals."""

from __future__ import annotations

import fcntl
import os
import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from engine.search.opening import open_index
from tests.engine.builders import memory, write_memory
from tests.engine.faults.answers import FaultyRoot, assert_right_or_silent, beside, eventually
from tests.engine.faults.effort import tries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.faults.answers import Everything

SEEDS, PER_SEED = tries(20, 3), 10
"""In all 200 damages, from 1 byte to the whole file."""

BLOCK = 4096


def cut(made: random.Random, path: Path) -> None:
    os.truncate(path, made.randrange(path.stat().st_size))


def overwrite(made: random.Random, path: Path) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(made.choice((1, 1, 10, 500))):
        data[made.randrange(len(data))] ^= made.randrange(1, 256)
    path.write_bytes(data)


def blank(made: random.Random, path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(made.randrange(path.stat().st_size))
        file.write(bytes(BLOCK))


def swap(made: random.Random, path: Path) -> None:
    """Two blocks change places."""
    data = path.read_bytes()
    first, second = sorted(made.sample(range(0, max(2 * BLOCK, len(data)), BLOCK), 2))
    parts = data[:first], data[second : second + BLOCK], data[first + BLOCK : second], data[first : first + BLOCK]
    path.write_bytes(b"".join([*parts, data[second + BLOCK :]]))


def append(made: random.Random, path: Path) -> None:
    with path.open("ab") as file:
        file.write(made.randbytes(made.randrange(1, 3 * BLOCK)))


DAMAGES: list[Callable[[random.Random, Path], None]] = [cut, cut, overwrite, overwrite, overwrite, blank, swap, append]


class Image:
    """The files of an index as they are now, to be put back again and again."""

    def __init__(self, root: FaultyRoot) -> None:
        self._root = root
        self._files = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.files}

    @property
    def damageable(self) -> list[Path]:
        return [path for path, (content, _) in self._files.items() if content]

    def put_back(self) -> None:
        for path in self._root.files:
            path.unlink()
        for path, (content, modified) in self._files.items():
            path.write_bytes(content)
            os.utime(path, ns=(modified, modified))


@pytest.fixture
def root(tmp_path: Path) -> FaultyRoot:
    made = FaultyRoot(tmp_path)
    made.settle()
    return made


@pytest.fixture
def at_rest(root: FaultyRoot) -> Image:
    """An index that nobody has open."""
    return Image(root)


@pytest.fixture
def with_a_log(root: FaultyRoot) -> Image:
    """An index whose last changes are in the write-ahead log: those who had it open were killed together."""
    with closing(open_index(str(root.root), root.environ)):
        write_memory(root.root, memory("cache rule 99", "cache", body="the cache is new"))
        (root.root / "decisions/cache-rule-0.json").unlink()
        root.settle()
        image = Image(root)
    assert beside(root.file, "-wal") in image.damageable
    assert beside(root.file, "-shm") in image.damageable
    return image


def assert_survived(root: FaultyRoot, right: Everything) -> None:
    """The hook says what is right or nothing, the app what is right, and then the hook as well."""
    assert_right_or_silent(root.hook(), right[0])
    assert root.opened() == right
    assert root.hook() == right[0]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_damage_at_random_is_never_answered_from(
    root: FaultyRoot, at_rest: Image, with_a_log: Image, seed: int
) -> None:
    made = random.Random(seed)
    right = root.fresh()
    for image in (at_rest, with_a_log):
        for _ in range(PER_SEED // 2):
            image.put_back()
            made.choice(DAMAGES)(made, made.choice(image.damageable))
            assert_survived(root, right)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_part_that_was_deleted_is_done_without(root: FaultyRoot, with_a_log: Image, suffix: str) -> None:
    with_a_log.put_back()
    beside(root.file, suffix).unlink()
    assert_survived(root, root.fresh())


def test_a_log_is_read_while_a_process_writes_it_and_not_after_it_was_killed(
    root: FaultyRoot, with_a_log: Image
) -> None:
    right = root.fresh()
    with_a_log.put_back()
    beside(root.file, "-wal").touch()
    with beside(root.file, ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert root.hook(deadline_s=0.0) == right[0]
    assert_right_or_silent(root.hook(deadline_s=0.0), right[0])
    assert_survived(root, right)


def test_the_whole_folder_may_be_deleted_while_it_is_read(root: FaultyRoot) -> None:
    right = root.fresh()
    with closing(open_index(str(root.root), root.environ)) as index:
        for path in root.file.parent.iterdir():
            path.unlink()
        root.file.parent.rmdir()
        assert len(index.summaries()) == len(right[1][1])  # type: ignore[index]
        assert_survived(root, right)


def test_an_index_without_time_to_heal_is_silent_and_healed_by_another_process(
    root: FaultyRoot, at_rest: Image
) -> None:
    right = root.fresh()
    at_rest.put_back()
    overwrite(random.Random(1), root.file)
    assert_right_or_silent(root.hook(deadline_s=0.0), right[0])
    eventually(lambda: root.hook(deadline_s=0.0) == right[0])
    assert root.opened() == right


def test_words_that_were_changed_within_the_index_find_nothing_wrong(root: FaultyRoot, at_rest: Image) -> None:
    """SQLite sees no damage in these: every length and number is as it was."""
    right = root.fresh()
    content = root.file.read_bytes()
    for word, other in ((b"cache", b"coach"), (b"token", b"taken"), (b"rule", b"role"), (b"auth", b"oath")):
        at_rest.put_back()
        assert word in content
        root.file.write_bytes(content.replace(word, other))
        assert_survived(root, right)


def test_rows_that_another_program_took_out_are_there_again(root: FaultyRoot, at_rest: Image) -> None:
    right = root.fresh()
    with closing(sqlite3.connect(root.file)) as db:
        tables = [row[0] for row in db.execute("select name from sqlite_master where type = 'table'")]
    for table in tables:
        at_rest.put_back()
        try:
            with closing(sqlite3.connect(root.file)) as db, db:
                db.execute(f"delete from {table} where rowid % 2")
        except sqlite3.Error:
            continue
        assert_survived(root, right)
