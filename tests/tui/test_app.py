"""The app around its screens: keys, palette, help, reload, toasts, the theme."""

import os
import shlex
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

import tui
from engine.config import CONFIG_FILE
from engine.judge.judge import Judge
from engine.judge.limits import Limits
from engine.judge.providers.registry import RefusingProvider
from engine.memory import Skipped
from engine.paths import state_home
from tests.engine.builders import memory, write_memory, write_root
from tests.tui.apps import (
    SCREENS,
    SIZE,
    app_of,
    card_shown,
    help_lines,
    listed,
    press,
    reads,
    running,
    settled,
    shown,
    text_of,
    toasts,
    told,
    type_ahead,
    until,
    widget,
)
from tests.tui.conftest import Opener
from tests.tui.demo import GatedProvider, demo_prompts
from tui.app import KeyCommands, MemsiftApp
from tui.dialogs.dialog import FullText
from tui.dialogs.key_help import KeyHelp, sections
from tui.keys import KEYS, home_of
from tui.widgets.bars import SCREEN_NAMES
from tui.workspace import opening
from tui.workspace.app_settings import Choices
from tui.workspace.judging import JudgeOptions

pytestmark = pytest.mark.anyio

ONE = demo_prompts("p01")
DIALOGS = ("agree", "close", "form", "help", "merge", "pick", "type")
"""The groups of the keys of dialogs."""


async def palette(app: MemsiftApp) -> list[str]:
    return [str(hit.display) async for hit in KeyCommands(app.screen).discover()]


def commands(pilot: Pilot[None]) -> int:
    """The number of commands in the open palette."""
    return int(widget(pilot, "CommandList").option_count)


@pytest.mark.slow
async def test_each_screen_is_reached_by_its_keys_and_escape_leads_back_and_never_quits(open_workspace: Opener) -> None:
    async with running("browse", open_workspace(prompts=ONE)) as pilot:
        assert pilot.app.current_mode == "browse"
        for mode, key in [*SCREENS.items(), *reversed(SCREENS.items())]:
            before = pilot.app.current_mode
            await press(pilot, KEYS[f"go.{mode}"].keys[0] if mode == "inbox" else key)
            assert pilot.app.current_mode == mode
            if before != mode:
                await reads(pilot, "#crumb", f"‹ {SCREEN_NAMES[before]}")
                await press(pilot, "escape")
                assert (pilot.app.current_mode, pilot.app._exit) == (before, False)
                await press(pilot, key)
            bound = pilot.app.screen.active_bindings
            assert (bound["q"].binding.action, bound["ctrl+q"].binding.action) == ("app.quit", "quit")
        await pilot.click(list(pilot.app.screen.query("Tab"))[3])
        await until(pilot, lambda: pilot.app.current_mode == "report")


@pytest.mark.parametrize("keys", [["s", "ctrl+q"], ["ctrl+p", "ctrl+q"]])
async def test_ctrl_q_quits_from_an_open_text_and_the_input_of_the_palette_too(
    open_workspace: Opener, keys: list[str]
) -> None:
    async with running("browse", open_workspace(prompts=())) as pilot:
        *before, last = keys
        await press(pilot, *before)
        assert pilot.app._exit is False
        type_ahead(pilot, last)
        await until(pilot, lambda: pilot.app._exit)


@pytest.mark.slow
async def test_letters_go_into_an_input_also_ahead_and_a_foreign_one_is_no_key_elsewhere(
    open_workspace: Opener,
) -> None:
    async with running("browse", open_workspace(prompts=ONE)) as pilot:
        await press(pilot, "щ")
        no_key = "щ is no key here. Switch the keyboard to Latin letters, or give actions other keys: ?."
        await until(pilot, lambda: no_key in toasts(pilot))
        type_ahead(pilot, "slash", *"qs1uщ", "slash")
        await settled(pilot)
        assert widget(pilot, "Input").value == "qs1uщ/"
        await press(pilot, "escape", "f3")
        type_ahead(pilot, "n", *"queue", "slash")
        await until(pilot, lambda: pilot.app.screen.query("TextArea"))
        await settled(pilot)
        assert widget(pilot, "TextArea").text == "queue/"
        assert pilot.app._exit is False


