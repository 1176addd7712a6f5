"""The lines at the edges: tabs and a run at every width; keys of which none is cut off, always with help and quit."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets._footer import FooterKey

from tests.tui.apps import at_rest, press, settled, shown, starting_in, text_of
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.app import MemsiftApp
from tui.widgets.bars import Tab
from tui.workspace.replay.background_run import RunProgress

pytestmark = pytest.mark.anyio

RUN = RunProgress(1_204, 10_000, 0.0123, 720.0)


@pytest.mark.slow
async def test_every_key_a_run_and_its_cancel_key_are_visible_at_every_width(open_workspace: Opener) -> None:
    """The way back is read after a change of the width on another screen."""
    async with MemsiftApp(open_workspace(prompts=())).run_test(size=(60, 20)) as pilot:
        app: Any = pilot.app
        app._show_progress(RUN)
        for width, tabs in [
            (60, "Browse Replay Label Report What-if Inbox Activity"),
            (80, "B Browse P Replay L Label T Report W What-if I Inbox A Activity"),
        ]:
            await pilot.resize_terminal(width, 24)
            await at_rest(pilot)
            found = list(app.screen.query(Tab))
            assert " ".join(text_of(tab).strip() for tab in found) == tabs
            assert found[-1].region.right <= width
            assert shown(pilot, "#run") == "Replayed 1,204/10,000 · 12 min left · $0.01"
            assert shown(pilot, "#cancel") == "ctrl+x cancels"
            assert shown(pilot, "#where") == "demo"
        await pilot.resize_terminal(30, 8)
        await press(pilot, "f8")
        await pilot.resize_terminal(100, 30)
        await press(pilot, "f2")
        assert shown(pilot, "#crumb") == "esc ‹ Activity"


AT_60 = ["Why", "Why not", "Relevant", "Not", "Type"]
AT_80 = [*AT_60, "Sample", "Filter"]
AT_160 = [*AT_80, "Columns", "Replay all", "Diff", "Copy", "Search", "Sort", "View", "Path"]


def named(pilot: Pilot[None]) -> list[str]:
    """The names of the keys, all of which must lie on the screen as a whole."""
    keys = list(pilot.app.screen.query(FooterKey))
    assert all(one.region.x >= 0 and one.region.right <= pilot.app.size.width for one in keys)
    return [one.description for one in keys]


async def test_replay_names_as_many_next_keys_as_there_is_room_for(open_workspace: Opener) -> None:
    app = starting_in("replay", open_workspace(judge=None, prompts=demo_prompts("p01", "p02")))
    async with app.run_test(size=(60, 20)) as pilot:
        for width, own in ((60, AT_60), (80, AT_80), (160, AT_160), (60, AT_60)):
            await pilot.resize_terminal(width, 24)
            await settled(pilot)
            assert named(pilot) == [*own, "Help", "Quit"]
        # letters go into the search now
        await press(pilot, "slash", "z")
        assert named(pilot) == ["Help"]
        await press(pilot, "enter")
        assert "Filter" in named(pilot)
        assert "Why" not in named(pilot)  # no prompt is listed, so there is no memory to explain
