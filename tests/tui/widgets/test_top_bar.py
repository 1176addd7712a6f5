"""The line at the top: tabs for the screens that exist, and a run with its cost and its cancel key at every width."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tui
from tests.tui.apps import at_rest, press, shown, text_of
from tui.app import MemsiftApp, make_screen
from tui.widgets.bars import TABS, Tab
from tui.workspace.replay.background_run import RunProgress

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.workspace.workspace import Workspace

    Opener = Callable[..., Workspace]

pytestmark = pytest.mark.anyio

RUN = RunProgress(1_204, 10_000, 0.0123, 720.0)


class AllTabs(MemsiftApp):
    """An app with a mode for each tab."""

    CSS_PATH = Path(tui.__file__).parent / "app.tcss"
    MODES = {**{mode: partial(make_screen, mode) for mode, _ in TABS}, **MemsiftApp.MODES}


class TwoTabs(MemsiftApp):
    CSS_PATH = Path(tui.__file__).parent / "app.tcss"
    MODES = {mode: MemsiftApp.MODES[mode] for mode in ("browse", "label")}


async def test_every_key_a_run_and_its_cancel_key_are_visible_at_every_width(open_workspace: Opener) -> None:
    async with AllTabs(open_workspace(prompts=())).run_test(size=(60, 20)) as pilot:
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


async def test_the_cost_has_room_beside_the_longest_name_at_a_width_without_names(open_workspace: Opener) -> None:
    async with AllTabs(open_workspace(prompts=())).run_test(size=(60, 20)) as pilot:
        for tab in pilot.app.screen.query(Tab):
            tab.set_class(tab.mode == "activity", "-current")
            tab.show(has_key=True, has_name=tab.mode == "activity")
        await at_rest(pilot)
        assert pilot.app.screen.query_one("#where").content_size.width >= len("judge: $0.0100 of $1.00")


async def test_the_way_back_is_read_after_the_terminal_was_widened_on_another_screen(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=())).run_test(size=(30, 8)) as pilot:
        await press(pilot, "f8")
        await pilot.resize_terminal(100, 30)
        await press(pilot, "f2")
        assert shown(pilot, "#crumb") == "esc ‹ Activity"


async def test_a_screen_that_the_app_does_not_have_has_no_tab(open_workspace: Opener) -> None:
    async with TwoTabs(open_workspace(prompts=())).run_test(size=(160, 20)) as pilot:
        assert [tab.mode for tab in pilot.app.screen.query(Tab)] == ["browse", "label"]
