"""Pictures of Activity."""

import pytest

from tests.tui.apps import starting_in
from tests.tui.conftest import Opener
from tests.tui.pictures import EVERY_SIZE, Compare, Size, pictures, pressing
from tests.tui.screens.test_activity import LOGGED, ROWS, log_of, row

KEYS = ("o", "end", "enter", "space", "down", "down")


@pytest.mark.parametrize(("keys", "size"), pictures({"filtered": KEYS}, *EVERY_SIZE))
def test_activity_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, keys: tuple[str, ...], size: Size
) -> None:
    log_of([*ROWS, *(row(10 + n, LOGGED, prompt=LOGGED, injected=["pnpm-frozen-lockfile"]) for n in range(40))])
    app = starting_in("activity", open_workspace())
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))
