"""The question that the app asks when its label store was moved, replaced or deleted."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from labels.store import LabelStore
from tests.tui.apps import card_shown, press, reads, starting_in, told
from tests.tui.demo import make_workspace

pytestmark = pytest.mark.anyio


def on_disk(path: Path) -> int:
    with LabelStore.open(path) as store:
        return len(store.events())


@pytest.mark.parametrize("is_new", [False, True])
async def test_a_person_chooses_where_labels_go_after_the_store_was_replaced(tmp_path: Path, is_new: bool) -> None:
    path, backup = tmp_path / "labels.db", tmp_path / "backup.db"
    LabelStore.open(path).close()
    shutil.copyfile(path, backup)
    with closing(make_workspace(path, judge=None)) as workspace:
        async with starting_in("label", workspace).run_test(size=(110, 32)) as pilot:
            await card_shown(pilot)
            await press(pilot, "a")
            backup.replace(path)
            await press(pilot, "x")
            await reads(pilot, "MovedStore Vertical", "labels.db was replaced. Where do labels go?")
            await press(pilot, "escape")
            await told(pilot, "No label is saved before you choose where")
            await press(pilot, "x")
            await reads(pilot, "MovedStore Options", "It gets the labels of this start: 1.")
            await press(pilot, *(["j"] if is_new else []), "enter")
            await told(pilot, "from now on")
            await card_shown(pilot)
            await press(pilot, "x")
            assert workspace.store.path.parent == tmp_path
            assert (workspace.store.path == path) != is_new
            assert on_disk(workspace.store.path) == 2
    assert on_disk(path) == (0 if is_new else 2)
