"""Changing single settings in a root's memory-config.json. All other text of the file stays as it was written."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from engine.config import CONFIG_FILE
from engine.curation.files import FileChange, text_at, write
from engine.errors import ConfigError
from engine.settings.keys import SECTION
from engine.stores.json_members import members, with_member, without_member

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EMPTY = f'{{\n  "{SECTION}": {{}}\n}}\n'
BOM = "\ufeff"

Key = tuple[str, ...]
"""A setting by its keys from the outermost section inwards, such as ("judge", "enabled")."""


def write_settings(root: str, changes: Mapping[Key, object]) -> str:
    """Set keys of the object `retrieval`, and give the path of the file. None removes a key.

    A missing file is made. A reader sees the old file or the new one, never a part. Raises ConfigError for a file that
    is no JSON object, and CurationError if it cannot be read or written; the file is as before then.
    """
    path = os.path.join(root, CONFIG_FILE)
    before = text_at(path)
    text = EMPTY if before is None or not before.strip(f"{BOM} \t\r\n") else before
    _require_object(text, path)
    for keys, value in changes.items():
        text = _with_value(text, (SECTION, *keys), value, path)
    write(FileChange(root, CONFIG_FILE, before, text))
    return path


def _require_object(text: str, path: str) -> None:
    try:
        content = json.loads(text.removeprefix(BOM))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid JSON ({error}). Mend it first: nothing was changed.") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is not a JSON object. Mend it first: nothing was changed.")


def _with_value(text: str, keys: Sequence[str], value: object, path: str) -> str:
    head, *rest = keys
    if not rest:
        return without_member(text, head) if value is None else with_member(text, head, value)
    holder = next((member for member in reversed(members(text)) if member.key == head), None)
    if holder is None:
        return text if value is None else with_member(text, head, _nested(rest, value))
    if not isinstance(holder.value, dict):
        raise ConfigError(f"{path}: {head!r} is not an object with keys. Mend it first: nothing was changed.")
    inner = _with_value(text[holder.value_start : holder.end], rest, value, path)
    return text[: holder.value_start] + inner + text[holder.end :]


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value
