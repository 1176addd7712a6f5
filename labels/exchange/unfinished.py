"""A run file that was not written to its end: what it holds already, so that the rest can be added to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import ExchangeError
from engine.judge.verdict import STATUSES
from labels.exchange import runs
from labels.exchange.lines import Line

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


BEGINNING = b'{"prompt_id":'
"""How every row begins: what stands at the end of a file and does not was not cut off there by us."""


@dataclass(frozen=True)
class UnfinishedRun:
    """`pairs` are (prompt id, system) of its rows, `judges` (provider, model, template hash) of those that were judged.

    `content` are those rows as they stand. What was cut off while it was written is not among them, nor are the rows
    whose judge `failed`: they are to be asked about again.
    """

    pairs: frozenset[tuple[str, str]] = frozenset()
    judges: frozenset[tuple[str, str, str]] = frozenset()
    content: bytes = b""
    failed: int = 0


def read_unfinished(path: Path, systems: Collection[str]) -> UnfinishedRun:
    """What the run file at *path* holds; nothing, if there is none. *systems* are those that are to go on.

    Raises ExchangeError for a line that is no row, or cannot be the beginning of one.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return UnfinishedRun()
    except OSError as error:
        raise ExchangeError(f"{path}: {error.strerror or error}. Check the path.") from error
    size = content.rfind(b"\n") + 1
    if not BEGINNING.startswith(content[size:][: len(BEGINNING)]):
        raise Line(path, content.count(b"\n") + 1, "").wrong("row", "a row of a run, or the beginning of one")
    lines = [line + b"\n" for line in content[:size].split(b"\n")[:-1]]
    read = [(line, row_of(path, number, line)) for number, line in enumerate(lines, start=1) if line.strip()]
    answered = [(line, row) for line, row in read if not (has_failed(row) and row["system"] in systems)]
    return UnfinishedRun(
        frozenset((row["prompt_id"], row["system"]) for _, row in answered),
        frozenset(each for each in (judge(row) for _, row in answered) if each),
        b"".join(line for line, _ in answered),
        len(read) - len(answered),
    )


def row_of(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """The row in a line; ExchangeError if it is none."""
    read = Line(path, number, line.decode("utf-8", "replace"))
    row = runs.row_of(read)
    runs.outcome_of(read, row)
    if "root" in row:
        raise read.wrong("root", "none: a replay over several roots cannot be gone on with")
    return row


def has_failed(row: dict[str, Any]) -> bool:
    """Whether a judge was asked and did not answer."""
    return row.get("fallback") in STATUSES


def judge(row: dict[str, Any]) -> tuple[str, str, str] | None:
    """Who judged a row; None where nobody did."""
    asked = row.get("judgement")
    if not isinstance(asked, dict):
        return None
    return str(asked.get("provider")), str(asked.get("model")), str(asked.get("template_hash"))
