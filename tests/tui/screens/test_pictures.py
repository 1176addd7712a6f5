"""Pictures of Activity, Browse, Diff, Inbox, Replay, Report and What-if, of dialogs, and of screens without content.

Those of Browse, Replay, Label and Report over the example data with all answers of the judge are in `test_snapshots`.
"""

import json
import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.engine.builders import memory, write_root
from tests.engine.curation.roots import document, write_documents
from tests.labels.samples import known
from tests.tui.apps import at_rest, checked, screen_of, starting_in, type_ahead, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO_ROOT, demo_prompts, fresh_cutoff
from tests.tui.pictures import (
    EVERY_SIZE,
    NARROW,
    USUAL,
    WIDE,
    Compare,
    Size,
    instant_judge,
    pictures,
    pressing,
    stopped_clock,
)
from tests.tui.screens.test_activity import LOGGED, ROWS, log_of, row
from tests.tui.screens.test_diff import with_two_runs
from tests.tui.screens.test_inbox import ATTACK
from tests.tui.screens.test_replay_injected import written_prompts
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.workspace import opening
from tui.workspace.judging import JudgeOptions
from tui.workspace.replay.run_diffs import SavedDiff, read_diff
from tui.workspace.workspace import Workspace

Keys = tuple[str, ...]
Run = Callable[[Pilot[Any]], Awaitable[None]]
HOSTILE = "closing [/b] \u202eRTL 漢字 🙂 [link=http://x]y"


# Activity, Browse and Inbox


@pytest.mark.parametrize(
    ("keys", "size"), pictures({"filtered": ("o", "end", "enter", "space", "down", "down")}, *EVERY_SIZE)
)
def test_activity_looks_as_it_did(snap_compare: Compare, open_workspace: Opener, keys: Keys, size: Size) -> None:
    log_of([*ROWS, *(row(10 + n, LOGGED, prompt=LOGGED, injected=["pnpm-frozen-lockfile"]) for n in range(40))])
    app = starting_in("activity", open_workspace())
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))


@pytest.mark.parametrize(
    ("keys", "size"),
    [
        *pictures({"findings": ("f", "down", "enter", "down", "space")}, NARROW, USUAL),
        *pictures({"few": ("down",)}, WIDE),
    ],
)
def test_browse_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path, keys: Keys, size: Size
) -> None:
    old = {"updated_at": "2020-01-01T00:00:00Z", "related_files": ["src/gone.py", HOSTILE]}
    root = write_documents(
        tmp_path / "project" / ".claude" / "memory",
        [
            document("alpha", title=f"Title of alpha {HOSTILE}", **old),
            document("beta", "runbook", record_status="retired"),
            document("gamma", "constraint", title="long title " * 12),
        ],
    )
    app = starting_in("browse", open_workspace(root=root, prompts=(), judge=None))
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))


CHANGES = (
    ("preferences/short-answers.json", "title", ATTACK),
    ("preferences/npm-ci-lockfile.json", "title", "Install with pnpm and the frozen lockfile only"),
)
"""Files of the example, with a changed field: a risky memory, and one that says almost the same as another."""


def pressing_on_findings(*keys: str) -> Run:
    async def run(pilot: Pilot[Any]) -> None:
        await at_rest(pilot)
        await checked(pilot)
        await pressing(*keys)(pilot)

    return run


@pytest.mark.parametrize(("keys", "size"), pictures({"risky": ("down", "space", "down")}, *EVERY_SIZE))
def test_findings_look_as_they_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path, keys: Keys, size: Size
) -> None:
    root = tmp_path / "project" / ".claude" / "memory"
    shutil.copytree(DEMO_ROOT, root)
    for name, key, text in CHANGES:
        file = root / name
        file.write_text(json.dumps({**json.loads(file.read_text()), key: text}))
    app = starting_in("inbox", open_workspace(root=root, prompts=(), judge=None))
    assert snap_compare(app, terminal_size=size, run_before=pressing_on_findings(*keys))


@pytest.mark.slow
def test_an_inbox_without_findings_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path
) -> None:
    title = "Token cache of the web client keeps each entry for one hour"
    root = write_documents(tmp_path / "root", [document("cache", title=title)])
    app = starting_in("inbox", open_workspace(root=root, prompts=(), judge=None))
    assert snap_compare(app, terminal_size=USUAL, run_before=pressing_on_findings())


# Replay and Diff

REPLAYS = {
    "no-prompt-fits-a-search": ("slash", "z", "z", "q"),
    "systems-differ": ("R", "v", "down", "enter"),
    "choice-of-systems": ("c",),
}


def without_toasts(*keys: str) -> Run:
    """A slow machine would show the toast of a replay no more."""

    async def run(pilot: Pilot[Any]) -> None:
        await pressing(*keys)(pilot)
        pilot.app.clear_notifications()
        await at_rest(pilot)

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "size"), [*pictures({"three": ("right", "down")}, *EVERY_SIZE), *pictures(REPLAYS, USUAL)]
)
def test_a_state_of_replay_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, keys: Keys, size: Size
) -> None:
    workspace = open_workspace(judge=None, prompts=written_prompts(), cutoff=fresh_cutoff())
    if keys not in REPLAYS.values():
        workspace.chosen = ("bm25", "memsift+default", "injected")
    assert snap_compare(starting_in("replay", workspace), terminal_size=size, run_before=without_toasts(*keys))


