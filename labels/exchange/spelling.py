"""How values are written: JSON that any program reads back to the same text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def json_text(value: Any, indent: int | None = None) -> str:
    """*value* as JSON, letters as themselves; a lone surrogate, which no UTF-8 file can hold, makes it all escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def json_lines(rows: Iterable[Any]) -> str:
    return "".join(f"{json_text(row)}\n" for row in rows)


def json_document(value: Any) -> str:
    return f"{json_text(value, indent=2)}\n"
