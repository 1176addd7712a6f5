"""The line that explains a slow opening of a root."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine import opening as search_opening
from engine.search.index import Index
from tui.workspace import opening, stderr
from tui.workspace.judging import JudgeOptions

PATIENCE_SECONDS = 20.0
LINE = "Later only what changed is read.\n"


class SlowDisk:
    """Opens an index once a line was `said` on stderr, or after `seconds`."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.said = ""
        self._monkeypatch = monkeypatch
        self.seconds = PATIENCE_SECONDS
        self._capsys = capsys
        self._open = search_opening.open_index

    def watch(self) -> None:
        """From now on stderr is a terminal. To be called in the test, because a fixture has another stderr."""
        self._monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    def open_index(self, root: str, environ: Mapping[str, str]) -> Index:
        until = time.monotonic() + self.seconds
        while time.monotonic() < until and not self.said:
            time.sleep(0.01)
            self.said += self._capsys.readouterr().err
        return self._open(root, environ)


@pytest.fixture
def disk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    """A slow disk, while a wait is explained almost at once."""
    slow = SlowDisk(capsys, monkeypatch)
    monkeypatch.setattr(search_opening, "open_index", slow.open_index)
    monkeypatch.setattr(stderr, "SLOW_SECONDS", 0.01)
    return slow


def test_a_command_says_that_reading_takes_long(root: Path, disk: SlowDisk) -> None:
    disk.watch()
    with opening.opened_index(str(root)) as index:
        assert len(index) == 5
    assert disk.said == f"memsift: reading the memories of {root}. {LINE}"


def test_the_app_says_so_before_it_paints(root: Path, tmp_path: Path, disk: SlowDisk) -> None:
    disk.watch()
    opened = opening.open_workspace(str(root), (), JudgeOptions("none"), str(tmp_path / "labels.db"), os.environ)
    opened.close()
    assert disk.said.endswith(LINE)


def test_what_is_read_soon_or_seen_by_nobody_needs_no_words(
    root: Path, disk: SlowDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.seconds = 0.2
    with opening.opened_index(str(root)):
        assert not disk.said, "no terminal"
    monkeypatch.setattr(stderr, "SLOW_SECONDS", PATIENCE_SECONDS)
    disk.watch()
    began = time.monotonic()
    with opening.opened_index(str(root)):
        assert time.monotonic() - began < PATIENCE_SECONDS
    assert not disk.said
