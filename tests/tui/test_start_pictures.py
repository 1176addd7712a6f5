"""Pictures before the app: the first start, and the bar of a first index. Look at each before you accept a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from textual.widgets import ProgressBar

from tui.starting import BuildingApp, FirstStartApp
from tui.workspace.opening import FoundRoot

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

pytestmark = pytest.mark.slow

PLACES = (
    FoundRoot("/home/ana/library/.claude/memory", 76, "", 12, 1_795_000_000.0),
    FoundRoot("/home/ana/kiosk [old]/.claude/memory", 4, "", 0, 1_750_000_000.0),
)


def in_theme(theme: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        pilot.app.theme = theme
        await pilot.pause()

    return run


@pytest.mark.parametrize(
    ("places", "size", "theme"),
    [
        pytest.param(PLACES, (60, 20), "textual-dark", id="found-60x20-dark"),
        pytest.param(PLACES, (160, 48), "textual-light", id="found-160x48-light"),
        pytest.param((), (80, 24), "textual-dark", id="nothing-80x24-dark"),
    ],
)
def test_the_first_start_looks_as_it_did(
    snap_compare: Callable[..., bool], places: tuple[FoundRoot, ...], size: tuple[int, int], theme: str
) -> None:
    assert snap_compare(FirstStartApp(places), terminal_size=size, run_before=in_theme(theme))


@pytest.mark.parametrize(("size", "theme"), [((60, 20), "textual-light"), ((160, 48), "textual-dark")])
def test_the_bar_of_a_first_index_looks_as_it_did(
    snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], theme: str
) -> None:
    monkeypatch.setattr(BuildingApp, "build", lambda _: None)

    async def run(pilot: Pilot[Any]) -> None:
        await in_theme(theme)(pilot)
        pilot.app.query_one(ProgressBar).update(progress=18_000)
        await pilot.pause()

    app = BuildingApp("/home/ana/library/.claude/memory", 50_000)
    assert snap_compare(app, terminal_size=size, run_before=run)
