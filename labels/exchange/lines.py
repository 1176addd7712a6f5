"""The lines of a file, and how to point at one that is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import ExchangeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Line:
    """A line that is not blank. `number` is 1-based."""

    path: Path
    number: int
    text: str

    def wrong(self, field: str, expected: str) -> ExchangeError:
        return ExchangeError(f"{self.path}, line {self.number}, {field}: expected {expected}.")


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a UTF-8 file that are not blank; ExchangeError if it cannot be read or has none."""
    yield from lines_of(path, read_text(path))


def read_text(path: Path) -> str:
    """The text of a UTF-8 file; ExchangeError if it cannot be read or is blank."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ExchangeError(f"{path}: {error.strerror or error}. Check the path.") from error
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + 1
        raise ExchangeError(f"{path}, line {number}: expected UTF-8 text.") from error
    if not text.strip():
        raise ExchangeError(f"{path}: the file is empty; expected at least one row.")
    return text


def lines_of(path: Path, text: str) -> Iterator[Line]:
    """The lines of *text* that are not blank.

    Only a newline ends a line: JSON strings may hold the other characters that Unicode counts as line ends.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Line(path, number, line)
