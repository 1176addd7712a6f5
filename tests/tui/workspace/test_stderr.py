"""The line that explains a slow opening of a root."""

import os
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from engine import opening as search_opening
from engine.search.index import Index
from tui.workspace import opening, stderr
from tui.workspace.judging import JudgeOptions

PATIENCE_SECONDS = 20.0


class SlowDisk:
    """Opens an index once a line was `said` on stderr, or after `seconds`. A wait is explained almost at once."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.said = ""
        self.seconds = PATIENCE_SECONDS
        self._capsys = capsys
        self._open = search_opening.open_index
        monkeypatch.setattr(search_opening, "open_index", self.open_index)
        monkeypatch.setattr(stderr, "SLOW_SECONDS", 0.01)

    def open_index(self, root: str, environ: Mapping[str, str]) -> Index:
        until = time.monotonic() + self.seconds
        while time.monotonic() < until and not self.said:
            time.sleep(0.01)
            self.said += self._capsys.readouterr().err
        return self._open(root, environ)


def test_on_a_terminal_a_command_says_that_reading_takes_long_and_the_app_before_it_paints(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read soon, or seen by nobody, needs no words."""
    disk = SlowDisk(capsys, monkeypatch)
    disk.seconds = 0.2
    with opening.opened_index(str(root)):
        assert not disk.said, "no terminal"
    disk.seconds = PATIENCE_SECONDS
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    line = f"memsift: reading the memories of {root}. Later only what changed is read.\n"
    with opening.opened_index(str(root)) as index:
        assert (len(index), disk.said) == (5, line)
    disk.said, store = "", str(tmp_path / "labels.db")
    with closing(opening.open_workspace(str(root), (), JudgeOptions("none"), store, os.environ)):
        assert disk.said == line
    disk.said, disk.seconds = "", 0.2
    monkeypatch.setattr(stderr, "SLOW_SECONDS", PATIENCE_SECONDS)
    began = time.monotonic()
    with opening.opened_index(str(root)):
        assert time.monotonic() - began < PATIENCE_SECONDS
    assert not disk.said
