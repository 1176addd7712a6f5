"""Pictures before the app: the first start, and the bar of a first index."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import ProgressBar

from tests.tui.pictures import NARROW, USUAL, WIDE, Compare, Size, pictures
from tui.starting import BuildingApp, FirstStartApp
from tui.workspace.app_settings import AppSettings
from tui.workspace.opening import FoundRoot

pytestmark = pytest.mark.slow

PLACES = (
    FoundRoot("/home/ana/library/.claude/memory", 76, "", 12, 1_795_000_000.0),
    FoundRoot("/home/ana/kiosk [old]/.claude/memory", 4, "", 0, 1_750_000_000.0),
)


@pytest.mark.parametrize(
    ("places", "size"), [*pictures({"found": PLACES}, NARROW, WIDE), *pictures({"nothing": ()}, USUAL)]
)
def test_the_first_start_looks_as_it_did(snap_compare: Compare, places: tuple[FoundRoot, ...], size: Size) -> None:
    agents = {"Claude Code": True, "Codex": False} if places else {}
    assert snap_compare(FirstStartApp(places, agents, 2 * len(places), AppSettings()), terminal_size=size)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["60x20", "160x48"])
def test_the_bar_of_a_first_index_looks_as_it_did(
    snap_compare: Compare, monkeypatch: pytest.MonkeyPatch, size: Size
) -> None:
    monkeypatch.setattr(BuildingApp, "build", lambda _: None)

    async def run(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        pilot.app.query_one(ProgressBar).update(progress=18_000)
        await pilot.pause()

    app = BuildingApp("/home/ana/library/.claude/memory", 50_000)
    assert snap_compare(app, terminal_size=size, run_before=run)
