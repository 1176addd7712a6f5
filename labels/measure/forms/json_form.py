"""A report as JSON."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from labels.measure.metrics import Ratio
from labels.measure.names import Names

if TYPE_CHECKING:
    from labels.measure.report import Report


def format_json(report: Report) -> str:
    """Every field of the report; a ratio is {"value", "part", "whole"}, its value null where it is unknown.

    Where some prompts or memories stand for more than one, the value is the estimate, and not part / whole.
    """
    return json.dumps(plain(report), indent=2) + "\n"


def plain(value: Any) -> Any:
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
