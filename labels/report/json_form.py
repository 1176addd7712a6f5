"""A report as JSON."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from labels.measure.metrics import Ratio
from labels.measure.names import Names

if TYPE_CHECKING:
    from collections.abc import Callable

    from labels.measure.report import Report


def format_json(report: Report) -> str:
    """Every field of the report; a ratio is {"value", "part", "whole"}, its value null where it is unknown.

    Where some prompts or memories stand for more than one, the value is the estimate, and not part / whole.
    """
    return indented(plain(report)) + "\n"


def indented(value: Any, line: str = "\n") -> str:
    """*value*, in which fields have names, as `json.dumps` writes it with an indent of 2.

    That has no C code for an indent: where records are many, this takes a quarter of its time. *line* begins a line
    around the value.
    """
    inner = f"{line}  "
    if isinstance(value, dict) and value and not any(isinstance(each, dict | list) for each in value.values()):
        return f"{{{inner}{flat(inner)(value)[1:-1]}{line}}}"
    if isinstance(value, dict) and value:
        parts = [f"{json.dumps(name)}: {indented(each, inner)}" for name, each in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    if isinstance(value, list) and value:
        return f"[{inner}{f',{inner}'.join([indented(each, inner) for each in value])}{line}]"
    return json.dumps(value)


@cache
def flat(line: str) -> Callable[[object], str]:
    """What writes a record without records in it, each of its fields after *line*."""
    return json.JSONEncoder(separators=(f",{line}", ": ")).encode


SCALARS = (str, int, float)


def plain(value: Any) -> Any:
    if value is None or isinstance(value, SCALARS):
        return value
    if isinstance(value, Ratio):
        return {"value": value.value, "part": value.part, "whole": value.whole}
    if is_dataclass(value):
        found = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: plain(each) for name, each in found.items() if not isinstance(each, Names)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return {name: plain(each) for name, each in value.items()} if hasattr(value, "items") else value
