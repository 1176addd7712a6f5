"""Changing single settings in a root's memory-config.json and in the user's config.toml. All other text stays."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from engine.config import CONFIG_FILE
from engine.curation.files import FileChange, text_at, write
from engine.errors import ConfigError
from engine.paths import config_file
from engine.settings.keys import SECTION
from engine.stores.json_members import with_value, without_value

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    text = before if before and before.strip(f"{BOM} \t\r\n") else "{}\n"
    for keys, value in changes.items():
        place = (SECTION, *keys)
        _require_objects(text, place[:-1], path)
        text = without_value(text, place) if value is None else with_value(text, place, value)
    write(FileChange(root, CONFIG_FILE, before, text))
    return path


def _require_objects(text: str, keys: Key, path: str) -> None:
    """Raises ConfigError unless *text* is a JSON object, and holds objects or nothing at *keys*."""
    try:
        holder = json.loads(text.removeprefix(BOM))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid JSON ({error}). Mend it first: nothing was changed.") from None
    if not isinstance(holder, dict):
        raise ConfigError(f"{path} is not a JSON object. Mend it first: nothing was changed.")
    for key in keys:
        holder = holder.get(key, {})
        if not isinstance(holder, dict):
            raise ConfigError(f"{path}: {key!r} is not an object with keys. Mend it first: nothing was changed.")


def write_user_settings(changes: Mapping[tuple[str, ...], object], environ: Mapping[str, str]) -> str:
    """Set keys, and give the path of the file. None removes a key.

    Keys are paths from the outermost table inwards, such as ("retrieval", "judge", "enabled"). A missing file is made.
    Raises ConfigError for a file that is not TOML, with the line, and CurationError if it cannot be read or written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = config_file(environ)
    try:
        before = text_at(path)
        document: Any = tomlkit.parse(before or "")
        for keys, value in changes.items():
            if value is None:
                _remove(document, keys)
            else:
                _set(document, keys, value)
    except (TOMLKitError, TypeError) as error:
        raise ConfigError(f"{path} cannot be changed: {error}. Mend it first: nothing was changed.") from None
    folder, name = os.path.split(os.path.realpath(path))
    write(FileChange(folder, name, before, document.as_string()), is_private=True)
    return path


def _set(document: Any, keys: tuple[str, ...], value: object) -> None:
    import tomlkit

    for key in keys[:-1]:
        if key not in document:
            document[key] = tomlkit.table()
        document = document[key]
    document[keys[-1]] = value


def _remove(document: Any, keys: tuple[str, ...]) -> None:
    for key in keys[:-1]:
        document = document.get(key, {})
    document.pop(keys[-1], None)
