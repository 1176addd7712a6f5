"""An index that something else wrote into, cut or took away in part: answers are right or none, and it heals."""

from __future__ import annotations

import os
import random
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from engine.opening import open_index
from tests.engine.faults.answers import FaultyRoot, assert_right_or_silent, beside, eventually, tries

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


def blank_header(_: random.Random, path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(BLOCK))


def append(made: random.Random, path: Path) -> None:
    with path.open("ab") as file:
        file.write(made.randbytes(made.randrange(1, 3 * BLOCK)))


DAMAGES: list[Callable[[random.Random, Path], None]] = [cut, cut, overwrite, overwrite, overwrite, append]


class Image:
    """The files of an index as they are when all is well, to be put back again and again."""

    def __init__(self, root: FaultyRoot) -> None:
        self._root = root
        self._files = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.files}

    def put_back(self) -> None:
        for path in self._root.files:
            path.unlink()
        for path, (content, modified) in self._files.items():
            path.write_bytes(content)
            os.utime(path, ns=(modified, modified))


def assert_survived(root: FaultyRoot, right: Everything) -> None:
    """The hook says what is right or nothing, the app what is right, and then the hook as well."""
    assert_right_or_silent(root.hook(), right[0])
    assert root.opened() == right
    assert root.hook() == right[0]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_damage_at_random_never_stops_the_hook_and_heals(root: FaultyRoot, seed: int) -> None:
    """SQLite notices nearly all of it. A changed byte may hide a memory or a word until its file changes."""
    made = random.Random(seed)
    image, right = Image(root), root.fresh()
    same = 0
    for _ in range(PER_SEED):
        image.put_back()
        made.choice(DAMAGES)(made, root.file)
        root.hook()
        same += root.opened()[0] == right[0]
        root.file.unlink()
        assert root.opened() == right
        assert root.hook() == right[0]
    assert same >= PER_SEED - 2


@pytest.mark.parametrize("damage", [cut, blank_header, append], ids=["cut", "blank", "longer"])
def test_damage_that_sqlite_notices_is_never_answered_from(
    root: FaultyRoot, damage: Callable[[random.Random, Path], None]
) -> None:
    right = root.fresh()
    damage(random.Random(5), root.file)
    assert_survived(root, right)


def test_a_journal_of_another_file_is_not_played_back_and_the_whole_folder_may_be_deleted(root: FaultyRoot) -> None:
    """As a killed writer leaves one beside an index that was deleted since."""
    right = root.fresh()
    beside(root.file, "-journal").write_bytes(os.urandom(5000))
    assert_survived(root, right)
    root.file.unlink()
    beside(root.file, "-journal").write_bytes(os.urandom(5000))
    assert_survived(root, right)
    right = root.fresh()
    with closing(open_index(str(root.root), root.environ)) as index:
        for path in root.file.parent.iterdir():
            path.unlink()
        root.file.parent.rmdir()
        assert len(index.summaries()) == len(right[1][1])  # type: ignore[index]
        assert_survived(root, right)


def test_an_index_without_time_to_heal_is_silent_and_healed_by_another_process(root: FaultyRoot) -> None:
    right = root.fresh()
    blank_header(random.Random(1), root.file)
    assert_right_or_silent(root.hook(deadline_s=0.0), right[0])
    eventually(lambda: root.hook(deadline_s=0.0) == right[0])
    assert root.opened() == right
