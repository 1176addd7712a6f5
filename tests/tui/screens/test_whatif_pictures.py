"""Pictures of What-if. Look at each picture before you accept a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.apps import at_rest, pressing, until
from tests.tui.demo import demo_prompts, fresh_cutoff
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.app import MemsiftApp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from tests.tui.conftest import Opener
    from tui.workspace.workspace import Workspace

MOVED = (*["right"] * 5, "down", "down", "left")
DARK, LIGHT = "textual-dark", "textual-light"
FAST = {((80, 24), DARK), ((160, 48), LIGHT)}
LOOKS = [
    pytest.param(
        size, theme, id=f"{size[0]}x{size[1]}-{theme[8:]}", marks=[] if (size, theme) in FAST else [pytest.mark.slow]
    )
    for size in ((60, 20), (80, 24), (160, 48))
    for theme in (DARK, LIGHT)
]


@pytest.fixture
def workspace(open_workspace: Opener, request: pytest.FixtureRequest) -> Workspace:
    """The first prompts of the example data, labelled except for the pictures without labels."""
    made = open_workspace(judge=None, annotator="ana", prompts=demo_prompts()[:20], cutoff=fresh_cutoff())
    replay_and_label(made, None if "empty" not in request.node.name else 0)
    return made


def showing(theme: str, *keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        await pressing(theme, "f6", *keys)(pilot)
        screen: Any = pilot.app.screen
        screen.knobs.border_title = "Settings of /project/.claude/memory"
        if screen.compared.display and screen._sample.prompts:
            draft = screen.trial.draft
            row = screen.knobs.current
            await until(
                pilot, lambda: screen._values and (screen._values.draft, screen._values.knob) == (draft, row.knob)
            )
        await at_rest(pilot)

    return run


@pytest.mark.parametrize(("size", "theme"), LOOKS)
def test_moved_settings_look_as_they_did(
    snap_compare: Callable[..., bool], workspace: Workspace, size: tuple[int, int], theme: str
) -> None:
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=showing(theme, *MOVED))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (160, 48)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_prompts_look_as_they_did(
    snap_compare: Callable[..., bool], workspace: Workspace, size: tuple[int, int]
) -> None:
    run = showing(DARK, *MOVED, "p", "down")
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 20), (160, 48)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_an_empty_what_if_looks_as_it_did(
    snap_compare: Callable[..., bool], workspace: Workspace, size: tuple[int, int]
) -> None:
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=showing(LIGHT))
