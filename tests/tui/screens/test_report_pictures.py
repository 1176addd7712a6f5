"""Pictures of the parts of Report. Look at each picture before you accept a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.apps import at_rest, pressing, type_ahead, until
from tests.tui.demo import demo_prompts, fresh_cutoff
from tests.tui.test_snapshots import instant_judge, stopped_clock
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.app import MemsiftApp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from tests.tui.conftest import Opener
    from tui.workspace.workspace import Workspace

DARK, LIGHT = "textual-dark", "textual-light"
FAST = {("precision", (160, 48), LIGHT), ("worst-memories", (80, 24), DARK)}
PARTS = ("precision", "coverage", "reliability", "judge-memsift+default+judge", "worst-memories")
LOOKS = [
    pytest.param(part, size, theme, id=f"{part}-{size[0]}x{size[1]}-{theme[8:]}", marks=marks)
    for part in PARTS
    for size in ((60, 20), (80, 24), (160, 48))
    for theme in (DARK, LIGHT)
    for marks in [[] if (part, size, theme) in FAST else [pytest.mark.slow]]
]


@pytest.fixture
def workspace(open_workspace: Opener) -> Workspace:
    """Labelled prompts of the example data, on a clock that stands still."""
    made = open_workspace(
        judge=instant_judge, annotator="ana", clock=stopped_clock, prompts=demo_prompts()[:24], cutoff=fresh_cutoff()
    )
    replay_and_label(made)
    return made


def showing(theme: str, part: str, *keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        await pressing(theme, "f5")(pilot)
        parts: Any = pilot.app.screen.query_one("PartList")
        await until(pilot, lambda: parts.records)
        parts.go_to(part)
        for key in keys:
            await at_rest(pilot)
            type_ahead(pilot, key)
        await at_rest(pilot)

    return run


@pytest.mark.parametrize(("part", "size", "theme"), LOOKS)
def test_a_part_looks_as_it_did(
    snap_compare: Callable[..., bool], workspace: Workspace, part: str, size: tuple[int, int], theme: str
) -> None:
    run = showing(theme, part, "right", "down")
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [("right", "enter"), ("w",), ("t",)], ids=["prompts", "write", "target"])
def test_its_dialogs_look_as_they_did(
    snap_compare: Callable[..., bool], workspace: Workspace, keys: tuple[str, ...]
) -> None:
    run = showing(DARK, "precision", *keys)
    assert snap_compare(MemsiftApp(workspace), terminal_size=(60, 20), run_before=run)
