"""Pictures of What-if."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.apps import at_rest, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, fresh_cutoff
from tests.tui.pictures import EVERY_SIZE, NARROW, Compare, Size, pictures, pressing
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.app import MemsiftApp
from tui.workspace.workspace import Workspace

MOVED = (*["right"] * 5, "down", "down", "left")


@pytest.fixture
def workspace(open_workspace: Opener, request: pytest.FixtureRequest) -> Workspace:
    """The first prompts of the example data, labelled except for the pictures without labels."""
    made = open_workspace(judge=None, annotator="ana", prompts=demo_prompts()[:20], cutoff=fresh_cutoff())
    replay_and_label(made, None if "empty" not in request.node.name else 0)
    return made


def showing(*keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        await pressing("f6", *keys)(pilot)
        screen: Any = pilot.app.screen
        screen.knobs.border_title = "Settings of /project/.claude/memory"
        if screen.compared.display and screen._sample.prompts:
            row = screen.knobs.current
            await until(pilot, lambda: screen._values and screen._values[0] is row.knob)
        await at_rest(pilot)

    return run


@pytest.mark.parametrize(
    ("keys", "size"),
    [*pictures({"moved": MOVED}, *EVERY_SIZE), *pictures({"prompts": (*MOVED, "p", "down")}, NARROW)],
)
def test_moved_settings_look_as_they_did(
    snap_compare: Compare, workspace: Workspace, keys: tuple[str, ...], size: Size
) -> None:
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=showing(*keys))


@pytest.mark.slow
def test_an_empty_what_if_looks_as_it_did(snap_compare: Compare, workspace: Workspace) -> None:
    assert snap_compare(MemsiftApp(workspace), terminal_size=NARROW, run_before=showing())
