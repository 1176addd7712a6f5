"""Pictures of Activity. Look at each picture before you accept a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.apps import at_rest, starting_in, type_ahead
from tests.tui.screens.test_activity import LOGGED, ROWS, log_of, row

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.tui.conftest import Opener

DARK, LIGHT = "textual-dark", "textual-light"
PICTURES = [
    pytest.param((80, 24), DARK),
    pytest.param((160, 48), LIGHT),
    pytest.param((60, 20), DARK, marks=pytest.mark.slow),
    pytest.param((60, 20), LIGHT, marks=pytest.mark.slow),
    pytest.param((80, 24), LIGHT, marks=pytest.mark.slow),
    pytest.param((160, 48), DARK, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("size", "theme"), PICTURES)
def test_activity_looks_as_it_did(
    snap_compare: Callable[..., bool], open_workspace: Opener, size: tuple[int, int], theme: str
) -> None:
    log_of([*ROWS, *(row(10 + n, LOGGED, prompt=LOGGED, injected=["pnpm-frozen-lockfile"]) for n in range(40))])

    async def run(pilot: Pilot[Any]) -> None:
        pilot.app.theme = theme
        await at_rest(pilot)
        for key in ("o", "end", "enter", "space", "down", "down"):
            type_ahead(pilot, key)
            await at_rest(pilot)

    app = starting_in("activity", open_workspace())
    assert snap_compare(app, terminal_size=size, run_before=run)
