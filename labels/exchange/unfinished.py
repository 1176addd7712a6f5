"""A run file that was not written to its end: what it holds already, so that the rest can be added to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import ExchangeError
from labels.exchange.lines import Line
from labels.exchange.runs import parse

if TYPE_CHECKING:
    from pathlib import Path


BEGINNING = b'{"prompt_id":'
"""How every row begins: what stands at the end of a file and does not was not cut off there by us."""


@dataclass(frozen=True)
class UnfinishedRun:
    """`pairs` are (prompt id, system) of its rows, `judges` (provider, model, template hash) of those that were judged.

    `size` is in bytes, up to the end of the last whole row: what stands behind it was cut off while it was written.
    """

    pairs: frozenset[tuple[str, str]] = frozenset()
    judges: frozenset[tuple[str, str, str]] = frozenset()
    size: int = 0


def read_unfinished(path: Path) -> UnfinishedRun:
    """What the run file at *path* holds; nothing, if there is none. ExchangeError for a line that is no row, or
    cannot be the beginning of one."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return UnfinishedRun()
    except OSError as error:
        raise ExchangeError(f"{path}: {error.strerror or error}. Check the path.") from error
    size = content.rfind(b"\n") + 1
    if not BEGINNING.startswith(content[size:][: len(BEGINNING)]):
        raise Line(path, content.count(b"\n") + 1, "").wrong("row", "a row of a run, or the beginning of one")
    lines = enumerate(content[:size].decode("utf-8", "replace").split("\n"), start=1)
    rows = [Line(path, number, text) for number, text in lines if text.strip()]
    outcomes = [parse(row) for row in rows]
    judges = (judge(json.loads(row.text)) for row in rows)
    return UnfinishedRun(
        frozenset((outcome.prompt_id, outcome.system) for outcome in outcomes),
        frozenset(each for each in judges if each),
        size,
    )


def judge(row: dict[str, Any]) -> tuple[str, str, str] | None:
    """Who judged a row; None where nobody did."""
    asked = row.get("judgement")
    if not isinstance(asked, dict):
        return None
    return str(asked.get("provider")), str(asked.get("model")), str(asked.get("template_hash"))
