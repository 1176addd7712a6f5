"""A file that is to be read: its text, and how to point at what is wrong in it."""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import ExchangeError
from labels.exchange.lines import Line, lines_of, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

R = TypeVar("R")


@dataclass(frozen=True)
class Source:
    """A file's name and text."""

    path: Path
    text: str

    @cached_property
    def document(self) -> Any:
        """The value that the whole text spells as JSON, None if it is not one JSON document."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    def lines(self) -> Iterator[Line]:
        return lines_of(self.path, self.text)

    def rows(self) -> Iterator[Node]:
        """The JSON objects of a JSON lines file."""
        for line in self.lines():
            yield Node(self.path, f"line {line.number}", row_of(line))

    def root(self) -> Node:
        """The JSON object that the whole file is."""
        return Node(self.path, "$", checked(self.path, "$", self.parsed()))

    def items(self) -> list[Node]:
        """The objects of the JSON array that the whole file is."""
        values = self.parsed()
        if not isinstance(values, list):
            raise ExchangeError(f"{self.path}, $: expected a JSON array.")
        places = [f"$[{number}]" for number in range(len(values))]
        return [Node(self.path, at, checked(self.path, at, value)) for at, value in zip(places, values, strict=True)]

    def parsed(self) -> Any:
        try:
            return json.loads(self.text)
        except json.JSONDecodeError as error:
            raise ExchangeError(f"{self.path}, line {error.lineno}: expected JSON ({error.msg}).") from None
        except (ValueError, RecursionError) as error:
            raise ExchangeError(f"{self.path}: expected JSON ({error}).") from None


def read_source(path: Path) -> Source:
    """The file at *path*; ExchangeError if it cannot be read, is empty or is no UTF-8."""
    return Source(path, read_text(path))


def row_of(line: Line) -> dict[str, Any]:
    try:
        row = json.loads(line.text)
    except (ValueError, RecursionError) as error:
        raise line.wrong("row", f"a JSON object ({error})") from None
    if not isinstance(row, dict):
        raise line.wrong("row", "a JSON object")
    return row


def checked(path: Path, place: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ExchangeError(f"{path}, {place}: expected a JSON object.")
    return value


@dataclass(frozen=True)
class Node:
    """A JSON object in a file. `place` is its line, or its path from the document's root `$`.

    What reads a field raises ExchangeError with file, place and field if it is not what it should be. A field that is
    missing or null is its default; without a default it is an error.
    """

    path: Path
    place: str
    value: dict[str, Any]

    def wrong(self, field: str, expected: str) -> ExchangeError:
        return ExchangeError(f"{self.path}, {self.place}, {field}: expected {expected}.")

    def text(self, field: str, default: str | None = None) -> str:
        return self._field(field, default, lambda value: isinstance(value, str), "a text")

    def name(self, field: str, default: str | None = None) -> str:
        """A text that is not empty."""
        return self._field(field, default, lambda value: isinstance(value, str) and value != "", "a text, not empty")

    def whole(self, field: str, default: int | None = None) -> int:
        return self._field(field, default, is_whole, "a whole number")

    def number(self, field: str, default: float | None = None) -> float:
        return float(self._field(field, default, is_number, "a number"))

    def flag(self, field: str, default: bool | None = None) -> bool:
        return self._field(field, default, lambda value: isinstance(value, bool), "true or false")

    def one_of(self, field: str, words: tuple[str, ...], default: str | None = None) -> str:
        return self._field(field, default, lambda value: value in words, f"one of {', '.join(words)}")

    def time(self, field: str, default: str | None = None) -> str:
        """A time of ISO 8601 as the store spells it: in UTC (where the text names no zone, too), to the millisecond."""
        text = self.text(field, default)
        try:
            moment = datetime.fromisoformat(text) if text else None
        except ValueError:
            raise self.wrong(field, "a time such as 2026-01-31T12:00:00.000+00:00") from None
        if moment is None:
            return ""
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")

    def texts(self, field: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        return tuple(self._field(field, default, is_texts, "a list of texts"))

    def child(self, field: str) -> Node | None:
        """The object in a field, None where it is missing or null."""
        value = self.value.get(field)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(field, "an object")
        return Node(self.path, f"{self.place}.{field}", value)

    def children(self, field: str, *, needed: bool = False) -> list[Node]:
        """The objects in a field; none where it is missing or null, unless it is *needed*."""
        values = self.value.get(field)
        if values is None and not needed:
            return []
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise self.wrong(field, "a list of objects")
        return [Node(self.path, f"{self.place}.{field}[{number}]", value) for number, value in enumerate(values)]

    def record(self, kind: type[R], **given: Any) -> R:
        """The dataclass *kind* from the fields of the same names; *given* ones are not read."""
        values = {
            field.name: READERS[str(field.type)](self, field.name, field.default)
            for field in fields(kind)  # type: ignore[arg-type]
            if field.name not in given
        }
        return kind(**values, **given)

    def _field(self, field: str, default: R | None, fits: Callable[[Any], bool], expected: str) -> R:
        value: R | None = self.value.get(field)
        if value is None and default is not None:
            return default
        if value is None or not fits(value):
            raise self.wrong(field, expected)
        return value


def is_whole(value: object) -> bool:
    """Whole, and small enough for SQLite."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def needed(default: object) -> Any:
    return None if default is MISSING else default


def unless_null(read: Callable[[Node, str], object]) -> Callable[[Node, str, object], object]:
    return lambda node, field, _: None if node.value.get(field) is None else read(node, field)


READERS: dict[str, Callable[[Node, str, object], object]] = {
    "str": lambda node, field, default: node.text(field, needed(default)),
    "int": lambda node, field, default: node.whole(field, needed(default)),
    "float": lambda node, field, default: node.number(field, needed(default)),
    "bool": lambda node, field, default: node.flag(field, needed(default)),
    "tuple[str, ...]": lambda node, field, default: node.texts(field, needed(default)),
    "str | None": unless_null(Node.text),
    "int | None": unless_null(Node.whole),
    "float | None": unless_null(Node.number),
}
"""How a field of a record is read, by its annotation."""
