"""Texts of the app can be read in every theme, also those that are muted, warn, or name a key."""

import pytest
from textual.app import App
from textual.color import Color
from textual.theme import BUILTIN_THEMES
from textual.widgets._footer import FooterKey

from tests.tui.apps import at_rest, starting_in
from tests.tui.conftest import Opener
from tui.plain_app import DARK, GROUNDS, LEAST, LIGHT, TEXTS, ratio, readable


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
