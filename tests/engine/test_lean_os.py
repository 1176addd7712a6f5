"""What stands in for `os` on the hook's path gives what `os` gives."""

from __future__ import annotations

import os
import posixpath
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine import lean_os
from tests.engine.hook_world import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there it is `os`")

PARTS = st.sampled_from(["", ".", "..", "a", "b", "link", "loop", "out", "file", "missing", "a\0", "\ud800", "x" * 300])
PATHS = st.lists(PARTS, max_size=5).map("/".join)
TEXT = st.text(alphabet="/.a\0\ud800é", max_size=8)
ASKED = ("abspath", "exists", "isdir", "isfile", "lexists", "realpath")


def outcome(function: Callable[..., object], *arguments: object) -> object:
    """What a call returns, or the type of what it raises."""
    try:
        return function(*arguments)
    except (OSError, ValueError) as error:
        return type(error)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a/b/file, and links: into it, to itself and out."""
    made = tmp_path_factory.mktemp("tree")
    (made / "a/b").mkdir(parents=True)
    (made / "a/b/file").touch()
    (made / "a/link").symlink_to("b")
    (made / "a/loop").symlink_to("loop")
    (made / "a/out").symlink_to("/")
    (made / "link").symlink_to(made / "a")
    return made


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PATHS)
@example("link/link/file")
@example("a/b/file/missing")
@example("a/loop/missing")
@example("a/out/../a")
@example("/")
def test_a_path_is_looked_at_as_os_does(folder: Path, path: str) -> None:
    for full in (f"{folder}/{path}", path):
        for name in ASKED:
            assert outcome(getattr(lean_os.path, name), full) == outcome(getattr(os.path, name), full), name


@given(TEXT, st.lists(TEXT, max_size=3))
def test_a_path_is_put_together_and_apart_as_os_does(path: str, more: list[str]) -> None:
    assert lean_os.path.join(path, *more) == posixpath.join(path, *more)
    assert lean_os.path.dirname(path) == posixpath.dirname(path)
    assert lean_os.path.isabs(path) == posixpath.isabs(path)


@given(st.binary(max_size=20))
def test_names_are_decoded_and_encoded_as_os_does(name: bytes) -> None:
    assert lean_os.fsdecode(name) == os.fsdecode(name)
    assert lean_os.fsencode(lean_os.fsdecode(name)) == lean_os.fsencode(name) == name
    assert lean_os.fsdecode(os.fsdecode(name)) == os.fsdecode(name)


def test_the_environment_is_what_the_process_was_started_with() -> None:
    code = "import os; from engine import lean_os; assert lean_os.environ == dict(os.environ); print(len(os.environ))"
    environ = {"PYTHONPATH": str(PROJECT), "HOME": "/home/é", "BROKEN": os.fsdecode(b"\xff"), "EMPTY": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, timeout=60, check=True)
    assert int(done.stdout) >= len(environ)


@pytest.mark.parametrize("name", ["sep", "stat", "open", "O_CREAT", "makedirs", "posix_spawn", "devnull", "_exit"])
def test_what_it_does_not_have_is_that_of_os(name: str) -> None:
    here: Any = lean_os
    assert getattr(here, name) == getattr(os, name)


def test_a_name_that_os_does_not_have_is_an_error() -> None:
    here: Any = lean_os
    assert not hasattr(here, "nothing_of_this_name")
    assert not hasattr(here.path, "nothing_of_this_name")
