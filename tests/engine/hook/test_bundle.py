"""The file of compiled modules: used while it fits the sources, else ignored and written anew."""

import json
import shutil
import subprocess
import sys
from marshal import dumps
from pathlib import Path

import pytest

from tests.engine.hook.world import PROJECT, World, context_of


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the engine that nobody has started yet."""
    return shutil.copytree(PROJECT / "engine", tmp_path / "lib/engine", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def bundles(package: Path) -> list[Path]:
    return [path for path in (package / "__pycache__").glob("hook-*") if path.suffix != ".pyc"]


def start(package: Path, world: World, session_id: str, *flags: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", *flags, str(package / "hook/launch.py")]
    return world.start(command, json.dumps(world.payload(session_id=session_id)).encode())


def answers(package: Path, world: World, session_id: str) -> bool:
    done = start(package, world, session_id)
    assert (done.returncode, done.stderr) == (0, b"")
    return context_of(done.stdout.decode()).count("<result ") == 3


def is_used(package: Path, world: World, session_id: str) -> bool:
    """Whether a start takes the hook's process from the bundle, and not from a file of its own."""
    done = start(package, world, session_id, "-v")
    assert context_of(done.stdout.decode())
    return "engine/hook/process.py" not in done.stderr.decode()


def change(package: Path) -> None:
    inject = package / "inject.py"
    inject.write_text(inject.read_text("utf-8").replace('source="memsift"', 'source="changed"'), encoding="utf-8")


def test_the_first_start_writes_it_and_the_second_uses_it(package: Path, world: World) -> None:
    assert not is_used(package, world, "1")
    assert len(bundles(package)) == 1
    assert is_used(package, world, "2")
    assert answers(package, world, "3")


def test_a_changed_source_counts_at_the_next_start(package: Path, world: World) -> None:
    assert answers(package, world, "1")
    change(package)
    assert 'source="changed"' in context_of(start(package, world, "2").stdout.decode())
    assert 'source="changed"' in context_of(start(package, world, "3").stdout.decode())
    assert is_used(package, world, "4")


def test_a_copy_of_the_package_answers_with_its_own_sources(package: Path, world: World) -> None:
    assert answers(package, world, "1")
    copy = shutil.copytree(package, package.parent.parent / "copy/engine")
    change(copy)
    assert 'source="changed"' in context_of(start(copy, world, "2").stdout.decode())
    assert 'source="memsift"' in context_of(start(package, world, "3").stdout.decode())
    bundles(copy)[0].write_bytes(bundles(package)[0].read_bytes())
    assert 'source="changed"' in context_of(start(copy, world, "4").stdout.decode())


def flipped(whole: bytes, at: int) -> bytes:
    return whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]


def test_a_damaged_file_is_ignored_and_replaced(package: Path, world: World) -> None:
    assert answers(package, world, "whole")
    (bundle,) = bundles(package)
    whole = bundle.read_bytes()
    damages = {
        "empty": b"",
        "foreign": b"[\x01\x00\x00\x00N",
        "another marshalled value": dumps((None, [])),
        "half": whole[: len(whole) // 2],
        "without a hash": whole[:-8],
        "a page of zeros": whole[:8192] + bytes(4096) + whole[12288:],
        **{f"bit at {at}": flipped(whole, at) for at in (3, len(whole) // 2, len(whole) - 3)},
    }
    for name, damage in damages.items():
        bundle.write_bytes(damage)
        assert answers(package, world, name), name
        assert bundle.read_bytes() == whole, name
    assert is_used(package, world, "used")


@pytest.mark.slow
def test_no_single_damaged_bit_reaches_the_interpreter(package: Path, world: World) -> None:
    assert answers(package, world, "whole")
    (bundle,) = bundles(package)
    whole = bundle.read_bytes()
    for at in range(len(whole) // 40, len(whole), len(whole) // 20):
        bundle.write_bytes(flipped(whole, at))
        assert answers(package, world, f"bit at {at}"), at
        assert bundle.read_bytes() == whole, at


def test_without_write_access_the_modules_are_loaded_one_by_one(package: Path, world: World) -> None:
    (package / "__pycache__").write_text("", encoding="utf-8")
    assert answers(package, world, "1")
    assert answers(package, world, "2")


def test_the_launcher_may_be_named_from_its_own_folder(package: Path, world: World) -> None:
    for session_id in "12":
        stdin = json.dumps(world.payload(session_id=session_id)).encode()
        done = world.start([sys.executable, "-I", "-S", "launch.py"], stdin, cwd=package / "hook")
        assert context_of(done.stdout.decode()).count("<result ") == 3
