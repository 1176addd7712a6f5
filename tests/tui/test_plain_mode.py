"""Plain mode for screen readers, and NO_COLOR: states in words, no frames, no colours, a line that names the place."""

import os
import re
from pathlib import Path

import pytest
from textual.app import App
from textual.color import Color
from textual.pilot import Pilot
from textual.theme import BUILTIN_THEMES
from textual.widgets._footer import FooterKey

from engine.paths import config_file
from tests.tui.apps import SIZE, at_rest, card_shown, press, shown, starting_in, text_of, until, widget
from tests.tui.cli.command_line import MAIN, memsift
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO_ROOT, demo_prompts
from tests.tui.terminal import Terminal
from tui.app import MemsiftApp
from tui.plain_app import DARK, GROUNDS, LEAST, LIGHT, TEXTS, ratio, readable
from tui.widgets.bars import TABS
from tui.workspace.app_settings import AppSettings, read_app_settings

pytestmark = pytest.mark.anyio

PLAIN = AppSettings(is_plain=True)
DECORATION = re.compile("[─-◿✀-➿⏎⌫≠›]| · ")
"""Frames, blocks, shapes and ticks; keys as signs; the dot between facts."""


def drawn(pilot: Pilot[None]) -> str:
    return "\n".join(text_of(one) for one in pilot.app.screen.query("*") if one.is_on_screen)


def place(pilot: Pilot[None]) -> str:
    """The text of the first line; empty before it is there."""
    return str(widget(pilot, "WhereLine").text) if pilot.app.screen.query("WhereLine") else ""


async def says(pilot: Pilot[None], text: str) -> None:
    """Wait until the first line begins with *text*."""
    await until(pilot, lambda: place(pilot).startswith(text), f"{text!r}, not {place(pilot)!r}")


@pytest.mark.slow
async def test_the_first_line_names_the_place_and_states_are_said_in_words(open_workspace: Opener) -> None:
    app = MemsiftApp(open_workspace(prompts=demo_prompts("p01", "p04")), settings=PLAIN)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await says(pilot, "Browse, memory 1 of 76: ")
        await press(pilot, "space", "j")
        await says(pilot, "Browse, memory 3 of 76: ")
        await press(pilot, "k")
        await says(pilot, "Browse, memory 2 of 76: ")
        assert re.search(r"selected +", shown(pilot, "MemoryList"))
        assert re.fullmatch(r"Browse, memory 2 of 76: .+; Category: [a-z ]+; (.+: .+; )*Tokens: \d+.*", place(pilot))
        await press(pilot, "o")
        await says(pilot, "Sort by, choice ")
        assert app.screen.styles.background.a == 1, "nothing of the screen below is read"
        await press(pilot, "escape", "slash", *"loan")
        await says(pilot, "Browse, input: loan. ")
        await press(pilot, "escape", "escape", "escape")
        assert "sorted by" in str(widget(pilot, "#list").border_title)
        await press(pilot, "f3", "right")
        await says(pilot, "Replay, memory 1 of ")
        table = drawn(pilot)
        assert "injected, rank 1" in table
        results = re.compile(r"; hook: injected, rank 1, \w+; hook \+ judge: (injected|left out, \w+)")
        await until(pilot, lambda: results.search(place(pilot)), place(pilot))
        assert "left out, " in table
        assert DECORATION.findall(table) == []
        await press(pilot, "c")
        await says(pilot, "Which systems side by side?, choice 1 of ")
        assert ", selected" in place(pilot)
        assert app.screen.has_class("-narrow"), "one column at 110 cells"
        assert app.animation_level == "none"
        app.tell("It is wrong.", severity="warning")
        await until(pilot, lambda: place(pilot).endswith("\nWarning. It is wrong."))


@pytest.mark.slow
async def test_no_screen_draws_with_characters(open_workspace: Opener) -> None:
    app = MemsiftApp(open_workspace(prompts=demo_prompts("p01", "p04")), settings=PLAIN)
    async with app.run_test(size=SIZE) as pilot:
        seen = {}
        for mode in MemsiftApp.MODES:
            await pilot.app.switch_mode(mode)
            await at_rest(pilot)
            await says(pilot, {**dict(TABS), "live": "Prompt"}.get(mode, mode.capitalize()))
            seen[mode] = drawn(pilot)
        await press(pilot, "f3", "c")
        seen["dialog"] = drawn(pilot)
        await press(pilot, "escape", "f4")
        await card_shown(pilot)
        await press(pilot, "x")
        await until(pilot, lambda: "not relevant:" in shown(pilot, "RecentLabels"))
        seen["labelled"] = drawn(pilot)
        assert {name: DECORATION.findall(text) for name, text in seen.items()} == {name: [] for name in seen}