def with_fixed_names(workspace: Workspace) -> SavedDiff:
    """The diff with names and times of runs that are the same on every machine."""
    found = read_diff(workspace.store.path, workspace.index.root, ())
    compared = known(found.compared)
    before = replace(compared.before, name="11111111", ts="2026-01-02T03:04:05+00:00")
    now = replace(compared.now, name="22222222", ts="2026-01-03T03:04:05+00:00")
    return replace(found, compared=replace(compared, before=before, now=now))


@pytest.mark.parametrize(("key", "size"), pictures({"lost": "down"}, *EVERY_SIZE))
def test_a_diff_looks_as_it_did(snap_compare: Compare, open_workspace: Opener, key: str, size: Size) -> None:
    workspace = with_two_runs(open_workspace(judge=None))
    found = with_fixed_names(workspace)

    async def run(pilot: Pilot[Any]) -> None:
        await without_toasts()(pilot)
        pilot.app.screen.call_later(screen_of(pilot).show_diff, found)
        await without_toasts(key)(pilot)

    assert snap_compare(starting_in("diff", workspace), terminal_size=size, run_before=run)


# Report and What-if


@pytest.fixture
def reported(open_workspace: Opener) -> Workspace:
    """Labelled prompts of the example data, on a clock that stands still."""
    made = open_workspace(
        judge=instant_judge, annotator="ana", clock=stopped_clock, prompts=demo_prompts()[:24], cutoff=fresh_cutoff()
    )
    replay_and_label(made)
    return made


def part_shown(part: str, *keys: str) -> Run:
    async def run(pilot: Pilot[Any]) -> None:
        await pressing("f5")(pilot)
        await until(pilot, lambda: widget(pilot, "PartList").records)
        widget(pilot, "PartList").go_to(part)
        for key in keys:
            await at_rest(pilot)
            type_ahead(pilot, key)
        await at_rest(pilot)

    return run


PARTS = {name: name for name in ("coverage", "reliability", "judge-memsift+default+judge", "worst-memories")}


@pytest.mark.parametrize(
    ("part", "size"), [*pictures({"precision": "precision"}, *EVERY_SIZE), *pictures(PARTS, USUAL, is_slow=True)]
)
def test_a_part_looks_as_it_did(snap_compare: Compare, reported: Workspace, part: str, size: Size) -> None:
    run = part_shown(part, "right", "down")
    assert snap_compare(starting_in("browse", reported), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [("right", "enter"), ("ctrl+s",), ("t",)], ids=["prompts", "write", "target"])
def test_its_dialogs_look_as_they_did(snap_compare: Compare, reported: Workspace, keys: Keys) -> None:
    run = part_shown("precision", *keys)
    assert snap_compare(starting_in("browse", reported), terminal_size=NARROW, run_before=run)


def setting_shown(*keys: str) -> Run:
    async def run(pilot: Pilot[Any]) -> None:
        await pressing("f6", *keys)(pilot)
        screen = screen_of(pilot)
        screen.knobs.border_title = "Settings of /project/.claude/memory"
        if screen.compared.display and screen._sample.prompts:
            await until(pilot, lambda: screen._values and screen._values[0] is screen.knobs.current.knob)
        await at_rest(pilot)

    return run


MOVED = (*["right"] * 5, "down", "down", "left")


@pytest.mark.parametrize(
    ("keys", "size"),
    [*pictures({"moved": MOVED}, *EVERY_SIZE), *pictures({"prompts": (*MOVED, "p", "down")}, NARROW)],
)
def test_moved_settings_look_as_they_did(snap_compare: Compare, open_workspace: Opener, keys: Keys, size: Size) -> None:
    workspace = open_workspace(judge=None, annotator="ana", prompts=demo_prompts()[:20], cutoff=fresh_cutoff())
    replay_and_label(workspace)
    assert snap_compare(starting_in("browse", workspace), terminal_size=size, run_before=setting_shown(*keys))


@pytest.mark.slow
def test_an_empty_what_if_looks_as_it_did(snap_compare: Compare, open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, annotator="ana", prompts=demo_prompts()[:20], cutoff=fresh_cutoff())
    replay_and_label(workspace, 0)
    assert snap_compare(starting_in("browse", workspace), terminal_size=NARROW, run_before=setting_shown())


# Dialogs, and screens with nothing to show

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_moving_a_memory_looks_as_it_did(snap_compare: Compare, tmp_path: Path) -> None:
    first = write_root(tmp_path / "one", [memory("Token cache rule", "cache")])
    second = write_root(tmp_path / "two", [memory("Hold queue", "queue")])
    off, store = JudgeOptions(is_off=True), str(tmp_path / "labels.db")
    with closing(opening.open_workspace(str(first), [], off, store, os.environ, others=[str(second)])) as workspace:
        assert snap_compare(starting_in("browse", workspace), terminal_size=NARROW, run_before=pressing("M"))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["browse", "replay", "label", "report"])
def test_an_empty_folder_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "empty").mkdir()
    workspace = open_workspace(root=tmp_path / "empty", prompts=demo_prompts("p01"), judge=None)
    assert snap_compare(starting_in(mode, workspace), terminal_size=USUAL, run_before=pressing())


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "keys"), [("replay", ()), ("browse", ("slash", *"zebra", "enter"))])
def test_nothing_to_show_looks_as_it_did(snap_compare: Compare, open_workspace: Opener, mode: str, keys: Keys) -> None:
    """No prompts, and a filter that nothing fits."""
    workspace = open_workspace(prompts=(), judge=None)
    assert snap_compare(starting_in(mode, workspace), terminal_size=USUAL, run_before=pressing(*keys))
