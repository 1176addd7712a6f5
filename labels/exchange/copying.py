"""Another label store, to be read and left as it is."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from engine.errors import LabelStoreError
from labels.database import LabelDatabase, explained, unusable_place

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def opened_copy(path: Path) -> Iterator[LabelDatabase]:
    """A copy of the store at *path* with today's schema, for as long as the block lasts; an empty one if there is none.

    Raises LabelStoreError for a file that is no label store, NewerStoreError for one of a newer memsift.
    """
    with TemporaryDirectory(prefix="memsift-") as folder:
        copy = Path(folder) / path.name
        copy_store(path, copy)
        try:
            db = LabelDatabase(copy)
        except LabelStoreError as error:
            raise type(error)(str(error).replace(str(copy), str(path))) from error
        with closing(db):
            yield db


def copy_store(path: Path, copy: Path) -> None:
    """What is in the store at *path*, with what other processes have written to it and not yet put into the file.

    While another process has it open SQLite must copy it, to see one moment; else the files are copied, because SQLite
    would make files beside it.
    """
    beside = {ending: path.with_name(path.name + ending) for ending in ("-wal", "-shm")}
    try:
        if beside["-shm"].exists():
            return back_up(path, copy)
        for ending, file in (("", path), ("-wal", beside["-wal"])):
            if file.exists():
                shutil.copyfile(file, copy.with_name(copy.name + ending))
    except OSError as error:
        raise unusable_place(error, path) from error
    except sqlite3.Error as error:
        raise explained(error, path) from error
    return None


def back_up(path: Path, copy: Path) -> None:
    with (
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as theirs,
        closing(sqlite3.connect(copy)) as ours,
    ):
        theirs.backup(ours)
