"""Reading files that others may have put there: regular files of a bounded size, and never a wait."""

import os
import re
import threading
import time
from pathlib import Path

import pytest

from engine.conversations.prompt_rows import prompts_in
from engine.stores.files import (
    ASIDE,
    MAX_FILE_BYTES,
    UnreadableFileError,
    make_private,
    open_named,
    open_private,
    read_named,
    read_regular,
    read_text,
    write_whole,
)

PROJECT = Path(__file__).resolve().parents[3]


def test_a_file_that_becomes_a_pipe_meanwhile_is_not_waited_for(tmp_path: Path) -> None:
    file, pipe, text = tmp_path / "file", tmp_path / "pipe", tmp_path / "text"
    file.write_text("text", encoding="utf-8")
    found: set[str] = set()

    def read() -> None:
        for _ in range(5_000):
            try:
                found.add(read_text(str(tmp_path), str(file)))
            except UnreadableFileError as error:
                found.add(str(error))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    end = time.monotonic() + 20
    while reader.is_alive() and time.monotonic() < end:
        os.mkfifo(pipe)
        pipe.replace(file)
        text.write_text("text", encoding="utf-8")
        text.replace(file)
    assert not reader.is_alive()
    assert found
    assert found <= {"is not a file", "text"}


def test_a_file_of_any_size_is_read_up_to_a_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as opened:
        opened.truncate(3_000_000_000)
    with pytest.raises(UnreadableFileError, match=r"is larger than 1,000 kB"):
        read_text(str(tmp_path), str(file))
    assert len(read_regular(str(file), 10)) == len(read_named(str(file), 10)) == 10
    file.write_bytes(b"x" * MAX_FILE_BYTES)
    assert len(read_text(str(tmp_path), str(file))) == MAX_FILE_BYTES


def test_a_person_may_name_a_pipe_but_no_device(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("text",))
    writer.start()
    assert read_named(str(tmp_path / "pipe"), 10) == b"text"
    writer.join()
    with pytest.raises(OSError, match="is not a file"):
        read_named("/dev/zero", 10)
    with pytest.raises(OSError, match="is not a file"):
        next(prompts_in("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        read_named(str(tmp_path), 10)


def test_a_failed_writing_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / "folder"
    file.write_text("old", encoding="utf-8")
    other.mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        write_whole(str(other), b"new")
    write_whole(str(file), b"new")

    def look() -> None:
        (written,) = tmp_path.glob(".*")
        assert (written.read_bytes(), len(written.name)) == (b"newer", len(ASIDE) + 16)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(str(file), b"newer", look=look)
    assert file.read_text(encoding="utf-8") == "new"
    assert list(tmp_path.glob(".*")) == list(other.iterdir()) == []


def test_one_function_writes_whole_files() -> None:
    """Its name until the file is complete cannot be guessed. A second function would have to be as careful."""
    writing = re.compile(r"os\.replace\(|O_TRUNC|\.write_(text|bytes)\(|\bopen\([^)\n]*[\"'][wx]b?[\"']")
    files = [file for part in ("engine", "labels", "tui") for file in (PROJECT / part).rglob("*.py")]
    found = {str(file.relative_to(PROJECT)) for file in files if writing.search(file.read_text(encoding="utf-8"))}
    assert found == {"engine/stores/files.py", "engine/conversations/activity.py"}  # the second renames a log


def test_a_pipe_or_device_keeps_its_mode_and_is_written_only_if_a_person_named_it(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    pipe.chmod(0o666)
    make_private(str(pipe))
    os.close(open_private(str(pipe), os.O_RDWR))
    assert pipe.stat().st_mode & 0o777 == 0o666
    (tmp_path / "file").touch(0o644)
    make_private(str(tmp_path / "file"))
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(str(pipe), b"text", open_named)
    reader.join(10)
    assert (read, pipe.is_fifo()) == ([b"text"], True)
    with pytest.raises(OSError, match="is not a file"):
        write_whole(str(pipe), b"text")
    assert pipe.is_fifo()
