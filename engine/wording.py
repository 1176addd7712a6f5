"""Text for people at a terminal: counted nouns, names in a row, and columns that are aligned by their cells."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = "  "
"""Between the columns of a table."""

ELLIPSIS = "…"


def counted(number: int, one: str, many: str = "") -> str:
    """3 prompts, 1 memory, 2,000 memories. *many* is needed where the plural is irregular."""
    regular = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{number:,} {one if number == 1 else many or regular}"


def listed(names: Sequence[str], most: int | None = None) -> str:
    """a, b and c; with *most* names at most: a, b and 7 more."""
    left = len(names) - most if most is not None else 0
    ends = [*names[:most], f"{left:,} more"] if left > 0 else names
    return " and ".join(filter(None, (", ".join(ends[:-1]), *ends[-1:])))


def cells(text: str) -> int:
    """The number of terminal cells that *text* takes, approximately."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character)[0] == "M":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """*text* in at most *width* cells, with an ellipsis if something is missing."""
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + ELLIPSIS


def padded(text: str, width: int, *, right: bool = False) -> str:
    """*text* with spaces behind it, or before it with *right*, to fill *width* cells."""
    space = " " * (width - cells(text))
    return space + text if right else text + space


def aligned(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """A line for each row. Each column is as wide as its widest cell; numbers stand to the *right*."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(padded(cell, width, right=right) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
