"""Texts of the app can be read in every theme, also those that are muted, warn, or name a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES
from textual.widgets._footer import FooterKey

from tests.tui.apps import at_rest, starting_in
from tui.contrast import GROUNDS, LEAST, TEXTS, ratio

if TYPE_CHECKING:
    from tests.tui.conftest import Opener

LIGHT, DARK = "textual-light", "textual-dark"


def test_the_ratio_is_that_of_wcag() -> None:
    assert ratio(Color(0, 0, 0), Color(255, 255, 255)) == pytest.approx(21)
    assert ratio(Color(255, 255, 255), Color(119, 119, 119)) == pytest.approx(4.48, abs=0.01)
    assert ratio(Color(0, 0, 0, 0.5), Color(255, 255, 255)) == ratio(Color(255, 255, 255), Color(127, 127, 127))


@pytest.mark.anyio
async def test_every_theme_has_readable_texts(open_workspace: Opener) -> None:
    async with starting_in("browse", open_workspace(judge=None, prompts=())).run_test() as pilot:
        for theme in BUILTIN_THEMES:
            pilot.app.theme = theme
            variables = pilot.app.get_css_variables()
            grounds = [Color.parse(variables[name]) for name in GROUNDS if variables[name].startswith("#")]
            texts = [Color.parse(variables[name]) for name in TEXTS if variables[name].startswith("#")]
            assert all(ratio(text, ground) >= LEAST - 0.05 for text in texts for ground in grounds), theme
        pilot.app.theme = LIGHT
        await at_rest(pilot)
        key = pilot.app.screen.query(FooterKey).first()
        shown = key.get_component_styles("footer-key--key").color
        assert ratio(shown, pilot.app.screen.query_one("Footer, KeyFooter").styles.background) >= LEAST - 0.05
