"""Changing a JSON text in a few places: the files of memories, and the settings of memsift and of its clients.

All other text stays as it was written: unknown keys, the order of keys, indentation, the spelling of numbers, and
comments (`//` and `/* */`), which some clients allow. A place is a path of keys and of numbers of items, such as
("hooks", "UserPromptSubmit", 0).
"""

from __future__ import annotations

import json
import re
from typing import Any

from engine.lean.record import Record

SPACE = re.compile(r"[\ufeff \t\r\n]*")
INDENTED = re.compile(r"\n([ \t]+)\S")
DEFAULT_UNIT = "  "
DECODER = json.JSONDecoder()
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*+"?)|//[^\r\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
"""A text or a comment. Without an end it takes the rest of the file, which is then not searched again."""

TRAILING = re.compile(r"(?<![ \t])[ \t]+(?=\r?\n)")
NOT_SPACE = re.compile(r"[^\r\n]")
UNWRITABLE = re.compile(r"[\ud800-\udfff]")
"""Halves of surrogate pairs: no file can hold them, so they stay escaped."""

Path = tuple[str | int, ...]


class Member(Record):
    """A key and its value, and their places in the text: of the key's quote, of the value, and after the value.

    An item of a list has no key: it begins where its value begins.
    """

    key: str
    value: Any
    start: int
    value_start: int
    end: int


class Style(Record):
    """How a container is written: the text before a child, the text after a key, and the indentation of one level."""

    lead: str
    colon: str
    unit: str
    is_ascii: bool


def without_comments(text: str) -> str:
    """*text* with spaces in the place of its comments, so that every other character keeps its place."""
    if "//" not in text and "/*" not in text:
        return text
    return COMMENT.sub(lambda found: found[1] or NOT_SPACE.sub(" ", found[0]), text)


def members(text: str) -> list[Member]:
    """The members of the object that *text* spells, in order. ValueError for any other text."""
    position = after_space(text, 0)
    if text[position : position + 1] != "{":
        raise ValueError("holds no JSON object")
    return children(text, position)


def children(text: str, start: int) -> list[Member]:
    """The members of the object, or the items of the list, whose bracket opens at *start*."""
    found: list[Member] = []
    position = after_space(text, start + 1)
    while text[position] not in "}]":
        key, value_start = "", position
        if text[start] == "{":
            key, end = DECODER.raw_decode(text, position)
            value_start = after_space(text, after_space(text, end) + 1)
        value, end = DECODER.raw_decode(text, value_start)
        found.append(Member(key, value, position, value_start, end))
        position = after_space(text, end)
        if text[position] == ",":
            position = after_space(text, position + 1)
    return found


def with_value(text: str, path: Path, value: object, *, after: str | None = None) -> str:
    """*text* with *value* at *path*. Objects that are missing on the way are made; an empty text counts as an object.

    A new key stands behind the member *after*, or at the end.
    """
    bare = without_comments(text)
    if not SPACE.sub("", bare, count=1):
        text, bare = f"{text}{{}}\n", f"{bare}{{}}\n"
    depth = next(depth for depth in range(len(path) - 1, -1, -1) if place_of(bare, path[:depth]) is not None)
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    place = place_of(bare, path[:depth]) or 0
    old = _child(children(bare, place), path[depth])
    if old is None:
        return _added(text, bare, place, str(path[depth]), value, after)
    spelled = _spelled(value, _style(bare, place), text[old.value_start : old.end])
    return text[: old.value_start] + spelled + text[old.end :]


def with_item(text: str, path: Path, item: object) -> str:
    """*text* with *item* at the end of the list at *path*, which is made if it is missing."""
    bare = without_comments(text)
    place = place_of(bare, path)
    return with_value(text, path, [item]) if place is None else _added(text, bare, place, None, item)


def without_value(text: str, path: Path, *, prunes: bool = False) -> str:
    """*text* without what stands at *path*; *prunes*: nor the containers that are empty after that."""
    changed = _cut(text, path)
    if changed != text and isinstance(path[-1], str):  # a key may stand twice
        changed = without_value(changed, path)
    bare = without_comments(changed)
    place = place_of(bare, path[:-1])
    if not prunes or not path[1:] or place is None or children(bare, place):
        return changed
    end = after_space(bare, place + 1)
    has_comment = changed[place:end] != bare[place:end]
    return changed if has_comment else without_value(changed, path[:-1], prunes=True)


def line_of(text: str, path: Path) -> int:
    """The number of the line on which the value at *path* begins; there must be one."""
    bare = without_comments(text)
    place = place_of(bare, path[:-1])
    found = _child(children(bare, place), path[-1]) if place is not None else None
    return text.count("\n", 0, found.value_start if found else 0) + 1


