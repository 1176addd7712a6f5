"""What a format is: how it is written, read and recognised, and what it has a place for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from labels.exchange.records import Dataset
    from labels.exchange.source import Source


@dataclass(frozen=True)
class Format:
    """`write` gives the file's text, `read` the dataset (None: it is written only); both are pure.

    `read` raises ExchangeError with file, line or JSON path, field and what was expected. `recognises` looks at the
    beginning of a file. `keeps` are the kinds of `labels.exchange.losses` that it has a place for. `interface` is the
    labelling interface that the other program must be given for what is written; empty where it needs none.
    """

    name: str
    about: str
    write: Callable[[Dataset], str]
    read: Callable[[Source], Dataset] | None
    recognises: Callable[[Opening], bool]
    keeps: frozenset[str]
    interface: str = ""


@dataclass(frozen=True)
class Opening:
    """The beginning of a file. `document` is the whole file's JSON, `row` the first line's, `words` its words; each is
    None or empty where there is no such thing."""

    document: Any
    row: dict[str, Any]
    line: str

    @property
    def words(self) -> list[str]:
        return self.line.split()

    @property
    def first(self) -> dict[str, Any]:
        """The first item of a JSON array, or the document itself; else the first row."""
        value = self.document[0] if isinstance(self.document, list) and self.document else self.document
        return value if isinstance(value, dict) else self.row

    def is_array_of(self, *names: str) -> bool:
        """Whether the file is a JSON array whose first object has these fields."""
        return isinstance(self.document, list) and all(name in self.first for name in names)

    def is_object_with(self, *names: str) -> bool:
        """Whether the file is one JSON object with these fields."""
        return isinstance(self.document, dict) and all(name in self.document for name in names)

    def has_rows_with(self, *names: str) -> bool:
        """Whether the file's lines are JSON objects, the first of which has these fields."""
        return all(name in self.row for name in names)
