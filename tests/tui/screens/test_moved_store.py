"""The question that the app asks when its label store was moved, replaced or deleted; and an app without one."""

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import LabelStoreError
from labels.store import LabelStore
from tests.labels.samples import record, retrieval
from tests.tui.apps import card_shown, current_prompt, labelling, press, reads, running, settled, toasts, told, until
from tests.tui.demo import DEMO, DEMO_ROOT, make_workspace
from tui.workspace.judging import JudgeOptions
from tui.workspace.opening import open_workspace

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
        async with labelling(workspace) as pilot:
            await press(pilot, "a")
            backup.replace(path)
            await press(pilot, "x")
            await reads(pilot, "MovedStore Vertical", "labels.db was replaced. Where do labels go?")
            await press(pilot, "escape")
            await told(pilot, "No label is saved before you choose where")
            await press(pilot, "x")
            await reads(pilot, "MovedStore Options", "It gets the labels given since the app started: 1.")
            await press(pilot, *(["j"] if is_new else []), "enter")
            await told(pilot, "from now on")
            await card_shown(pilot)
            await press(pilot, "x")
            assert workspace.store.path.parent == tmp_path
            assert (workspace.store.path == path) != is_new
            assert on_disk(workspace.store.path) == 2
    assert on_disk(path) == (0 if is_new else 2)


@pytest.mark.slow
async def test_memories_and_replays_are_shown_without_a_label_store(tmp_path: Path) -> None:
    roots, prompts = (str(DEMO_ROOT),), [str(DEMO / "prompts.jsonl")]
    refused = {"db": str(tmp_path), "environ": os.environ}  # a folder can be no store
    with pytest.raises(LabelStoreError):
        open_workspace(*roots, prompts, JudgeOptions(is_off=True), **refused)
    opened = open_workspace(*roots, prompts, JudgeOptions(is_off=True), **refused, needs_labels=False)
    with closing(opened) as workspace:
        async with running("browse", workspace) as pilot:
            await told(pilot, "it is a folder, a device or a pipe, so it was left alone")
            await reads(pilot, "MemoryList", "Chromium")
            await press(pilot, "P")
            await settled(pilot)
            assert all(workspace.answers(current_prompt(pilot)))
            await press(pilot, "R")
            await told(pilot, "prompts replayed")
            assert len([toast for toast in toasts(pilot) if "left alone" in toast]) <= 1  # it goes after a while
            await press(pilot, "L")
            await card_shown(pilot)
            await press(pilot, "a")
            await until(pilot, lambda: sum("left alone" in toast for toast in toasts(pilot)) > 1)


def damaged(path: Path, statement: str) -> Path:
    LabelStore.open(path).close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)
    return path


def open_databases() -> list[str]:
    links = [str(link.resolve()) for link in Path("/proc/self/fd").iterdir()]
    return [link for link in links if link.endswith(("labels.db", "index.db"))]


@pytest.mark.skipif(sys.platform != "linux", reason="counts the open files in /proc")
def test_nothing_stays_open_if_the_labels_cannot_be_read_and_memories_are_shown(tmp_path: Path) -> None:
    path = damaged(tmp_path / "labels.db", "DROP TABLE sighting")
    arguments = str(DEMO_ROOT), [str(DEMO / "prompts.jsonl")], JudgeOptions(name="none"), str(path), os.environ
    with pytest.raises(LabelStoreError, match="no such table") as error:
        open_workspace(*arguments)
    assert open_databases() == [], error
    with closing(open_workspace(*arguments, needs_labels=False)) as workspace:
        assert len(workspace.index) > 0
        assert "no such table: sighting. What was saved before is untouched. No label can be given." in workspace.notice
    assert open_databases() == []


async def test_replay_tells_if_the_records_about_its_prompts_cannot_be_read(tmp_path: Path) -> None:
    with LabelStore.open(tmp_path / "labels.db") as store:
        record(store, retrieval(["a"]), root=str(DEMO_ROOT))
    path = damaged(tmp_path / "labels.db", "UPDATE result SET matched = '{'")
    with closing(make_workspace(path, judge=None)) as workspace:
        async with running("replay", workspace) as pilot:
            await told(pilot, "malformed JSON")
