"""Processes that read the files of a large first index: the same rows, and nothing is left of them."""

import os
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from engine.lean.sqlite import for_reading
from engine.search import sync
from engine.search.database import TICK_NS
from engine.search.sync import OutOfTimeError, update
from tests.engine.builders import fillers, memory, write_root

TABLES = ("about", "place", "skipped", "memory", "word", "full_text_data", "headline_data")
DYING = """
import engine.search.sync as sync
whole = sync.parts_of_files
def parts_of_files(*of):
    for number, part in enumerate(whole(*of)):
        yield part
        if number == 5: os._exit(sys.stdout.buffer.flush() or 1)
sync.parts_of_files, sync.FILES_AT_ONCE = parts_of_files, 2
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sync, "FILES_FOR_READERS", 10)
    monkeypatch.setattr(sync, "FILES_AT_ONCE", 7)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    retired = [memory(f"gone {number}", body="user_id", status="retired") for number in range(3)]
    others = [memory("twice", body="one id", memory_id="zz1-filler"), memory("größe 数据库", body="naïve\n\nuserId")]
    made = write_root(tmp_path / "root", [*fillers(40), *retired, *others])
    Path(made, "decisions", "broken.json").write_text("{", "utf-8")
    time.sleep(3 * TICK_NS / 1e9)  # else the stamps of a folder would be unsettled at one time and not at another
    return str(made.resolve())


def rows(folder: Path, root: str, *, has_readers: bool, told: list[tuple[int, int]] | None = None) -> list[object]:
    """All rows of a new index."""
    file = str(folder / f"{has_readers}.db")
    tell = (lambda *numbers: told.append(numbers)) if told is not None else None
    update(file, root, lambda _: 0.25, wait_s=5.0, tell=tell, has_readers=has_readers)
    with closing(for_reading(file)) as db:
        return [(table, db.execute(f"select * from {table}").fetchall()) for table in TABLES]


@pytest.mark.parametrize("code", ["", "os._exit(1)", DYING], ids=["whole", "at once", "later"])
def test_an_index_is_the_same_whether_other_processes_read_the_files_or_die(
    code: str, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = rows(tmp_path, root, has_readers=False)
    monkeypatch.setattr(sync, "READ", f"import os, sys; sys.path.insert(0, sys.argv[1])\n{code}\n{sync.READ}")
    told: list[tuple[int, int]] = []
    assert rows(tmp_path, root, has_readers=True, told=told) == alone
    assert told[-1] == (46, 46)
    assert (told[0] == (2, 46)) == (code == DYING)


@pytest.mark.parametrize("error", [OutOfTimeError, KeyboardInterrupt])
def test_an_interrupted_build_leaves_no_process_and_no_rows(
    error: type[BaseException], root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[subprocess.Popen[bytes]] = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *command: object, **how: object) -> None:
            begun.append(self)
            super().__init__(*command, **how)  # type: ignore[call-overload]

    def interrupt(*_: int) -> None:
        raise error

    monkeypatch.setattr(subprocess, "Popen", Popen)
    with pytest.raises(error):
        update(str(tmp_path / "index.db"), root, lambda _: 0.0, wait_s=5.0, tell=interrupt, has_readers=True)
    assert [process.returncode is None for process in begun] == [False] * sync.READERS
    assert (tmp_path / "index.db").stat().st_size == 0
