"""Hostile memories and prompts on every screen, in small terminals: no crash, nothing lost, nothing parsed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from engine.judge.judge import Judge
from engine.paths import state_dir
from engine.prompt import Prompt, Turn, typed_prompt
from tests.engine.builders import memory, write_root
from tests.tui.apps import SMALL, TINY, app_of, at_rest, card_shown, press, reads, settled, text_of, until
from tests.tui.conftest import Opener
from tests.tui.demo import GatedProvider, demo_prompts
from tui.app import MemsiftApp
from tui.plain import one_line

pytestmark = pytest.mark.anyio

TEXTS = {
    "closing": "closing [/b] tag [/",
    "unclosed": "signing [b + x",
    "link": "[link=http://x]y[/link] [@click=app.quit]z",
    "escape": "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x1b[2J\x1b[H",
    "bidi": "right \u202eto left\u202c \u2066isolated\u2069 עברית العربية",
    "zwj": "family 👩‍👩‍👧‍👦 flag 🏳️‍🌈 heart ❤️",
    "cjk": "汉字汉字 かな ハングル 한글 ｆｕｌｌ",
    "white": "tab\there\nnew line\r\nand\u2028separator \x0b\x0c",
    "zalgo": "Z\u0351\u036b\u0343a\u0321\u0329l\u0334g\u0335o\u0336",
    "control": "nul\x00bell\x07del\x7f nel\x85",
    "empty": " ",
}
LONG_TITLE = "endless " * 25_000
LONG_PROMPT = "signing " + "paste [of/] words_and_ids 汉字 " * 6_500


def hostile_root(folder: Path) -> Path:
    """Each text as title, tag and body of a memory that matches "signing", a title of 200 kB, and broken files."""
    memories = [
        memory(f"signing {text}", f"signing {text}", body=f"{text}\n{text}", memory_id=f"m-{name}")
        for name, text in TEXTS.items()
    ]
    root = write_root(folder, [*memories, memory(LONG_TITLE, "signing", memory_id="m-long", body="word " * 2_000)])
    (root / "decisions" / "m-types.json").write_text(json.dumps({"title": 7, "tags": {"a": 1}, "content": [[[1]]]}))
    (root / "decisions" / "m-deep.json").write_text("[" * 100_000)
    (root / "decisions" / "m-bytes.json").write_bytes(b'{"title": "\xff\xfe"}')
    return root


def hostile_prompts() -> tuple[Prompt, ...]:
    turns = tuple(Turn("user", text) for text in TEXTS.values())
    return (*(typed_prompt(f"signing {text}", turns) for text in TEXTS.values()), typed_prompt(LONG_PROMPT))


async def visit_all(pilot: Pilot[None]) -> None:
    """Every screen, with the keys that show most of it."""
    await press(pilot, "down", "end", "enter", "escape", "slash", *"sig", "escape", "S", "escape", "y")
    await press(pilot, "escape", "escape", "home", "space", "space", "space", "m", "ctrl+o", "tab", "escape", "escape")
    for key in ("x", "t", "e", "M", "o", "c", "v", "w"):
        await press(pilot, key, "escape", "escape")
    await press(pilot, "f3", "right", "down", "a", "x", "enter", "escape", "end", "left", "end")
    await press(pilot, "f4")
    await card_shown(pilot)
    await press(pilot, "enter", "escape", "i", "escape", "a", "x", "s", "space", "z")
    await press(pilot, "f6", "right", "p", "down", "i", "escape", "escape", "escape", "f5", "R")
    workspace = app_of(pilot).workspace
    await until(pilot, lambda: len(workspace.finished) == len(workspace.prompts) * len(workspace.systems))
    await press(pilot, "end", "question_mark", "question_mark", "f2")


def look(pilot: Pilot[None]) -> None:
    """Draw all screens that lie over each other: nothing moves the terminal's cursor, and nothing turns text round."""
    for screen in pilot.app.screen_stack:
        drawn = "\n".join(text_of(widget) for widget in screen.query("*") if widget.is_on_screen)
        assert not set("\x1b\x07\x00\x7f\x85\u2028\u202e\u2066") & set(drawn)


@pytest.mark.slow
async def test_hostile_texts_break_no_screen_at_60x20(open_workspace: Opener, tmp_path: Path) -> None:
    workspace = open_workspace(
        root=hostile_root(tmp_path / "root"),
        prompts=hostile_prompts(),
        judge=lambda config: Judge(GatedProvider(), config.judge),
    )
    async with MemsiftApp(workspace).run_test(size=SMALL, notifications=True) as pilot:
        await visit_all(pilot)
        assert pilot.app.is_running
        assert pilot.app._exit is False
        labels = [event.blind for event in workspace.store.events() if event.action == "label"]
        assert labels[:3] == [False, False, True]
        assert len(workspace.finished) == 2 * len(workspace.prompts)
        look(pilot)


