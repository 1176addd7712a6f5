"""The line of keys: none is cut off, help and quit are always there, and a key of no use now is not named."""

import pytest
from textual.pilot import Pilot
from textual.widgets._footer import FooterKey

from tests.tui.apps import press, settled, starting_in
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts

pytestmark = pytest.mark.anyio

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
