"""What-if: settings that are moved, tried on the labelled prompts, and saved."""

import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.default_model import THRESHOLDS
from engine.settings.sources import read_config
from engine.settings.trust import trust
from tests.tui.apps import at_rest, press, reads, running, screen_of, settled, shown, told, type_ahead, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO_ROOT, demo_prompts, fresh_cutoff
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

PROMPTS = ("p01", "p02", "p06", "p09", "p13", "p20")


def labelled_workspace(open_workspace: Opener, root: Path, **options: Any) -> Workspace:
    shutil.copytree(DEMO_ROOT, root)
    settings = {"judge": None, "prompts": demo_prompts(*PROMPTS), "cutoff": fresh_cutoff(), **options}
    workspace = open_workspace(root=root, **settings)
    replay_and_label(workspace)
    return workspace


async def numbers(pilot: Pilot[None]) -> str:
    """The numbers, once they are those of the present settings."""
    screen = screen_of(pilot)
    await until(pilot, lambda: screen._effect is not None and not screen._is_counting, "the numbers are there")
    await settled(pilot)
    return shown(pilot, "#numbers")


async def test_a_stricter_hook_in_a_few_keys(open_workspace: Opener, tmp_path: Path) -> None:
    """Move a setting, see what changes, go to a prompt that changes, come back, save."""
    workspace = labelled_workspace(open_workspace, tmp_path / "root")
    file = tmp_path / "root" / "memory-config.json"
    before = file.read_text()
    async with running("browse", workspace) as pilot:
        await press(pilot, "f6")
        first = await numbers(pilot)
        assert "labelled prompts · 0 change" in first
        await press(pilot, "left")
        await reads(pilot, "KnobList", f"▸ {THRESHOLDS['balanced'] - 0.005:.2f} was {THRESHOLDS['balanced']}")
        await press(pilot, "right")
        await reads(pilot, "KnobList", f"▸ {THRESHOLDS['balanced']} balanced was {THRESHOLDS['balanced']}")
        await reads(pilot, "#about", "At most 10 % false fires")
        type_ahead(pilot, *["right"] * 68)
        await settled(pilot)
        assert await numbers(pilot) != first
        await reads(pilot, "KnobList", f"▸ 0.90 was {THRESHOLDS['balanced']}")
        await reads(pilot, "ChangeList", "prompts change · enter opens one")
        assert "labelled prompts · 5 change" in shown(pilot, "#numbers")
        await press(pilot, "p")
        changed = widget(pilot, "ChangeList").current
        assert changed.diff.is_changed
        assert "goes" in shown(pilot, "#change")
        await press(pilot, "enter")
        await until(pilot, lambda: pilot.app.current_mode == "replay")
        await settled(pilot)
        assert screen_of(pilot).prompt.id == changed.prompt.id
        await press(pilot, "f6")
        assert file.read_text() == before
        await press(pilot, "escape", "ctrl+s")
        await told(pilot, str(file))
        saved, own = json.loads(file.read_text())["retrieval"], {"cutoff_threshold": 0.9}
        assert saved == {**json.loads(before)["retrieval"], **own}
        assert "0 change" in await numbers(pilot)
        await reads(pilot, "#state", "Nothing is moved")
        await until(pilot, lambda: {*PROMPTS} <= {name for name, _ in workspace.finished})
        await press(pilot, "end", "s")
        await reads(pilot, "KnobList", "strict was 0.90")
        await press(pilot, "s", "s", "s")
        await reads(pilot, "KnobList", "strict was 0.90")


