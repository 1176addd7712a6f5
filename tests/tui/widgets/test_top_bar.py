"""The line at the top: tabs for the screens that exist, and a run with its cost and its cancel key at every width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.apps import at_rest, press, shown, text_of
from tui.app import MemsiftApp
from tui.widgets.bars import Tab
from tui.workspace.replay.background_run import RunProgress

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.workspace.workspace import Workspace

    Opener = Callable[..., Workspace]

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
