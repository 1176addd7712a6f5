"""The lock on a root: one writer at a time, also of another program, and nothing left behind by a killed process."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.errors import RootLockedError
from engine.stores.lock import locked

FOLDER = ".index.lockdir"
HOLDER = f"""
import os, sys, time
from engine.stores.lock import locked
with locked(sys.argv[1], {FOLDER!r}, os.environ):
    print("held", flush=True)
    time.sleep(60)
"""


def test_another_programs_lock_is_waited_for_and_after_a_minute_taken_over(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    refused = pytest.raises(RootLockedError, match="Another program is changing")
    with refused, locked(str(tmp_path), FOLDER, os.environ, 0.1):
        pytest.fail("the lock was not free")
    assert (tmp_path / FOLDER).is_dir()
    old = time.time() - 61
    os.utime(tmp_path / FOLDER, (old, old))
    with locked(str(tmp_path), FOLDER, os.environ, 0.1):
        assert time.time() - (tmp_path / FOLDER).stat().st_mtime < 30
    assert not (tmp_path / FOLDER).exists()
    with locked(str(tmp_path), FOLDER, os.environ):
        (tmp_path / FOLDER).rmdir()
        (tmp_path / "other").mkdir()
        (tmp_path / FOLDER).mkdir()
        os.utime(tmp_path / FOLDER, (1, 1))
    assert (tmp_path / FOLDER).is_dir(), "it belongs to the program that took it over"


@pytest.mark.parametrize("folder", [FOLDER, ""])
def test_two_processes_of_memsift_exclude_each_other(tmp_path: Path, folder: str) -> None:
    refused = pytest.raises(RootLockedError, match="Another memsift")
    with locked(str(tmp_path), folder, os.environ), refused, locked(str(tmp_path), folder, os.environ, 0.1):
        pytest.fail("the lock was not free")
    with locked(str(tmp_path), folder, os.environ):
        assert (tmp_path / folder).is_dir()
    assert not (tmp_path / FOLDER).exists()
    with pytest.raises(RootLockedError, match="cannot be written"), locked(str(tmp_path / "no"), FOLDER, os.environ):
        pytest.fail("there is no such root")


def test_the_lock_of_a_killed_memsift_is_free_at_once(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(RootLockedError), locked(str(tmp_path), FOLDER, os.environ, 0.1):
        pytest.fail("the lock was not free")
    holder.kill()
    holder.communicate()
    assert (tmp_path / FOLDER).is_dir()
    with locked(str(tmp_path), FOLDER, os.environ, 0.1):
        pass
    assert not (tmp_path / FOLDER).exists()
