"""Pictures of screens with nothing to show. Look at each picture before you accept a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tui.apps import pressing, starting_in
from tests.tui.demo import demo_prompts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.tui.conftest import Opener

pytestmark = pytest.mark.slow

ONE = demo_prompts("p01")


@pytest.mark.parametrize(
    ("mode", "size"),
    [("browse", (60, 20)), ("replay", (160, 48)), ("label", (60, 20)), ("report", (80, 24)), ("activity", (80, 24))],
)
def test_an_empty_folder_looks_as_it_did(
    snap_compare: Callable[..., bool], open_workspace: Opener, tmp_path: Path, mode: str, size: tuple[int, int]
) -> None:
    (tmp_path / "empty").mkdir()
    workspace = open_workspace(root=tmp_path / "empty", prompts=ONE, judge=None)
    theme = "textual-light" if size == (80, 24) else "textual-dark"
    assert snap_compare(starting_in(mode, workspace), terminal_size=size, run_before=pressing(theme))


@pytest.mark.parametrize(("mode", "keys"), [("replay", ()), ("label", ()), ("browse", ("slash", *"zebra", "enter"))])
def test_nothing_to_show_looks_as_it_did(
    snap_compare: Callable[..., bool], open_workspace: Opener, mode: str, keys: tuple[str, ...]
) -> None:
    """No prompts, and a filter that nothing fits."""
    workspace = open_workspace(prompts=(), judge=None)
    run = pressing("textual-light", *keys)
    assert snap_compare(starting_in(mode, workspace), terminal_size=(80, 24), run_before=run)
