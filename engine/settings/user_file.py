"""Changing single settings in the user's config.toml. Comments, order and spelling of everything else stay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from engine.curation.files import FileChange, text_at, write
from engine.errors import ConfigError
from engine.paths import config_file

if TYPE_CHECKING:
    from collections.abc import Mapping


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
