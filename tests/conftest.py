"""Fixtures that every test may use."""

import gc
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import descriptors
from tests.engine.builders import NO_CUTOFF

settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("patient", deadline=None, max_examples=200)
settings.load_profile("quick")
sys.addaudithook(descriptors.watch)
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""One thread for numpy: several processes with several threads each wait for each other most of the time."""
OWN = re.compile(
    r"(ANTHROPIC|CLAUDE|LC|MEMSIFT(?!_LONG_TESTS)|OPENAI|PYTHON(?!PATH)|SUDO|TEXTUAL(?!_SNAPSHOT)|XDG)_?.*"
    r"|COLORTERM|COLUMNS|EDITOR|FORCE_COLOR|LINES|NO_COLOR|PAGER|TZ|VISUAL|.*_(proxy|PROXY)"
)
"""The variables by which a person chooses settings, keys, colours, a locale or a proxy: no test inherits them."""

SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def pytest_configure(config: pytest.Config) -> None:
    """With the tests marked `long` come all tries of those that else make a few: see `tries`, and hypothesis."""
    if config.option.markexpr in ("", "long"):
        os.environ["MEMSIFT_LONG_TESTS"] = "1"
        settings.load_profile("patient")


def pytest_xdist_auto_num_workers() -> int:
    """One process more than processors, because a test sometimes waits: for a disk, a clock or another process."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what the tests share, which it would look through again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10000, 10, 10)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared data: LoCoMo and real transcripts, which are not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"shared data is not there: {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep a developer's own settings, labels, caches and keys out of every test."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in filter(OWN.fullmatch, [*os.environ]):
        monkeypatch.delenv(name)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    return home


@pytest.fixture(autouse=True)
def only_sqlite_opens_databases() -> Iterator[None]:
    """Fail a test in which code of the project opens a SQLite file that this process had open: see `descriptors`."""
    yield
    found = descriptors.offences.copy()
    descriptors.offences.clear()
    assert not found, found


@pytest.fixture
def no_cutoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a root of a few similar memories, in a test that is not about the cutoff."""
    for name, value in NO_CUTOFF.items():
        monkeypatch.setenv(name, value)
