"""Pictures of the dialogs that other pictures do not show. Look at each picture before you accept a change."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.builders import memory, write_root
from tests.tui.apps import at_rest, pressing, starting_in, type_ahead
from tests.tui.demo import demo_prompts, fresh_cutoff
from tui.workspace import opening
from tui.workspace.judge_options import JudgeOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.tui.conftest import Opener

pytestmark = pytest.mark.slow

SMALL, USUAL, WIDE = (60, 20), (80, 24), (160, 48)
DARK, LIGHT = "textual-dark", "textual-light"
DIALOGS = [
    pytest.param("browse", ("t",), SMALL, DARK, id="tags"),
    pytest.param("replay", ("c", "down"), SMALL, LIGHT, id="columns"),
    pytest.param("replay", ("v",), USUAL, DARK, id="prompt-filter"),
    pytest.param("replay", ("right", "f", *"queue"), SMALL, DARK, id="why-not"),
    pytest.param("replay", ("i",), USUAL, LIGHT, id="whole-prompt"),
    pytest.param("label", ("w",), SMALL, DARK, id="guideline"),
    pytest.param("browse", ("ctrl+t", "down", "down"), USUAL, DARK, id="theme"),
    pytest.param("replay", ("question_mark",), SMALL, DARK, id="help-60x20"),
    pytest.param("browse", ("question_mark",), WIDE, LIGHT, id="help-160x48"),
    pytest.param("browse", ("ctrl+p",), USUAL, LIGHT, id="palette"),
    pytest.param("replay", ("grave_accent",), WIDE, DARK, id="jump"),
]


@pytest.mark.parametrize(("mode", "keys", "size", "theme"), DIALOGS)
def test_a_dialog_looks_as_it_did(
    snap_compare: Callable[..., bool],
    open_workspace: Opener,
    mode: str,
    keys: tuple[str, ...],
    size: tuple[int, int],
    theme: str,
) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts("p02", "p13", "p01"), cutoff=fresh_cutoff())
    assert snap_compare(starting_in(mode, workspace), terminal_size=size, run_before=pressing(theme, *keys))


def test_moving_a_memory_looks_as_it_did(snap_compare: Callable[..., bool], tmp_path: Path) -> None:
    first = write_root(tmp_path / "one", [memory("Token cache rule", "cache")])
    second = write_root(tmp_path / "two", [memory("Hold queue", "queue")])
    off, store = JudgeOptions(is_off=True), str(tmp_path / "labels.db")
    workspace = opening.open_workspace(str(first), [], off, store, os.environ, others=[str(second)])

    async def run(pilot: Pilot[Any]) -> None:
        pilot.app.theme = LIGHT
        await at_rest(pilot)
        type_ahead(pilot, "M")
        await at_rest(pilot)

    with closing(workspace):
        assert snap_compare(starting_in("browse", workspace), terminal_size=SMALL, run_before=run)
