"""The colours of the app's own themes, and of text in every theme: at least 4.5 to each ground (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.color import BLACK, WHITE, Color
from textual.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DARK = Theme(
    "memsift",
    primary="#6ea8dc",
    secondary="#a594cf",
    accent="#e3b062",
    warning="#e08f5f",
    error="#dd7583",
    success="#7fbf94",
    foreground="#d6dbe3",
    background="#12151a",
    surface="#181c23",
    panel="#1f252e",
    variables={
        "block-cursor-background": "#2f5478",
        "block-cursor-foreground": "#ffffff",
        "footer-key-foreground": "#e3b062",
    },
)
LIGHT = Theme(
    "memsift-light",
    dark=False,
    primary="#2c6aa6",
    secondary="#6a549e",
    accent="#8a5a00",
    warning="#b04a12",
    error="#b03046",
    success="#2b7748",
    foreground="#22272e",
    background="#fafaf7",
    surface="#f3f3ee",
    panel="#e7e8e2",
    variables={"block-cursor-background": "#2c6aa6", "block-cursor-foreground": "#ffffff"},
)
"""One meaning for each colour, in all themes: primary is the place and a heading, accent a key, the next step and a
match, success what is relevant or injected, error what is not, warning what needs a look."""

GROUNDS = ("background", "surface", "panel")
TEXTS = (
    *(f"text-{name}" for name in ("primary", "warning", "error", "success", "accent")),
    *("foreground", "foreground-muted", "footer-foreground", "footer-key-foreground", "footer-description-foreground"),
)
"""Variables of a theme: the grounds of text, and the colours of text."""

LEAST, STEPS = 4.5, 20


def readable(variables: Mapping[str, str]) -> dict[str, str]:
    """The colours of text in *variables*, each as near to its own as the least ratio allows.

    Colours of the terminal stay as they are: nobody knows them.
    """
    grounds = [*_colors(variables, GROUNDS).values()]
    return {name: _readable(color, grounds).hex for name, color in _colors(variables, TEXTS).items() if grounds}


def ratio(text: Color, ground: Color) -> float:
    """The ratio of the lighter to the darker colour, 1 to 21."""
    low, high = sorted(map(_luminance, (ground + text, ground)))
    return (high + 0.05) / (low + 0.05)


def _colors(variables: Mapping[str, str], names: Iterable[str]) -> dict[str, Color]:
    return {name: Color.parse(variables[name]) for name in names if variables.get(name, "").startswith("#")}


def _readable(color: Color, grounds: Sequence[Color]) -> Color:
    """*color*, or a mixture with black or white, whichever is further from the grounds."""
    end = BLACK if all(ratio(BLACK, ground) > ratio(WHITE, ground) for ground in grounds) else WHITE
    mixtures = (color.blend(end, step / STEPS, 1 if step == STEPS else color.a) for step in range(STEPS))
    return next((mixture for mixture in mixtures if all(ratio(mixture, ground) >= LEAST for ground in grounds)), end)


def _luminance(color: Color) -> float:
    """The relative luminance of WCAG, 0 to 1."""
    parts = [part / 255 for part in color.rgb]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
