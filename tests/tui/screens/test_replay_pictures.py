"""Pictures of Replay in states that no other test shows, and of Diff. Look at each before you accept a change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.apps import at_rest, starting_in, type_ahead
from tests.tui.demo import fresh_cutoff
from tests.tui.screens.test_diff import with_two_runs
from tests.tui.screens.test_replay_injected import written_prompts
from tui.workspace.replay.run_diffs import read_diff

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.tui.conftest import Opener
    from tui.workspace.replay.run_diffs import SavedDiff
    from tui.workspace.workspace import Workspace

DARK, LIGHT = "textual-dark", "textual-light"
FAST, *SLOW = [(size, theme) for size in ((80, 24), (60, 20), (160, 48)) for theme in (DARK, LIGHT)]
PICTURES = [FAST, *(pytest.param(*one, marks=pytest.mark.slow) for one in SLOW)]
STATES = {
    "no prompt fits a search": ("slash", "z", "z", "q"),
    "the prompts on which systems differ": ("R", "v", "down", "enter"),
    "the choice of systems": ("c",),
}


async def go(pilot: Pilot[Any], theme: str, *keys: str) -> None:
    pilot.app.theme = theme
    await at_rest(pilot)
    for key in keys:
        type_ahead(pilot, key)
        await at_rest(pilot)
    pilot.app.clear_notifications()  # a slow machine would show the toast of a replay no more
    await at_rest(pilot)


@pytest.mark.parametrize(("size", "theme"), PICTURES)
def test_three_systems_look_as_they_did(
    snap_compare: Callable[..., bool], open_workspace: Opener, size: tuple[int, int], theme: str
) -> None:
    workspace = open_workspace(judge=None, prompts=written_prompts(), cutoff=fresh_cutoff())
    workspace.chosen = ("bm25", "memsift+default", "injected")

    async def run(pilot: Pilot[Any]) -> None:
        await go(pilot, theme, "right", "down")

    assert snap_compare(starting_in("replay", workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "theme"), [FAST, *SLOW])
@pytest.mark.parametrize("state", STATES)
def test_a_state_of_the_prompts_looks_as_it_did(
    snap_compare: Callable[..., bool], open_workspace: Opener, state: str, size: tuple[int, int], theme: str
) -> None:
    workspace = open_workspace(judge=None, prompts=written_prompts(), cutoff=fresh_cutoff())

    async def run(pilot: Pilot[Any]) -> None:
        await go(pilot, theme, *STATES[state])

    assert snap_compare(starting_in("replay", workspace), terminal_size=size, run_before=run)


def with_fixed_names(workspace: Workspace) -> SavedDiff:
    """The diff with names and times of runs that are the same on every machine."""
    found = read_diff(workspace.store.path, workspace.index.root, ())
    assert found.compared
    before = replace(found.compared.before, name="11111111", ts="2026-01-02T03:04:05+00:00")
    now = replace(found.compared.now, name="22222222", ts="2026-01-03T03:04:05+00:00")
    return replace(found, compared=replace(found.compared, before=before, now=now))


@pytest.mark.parametrize(("size", "theme"), PICTURES)
def test_a_diff_looks_as_it_did(
    snap_compare: Callable[..., bool], open_workspace: Opener, size: tuple[int, int], theme: str
) -> None:
    workspace = with_two_runs(open_workspace(judge=None))
    found = with_fixed_names(workspace)

    async def run(pilot: Pilot[Any]) -> None:
        await go(pilot, theme)
        screen: Any = pilot.app.screen
        screen.call_later(screen.show_diff, found)
        await go(pilot, theme, "down")

    assert snap_compare(starting_in("diff", workspace), terminal_size=size, run_before=run)
