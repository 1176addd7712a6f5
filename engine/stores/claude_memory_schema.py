"""The schema of claude-memory: the fields of each category, their kinds and lengths."""

from __future__ import annotations

import json
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

from engine.lean.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MOST_TITLE, MOST_TAGS, MOST_CHANGES, MOST_SUMMARY = 120, 12, 50, 300
ID = re.compile(r"[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?")
TEXT, LIST, FLAG, NUMBER = "a text", "a list of texts", "true or false", "a number"
OPTIONAL = "optional: "


class Field(Record):
    """A field of a category: its kind, whether it must be there, and the values that are allowed, if not any."""

    kind: str
    is_required: bool = False
    choices: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        return f"one of {', '.join(self.choices)}" if self.choices else self.kind


def _field(value: str | list[str]) -> Field:
    """A field as claude_memory_schema.toml writes it."""
    if isinstance(value, list):
        return Field(TEXT, True, tuple(value))
    return Field(value.removeprefix(OPTIONAL), not value.startswith(OPTIONAL))


with open(os.path.join(os.path.dirname(__file__), "claude_memory_schema.toml"), "rb") as file:
    _TABLES = tomllib.load(file)

MAIN_FIELD: dict[str, str] = _TABLES.pop("body")
"""The field of each category that a body is written to."""

CONTENT = {category: {name: _field(value) for name, value in named.items()} for category, named in _TABLES.items()}
NOT_EMPTY = ("rationale", "steps", "impact")
"""Required lists that must have an item."""

TOP = {"tags": Field(LIST, True), "related_files": Field(LIST), "confidence": Field(NUMBER)}
"""Fields beside the title that an edit may change."""

KINDS: dict[str, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    LIST: lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    FLAG: lambda value: isinstance(value, bool),
    NUMBER: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "a list": lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    "an object": lambda value: isinstance(value, dict),
}


def problems(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The field ("title", "content.rule") and a sentence for each rule that *document* breaks."""
    category = document.get("category")
    if category not in CONTENT:
        yield "category", f"category must be one of {', '.join(CONTENT)}"
        return
    yield from _top_problems(document)
    content = document.get("content")
    if not isinstance(content, dict):
        yield "content", "content must be an object"
        return
    fields = CONTENT[category]
    for name in [name for name in content if name not in fields]:
        yield f"content.{name}", f"a {category} has no field {name}; it has {', '.join(fields)}"
    for name, field in fields.items():
        if text := _problem(name, field, content.get(name)):
            yield f"content.{name}", text


def value_of(field: Field, given: tuple[str, ...]) -> Any:
    """The value of a field as a person typed it; of a list, each text is an item, or a single text is a JSON list.

    ValueError with the reason, in words that follow the field's name.
    """
    text = given[-1] if given else ""
    if field.kind == LIST and not text.startswith("["):
        return [item for item in given if item]
    if field.kind == TEXT:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"must be {field.description}, written as JSON") from None


def _top_problems(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    title, identity, tags = document.get("title"), document.get("id"), document.get("tags")
    if not isinstance(title, str) or not title.strip():
        yield "title", "title must be a text"
    elif len(title) > MOST_TITLE:
        yield "title", f"title has {len(title)} characters, {MOST_TITLE} are allowed"
    if not isinstance(identity, str) or not ID.fullmatch(identity):
        yield "id", "id must be 1 to 80 lower-case letters, digits and minus signs"
    if not KINDS[LIST](tags) or not tags:
        yield "tags", "tags must be a list with at least one text"
    elif len(tags) > MOST_TAGS:
        yield "tags", f"there are {len(tags)} tags, {MOST_TAGS} are allowed"
    files, confidence = document.get("related_files"), document.get("confidence")
    if files is not None and not KINDS[LIST](files):
        yield "related_files", "related_files must be a list of texts"
    if confidence is not None and not (KINDS[NUMBER](confidence) and 0 <= confidence <= 1):
        yield "confidence", "confidence must be a number from 0 to 1"


def _problem(name: str, field: Field, value: Any) -> str:
    if value is None:
        return f"{name} is missing; it must be {field.description}" if field.is_required else ""
    if not KINDS[field.kind](value) or (field.choices and value not in field.choices):
        return f"{name} must be {field.description}"
    is_empty = field.is_required and ((value == [] and name in NOT_EMPTY) or value == "")
    return f"{name} must not be empty" if is_empty else ""