def place_of(text: str, path: Path) -> int | None:
    """The position of the bracket that opens the container at *path*; None if there is no container."""
    position = after_space(text, 0)
    if text[position : position + 1] not in ("{", "["):
        return None
    for step in path:
        found = _child(children(text, position), step)
        if found is None or not isinstance(found.value, dict | list):
            return None
        position = found.value_start
    return position


def after_space(text: str, position: int) -> int:
    """The first place from *position* on that holds no white space."""
    found = SPACE.match(text, position)
    return found.end() if found else position


def _child(found: list[Member], step: str | int) -> Member | None:
    """The child that *step* names. Of equal keys the last counts, as it does for every reader of JSON."""
    if isinstance(step, int):
        return found[step] if step < len(found) else None
    return next((member for member in reversed(found) if member.key == step), None)


def _added(text: str, bare: str, place: int, key: str | None, value: object, after: str | None = None) -> str:
    """*text* with a new child in the container at *place*, in the style of the other children.

    *bare*: the text without comments. The comment on the line of a child stays on that line.
    """
    found, style = children(bare, place), _style(bare, place)
    child = ("" if key is None else json.dumps(key) + style.colon) + _spelled(value, style, "")
    if found:
        at = next((member.end for member in found if after is not None and member.key == after), found[-1].end)
        line = text[at:].split("\n", 1)[0].rstrip()
        behind = at + len(line) if not bare[at : at + len(line)].strip() else at  # only a comment follows
        return f"{text[:at]},{text[at:behind]}{style.lead}{child}{text[behind:]}"
    end = after_space(bare, place + 1)
    inside = text[place + 1 : end] if text[place + 1 : end].strip() else ""
    closing = style.lead.removesuffix(style.unit) if "\n" in style.lead else ""
    return text[: place + 1] + inside.rstrip() + style.lead + child + closing + text[end:]


def _cut(text: str, path: Path) -> str:
    """*text* without the child at *path*, if there is one. Comments before it stay."""
    bare = without_comments(text)
    place = place_of(bare, path[:-1])
    found = children(bare, place) if place is not None else []
    child = _child(found, path[-1])
    if place is None or child is None:
        return text
    number = found.index(child)
    if number > 0:
        before = found[number - 1].end
        comma = bare.index(",", before)
        start = _behind_comments(text, bare, comma + 1, child)
        return text[:before] + text[before:comma] + text[comma + 1 : start] + text[child.end :]
    if len(found) > 1:
        return text[: child.start] + text[after_space(text, bare.index(",", child.end) + 1) :]
    start = _behind_comments(text, bare, place + 1, child)
    return text[:start] + text[after_space(text, child.end) if start == place + 1 else child.end :]


def _behind_comments(text: str, bare: str, start: int, child: Member) -> int:
    """The end of the comments between *start* and a child that is cut out; *start* if there are none.

    What follows the child on its line must not become a part of such a comment.
    """
    end = max((at + 1 for at in range(start, child.start) if text[at] != bare[at]), default=start)
    is_followed = end > start and bare[child.end :].split("\n", 1)[0].strip()
    return bare.find("\n", end, child.start) + 1 or end if is_followed else end


def _style(text: str, place: int) -> Style:
    """The style of the container at *place*: that of its children, or else of the text around it."""
    found = children(text, place)
    is_minified = '":' in text and '": ' not in text
    is_ascii, indented = text.isascii() and "\\u" in text, INDENTED.search(text)
    unit, colon = indented[1] if indented else DEFAULT_UNIT, ":" if is_minified else ": "
    if not found:
        line = text[text.rfind("\n", 0, place) + 1 : place].lstrip("\ufeff")
        is_on_a_line = "\n" not in text.strip("\ufeff \t\r\n") and place > after_space(text, 0)
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        newline = "\r\n" if "\r\n" in text else "\n"
        return Style("" if is_on_a_line else newline + indent + unit, colon, unit, is_ascii)
    first = found[0]
    lead = text[text.index(",", first.end) + 1 : found[1].start] if len(found) > 1 else text[place + 1 : first.start]
    if len(found) == 1 and "\n" not in lead:
        lead = "" if is_minified else " "
    lead = TRAILING.sub("", lead)
    if text[place] == "{":
        colon = text[after_space(text, DECODER.raw_decode(text, first.start)[1]) : first.value_start]
    return Style(lead, colon, unit, is_ascii)


def _spelled(value: object, style: Style, old: str) -> str:
    """*value* as JSON at its place: over several lines if the object is, unless an old list stood on one line."""
    is_short = old[:1] in ("[", "{") and "\n" not in old and len(old) > len("[]")
    if "\n" not in style.lead or is_short:
        separators = (",", ":") if style.colon == ":" else (", ", ": ")
        return _escaped(json.dumps(value, ensure_ascii=style.is_ascii, separators=separators))
    lines = _escaped(json.dumps(value, ensure_ascii=style.is_ascii, indent=style.unit))
    return lines.replace("\n", style.lead.lstrip(" \t"))


def _escaped(text: str) -> str:
    return UNWRITABLE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
