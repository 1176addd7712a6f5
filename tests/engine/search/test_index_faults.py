"""Writers that are killed, files that are cut and overwritten, disks that are full, many at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.search.index import Index
from engine.search.opening import hook_index, index_file, open_index
from engine.search.query import query_terms
from engine.search.schema import HEADLINE
from engine.stores.roots import read_corpus
from tests.engine.builders import memory, write_memory, write_root

if TYPE_CHECKING:
    from engine.memory import MemorySummary

PROJECT = Path(__file__).resolve().parent.parent.parent.parent
ASK = query_terms("cache rule of the auth token")
BODY = "the cache of the token rule is cold and holds an auth migration each time " * 20

OPEN = """
import sys
from engine.search.opening import open_index
open_index(sys.argv[1], {"HOME": sys.argv[2]}).close()
"""
OPEN_SMALL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n" + OPEN
WRITE_AND_ASK = """
import sys
from pathlib import Path
from engine.search.schema import HEADLINE
from engine.search.opening import hook_index, open_index
from engine.search.query import query_terms
from tests.engine.builders import memory, write_memory
root, home, name = sys.argv[1:]
for number in range(25):
    one = memory(f"cache rule {name} {number % 5}", body=f"turn {number}", memory_id=f"{name}-{number % 5}")
    write_memory(Path(root), one)
    for index in (open_index(root, {"HOME": home}), hook_index(root, {"HOME": home}, 5.0)):
        titles = [hit.summary.title for hit in index.search(query_terms("cache rule"), HEADLINE, 300)]
        assert f"cache rule {name} {number % 5}" in titles, (name, number, titles)
        index.close()
"""


@pytest.fixture
def root(tmp_path: Path) -> str:
    memories = [memory(f"cache rule {i}", "auth", body=f"{BODY} {i}", memory_id=f"m{i}") for i in range(120)]
    return str(write_root(tmp_path / "root", memories).resolve())


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "person")


def start(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.Popen([sys.executable, "-c", code, *arguments], env=environ, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr.decode()


def found(index: Index | None) -> list[object]:
    assert index is not None
    with closing(index):
        return [(hit.summary, round(hit.bm25, 9)) for hit in index.search(ASK, HEADLINE, 15)]


def shown(index: Index | None) -> set[MemorySummary]:
    assert index is not None
    with closing(index):
        return {hit.summary for hit in index.search(ASK, HEADLINE, 15)}


def fresh(root: str) -> list[object]:
    return found(Index(read_corpus(root)))


def assert_heals(root: str, home: str) -> None:
    """Whoever comes next gets what a fresh build says, and the one after that as well."""
    assert found(open_index(root, {"HOME": home})) == fresh(root)
    assert found(hook_index(root, {"HOME": home}, 30.0)) == fresh(root)


def test_a_writer_that_is_killed_leaves_what_was_there_or_nothing(root: str, home: str) -> None:
    began = time.monotonic()
    finish(start(OPEN, root, home))
    whole = time.monotonic() - began
    made = random.Random(11)
    for turn in range(15):
        if turn % 3 == 0:
            for path in Path(index_file(root, {"HOME": home})).parent.glob("index.db*"):
                path.unlink()
        for number in range(turn, 120, 4):
            write_memory(Path(root), memory(f"auth rule {turn} {number}", body=BODY, memory_id=f"m{number}"))
        process = start(OPEN, root, home)
        time.sleep(whole * made.uniform(0.2, 1.0))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert shown(hook_index(root, {"HOME": home}, 30.0)) <= {one.summary for one in read_corpus(root).memories}
    assert_heals(root, home)


def test_a_file_that_was_overwritten_at_random_never_names_what_is_not_there(root: str, home: str) -> None:
    memories = {one.summary for one in read_corpus(root).memories}
    path = Path(index_file(root, {"HOME": home}))
    made = random.Random(5)
    for _ in range(40):
        found(open_index(root, {"HOME": home}))
        content = bytearray(path.read_bytes())
        for _ in range(made.choice((1, 10, 200))):
            content[made.randrange(len(content))] = made.randrange(256)
        path.write_bytes(content)
        assert shown(hook_index(root, {"HOME": home}, 30.0)) <= memories
        assert shown(open_index(root, {"HOME": home})) <= memories


def test_a_file_that_was_cut_is_built_anew(root: str, home: str) -> None:
    path = Path(index_file(root, {"HOME": home}))
    made = random.Random(6)
    for _ in range(15):
        found(open_index(root, {"HOME": home}))
        os.truncate(path, made.randrange(path.stat().st_size))
        answer = hook_index(root, {"HOME": home}, 30.0)
        assert answer is not None
        assert found(answer) in (fresh(root), [])
    assert_heals(root, home)


def test_a_full_disk_is_done_without(root: str, home: str) -> None:
    finish(start(OPEN_SMALL, root, home))
    assert_heals(root, home)
    write_memory(Path(root), memory("auth rule", body=BODY * 30))
    finish(start(OPEN_SMALL, root, home))
    assert_heals(root, home)


def test_four_processes_write_and_ask_at_once(root: str, home: str) -> None:
    running = [start(WRITE_AND_ASK, root, home, name) for name in ("one", "two", "three", "four")]
    for process in running:
        finish(process)
    assert_heals(root, home)
