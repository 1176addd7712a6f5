"""Pictures of Replay in states that no other test shows, and of Diff."""

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.apps import at_rest, starting_in
from tests.tui.conftest import Opener
from tests.tui.demo import fresh_cutoff
from tests.tui.pictures import EVERY_SIZE, USUAL, Compare, Size, pictures, pressing
from tests.tui.screens.test_diff import with_two_runs
from tests.tui.screens.test_replay_injected import written_prompts
from tui.workspace.replay.run_diffs import SavedDiff, read_diff
from tui.workspace.workspace import Workspace

THREE = ("bm25", "memsift+default", "injected")
STATES = {
    "no-prompt-fits-a-search": ("slash", "z", "z", "q"),
    "systems-differ": ("R", "v", "down", "enter"),
    "choice-of-systems": ("c",),
}


async def go(pilot: Pilot[Any], *keys: str) -> None:
    await pressing(*keys)(pilot)
    pilot.app.clear_notifications()  # a slow machine would show the toast of a replay no more
    await at_rest(pilot)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "size"), [*pictures({"three": ("right", "down")}, *EVERY_SIZE), *pictures(STATES, USUAL)]
)
def test_a_state_of_replay_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, keys: tuple[str, ...], size: Size
) -> None:
    workspace = open_workspace(judge=None, prompts=written_prompts(), cutoff=fresh_cutoff())
    if keys not in STATES.values():
        workspace.chosen = THREE

    async def run(pilot: Pilot[Any]) -> None:
        await go(pilot, *keys)

    assert snap_compare(starting_in("replay", workspace), terminal_size=size, run_before=run)


def with_fixed_names(workspace: Workspace) -> SavedDiff:
    """The diff with names and times of runs that are the same on every machine."""
    found = read_diff(workspace.store.path, workspace.index.root, ())
    assert found.compared
    before = replace(found.compared.before, name="11111111", ts="2026-01-02T03:04:05+00:00")
    now = replace(found.compared.now, name="22222222", ts="2026-01-03T03:04:05+00:00")
    return replace(found, compared=replace(found.compared, before=before, now=now))


@pytest.mark.parametrize(("key", "size"), pictures({"lost": "down"}, *EVERY_SIZE))
def test_a_diff_looks_as_it_did(snap_compare: Compare, open_workspace: Opener, key: str, size: Size) -> None:
    workspace = with_two_runs(open_workspace(judge=None))
    found = with_fixed_names(workspace)

    async def run(pilot: Pilot[Any]) -> None:
        await go(pilot)
        screen: Any = pilot.app.screen
        screen.call_later(screen.show_diff, found)
        await go(pilot, key)

    assert snap_compare(starting_in("diff", workspace), terminal_size=size, run_before=run)
