"""Pictures of the parts of Report."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.apps import at_rest, type_ahead, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, fresh_cutoff
from tests.tui.pictures import (
    EVERY_SIZE,
    NARROW,
    USUAL,
    Compare,
    Size,
    instant_judge,
    pictures,
    pressing,
    stopped_clock,
)
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.app import MemsiftApp
from tui.workspace.workspace import Workspace

PARTS = {name: name for name in ("coverage", "reliability", "judge-memsift+default+judge", "worst-memories")}


@pytest.fixture
def workspace(open_workspace: Opener) -> Workspace:
    """Labelled prompts of the example data, on a clock that stands still."""
    made = open_workspace(
        judge=instant_judge, annotator="ana", clock=stopped_clock, prompts=demo_prompts()[:24], cutoff=fresh_cutoff()
    )
    replay_and_label(made)
    return made


def showing(part: str, *keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        await pressing("f5")(pilot)
        parts: Any = pilot.app.screen.query_one("PartList")
        await until(pilot, lambda: parts.records)
        parts.go_to(part)
        for key in keys:
            await at_rest(pilot)
            type_ahead(pilot, key)
        await at_rest(pilot)

    return run


@pytest.mark.parametrize(
    ("part", "size"),
    [*pictures({"precision": "precision"}, *EVERY_SIZE), *pictures(PARTS, USUAL, is_slow=True)],
)
def test_a_part_looks_as_it_did(snap_compare: Compare, workspace: Workspace, part: str, size: Size) -> None:
    run = showing(part, "right", "down")
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [("right", "enter"), ("ctrl+s",), ("t",)], ids=["prompts", "write", "target"])
def test_its_dialogs_look_as_they_did(snap_compare: Compare, workspace: Workspace, keys: tuple[str, ...]) -> None:
    run = showing("precision", *keys)
    assert snap_compare(MemsiftApp(workspace), terminal_size=NARROW, run_before=run)
