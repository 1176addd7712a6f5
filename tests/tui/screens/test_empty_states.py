"""Screens with nothing to show: each says what is true and which key helps, in full at 60x20."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from engine.prompt import Prompt
from tests.engine.builders import memory, write_root
from tests.tui.apps import SMALL, card_shown, flat, press, settled, shown, told, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.app import MemsiftApp

pytestmark = pytest.mark.anyio

ADVICE = "`memsift create` makes one, and ctrl+r reads the folder again."
ONE = demo_prompts("p01")


def on_screen(pilot: Pilot[None]) -> str:
    """The text that can be seen, on one line."""
    return flat("\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips()))


async def says(pilot: Pilot[None], text: str) -> None:
    await settled(pilot)  # to draw the screen again and again costs more than to wait
    await until(pilot, lambda: text in on_screen(pilot), f"the screen says {text!r}")


async def test_a_folder_without_memories_says_so_on_every_screen(open_workspace: Opener, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    workspace = open_workspace(root=tmp_path / "empty", prompts=ONE, judge=None)
    async with MemsiftApp(workspace).run_test(size=SMALL) as pilot:
        await says(pilot, ADVICE)
        assert shown(pilot, "#where") == "empty"
        await press(pilot, "f3")
        await says(pilot, "There are no memories here. Press B.")
        await press(pilot, "f4")
        await says(pilot, ADVICE)
        assert shown(pilot, "#progress") == ""
        for keys in ((), ("r",)):
            await press(pilot, "f5", *keys)
            await says(pilot, ADVICE)
        assert "L to label" not in on_screen(pilot)


@pytest.mark.slow
async def test_a_key_that_is_off_says_why_and_what_helps(open_workspace: Opener) -> None:
    off = {
        "f6": ("u", "No setting is moved yet. ← and → move one."),
        "f5": ("l", "There is no report yet. Press R to replay the prompts."),
        "f8": ("t", "No answer of the hook is listed."),
        "f2": ("r", "It is active already."),
    }
    async with MemsiftApp(open_workspace(prompts=ONE, judge=None)).run_test(size=SMALL, notifications=True) as pilot:
        for screen, (key, said) in off.items():
            await press(pilot, screen, key)
            await told(pilot, said)


@pytest.mark.slow
async def test_no_prompts_say_which_key_types_one(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=())).run_test(size=SMALL) as pilot:
        await press(pilot, "f3")
        await says(pilot, "No prompts yet. n types one.")
        for key in ("f4", "f5", "f6"):
            await press(pilot, key)
            take = "Press n to type one. Then P and t take it into the sample"
            await says(pilot, take if key == "f4" else "There is nothing to measure yet.")
            await press(pilot, "n")
            assert isinstance(pilot.app.focused, TextArea)
            await press(pilot, "escape")
        await press(pilot, "f4", "d")
        await says(pilot, "No disagreement is left. Press L to label")


async def test_prompts_that_find_nothing_are_not_said_to_be_labelled(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("cache rule")])
    workspace = open_workspace(root=root, prompts=(Prompt("zebra umbrella", "p1"),), judge=None)
    async with MemsiftApp(workspace).run_test(size=SMALL) as pilot:
        await press(pilot, "slash", *"xyz")
        await says(pilot, "No memory fits the filter. Press esc to clear it.")
        await press(pilot, "escape", "f3")
        await says(pilot, "No memory fits this prompt. ] goes on, n types another.")
        await press(pilot, "f4")
        await card_shown(pilot)
        await says(pilot, "there is nothing to label. Press P to see what each prompt finds")


async def test_unreadable_memories_are_not_called_missing(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("cache rule")])
    for file in root.rglob("*.json"):
        file.write_text("{not json", encoding="utf-8")
    async with MemsiftApp(open_workspace(root=root, prompts=ONE)).run_test(size=SMALL) as pilot:
        await says(pilot, "No memory of this folder can be read. Press S to see the reasons.")
