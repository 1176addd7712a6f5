"""A part of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells of text under a *head*, in which a newline parts two lines; the first *names* columns are names, the others
    numbers. `is_whole`: its names mean nothing when cut."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    is_whole: bool = False


@dataclass(frozen=True)
class Section:
    """A part of a report: `name` is its anchor, `about` says how to read it and may be empty.

    `lines` stand below the table, each a sentence of its own. Texts are as the files have them: whoever shows a section
    makes them harmless.
    """

    name: str
    title: str
    about: str = ""
    table: Table | None = None
    lines: tuple[str, ...] = ()
