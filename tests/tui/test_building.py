"""The first reading of many memories: a bar in the app and on stderr, and a quit that leaves nothing half done."""

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import ProgressBar, Static

from engine.opening import files_to_build, index_file, open_index
from tests.engine.curation.roots import document, write_documents
from tests.tui.apps import until
from tui.starting import BuildingApp
from tui.workspace import opening

COUNT = 1200


@pytest.fixture
def many(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "many", [document(f"m{number}") for number in range(COUNT)])


@pytest.mark.anyio
async def test_the_app_shows_a_bar_and_a_quit_keeps_nothing(many: Path) -> None:
    assert files_to_build(str(many), os.environ) == COUNT
    left = BuildingApp(str(many), COUNT)
    async with left.run_test(size=(60, 20)) as pilot:
        assert "1,200 memories" in str(left.query_one(Static).render())
        await until(pilot, lambda: left.query_one(ProgressBar).progress > 0, "the bar moves")
        await pilot.press("q")
        await until(pilot, lambda: left._exit, "q leaves")
    assert left.return_value is None
    done = BuildingApp(str(many), COUNT)
    async with done.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: done._exit, "the end")
    assert done.return_value is True
    with closing(open_index(str(many), os.environ)) as index:
        assert len(index) == COUNT


def test_a_command_shows_a_bar_where_somebody_watches(
    many: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with opening.opened_index(str(many)) as index:
        assert len(index) == COUNT
    said = capsys.readouterr().err
    assert "Reading 1,200 memories for the first time" in said
    assert "1200/1200" in said
    with opening.opened_index(str(many)):
        assert capsys.readouterr().err == "", "once"
    assert Path(index_file(os.path.realpath(many), os.environ)).exists()
