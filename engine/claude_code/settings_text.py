"""Changing a settings.json of Claude Code in a few places: all other text stays as it was written.

A place is a path of keys and of numbers of items, such as ("hooks", "UserPromptSubmit", 0).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from engine.errors import SettingsFileError
from engine.stores.json_members import after_space, children

if TYPE_CHECKING:
    from engine.stores.json_members import Member

    Path = tuple[str | int, ...]

INDENTED = re.compile(r"\n([ \t]+)\S")
BOM = "\ufeff"
SPACE = f"{BOM} \t\r\n"
DEFAULT_UNIT = "  "


def parsed(text: str, name: str) -> dict[str, Any]:
    """The object that a settings.json holds; an empty file counts as an empty object.

    Raises SettingsFileError, with the line, for a text that Claude Code would not read. *name* is the file's name.
    """
    if not text.strip(SPACE):
        return {}
    try:
        content = json.loads(text.removeprefix(BOM), parse_constant=_refused, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise SettingsFileError(_problem(name, error)) from None
    except (ValueError, RecursionError) as error:
        raise SettingsFileError(f"{name} cannot be read ({error}). Mend it first: nothing was changed.") from None
    if not isinstance(content, dict):
        raise SettingsFileError(f"{name}, line 1: expected an object in braces. Mend it first: nothing was changed.")
    return content


def with_value(text: str, path: Path, value: object) -> str:
    """*text* with *value* at *path*. Objects that are missing on the way are made."""
    if not text.strip(SPACE):
        text += "{}\n"
    known = next(depth for depth in range(len(path) - 1, -1, -1) if _place(text, path[:depth]) is not None)
    for key in reversed(path[known + 1 :]):
        value = {key: value}
    return _with_member(text, _place(text, path[:known]) or 0, str(path[known]), value)


def with_item(text: str, path: Path, item: object) -> str:
    """*text* with *item* at the end of the list at *path*, which is made if it is missing."""
    place = _place(text, path)
    if place is None:
        return with_value(text, path, [item])
    return _appended(text, place, "", item)


def without(text: str, path: Path) -> str:
    """*text* without what stands at *path*, and without the containers that are empty after that."""
    while path:
        text, path = _cut(text, path), path[:-1]
        place = _place(text, path)
        if place is None or children(text, place):
            break
    return text


def line_of(text: str, path: Path) -> int:
    """The number of the line on which the value at *path* begins; there must be one."""
    place = _place(text, path[:-1])
    found = _child(children(text, place), path[-1]) if place is not None else None
    return text.count("\n", 0, found.value_start if found else 0) + 1


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _problem(name: str, error: json.JSONDecodeError) -> str:
    """A sentence for a text that is not JSON. Claude Code reads no setting of such a file."""
    rest = error.doc[error.pos :].lstrip()
    problem = "holds a comment, which is not JSON" if rest.startswith(("//", "/*")) else f"is not JSON ({error.msg})"
    return (
        f"{name}, line {error.lineno}: {problem}. Claude Code ignores the whole file until this is mended, and memsift "
        "does not change it."
    )


def _with_member(text: str, place: int, key: str, value: object) -> str:
    old = _child(children(text, place), key)
    if old is None:
        return _appended(text, place, key, value)
    indent = _line_indent(text, old.start)
    return text[: old.value_start] + _spelled(text, value, indent) + text[old.end :]


def _place(text: str, path: Path) -> int | None:
    """The position of the bracket that opens the container at *path*; None if there is no container."""
    position = after_space(text, 0)
    if position == len(text):
        return None
    for step in path:
        found = _child(children(text, position), step)
        if found is None or not isinstance(found.value, dict | list):
            return None
        position = found.value_start
    return position


def _child(found: list[Member], step: str | int) -> Member | None:
    """The child that *step* names. Of equal keys the last counts, as it does for the client."""
    if isinstance(step, int):
        return found[step] if step < len(found) else None
    return next((member for member in reversed(found) if member.key == step), None)


def _appended(text: str, place: int, key: str, value: object) -> str:
    """*text* with a new last child in the container at *place*, in the style of the other children."""
    found = children(text, place)
    name = f"{json.dumps(key, ensure_ascii=False)}{':' if _is_minified(text) else ': '}" if key else ""
    if found:
        lead = text[place + 1 : found[0].start]
        if "\n" not in lead:
            lead = "" if _is_minified(text) else " "
        child = name + _spelled(text, value, lead.rpartition("\n")[2] if "\n" in lead else None)
        return f"{text[: found[-1].end]},{lead}{child}{text[found[-1].end :]}"
    end = after_space(text, place + 1)
    if "\n" not in text.strip(SPACE) and place > after_space(text, 0):
        return text[: place + 1] + name + _spelled(text, value, None) + text[end:]
    indent = _line_indent(text, place)
    inner = indent + _unit(text)
    lines = f"{_newline(text)}{inner}{name}{_spelled(text, value, inner)}{_newline(text)}{indent}"
    return text[: place + 1] + lines + text[end:]


def _cut(text: str, path: Path) -> str:
    """*text* without the child at *path*, if there is one."""
    place = _place(text, path[:-1])
    found = children(text, place) if place is not None else []
    child = _child(found, path[-1])
    if place is None or child is None:
        return text
    number = found.index(child)
    if number > 0:
        start, end = found[number - 1].end, child.end
    elif len(found) > 1:
        start, end = child.start, found[1].start
    else:
        start, end = place + 1, after_space(text, child.end)
    return text[:start] + text[end:]


def _spelled(text: str, value: object, indent: str | None) -> str:
    """*value* as JSON: over several lines that begin with *indent*, or on one line where it is None."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":") if _is_minified(text) else (", ", ": "))
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return lines.replace("\n", f"{_newline(text)}{indent}")


def _line_indent(text: str, position: int) -> str:
    """The white space at the beginning of the line that holds *position*."""
    line = text[text.rfind("\n", 0, position) + 1 :].lstrip(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """The indentation of one level."""
    found = INDENTED.search(text)
    return found[1] if found else DEFAULT_UNIT


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _is_minified(text: str) -> bool:
    """Whether the text has no space after its colons."""
    return '":' in text and '": ' not in text
