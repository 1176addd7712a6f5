"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.engine.builders import NO_CUTOFF

settings.register_profile("patient", parent=settings(), deadline=None, max_examples=50)
settings.load_profile("patient")
SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def pytest_configure(config: pytest.Config) -> None:
    """With the tests marked `long` come all tries of those that else make a few: see `tries`."""
    if config.option.markexpr in ("", "long"):
        os.environ["MEMSIFT_LONG_TESTS"] = "1"


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
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "MEMSIFT_DB", "MEMSIFT_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    for name in NO_CUTOFF:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def no_cutoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a root of a few similar memories, in a test that is not about the cutoff."""
    for name, value in NO_CUTOFF.items():
        monkeypatch.setenv(name, value)
