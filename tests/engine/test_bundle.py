"""The bundle of compiled modules: used where it fits the sources, ignored and written anew where it does not."""

from __future__ import annotations

import json
import shutil
import sys
from marshal import dumps
from typing import TYPE_CHECKING

import pytest

from tests.engine.hook_world import PROJECT, World, context_of

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the engine that nobody has started yet."""
    return shutil.copytree(PROJECT / "engine", tmp_path / "lib/engine", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def bundles(package: Path) -> list[Path]:
    return list((package / "__pycache__").glob("*.bundle-*"))


def start(package: Path, world: World, session_id: str, *flags: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *(flags or ("-I", "-S")), str(package / "launch.py")]
    return world.start(command, json.dumps(world.payload(session_id=session_id)).encode())


def answers(package: Path, world: World, session_id: str) -> bool:
    done = start(package, world, session_id)
    assert (done.returncode, done.stderr) == (0, b"")
    return context_of(done.stdout.decode()).count("<result ") == 3


def compiled_one_by_one(package: Path, world: World, session_id: str) -> set[str]:
    """The modules of the hook that a start finds outside the bundle."""
    done = start(package, world, session_id, "-I", "-S", "-v")
    assert context_of(done.stdout.decode())
    lines = done.stderr.decode().splitlines()
    return {line for line in lines if line.startswith("# code object from") and str(package) in line}


def test_the_first_start_writes_it_and_the_second_loads_the_hook_from_it(package: Path, world: World) -> None:
    assert answers(package, world, "1")
    assert len(bundles(package)) == 1
    assert compiled_one_by_one(package, world, "2") == set()
    assert answers(package, world, "3")


def test_a_source_that_changed_is_not_taken_from_it(package: Path, world: World) -> None:
    assert answers(package, world, "1")
    inject = package / "inject.py"
    inject.write_text(inject.read_text("utf-8").replace('source="memsift"', 'source="changed"'), encoding="utf-8")
    assert 'source="changed"' in context_of(start(package, world, "2").stdout.decode())
    assert 'source="changed"' in context_of(start(package, world, "3").stdout.decode())
    assert compiled_one_by_one(package, world, "4") == set()


def test_a_source_that_went_is_not_looked_for(package: Path, world: World) -> None:
    assert answers(package, world, "1")
    surrogates = package / "surrogates.py"
    text = surrogates.read_text("utf-8")
    surrogates.unlink()
    (package / "surrogates").mkdir()
    (package / "surrogates/__init__.py").write_text(text, encoding="utf-8")
    assert answers(package, world, "2")
    assert compiled_one_by_one(package, world, "3") == set()


def test_a_copy_of_the_package_answers_with_its_own_sources(package: Path, world: World) -> None:
    assert answers(package, world, "1")
    copy = shutil.copytree(package, package.parent.parent / "copy/engine")
    assert answers(copy, world, "2")
    assert compiled_one_by_one(copy, world, "3") == set()
    inject = copy / "inject.py"
    inject.write_text(inject.read_text("utf-8").replace('source="memsift"', 'source="changed"'), encoding="utf-8")
    assert 'source="changed"' in context_of(start(copy, world, "4").stdout.decode())
    assert 'source="memsift"' in context_of(start(package, world, "5").stdout.decode())


@pytest.mark.parametrize("damage", [b"", b"x", b"{", b"i\x00\x00\x00\x00", b"[\x01\x00\x00\x00N", dumps((None, []))])
def test_a_damaged_file_is_ignored_and_replaced(package: Path, world: World, damage: bytes) -> None:
    assert answers(package, world, "1")
    (bundle,) = bundles(package)
    whole = bundle.read_bytes()
    bundle.write_bytes(damage or whole[: len(whole) // 2])
    assert answers(package, world, "2")
    assert compiled_one_by_one(package, world, "3") == set()


def test_a_folder_that_cannot_be_written_does_without(package: Path, world: World) -> None:
    (package / "__pycache__").write_text("", encoding="utf-8")
    assert answers(package, world, "1")
    assert answers(package, world, "2")


def test_the_launcher_may_be_named_from_its_own_folder(package: Path, world: World) -> None:
    command = [sys.executable, "-I", "-S", "launch.py"]
    for session_id in "12":
        stdin = json.dumps(world.payload(session_id=session_id)).encode()
        done = world.start(command, stdin, cwd=package)
        assert context_of(done.stdout.decode()).count("<result ") == 3


@pytest.mark.parametrize("lost", ["bundling.py", "hook.py", "__init__.py"])
def test_a_package_of_which_a_part_is_missing_is_silent(package: Path, world: World, lost: str) -> None:
    (package / lost).write_text("syntax error", encoding="utf-8")
    done = start(package, world, "1")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
