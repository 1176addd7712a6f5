"""The app around its screens: keys, palette, help, reload, toasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.builders import memory, write_memory, write_root
from tests.tui.apps import SCREENS, SIZE, app_of, demo_prompts, flat, shown, text_of, toasts, until
from tui.app import MemsiftApp
from tui.bindings import KEYS
from tui.commands import KeyCommands
from tui.screens.full_text import FullText

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tui.workspace import Workspace

    Opener = Callable[..., Workspace]

pytestmark = pytest.mark.anyio


async def palette(app: MemsiftApp) -> list[str]:
    return [str(hit.display) async for hit in KeyCommands(app.screen).discover()]


async def test_f2_to_f5_reach_the_four_screens_from_each_other(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=demo_prompts("p01"))).run_test(size=SIZE) as pilot:
        assert pilot.app.current_mode == "browse"
        for mode, key in [*SCREENS.items(), *reversed(SCREENS.items())]:
            await pilot.press(key)
            await pilot.pause()
            assert pilot.app.current_mode == mode


async def test_a_click_on_a_tab_opens_its_screen(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=())).run_test(size=SIZE) as pilot:
        await pilot.click("Tab:nth-of-type(4)")
        await until(pilot, lambda: pilot.app.current_mode == "report")


@pytest.mark.parametrize("mode", SCREENS)
async def test_escape_never_quits(open_workspace: Opener, mode: str) -> None:
    async with MemsiftApp(open_workspace(prompts=demo_prompts("p01"))).run_test(size=SIZE) as pilot:
        await pilot.press(SCREENS[mode], "escape", "escape", "escape")
        await pilot.pause()
        assert pilot.app.is_running
        assert pilot.app.current_mode == mode
        assert pilot.app._exit is False


@pytest.mark.parametrize("mode", SCREENS)
@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_q_and_ctrl_q_quit_from_every_screen(open_workspace: Opener, mode: str, key: str) -> None:
    async with MemsiftApp(open_workspace(prompts=demo_prompts("p01"))).run_test(size=SIZE) as pilot:
        await pilot.press(SCREENS[mode])
        await pilot.press(key)
        await pilot.pause()
        assert pilot.app._exit is True


async def test_ctrl_q_quits_from_an_open_text_and_from_the_filter_line(open_workspace: Opener) -> None:
    for keys in (["s"], ["slash"], ["ctrl+p"], ["question_mark"]):
        async with MemsiftApp(open_workspace()).run_test(size=SIZE) as pilot:
            await pilot.press(*keys)
            await pilot.pause()
            await pilot.press("ctrl+q")
            await pilot.pause()
            assert pilot.app._exit is True, keys


async def test_q_in_an_input_is_a_letter(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace()).run_test(size=SIZE) as pilot:
        await pilot.press("slash", "q", "s", "1", "u")
        await pilot.pause()
        assert pilot.app._exit is False
        assert pilot.app.screen.query_one("Input").value == "qs1u"  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", SCREENS)
async def test_the_palette_holds_every_key_that_works_on_a_screen(open_workspace: Opener, mode: str) -> None:
    async with MemsiftApp(open_workspace(prompts=demo_prompts("p01"))).run_test(size=SIZE) as pilot:
        await pilot.press(SCREENS[mode])
        await pilot.pause()
        held = await palette(app_of(pilot))
        here = {binding.id for _, binding in pilot.app.screen._bindings} | {b.id for _, b in pilot.app._bindings}
        working = {
            name
            for name in here & KEYS.keys()
            if pilot.app.screen.check_action(KEYS[name][1].split("(")[0], ()) is not False
        }
        assert working
        assert set(held) == {KEYS[name][3] for name in working}
        assert len(held) == len(set(held))


async def test_the_palettes_together_hold_every_action(open_workspace: Opener) -> None:
    held: set[str] = set()
    async with MemsiftApp(open_workspace(prompts=demo_prompts("p01"))).run_test(size=SIZE) as pilot:
        for key in SCREENS.values():
            await pilot.press(key)
            await pilot.pause()
            held |= set(await palette(app_of(pilot)))
            if key == SCREENS["replay"]:
                pilot.app.screen.query_one("RankingTable").focus()
                await pilot.pause()
                held |= set(await palette(app_of(pilot)))
        await pilot.press("s")
        await pilot.pause()
        held |= set(await palette(app_of(pilot)))
    assert {sentence for *_, sentence in KEYS.values()} - held == set()


async def test_the_palette_runs_what_is_chosen(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=())).run_test(size=SIZE) as pilot:
        await pilot.press("ctrl+p")
        await pilot.press(*"read the report".replace(" ", "_").replace("_", " ").split(" ")[0])
        await pilot.pause(0.2)
        await pilot.press("space", *"the", "space", *"report")
        await until(pilot, lambda: pilot.app.screen.query("CommandList") and pilot.app.screen.query_one("CommandList").option_count)  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.current_mode == "report")


async def test_the_palette_opens_once_and_closes_with_escape(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace()).run_test(size=SIZE) as pilot:
        await pilot.press("ctrl+p", "ctrl+p")
        await pilot.pause()
        assert len(pilot.app.screen_stack) <= 2
        await pilot.press("escape", "escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        assert pilot.app._exit is False


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_help_opens_and_closes_with_the_same_key(open_workspace: Opener, key: str) -> None:
    async with MemsiftApp(open_workspace()).run_test(size=SIZE) as pilot:
        await pilot.press(key)
        await until(pilot, lambda: pilot.app.screen.query("HelpPanel"))
        await pilot.press(key)
        await until(pilot, lambda: not pilot.app.screen.query("HelpPanel"))


@pytest.mark.parametrize("key", ["s", "enter", "space"])
async def test_a_key_that_opens_a_text_pressed_twice_leaves_one_screen(open_workspace: Opener, key: str) -> None:
    async with MemsiftApp(open_workspace()).run_test(size=SIZE) as pilot:
        await pilot.press(key, key)
        await pilot.pause()
        assert len(pilot.app.screen_stack) <= 2
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert len(pilot.app.screen_stack) == 1
        assert pilot.app._exit is False


async def test_what_was_skipped_is_counted_and_listed(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("kept one")])
    (root / "decisions" / "broken[/b].json").write_text("{not json", encoding="utf-8")
    async with MemsiftApp(open_workspace(root=root, prompts=())).run_test(size=SIZE) as pilot:
        assert "1 skipped" in shown(pilot, "#where")
        await pilot.press("s")
        await pilot.pause()
        assert isinstance(pilot.app.screen, FullText)
        said = flat(text_of(pilot.app.screen.query_one("Static")))
        assert "broken[/b].json" in said
        assert "not valid JSON" in said


async def test_prompt_rows_that_were_skipped_are_counted_and_listed_too(
    open_workspace: Opener, tmp_path: Path
) -> None:
    from engine.memory import Skipped

    root = write_root(tmp_path / "root", [memory("kept one")])
    skipped = (Skipped("prompts.jsonl:3", "is not JSON"),)
    async with MemsiftApp(open_workspace(root=root, prompts=(), skipped=skipped)).run_test(size=SIZE) as pilot:
        assert "1 skipped" in shown(pilot, "#where")
        await pilot.press("s")
        await pilot.pause()
        assert "prompts.jsonl:3 is not JSON" in flat(text_of(pilot.app.screen.query_one("Static")))


async def test_reload_reads_new_memories_on_every_screen(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("first one")])
    async with MemsiftApp(open_workspace(root=root, prompts=())).run_test(size=SIZE, notifications=True) as pilot:
        await pilot.press("f3")
        write_memory(root, memory("second one"))
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert any("2 memories" in toast for toast in toasts(pilot))
        await pilot.press("f2")
        await pilot.pause()
        listed: Any = pilot.app.screen.query_one("MemoryList")
        assert [one.title for one in listed.memories] == ["first one", "second one"]


async def test_a_reload_that_fails_tells_so_and_keeps_what_was_read(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("first one")])
    async with MemsiftApp(open_workspace(root=root, prompts=())).run_test(size=SIZE, notifications=True) as pilot:
        root.rename(tmp_path / "moved")
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert any("There is no folder" in toast for toast in toasts(pilot))
        assert pilot.app.screen.query_one("MemoryList").count == 1  # type: ignore[attr-defined]


async def test_a_toast_shows_brackets_as_they_are(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=())).run_test(size=SIZE, notifications=True) as pilot:
        app_of(pilot).tell("[/b] [link=x]y [b + x")
        await pilot.pause()
        toast = pilot.app.screen.query_one("Toast")
        assert "[/b] [link=x]y [b + x" in text_of(toast)


async def test_quitting_while_the_judge_thinks_does_not_hang_or_crash(open_workspace: Opener) -> None:
    from engine.judge.judge import Judge
    from tests.tui.apps import GatedProvider

    provider = GatedProvider()
    prompt = demo_prompts("p01")[0]
    gate = provider.hold(prompt.text)
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=(prompt,))
    async with MemsiftApp(workspace).run_test(size=SIZE) as pilot:
        await pilot.press("f4")
        await until(pilot, lambda: provider.asked)
        await pilot.press("q")
        gate.set()
    assert workspace.retrieval(prompt.id, "bm25") is not None
