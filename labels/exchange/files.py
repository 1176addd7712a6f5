"""Files to import, read as text, lines or JSON objects; the rows that are exchanged; JSON lines to export.

Each error names the file, the line or JSON path, the field, and the value that was expected.

The rows are those of the label store, in the form of memsift's own JSON lines, whatever the format of the file. Events
are the store's own records. The other rows are dicts with the columns below: column -> its default, or its type if a
file must give it. The type `str | None` stands for a column that may be missing.
"""

from __future__ import annotations

import codecs
import json
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from sys import float_info
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from engine.errors import ExchangeError
from engine.judge.verdict import LIVE
from engine.lean.json_text import printed_json
from engine.stores.files import open_source
from labels.records import Event, MemoryText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from engine.prompt import Prompt

Row = dict[str, Any]
R = TypeVar("R")

WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""The first bytes of text in UTF-16, which spreadsheets write as "Unicode text"."""

BOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of .xlsx and .ods, and of .xls."""

AS_CSV = "Save the sheet as CSV UTF-8 in the spreadsheet, and name that file."


@dataclass(frozen=True)
class FileText:
    """The name and the text of a file."""

    path: Path
    text: str

    @cached_property
    def document(self) -> Any:
        """The JSON value of the whole text; None if the text is not one JSON document."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    @property
    def first_line(self) -> str:
        return next(self.lines()).text

    @property
    def first_row(self) -> dict[str, Any]:
        """The JSON object on the first line; empty if there is none."""
        try:
            row = json.loads(self.first_line)
        except (ValueError, RecursionError):
            return {}
        return row if isinstance(row, dict) else {}

    def lines(self) -> Iterator[FileLine]:
        """The lines that are not blank.

        Only a newline ends a line: JSON strings may hold the other characters that Unicode counts as line ends.
        """
        for number, text in enumerate(self.text.split("\n"), start=1):
            if text.strip():
                yield FileLine(self.path, number, text)

    def rows(self) -> Iterator[Node]:
        """The objects of a JSON lines file."""
        return (line.row() for line in self.lines())

    def items(self) -> list[Node]:
        """The objects of a file that is one JSON array."""
        try:
            values = json_value(self.text)
        except json.JSONDecodeError as error:
            raise ExchangeError(f"{self.path}, line {error.lineno}: expected JSON ({error.msg}).") from None
        except (ValueError, RecursionError) as error:
            raise ExchangeError(f"{self.path}: expected JSON ({error}).") from None
        if not isinstance(values, list):
            raise ExchangeError(f"{self.path}, $: expected a JSON array.")
        for number, value in enumerate(values):
            if not isinstance(value, dict):
                raise ExchangeError(f"{self.path}, $[{number}]: expected a JSON object.")
        return [Node(self.path, f"$[{number}]", value) for number, value in enumerate(values)]


def read_source(path: Path) -> FileText:
    """The file at *path*, in UTF-8 or marked as UTF-16; ExchangeError if it cannot be read or is blank."""
    try:
        with open_source(str(path)) as file:
            text = decoded(path, file.read())
    except OSError as error:
        raise unreadable(path, error) from error
    if not text.strip():
        raise ExchangeError(f"{path}: the file is empty; expected at least one row.")
    return FileText(path, text)


def decoded(path: Path, content: bytes) -> str:
    if content.startswith(BOOKS):
        raise ExchangeError(f"{path}: this is a spreadsheet's own format, not text. {AS_CSV}")
    try:
        text = content.decode("utf-16" if content.startswith(WIDE) else "utf-8-sig")
        if "\0" not in text:
            return text
        number = text.count("\n", 0, text.find("\0")) + 1
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
    raise ExchangeError(f"{path}, line {number}: expected UTF-8 text. Is it a table? {AS_CSV}")


def nfc(name: str) -> str:
    """A name in the form in which names are compared: systems differ in how they write an accent."""
    return unicodedata.normalize("NFC", name)


def unreadable(path: Path, error: OSError) -> ExchangeError:
    return ExchangeError(f"{path}: {error.strerror or error}. Check the path.")


@dataclass(frozen=True)
class FileLine:
    """A line of a file. `number` is 1-based."""

    path: Path
    number: int
    text: str

    def wrong(self, field: str, expected: str) -> ExchangeError:
        return ExchangeError(f"{self.path}, line {self.number}, {field}: expected {expected}.")

    def row(self) -> Node:
        """The JSON object in this line; ExchangeError if there is none."""
        try:
            value = json_value(self.text)
        except (ValueError, RecursionError) as error:
            raise self.wrong("row", f"a JSON object ({error})") from None
        if not isinstance(value, dict):
            raise self.wrong("row", "a JSON object")
        return Node(self.path, f"line {self.number}", value)


@dataclass(frozen=True)
class Node:
    """A JSON object in a file. `place` is its line, or its path from the root `$` of the document.

    The methods read a field; ExchangeError names file, place and field if the value does not fit. A field that is
    missing or null has its default value; without a default it is an error.
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

    def known_flag(self, field: str) -> bool | None:
        """True or false; None where it is missing or null."""
        return None if self.value.get(field) is None else self.flag(field)

    def one_of(self, field: str, words: tuple[str, ...], default: str | None = None) -> str:
        return self._field(field, default, lambda value: value in words, f"one of {', '.join(words)}")

    def grade(self, field: str, highest: int) -> int | None:
        """A whole number from 0 to *highest*; None where it is missing or null."""
        grade = None if self.value.get(field) is None else self.whole(field)
        if grade is not None and not 0 <= grade <= highest:
            raise self.wrong(field, f"null or 0 to {highest}")
        return grade

    def time(self, field: str, default: str | None = None) -> str:
        """A time in ISO 8601, converted to UTC and milliseconds. A time without a zone is UTC."""
        text = self.text(field, default)
        if not text:
            return ""
        try:
            moment = datetime.fromisoformat(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return moment.astimezone(UTC).isoformat(timespec="milliseconds")
        except (ValueError, OverflowError):
            raise self.wrong(field, "a time such as 2026-01-31T12:00:00.000+00:00") from None

    def texts(self, field: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        def fits(value: object) -> bool:
            return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)

        return tuple(self._field(field, default, fits, "a list of texts"))

    def child(self, field: str) -> Node | None:
        """The object in a field; None where it is missing or null."""
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

    def record(self, columns: Row, **given: Any) -> Row:
        """The row with *columns* from the fields of the same names, but for *given*."""
        return {name: given[name] if name in given else self._column(name, kind) for name, kind in columns.items()}

    def _column(self, name: str, kind: Any) -> object:
        """The value of a column: *kind* is its default, or its type."""
        if isinstance(kind, UnionType):
            return None if self.value.get(name) is None else self._column(name, get_args(kind)[0])
        is_type = isinstance(kind, type)
        return COLUMN_READERS[kind if is_type else type(kind)](self, name, None if is_type else kind)

    def _field(self, field: str, default: R | None, fits: Callable[[Any], bool], expected: str) -> R:
        value: R | None = self.value.get(field)
        if value is None and default is not None:
            return default
        if value is None or not fits(value):
            raise self.wrong(field, expected)
        return value


def is_whole(value: object) -> bool:
    """Whether *value* is a whole number that SQLite can store."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= float_info.max


COLUMN_READERS: dict[type, Callable[[Node, str, Any], object]] = {
    str: Node.text,
    int: Node.whole,
    float: Node.number,
    bool: Node.flag,
    tuple: Node.texts,
}
"""How a column is read, by its type."""


def json_value(text: str) -> Any:
    """The JSON value of *text*. Raises ValueError if there is none, or if an object has one key twice."""
    return json.loads(text, object_pairs_hook=object_of)


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} comes twice")
    return value


def json_lines(rows: Iterable[Any]) -> str:
    return "".join(f"{printed_json(row)}\n" for row in rows)


# Rows


def columns_of(record: type[MemoryText | Event]) -> Row:
    defaults: Row = record._field_defaults
    hints = get_type_hints(record).items()
    return {name: hint if defaults.get(name) is None else defaults[name] for name, hint in hints}


def needed(names: str) -> Row:
    return dict.fromkeys(names.split(), str)


def texts(names: str) -> Row:
    return dict.fromkeys(names.split(), "")


EVENT = {name: column for name, column in columns_of(Event).items() if name != "event_id"}
MEMORY = columns_of(MemoryText)
RUN = needed("run_id system") | texts("root config_json config_hash corpus_hash engine_version sqlite_version ts")
RETRIEVAL = needed("run_id prompt_id") | texts("ts fallback") | {"elapsed_ms": 0.0}
RESULT = (
    needed("memory_id digest")
    | {"rank": int, "score": float, "bm25": 0.0, "body_bonus": 0, "confidence": "", "injected": False}
    | {"dropped_by": str | None, "probability": float | None, "matched": ()}
)
"""A candidate of a retrieval. `score` and `bm25` are SQLite's: negative, lower is better."""

CALL = (
    needed("ts provider model template_hash status")
    | {"elapsed_ms": float, "input_tokens": 0, "output_tokens": 0}
    | {"detail": "", "depth": "keep", "cost_usd": float | None}
)
"""The call of a judge; see `engine.judge.verdict.Judgement`."""

VERDICT = needed("decision status") | texts("reasoning")
VERDICT |= {"confidence": float | None, "samples": 1, "agreement": 1.0, "source": LIVE}
POOLED = needed("prompt_id memory_id digest") | {"seed": int, "stratum": str, "inclusion_probability": float, "ts": ""}
PLAN = needed("root prompt_id annotator order_name") | {"seed": int, "stratum": str, "ts": ""}
SIGHTING = needed("annotator prompt_id") | {"ts": ""}


def row_of(columns: Row, **given: Any) -> Row:
    """A row with the *given* values, and the defaults of the other columns."""
    return {
        name: given[name] if name in given else None if isinstance(default, UnionType) else default
        for name, default in columns.items()
    }


@dataclass(frozen=True)
class Dataset:
    """Everything that is exchanged; events are in the order in which they were written.

    A row of `retrievals` has RETRIEVAL's columns, `results` in rank order, each with its `verdict` or None, and the
    `call` of the judge or None. `places`: where the file first names a memory id and digest. `redacted`: hashes stand
    in place of texts and ids. `by_text`: the format has no prompt ids of its own, so the text of a prompt is enough to
    recognise it. `unanswered`: where the file has an answer that says nothing, which is left out.
    """

    prompts: tuple[Prompt, ...] = ()
    memories: tuple[MemoryText, ...] = ()
    events: tuple[Event, ...] = ()
    runs: tuple[Row, ...] = ()
    retrievals: tuple[Row, ...] = ()
    pool: tuple[Row, ...] = ()
    plan: tuple[Row, ...] = ()
    sightings: tuple[Row, ...] = ()
    places: Mapping[tuple[str, str], str] = field(default_factory=dict)
    redacted: bool = False
    by_text: bool = False
    unanswered: tuple[str, ...] = ()