@pytest.mark.slow
async def test_the_palette_of_any_screen_holds_every_action_of_every_screen_once_with_its_key(
    open_workspace: Opener,
) -> None:
    """All but the keys of dialogs, which are in the palette while the dialog is open."""
    of_screens = {key.phrase for name, key in KEYS.items() if home_of(name) in (*MemsiftApp.MODES, "go", "app")}
    async with running("browse", open_workspace(prompts=demo_prompts("p06"))) as pilot:
        for keys in (["f2"], ["f3"], ["right"], ["f4"], ["f5"]):
            await press(pilot, *keys)
            await settled(pilot)
            held = await palette(app_of(pilot))
            sentences = [line.split("   ")[0] for line in held]
            assert len(sentences) == len(set(sentences))
            assert of_screens <= set(sentences)
        assert "Copy the path of the memory   Y · Browse" in held


@pytest.mark.slow
async def test_the_palettes_of_dialogs_hold_their_keys(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p06"))
    together: set[str] = set()
    async with running("browse", workspace) as pilot:
        workspace.spending = closed = Limits(asks_first=True)
        closed.around(RefusingProvider("anthropic", "claude-haiku-4-5", "nobody asks"))
        for keys in (
            ["e"],
            ["escape", "slash", *"celery", "enter", "m", *"redis", "enter"],
            ["escape", "f3", "f"],
            ["escape", "n"],
            ["escape", "S"],
            ["escape", "question_mark"],
            ["escape", "dollar_sign"],
        ):
            await press(pilot, *keys)
            together |= {line.split("   ")[0] for line in await palette(app_of(pilot))}
    of_dialogs = {key.phrase for name, key in KEYS.items() if name.split(".")[0] in DIALOGS}
    assert of_dialogs - together == set()


async def test_the_palette_says_why_an_action_is_off_now(open_workspace: Opener, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    async with running("browse", open_workspace(root=empty, prompts=())) as pilot:
        await press(pilot, "ctrl+p", *"copypath")
        await until(pilot, lambda: commands(pilot) == 1)
        await press(pilot, "enter")
        await until(pilot, lambda: toasts(pilot))
        assert toasts(pilot) == ["Copy the path of the memory: this is off now. No memory is listed."]


@pytest.mark.slow
async def test_the_palette_runs_what_is_chosen_but_leads_to_another_screen_and_does_nothing_unseen(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(prompts=ONE, judge=None)
    async with running("browse", workspace) as pilot:
        await press(pilot, "ctrl+p", "ctrl+p")
        assert len(pilot.app.screen_stack) <= 2, "it opens once"
        await press(pilot, "escape", "escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        await press(pilot, "ctrl+p", *"readthereport")
        await until(pilot, lambda: commands(pilot) == 1)
        await press(pilot, "enter")
        await until(pilot, lambda: pilot.app.current_mode == "report")
        await press(pilot, "ctrl+p", *"asnotrelevant")
        await until(pilot, lambda: commands(pilot) == 1)
        await press(pilot, "enter")
        await until(
            pilot, lambda: toasts(pilot) == ["x 0   Mark as not relevant to this prompt"], "the key, before it is gone"
        )
        assert pilot.app.current_mode == "label"
        await card_shown(pilot)
        assert workspace.store.events() == ()


async def test_a_key_that_opens_a_text_opens_one_and_the_key_of_help_closes_it(open_workspace: Opener) -> None:
    async with running("browse", open_workspace(prompts=())) as pilot:
        for key in ("question_mark", "f1"):
            await press(pilot, key)
            await until(pilot, lambda: isinstance(pilot.app.screen, KeyHelp))
            await press(pilot, key)
            await until(pilot, lambda: not isinstance(pilot.app.screen, KeyHelp))
        for key in ("S", "enter", "space"):
            await press(pilot, key, key)
            assert len(pilot.app.screen_stack) <= 2
            await press(pilot, "escape", "escape")
            assert (len(pilot.app.screen_stack), pilot.app._exit) == (1, False)


@pytest.mark.slow
async def test_help_keeps_the_keys_of_the_app_apart_and_says_why_others_are_off(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(), "label").run_test(size=SIZE) as pilot:
        await card_shown(pilot)
        found = sections(pilot.app.screen)
        here, off, everywhere = ([line.name for line in found[title]] for title in list(found)[:3])
        assert {"label.note", "mark.undo"} <= set(here)
        assert {"app.quit", "go.browse", "app.cancel"} <= set(everywhere)
        assert {"label.next", "label.follow"} <= set(off)
        await press(pilot, "question_mark")
        said = help_lines(pilot.app)
        assert "u z ⌫ Take the last label back" in said
        assert "or to the report at the end. Label or skip this card first." in said
        assert "Cancel the replay, and keep its finished prompts. Nothing is being replayed." in said
        await press(pilot, "question_mark", "f3")
        found = sections(pilot.app.screen)
        off_now = {line.name: line.phrase for line in found["Off now"]}
        assert off_now["replay.open"].endswith("Go to the memories first.")
        assert off_now["replay.remove"].endswith("Go to a prompt that you typed.")


async def test_files_and_rows_of_prompts_that_were_skipped_are_counted_and_listed_and_dead_links_too(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = tmp_path / "projects/x/memory"
    root.mkdir(parents=True)
    (root / "MEMORY.md").write_text("- [gone](gone[b].md)\n", encoding="utf-8")
    (root / "kept.md").write_text("text", encoding="utf-8")
    (root / "broken[b].md").write_bytes(b"\xff\xfe")
    skipped = (Skipped("prompts.jsonl:3", "is not JSON"),)
    async with running("browse", open_workspace(root=root, prompts=(), unread_prompts=skipped)) as pilot:
        await reads(pilot, "#where", "2 skipped")
        await press(pilot, "S")
        assert isinstance(pilot.app.screen, FullText)
        said = shown(pilot, "FullText Static")
        assert "broken[b].md" in said
        assert "MEMORY.md:1 links to gone[b].md, which does not exist" in said
        await reads(pilot, "FullText Static", "prompts.jsonl:3 is not JSON")


async def test_a_reload_shows_on_the_other_screens_too(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("first one")])
    async with running("browse", open_workspace(root=root, prompts=())) as pilot:
        await press(pilot, "f3")
        write_memory(root, memory("second one"))
        await press(pilot, "ctrl+r")
        assert any("2 memories" in toast for toast in toasts(pilot))
        await press(pilot, "f2")
        assert listed(pilot) == ["first-one", "second-one"]
        root.rename(tmp_path / "moved")
        await press(pilot, "ctrl+r")
        assert any("There is no folder" in toast for toast in toasts(pilot))
        assert len(listed(pilot)) == 2, "what was read stays"


@pytest.mark.slow
async def test_a_toast_shows_brackets_as_they_are_and_news_wait_until_the_answer_to_a_key_has_gone(
    open_workspace: Opener,
) -> None:
    news, heard = "[/b] [link=x]y [b + x", []

    class Watched(MemsiftApp):
        CSS_PATH = Path(tui.__file__).parent / "app.tcss"

        def tell(self, message: str, **options: Any) -> None:
            heard.append((message, [toast.message for toast in self._notifications]))
            super().tell(message, **options)

    app = Watched(open_workspace(prompts=()))
    app.NOTIFICATION_TIMEOUT = 2.0
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        app.tell("The answer.")
        app.tell_news(news, seconds=600)
        await until(pilot, lambda: any(news in text_of(it) for it in pilot.app.screen.query("Toast")))
    assert heard == [("The answer.", []), (news, [])]


async def test_an_answer_about_memories_that_were_read_anew_is_not_kept(open_workspace: Opener) -> None:
    provider = GatedProvider()
    gate = provider.hold(ONE[0].text)
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=ONE)
    async with running("browse", workspace) as pilot:
        await press(pilot, "f4")
        await until(pilot, lambda: len(provider.asked) == 1)
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: len(provider.asked) == 2)
        assert workspace.retrieval("p01", "memsift+judge") is None
        gate.set()
        await until(pilot, lambda: workspace.retrieval("p01", "memsift+judge"))
        await settled(pilot)
        assert len(workspace.store.outcomes()) == 2


async def test_quitting_while_the_judge_thinks_neither_hangs_nor_crashes(open_workspace: Opener) -> None:
    provider = GatedProvider()
    gate = provider.hold(ONE[0].text)
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=ONE)
    async with running("browse", workspace) as pilot:
        await press(pilot, "f4")
        await until(pilot, lambda: provider.asked)
        type_ahead(pilot, "q")
        await until(pilot, lambda: pilot.app._exit)
        gate.set()
    assert workspace.retrieval("p01", "memsift") is not None


# The theme

USUAL, OTHER = "memsift", "memsift-light"


@pytest.fixture
def theme_path(tmp_path: Path) -> Path:
    return Path(state_home({"XDG_STATE_HOME": str(tmp_path / "state")}), "theme")


@pytest.mark.slow
async def test_a_theme_is_tried_under_the_cursor_and_remembered_when_it_is_chosen(
    open_workspace: Opener, theme_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture of the screen goes into the present folder."""
    choices = Choices(str(theme_path.parent))
    monkeypatch.chdir(tmp_path)
    async with MemsiftApp(open_workspace(prompts=()), None, choices).run_test(size=SIZE, notifications=True) as pilot:
        await press(pilot, "ctrl+b")
        (picture,) = tmp_path.glob("*.svg")
        await told(pilot, picture.name)
        assert pilot.app.theme == USUAL
        await press(pilot, "ctrl+t")
        assert pilot.app.theme == USUAL
        await press(pilot, *"SIFT-L")
        assert pilot.app.theme == OTHER
        await press(pilot, "escape")
        assert pilot.app.theme == USUAL
        assert not theme_path.exists()
        type_ahead(pilot, "slash", *"loan")
        await press(pilot, "enter", "ctrl+t", "down")
        type_ahead(pilot, "escape", "escape")
        await settled(pilot)
        assert shown(pilot, "Input") == "loan", "an impatient second escape is not for the screen below"
        await press(pilot, "ctrl+t", "down", "enter")
        assert pilot.app.theme == OTHER
    for theme, key in ((OTHER, "up"), (USUAL, "up")):
        async with MemsiftApp(open_workspace(prompts=()), None, choices).run_test(size=SIZE) as pilot:
            await settled(pilot)
            assert pilot.app.theme == theme
            await press(pilot, "ctrl+t", key, "enter")


@pytest.mark.slow
async def test_a_broken_file_of_the_theme_is_ignored_and_where_none_can_be_written_the_choice_holds_for_now(
    open_workspace: Opener, theme_path: Path
) -> None:
    choices = Choices(str(theme_path.parent))
    theme_path.parent.mkdir(parents=True)
    theme_path.write_bytes(b"\xff\xfe\x00")
    assert choices.read("theme") == ""
    theme_path.write_bytes(b"[/b]\nmemsift-light")
    async with MemsiftApp(open_workspace(prompts=()), None, choices).run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        assert (pilot.app.theme, toasts(pilot)) == (USUAL, [])
        await press(pilot, "ctrl+t", "down", "enter")
        assert choices.read("theme") == OTHER
        theme_path.unlink()
        theme_path.mkdir()
        await press(pilot, "ctrl+t", "up", "enter")
        await told(pilot, "cannot be remembered")
        assert pilot.app.theme == USUAL


# Settings


async def test_settings_of_a_root_that_do_not_count_are_told_at_the_opening(tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("cache rule")])
    (root / CONFIG_FILE).write_text('{"retrieval": {"deadline": 9, "max_inject": 2}}', encoding="utf-8")
    environ = dict(os.environ)
    with closing(opening.open_workspace(str(root), [], JudgeOptions(), str(tmp_path / "l.db"), environ)) as workspace:
        assert (workspace.config.deadline, workspace.config.max_inject) == (2.0, 2)
        async with running("browse", workspace) as pilot:
            (said,) = toasts(pilot)
            assert said.startswith(f"{root}/memory-config.json: deadline is ignored")
            assert said.endswith(f"memsift trust {shlex.quote(str(root))}")