@pytest.mark.slow
@pytest.mark.parametrize("line", [["demo"], ["search", "loan", "--explain"], ["list"], ["--help"]], ids=" ".join)
def test_neither_app_nor_command_prints_a_colour_with_no_color(line: list[str], private_home: Path) -> None:
    """In a real terminal. The cursor is shown by reversed text then."""
    assert private_home.is_dir()
    root = [] if line[0] in ("demo", "--help") else ["--root", str(DEMO_ROOT)]
    with Terminal([*MAIN, *line, *root], NO_COLOR="1", COLORTERM="truecolor", TERM="xterm-256color") as terminal:
        if line == ["demo"]:
            terminal.reads(b"useful")
            terminal.types(b"j")
            terminal.reads(b"\x1b[7")
        else:
            terminal.ends()
        styles = {part for found in re.findall(rb"\x1b\[([0-9;]*)m", terminal.output) for part in found.split(b";")}
    assert terminal.output
    assert styles <= {b"", b"0", b"1", b"2", b"3", b"4", b"7", b"9", b"39", b"49"}


def test_plain_mode_is_a_flag_and_a_setting(private_home: Path) -> None:
    from tui.cli.app import app_settings

    file = Path(config_file(os.environ))
    assert private_home in file.parents
    assert app_settings(is_plain=False).is_plain is False
    assert app_settings(is_plain=True).is_plain is True
    file.parent.mkdir(parents=True)
    file.write_text("[app]\nplain = true\n", encoding="utf-8")
    assert app_settings(is_plain=False).is_plain is True
    file.write_text('[app]\nplain = "yes"\n', encoding="utf-8")
    settings = read_app_settings(os.environ)
    assert settings.is_plain is False
    assert settings.mistakes == (f"{file}: 'plain' under [app] is 'yes'; expected true or false.",)
    assert "--plain" in memsift("--help").stdout


# Texts of the app can be read in every theme, also those that are muted, warn, or name a key


def test_the_ratio_is_that_of_wcag() -> None:
    assert ratio(Color(0, 0, 0), Color(255, 255, 255)) == pytest.approx(21)
    assert ratio(Color(255, 255, 255), Color(119, 119, 119)) == pytest.approx(4.48, abs=0.01)
    assert ratio(Color(0, 0, 0, 0.5), Color(255, 255, 255)) == ratio(Color(255, 255, 255), Color(127, 127, 127))


def check(variables: dict[str, str], name: str) -> None:
    grounds = [Color.parse(variables[one]) for one in GROUNDS if variables[one].startswith("#")]
    texts = [Color.parse(variables[one]) for one in TEXTS if variables[one].startswith("#")]
    assert all(ratio(text, ground) >= LEAST - 0.05 for text in texts for ground in grounds), name


def test_every_theme_has_readable_texts() -> None:
    for name, theme in {**BUILTIN_THEMES, DARK.name: DARK, LIGHT.name: LIGHT}.items():
        variables = {**App().get_theme_variable_defaults(), **theme.to_color_system().generate(), **theme.variables}
        check({**variables, **readable(variables)}, name)


@pytest.mark.slow
@pytest.mark.anyio
async def test_the_app_shows_them_in_the_theme_that_is_chosen(open_workspace: Opener) -> None:
    async with starting_in("browse", open_workspace(judge=None, prompts=())).run_test() as pilot:
        for theme in BUILTIN_THEMES:
            pilot.app.theme = theme
            check(pilot.app.get_css_variables(), theme)
        pilot.app.theme = "textual-light"
        await at_rest(pilot)
        key = pilot.app.screen.query(FooterKey).first()
        shown = key.get_component_styles("footer-key--key").color
        assert ratio(shown, pilot.app.screen.query_one("Footer, KeyFooter").styles.background) >= LEAST - 0.05
