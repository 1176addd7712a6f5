"""Changing the text of a JSON object member by member.

All other text stays as it was written: unknown keys, the order of keys, indentation, the spelling of numbers.
"""

from __future__ import annotations

import json
import re
from typing import Any

from engine.lean.record import Record

SPACE = re.compile(r"[\ufeff \t\r\n]*")
DECODER = json.JSONDecoder()
UNWRITABLE = re.compile(r"[\ud800-\udfff]")
"""Halves of surrogate pairs: no file can hold them, so they stay escaped."""


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
    """How an object is written: the text before a key, the text after it, and the indentation of one level."""

    lead: str
    colon: str
    unit: str
    is_ascii: bool


def members(text: str) -> list[Member]:
    """The members of the object that *text* spells, in order. ValueError for any other text."""
    position = after_space(text, 0)
    if text[position : position + 1] != "{":
        raise ValueError("holds no JSON object")
    return children(text, position)


def children(text: str, start: int) -> list[Member]:
    """The members of the object, or the items of the list, whose bracket opens at *start*."""
    read = _member if text[start] == "{" else _item
    found: list[Member] = []
    position = after_space(text, start + 1)
    while text[position] not in "}]":
        found.append(read(text, position))
        position = after_space(text, found[-1].end)
        if text[position] == ",":
            position = after_space(text, position + 1)
    return found


def with_member(text: str, key: str, value: object, *, after: str | None = None, unit: str = "") -> str:
    """*text* with *value* for *key*. A new key stands behind the member *after*, or at the end.

    *unit*: the indentation of one level, for an object within another.
    """
    found = members(text)
    style = _style(text, found, unit)
    old = next((pair for pair in reversed(found) if pair.key == key), None)
    if old:
        spelled = _spelled(value, style, text[old.value_start : old.end])
        return text[: old.value_start] + spelled + text[old.end :]
    member = f"{json.dumps(key)}{style.colon}{_spelled(value, style, '')}"
    if not found:
        start = text.index("{") + 1
        return text[:start] + member + text[after_space(text, start) :]
    place = next((pair.end for pair in found if pair.key == after), found[-1].end)
    return f"{text[:place]},{style.lead}{member}{text[place:]}"


def without_member(text: str, key: str) -> str:
    """*text* without the member *key*, which need not be there."""
    found = members(text)
    number = next((number for number, pair in enumerate(found) if pair.key == key), None)
    if number is None:
        return text
    if number > 0:
        start, end = found[number - 1].end, found[number].end
    else:
        start, end = found[0].start, found[1].start if len(found) > 1 else found[0].end
    return without_member(text[:start] + text[end:], key)


def with_inner(text: str, key: str, inner_key: str, value: object) -> str:
    """*text* with *value* for *inner_key* in the object under *key*. ValueError if there is no such object."""
    outer = members(text)
    holder = next((pair for pair in reversed(outer) if pair.key == key and isinstance(pair.value, dict)), None)
    if holder is None:
        raise ValueError(f"has no object {key!r}")
    unit = _style(text, outer, "").unit
    inner = text[holder.value_start : holder.end]
    changed = with_member(inner, inner_key, value, unit=unit) if value is not None else without_member(inner, inner_key)
    return text[: holder.value_start] + changed + text[holder.end :]


def after_space(text: str, position: int) -> int:
    """The first place from *position* on that holds no white space."""
    found = SPACE.match(text, position)
    return found.end() if found else position


def _member(text: str, start: int) -> Member:
    key, end = DECODER.raw_decode(text, start)
    value_start = after_space(text, after_space(text, end) + 1)
    value, value_end = DECODER.raw_decode(text, value_start)
    return Member(key, value, start, value_start, value_end)


def _item(text: str, start: int) -> Member:
    value, end = DECODER.raw_decode(text, start)
    return Member("", value, start, start, end)


def _style(text: str, found: list[Member], unit: str) -> Style:
    is_ascii = text.isascii() and "\\u" in text
    if not found:
        return Style("", ": ", unit, is_ascii)
    first = found[0]
    if len(found) > 1:
        lead = text[text.index(",", first.end) + 1 : found[1].start]
    else:
        lead = text[text.index("{") + 1 : first.start]
    if len(found) == 1 and "\n" not in lead:
        lead = " " if text[first.value_start - 1] == " " else ""
    colon = text[after_space(text, _key_end(text, first)) : first.value_start]
    return Style(lead, colon, unit or lead.rpartition("\n")[2], is_ascii)


def _key_end(text: str, member: Member) -> int:
    return DECODER.raw_decode(text, member.start)[1]


def _spelled(value: object, style: Style, old: str) -> str:
    """*value* as JSON at its place: over several lines if the object is, unless an old list stood on one line."""
    is_short = old[:1] in ("[", "{") and "\n" not in old and len(old) > len("[]")
    if "\n" not in style.lead or is_short:
        return _escaped(json.dumps(value, ensure_ascii=style.is_ascii))
    lines = _escaped(json.dumps(value, ensure_ascii=style.is_ascii, indent=style.unit))
    return lines.replace("\n", style.lead.lstrip(" \t"))


def _escaped(text: str) -> str:
    return UNWRITABLE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
