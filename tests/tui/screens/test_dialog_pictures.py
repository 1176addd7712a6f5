"""Pictures of the dialogs that other pictures do not show, and of screens with nothing to show."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.engine.builders import memory, write_root
from tests.tui.apps import starting_in
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, fresh_cutoff
from tests.tui.pictures import NARROW, USUAL, WIDE, Compare, Size, pictures, pressing
from tui.workspace import opening
from tui.workspace.judging import JudgeOptions

pytestmark = pytest.mark.slow

Keys = tuple[str, ...]
HELP = ("question_mark",)
SMALL_DIALOGS: dict[str, tuple[str, Keys]] = {
    "tags": ("browse", ("t",)),
    "columns": ("replay", ("c", "down")),
    "why-not": ("replay", ("right", "f", *"queue")),
    "guideline": ("label", ("c",)),
    "help": ("replay", HELP),
}
DIALOGS: dict[str, tuple[str, Keys]] = {
    "prompt-filter": ("replay", ("v",)),
    "whole-prompt": ("replay", ("i",)),
    "theme": ("browse", ("ctrl+t", "down", "down")),
    "palette": ("browse", ("ctrl+p",)),
}
WIDE_DIALOGS = {"help": ("browse", HELP), "jump": ("replay", ("grave_accent",))}


@pytest.mark.parametrize(
    ("place", "size"),
    [*pictures(SMALL_DIALOGS, NARROW), *pictures(DIALOGS, USUAL), *pictures(WIDE_DIALOGS, WIDE)],
)
def test_a_dialog_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, place: tuple[str, Keys], size: Size
) -> None:
    mode, keys = place
    workspace = open_workspace(judge=None, prompts=demo_prompts("p02", "p13", "p01"), cutoff=fresh_cutoff())
    assert snap_compare(starting_in(mode, workspace), terminal_size=size, run_before=pressing(*keys))


def test_moving_a_memory_looks_as_it_did(snap_compare: Compare, tmp_path: Path) -> None:
    first = write_root(tmp_path / "one", [memory("Token cache rule", "cache")])
    second = write_root(tmp_path / "two", [memory("Hold queue", "queue")])
    off, store = JudgeOptions(is_off=True), str(tmp_path / "labels.db")
    with closing(opening.open_workspace(str(first), [], off, store, os.environ, others=[str(second)])) as workspace:
        assert snap_compare(starting_in("browse", workspace), terminal_size=NARROW, run_before=pressing("M"))


@pytest.mark.parametrize("mode", ["browse", "replay", "label", "report"])
def test_an_empty_folder_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "empty").mkdir()
    workspace = open_workspace(root=tmp_path / "empty", prompts=demo_prompts("p01"), judge=None)
    assert snap_compare(starting_in(mode, workspace), terminal_size=USUAL, run_before=pressing())


@pytest.mark.parametrize(("mode", "keys"), [("replay", ()), ("browse", ("slash", *"zebra", "enter"))])
def test_nothing_to_show_looks_as_it_did(snap_compare: Compare, open_workspace: Opener, mode: str, keys: Keys) -> None:
    """No prompts, and a filter that nothing fits."""
    workspace = open_workspace(prompts=(), judge=None)
    assert snap_compare(starting_in(mode, workspace), terminal_size=USUAL, run_before=pressing(*keys))