@pytest.mark.slow
async def test_undo_puts_a_setting_back_and_delete_all_and_the_judge_is_tried_with_kept_verdicts_only(
    open_workspace: Opener, tmp_path: Path
) -> None:
    workspace = labelled_workspace(open_workspace, tmp_path / "root")
    async with running("whatif", workspace, size=(100, 30)) as pilot:
        await numbers(pilot)
        await at_rest(pilot)
        assert widget(pilot, "#numbers").content_size.height == 1 + 8, "the head and a line for each number just fit"
        await press(pilot, "right", "down", "down", "left", "down", "l")
        await reads(pilot, "#state", "3 settings moved")
        await press(pilot, "u")
        await reads(pilot, "#state", "2 settings moved")
        await press(pilot, "delete")
        await reads(pilot, "#state", "Nothing is moved")
        assert "0 change" in await numbers(pilot)
        await press(pilot, "end", "right")
        await told(pilot, "never asks a judge")
        await reads(pilot, "#state", "Nothing is moved")
        await press(pilot, "ctrl+s")
        assert (tmp_path / "root" / "memory-config.json").read_text() == (DEMO_ROOT / "memory-config.json").read_text()
        for size in ((60, 20), (30, 8)):
            await pilot.resize_terminal(*size)
            await press(pilot, "p")
            await at_rest(pilot)
            assert widget(pilot, "ChangeList").has_focus
            assert not widget(pilot, "#left").display, "the prompts take the place of the settings"
            await press(pilot, "escape")
            assert widget(pilot, "KnobList").has_focus


@pytest.mark.slow
async def test_a_setting_that_needs_trust_says_so_before_it_is_saved(open_workspace: Opener, tmp_path: Path) -> None:
    workspace = labelled_workspace(open_workspace, tmp_path / "root")
    root = str(tmp_path / "root")
    async with running("whatif", workspace, size=(60, 20)) as pilot:
        await numbers(pilot)
        await press(pilot, "right", "down", "down", "left")
        assert "trust" not in shown(pilot, "#state"), "a stricter hook needs no trust"
        await press(pilot, "right", "right")
        warning = f"max_inject counts only after `memsift trust {shlex.quote(root)}`: this root is not trusted."
        await until(pilot, lambda: "".join(warning.split()) in "".join(shown(pilot, "#state").split()))
        await press(pilot, "u")
        assert "trust" not in shown(pilot, "#state")
        await press(pilot, "right", "ctrl+s")
        await told(pilot, warning)
        assert read_config(root, {}, is_trusted=True).config.max_inject == 4
        assert read_config(root, {}).config.max_inject == 3
        await reads(pilot, "KnobList", "Most memories 3 max_inject")
        trust(root, os.environ)
        await press(pilot, "right", "right")
        assert "trust" not in shown(pilot, "#state"), "a trusted root needs no warning"
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: read_config(root, os.environ).config.max_inject == 5)


async def test_it_says_which_keys_lead_to_labels_and_then_counts_them(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts("p01"), cutoff=fresh_cutoff())
    async with running("whatif", workspace) as pilot:
        await reads(pilot, "#numbers", "Press T and R to replay the prompts, then L")
        assert not widget(pilot, "#right").display, "no empty frames"
        assert str(widget(pilot, "#compared").content) == "", "nothing is counted"
        await press(pilot, "right", "p", "enter", "i")
        replay_and_label(workspace)
        await press(pilot, "f2", "f6")
        assert "1 labelled prompt · " in await numbers(pilot)
        assert widget(pilot, "#right").display


@pytest.mark.slow
async def test_values_near_the_present_one_are_compared_where_not_all_have_room(
    open_workspace: Opener, tmp_path: Path
) -> None:
    workspace = labelled_workspace(open_workspace, tmp_path / "root")
    async with running("whatif", workspace, size=(110, 33)) as pilot:
        await numbers(pilot)
        await reads(pilot, "#compared", f"▸ {THRESHOLDS['balanced']} (default)")
        type_ahead(pilot, *["right"] * 38)
        await reads(pilot, "#compared", "▸ 0.60")
        await at_rest(pilot)
        pane = widget(pilot, "#compared")
        assert "0.10" not in shown(pilot, "#compared")
        lines = str(pane.content).splitlines()
        assert pane.content_size.height >= len(lines)
        assert pane.content_size.width >= max(map(len, lines))