async def test_a_hostile_memory_and_a_hostile_prompt_are_shown_whole(open_workspace: Opener, tmp_path: Path) -> None:
    prompt = typed_prompt("signing [/b] [link=x]y [b + x")
    workspace = open_workspace(root=hostile_root(tmp_path / "root"), prompts=[prompt], judge=None)
    async with MemsiftApp(workspace).run_test(size=(100, 30)) as pilot:
        listed: Any = pilot.app.screen.query_one("MemoryList")
        for name in ("closing", "link", "cjk", "bidi"):
            listed.go_to(f"m-{name}")
            await settled(pilot)
            await reads(pilot, "#detail-text", one_line(TEXTS[name]))
        await press(pilot, "f3")
        await reads(pilot, "#prompt", prompt.text)
        await until(pilot, lambda: prompt.text[:25] in text_of(pilot.app.screen.query_one("PromptList")))


TYPED = " ".join(TEXTS.values())
"""A text that a person pastes into each input. A line break would be taken as the end of the text."""


def write_log(root: Path) -> None:
    """An entry of the hook's log for each text, which stands in all of its fields."""
    folder = Path(state_dir(str(root), os.environ))
    folder.mkdir(parents=True)
    rows = [
        {
            **{"time": text if number % 3 else "2026-05-11T10:00:00Z", "prompt": text, "prompt_sha256": text},
            **{"injected": [text, "m-cjk"] if number % 2 else [], "dropped": [[text, text]], "reason": text},
            **{"system": text, "fallback": text, "session_id": text, "ms": 20.0, "characters": 300},
        }
        for number, text in enumerate([*TEXTS.values(), LONG_PROMPT])
    ]
    (folder / "activity.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")


async def paste(pilot: Pilot[None], *keys: str, ends: str = "enter") -> None:
    """Press *keys* that lead to an input, paste the hostile text there, and end with a key.

    Textual draws what is typed as it is.
    """
    await press(pilot, *keys)
    pilot.app.post_message(Paste(TYPED))
    await settled(pilot)
    look(pilot)
    await press(pilot, ends)
    look(pilot)


@pytest.mark.slow
async def test_hostile_texts_in_inputs_the_log_and_the_inbox_break_nothing(
    open_workspace: Opener, tmp_path: Path
) -> None:
    """In a folder with a hostile name: filters, tags, reasons, notes, forms, typed prompts, the log, findings."""
    root = hostile_root(tmp_path / "[b]x[/b] \u202e汉字" / "memory")
    write_log(root)
    workspace = open_workspace(root=root, prompts=hostile_prompts()[:3], judge=None)
    async with MemsiftApp(workspace).run_test(size=SMALL, notifications=True) as pilot:
        await paste(pilot, "slash")
        await press(pilot, "escape", "escape", "home")
        await paste(pilot, "t")
        await paste(pilot, "x", "0")
        await paste(pilot, "e", ends="ctrl+s")
        await press(pilot, "escape", "escape")
        await paste(pilot, "M")
        await paste(pilot, "ctrl+p")
        await press(pilot, "escape", "f3")
        await paste(pilot, "n", ends="enter")
        await press(pilot, "f3")
        await paste(pilot, "slash")
        await press(pilot, "escape")
        await paste(pilot, "f", ends="escape")
        await press(pilot, "d", "escape", "f4")
        await card_shown(pilot)
        await paste(pilot, "e")
        await press(pilot, "a")
        assert workspace.store.labels()[-1].note
        await press(pilot, "h", "enter", "escape", "escape", "f5", "down", "enter", "escape", "f6", "right", "f7")
        await at_rest(pilot)
        await press(pilot, "down", "v", "end", "enter", "enter", "escape")
        await paste(pilot, "slash")
        await press(pilot, "escape", "f8")
        await at_rest(pilot)
        for _ in range(len(TEXTS)):
            look(pilot)
            await press(pilot, "down")
        await press(pilot, "t", "v", "1", "y")
        await paste(pilot, "slash")
        await press(pilot, "escape", "enter", "grave_accent", "escape", "question_mark")
        look(pilot)
        assert pilot.app.is_running
        assert pilot.app._exit is False


@pytest.mark.slow
async def test_every_screen_works_in_a_tiny_terminal(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p06"))
    async with MemsiftApp(workspace).run_test(size=TINY, notifications=True) as pilot:
        await visit_all(pilot)
        assert pilot.app._exit is False
        assert workspace.store.labels()


@pytest.mark.slow
async def test_a_terminal_may_change_its_size_at_any_time(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=demo_prompts("p01"))).run_test(size=(160, 48)) as pilot:
        for key in ("f2", "f3", "f4", "f5", "f6"):
            await press(pilot, key)
            for width, height in ((20, 5), (1, 1), (160, 48)):
                await pilot.resize_terminal(width, height)
        assert pilot.app.size.width == 160
