"""Keys that a person chose in config.toml, and keys that are the same in every list and text."""

import os
from pathlib import Path

import pytest
from textual.widgets import Input, Static, TextArea

from engine.paths import config_file
from tests.tui.apps import SIZE, app_of, card_shown, help_lines, press, screen_of, settled, toasts, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.app import MemsiftApp
from tui.keys import KEYS, key_map
from tui.workspace.app_settings import AppSettings, read_app_settings

pytestmark = pytest.mark.anyio

MOVING = ("up", "down", "j", "k", "g", "G", "home", "end", "pageup", "pagedown", "ctrl+d", "ctrl+u")


def written(text: str) -> AppSettings:
    file = Path(config_file(os.environ))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return read_app_settings(os.environ)


@pytest.fixture(autouse=True)
def _at_home(private_home: Path) -> None:
    assert config_file(os.environ).startswith(str(private_home))


@pytest.mark.slow
async def test_a_chosen_key_acts_and_is_named_and_the_usual_key_is_free(open_workspace: Opener) -> None:
    settings = written('[keys]\n"label.skip" = "K"\n"app.help" = "f9"\n')
    app = MemsiftApp(open_workspace(prompts=demo_prompts("p01"), judge=None), "label", settings=settings)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: pilot.app.current_mode == "label")
        await card_shown(pilot)
        await press(pilot, "space")
        assert app.workspace.store.events() == ()
        await press(pilot, "K")
        assert [one.action for one in app.workspace.store.events()] == ["skip"]
        await press(pilot, "f9")
        assert "K Skip this card" in help_lines(app)
        await press(pilot, "f9")
        while screen_of(pilot).card:
            await press(pilot, "x")
        await press(pilot, "space")
        await until(pilot, lambda: app.current_mode == "report", "space, shared before, still goes on")


async def test_mistakes_in_the_table_of_keys_are_told_with_their_line(open_workspace: Opener) -> None:
    settings = written(
        '[keys]\n"label.skp" = "k"\n"label.note" = "x"\n"label.reason" = "hyper+q"\n'
        '"list.order" = 3\n"app.quit" = "Q"\n'
    )
    keys, mistakes = key_map(settings)
    path = config_file(os.environ)
    assert keys["app.quit"] == "Q"
    assert keys["label.note"] == KEYS["label.note"].keys
    assert sorted(one.removeprefix(path) for one in mistakes) == [
        ", line 2: there is no action 'label.skp'. Did you mean 'label.skip'? tui/KEYS.md lists all.",
        ", line 3: 'x' is the key of mark.not, too. Give mark.not another key in [keys].",
        ', line 4: \'hyper+q\' is no key. Keys look like "k", "ctrl+k", "f6", "space" or "?".',
        ", line 5: the keys of 'list.order' are '3'; expected a text such as \"ctrl+k\".",
    ]
    async with MemsiftApp(open_workspace(prompts=()), settings=settings).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: [one.count("\n") for one in toasts(pilot)] == [3])


def test_two_actions_may_change_their_keys_with_each_other_and_screens_do_not_disturb_each_other() -> None:
    assert key_map(AppSettings())[0] == {}
    keys, mistakes = key_map(written('[keys]\n"list.order" = "m"\n"change.merge" = "o"\n"report.more" = "x"\n'))
    assert (keys["list.order"], keys["change.merge"], keys["report.more"]) == ("m", "o", "x")
    assert mistakes == ()


def test_a_broken_file_changes_no_key() -> None:
    keys, (mistake,) = key_map(written("[keys\n"))
    assert keys == {}
    assert "cannot be read" in mistake
    assert key_map(written("keys = 3\n"))[1]
    assert written("[label]\ngrades = true\n").has_grades
    assert written('[label]\ngrades = "yes"\n').mistakes


def test_every_action_is_in_the_list_of_keys() -> None:
    listed = (Path(__file__).parents[2] / "tui/KEYS.md").read_text(encoding="utf-8")
    assert [name for name in KEYS if f"| `{name}` |" not in listed] == []


@pytest.mark.slow
async def test_arrows_and_the_keys_of_vim_move_in_every_list_and_text(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=demo_prompts("p01", "p04"))).run_test(size=SIZE) as pilot:
        checked = set()
        for mode in (*MemsiftApp.MODES, "ctrl+t", "escape", "c", "escape"):
            if mode in MemsiftApp.MODES:
                await pilot.app.switch_mode(mode)
                await settled(pilot)
            else:
                await press(pilot, *(["f3"] if mode == "c" else []), mode)
            for widget in pilot.app.screen.focus_chain:
                if not isinstance(widget, Input | TextArea):
                    missing = [one for one in MOVING if one not in widget._bindings.key_to_bindings]
                    assert missing == [], (mode, widget)
                    checked.add(type(widget).__name__)
    assert {"MemoryList", "PromptList", "MemoryPane", "AnswerPane", "TextPane", "Options", "Boxes"} <= checked


@pytest.mark.slow
async def test_a_letter_jumps_to_a_list_or_panel_and_clicks_go_to_rows(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=demo_prompts("p01", "p04", "p20"))).run_test(size=SIZE) as pilot:
        await press(pilot, "f3", "grave_accent")
        assert {" a ", " s "} <= {str(one.content) for one in pilot.app.screen.query(Static)}
        await press(pilot, "s")
        assert type(pilot.app.focused).__name__ == "RankingTable"
        await press(pilot, "grave_accent", "escape")
        assert len(pilot.app.screen_stack) == 1
        assert type(pilot.app.focused).__name__ == "RankingTable"
        prompts = widget(pilot, "PromptList")
        await pilot.click(prompts, offset=(5, 3))
        await until(pilot, lambda: prompts.cursor == 2 and prompts.has_focus)


@pytest.mark.slow
async def test_y_copies_what_has_the_focus_and_big_y_the_path(open_workspace: Opener) -> None:
    prompts = demo_prompts("p01")
    async with MemsiftApp(open_workspace(prompts=prompts)).run_test(size=SIZE, notifications=True) as pilot:
        await press(pilot, "f3", "y")
        assert pilot.app.clipboard == prompts[0].text[: len(pilot.app.clipboard)]
        assert toasts(pilot)[-1].startswith("Copied ")
        await press(pilot, "i", "y")
        assert prompts[0].text in pilot.app.clipboard
        await press(pilot, "escape", "f2", "Y")
        assert pilot.app.clipboard.endswith(".json")
        assert app_of(pilot).workspace.store.labels() == ()
