"""The links of MEMORY.md: the lines that list notes, and a line without one of its links or with another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.stores.writing import IndexEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LINK = re.compile(r"\[([^\[\]]*)\]\((?:<([^<>\r\n]*)>|([^()\s]*))\)")
ENTRY = re.compile(rf"(\s*)(?:[-*+]|\d+[.)]) {LINK.pattern}(\s*(?:—|–|-|:)\s*)?(.*)")
"""A line of MEMORY.md: indentation, the link's text, the file in either form, the separator, and a hint."""

SEPARATORS = (" · ", " | ", " • ", "; ", ", ")
"""Between the links of a line with several."""


def entries(lines: Sequence[str]) -> Iterator[IndexEntry]:
    """Lines that begin with a link to a note, or are rows of a table, and lead to no other note.

    Each comes with the lines below it that are further in.
    """
    for number, line in enumerate(lines):
        is_row = bool(ENTRY.match(line)) or line.lstrip().startswith("|")
        if not is_row or len(links(line)) != 1:
            continue
        end = number + 1
        while end < len(lines) and is_below(lines[end], indent_of(line)):
            end += 1
        yield IndexEntry(links(line)[0], number, end)


def links(line: str) -> list[str]:
    """As `engine.stores.writing.Writing.links`."""
    return [name for match in LINK.finditer(line) if (name := _file(match)).endswith(".md")]


def without(lines: Sequence[str], name: str) -> list[str]:
    """As `engine.stores.writing.Writing.without`. An entry goes with the lines below it.

    Of several links in a line one goes, with its hint and its separator. Among other words, the link's text stays.
    """
    gone = [entry for entry in entries(lines) if entry.name == name]
    left_out = {number for entry in gone for number in range(entry.start, entry.end)}
    kept = [_without_link(line, name) for number, line in enumerate(lines) if number not in left_out]
    return [line for line in kept if line]


def relinked(line: str, old: str, new: str) -> str:
    """As `engine.stores.writing.Writing.relinked`."""

    def other(match: re.Match[str]) -> str:
        place = 2 if match[2] else 3
        start, end = match.start(place) - match.start(), match.end(place) - match.start()
        given = match[0][start:end]
        named, mark, part = given.partition("#")
        head = "./" if named.startswith("./") else ""
        spelled = new.replace(" ", "%20") if place == 3 else new
        return f"{match[0][:start]}{head}{spelled}{mark}{part}{match[0][end:]}" if _file(match) == old else match[0]

    return LINK.sub(other, line)


def _file(match: re.Match[str]) -> str:
    """The file that a link leads to, as its name in the root."""
    target = (match[2] or match[3] or "").partition("#")[0].replace("%20", " ").removeprefix("./")
    return "" if "://" in target else target


def _without_link(line: str, name: str) -> str:
    """*line* without its links to a note; empty if no word is left."""
    if name not in links(line):
        return line
    text = line.rstrip("\r\n")
    for separator in SEPARATORS:
        parts = text.split(separator)
        begins = [bool(LINK.match(part)) or not links(part) for part in parts[1:]]
        begins += [len({*links(part)}) <= 1 for part in parts]
        head, link = _head(parts[0])
        if parts[1:] and link and all(begins):
            kept = [part for part in (link, *parts[1:]) if name not in links(part)]
            return f"{head}{separator.join(kept)}{line[len(text) :]}" if kept else ""
    bare = LINK.sub(lambda match: match[1] if _file(match) == name else match[0], line)
    return bare if any(map(str.isalnum, bare)) else ""


def _head(part: str) -> tuple[str, str]:
    """The bullet or the label before the first link of a line, and the rest; an empty rest if words stand before it."""
    match = LINK.search(part)
    head = part[: match.start()] if match else part
    is_label = not head.strip("-*+ \t") or head.rstrip().endswith(":")
    return (head, part[len(head) :]) if match and is_label else (head, "")


def is_below(line: str, indent: int) -> bool:
    """Whether a line belongs to the line above it, which is indented by *indent*."""
    return bool(line.strip()) and indent_of(line) > indent and not links(line)


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
