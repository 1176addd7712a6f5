"""The watch that `conftest.py` keeps in every test sees what it is for."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests import descriptors


@pytest.mark.parametrize("suffix", descriptors.LOCKED)
@pytest.mark.parametrize("call", ["open(path).close()", "pathlib.Path(path).read_bytes()", "os.open(path, os.O_RDWR)"])
def test_a_database_that_the_project_opens_itself_is_noticed(tmp_path: Path, call: str, suffix: str) -> None:
    path = tmp_path / "any.db"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rwc", uri=True)) as db:
        db.execute("pragma journal_mode = wal")
        db.execute("create table t(x)")
        code = compile(f"import os, pathlib\n{call}", descriptors.ROOMS[1] + "anything.py", "exec")
        exec(code, {"path": f"{path}{suffix}"})
    assert [found.endswith(f"anything.py, line 2: opens {path}{suffix}") for found in descriptors.offences] == [True]
    descriptors.offences.clear()
