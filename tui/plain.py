"""User text for widgets. No text of a memory, prompt or file reaches a widget in another way.

A plain `str` given to most widgets is parsed as markup: the square brackets of a memory crash it or lose text. Here
text becomes `Content`, or a string of a fixed width, without characters that move the cursor or hide text.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rich.cells import cell_len, set_cell_size
from textual.content import Content, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

MATCH_STYLE = "bold $text-accent"
ELLIPSIS = "…"
TAB = "    "
HIDDEN_CATEGORIES = ("Cf", "Cs", "Co", "Cn")
VARIATION_SELECTORS = range(0xFE00, 0xFE10)
CONTROL_SIGN = "·"
TITLE_EDGES = 4
"""Cells beside a title in its border."""

ROW_CHARACTERS, PANE_CHARACTERS = 4_000, 8_000
"""Characters read for a row, and for a pane that does not scroll: more than any terminal can show."""


class Marks(Protocol):
    """Finds matches in a text, such as `engine.search.highlight.Marker`."""

    def places(self, text: str, /) -> Iterable[tuple[int, int]]:
        """Start and end of each match: sorted, not overlapping."""


def printable(text: str) -> str:
    """*text* with line breaks, but with a dot for each control character and without invisible characters."""
    if text.isprintable():
        return text if text.isascii() else "".join(c for c in text if ord(c) not in VARIATION_SELECTORS)
    return "".join(map(_shown, text.replace("\r\n", "\n").replace("\t", TAB)))


def one_line(text: str) -> str:
    """*text* on one line, printable."""
    return printable(" ".join(text.split()))


def plain(text: str) -> Content:
    """*text* for Static, Label, Button, border titles and notifications."""
    return Content(printable(text))


def shown_path(path: str) -> str:
    """*path* with `~` for the home folder."""
    below = path.removeprefix(f"{Path.home()}/")
    return path if below == path else f"~/{below}"


def beginning(text: str) -> Content:
    """The beginning of *text*, for a pane that does not scroll."""
    return plain(text if len(text) <= PANE_CHARACTERS else text[:PANE_CHARACTERS] + ELLIPSIS)


def marked(text: str, marker: Marks) -> Content:
    """*text* with the matches of *marker* marked."""
    shown = printable(text)
    return Content(shown, spans=[Span(start, end, MATCH_STYLE) for start, end in marker.places(shown)])


def cells(text: str, width: int) -> str:
    """*text* on one line of exactly *width* terminal cells: cut with an ellipsis, or padded with spaces."""
    start = text.lstrip()
    flat = one_line(start[:ROW_CHARACTERS])
    if cell_len(flat) <= width and len(start) <= ROW_CHARACTERS:
        return set_cell_size(flat, width)
    return set_cell_size(set_cell_size(flat, max(0, width - 1)).rstrip() + ELLIPSIS, width) if width > 0 else ""


def joined(parts: Iterable[str], width: int) -> str:
    """The first of *parts* that fit into *width* cells, with dots between them: no hint is cut in its middle."""
    line = ""
    for part in parts:
        longer = f"{line} · {part}" if line else part
        if line and cell_len(longer) > width:
            break
        line = longer
    return line


def aligned(text: str, width: int) -> str:
    """A line that is aligned with others, in exactly *width* terminal cells: its spaces stay."""
    return set_cell_size(printable(text).replace("\n", " "), max(0, width))


def hanging(text: Content, indent: int, width: int) -> Content:
    """*text* in lines of *width* cells. All but the first begin *indent* cells further right, half a line at most."""
    indent = min(indent, width // 2)
    if indent <= 0 or text.cell_length <= width:
        return text
    start = len(text.wrap(width)[0].plain)
    start += len(text.plain[start:]) - len(text.plain[start:].lstrip())
    return Content("\n").join([text[:start], *(line.pad_left(indent) for line in text[start:].wrap(width - indent))])


def _shown(character: str) -> str:
    if character == "\n":
        return character
    category = unicodedata.category(character)
    if category == "Cc":
        return CONTROL_SIGN
    return "" if category in HIDDEN_CATEGORIES or ord(character) in VARIATION_SELECTORS else character
