"""The tables of config.toml that are about the app alone: `[keys]` and `[label]`."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.paths import config_file
from engine.stores.files import UnreadableFileError, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS, LABEL, GRADES = "keys", "label", "grades"


@dataclass(frozen=True)
class AppSettings:
    """*keys*: id of a key -> its keys, separated by commas, as they are written. `lines`: id -> its line in the file.

    `has_grades`: whether digits give grades in Label. `mistakes`: a sentence for each value that is not used.
    """

    path: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    has_grades: bool = False
    mistakes: tuple[str, ...] = ()


def read_app_settings(environ: Mapping[str, str]) -> AppSettings:
    """The settings of the app. Never raises an Exception: a file that cannot be read is a mistake."""
    path = config_file(environ)
    if not os.path.lexists(path):
        return AppSettings(path)
    try:
        text = text_of(path)
        tables = tomllib.loads(text)
    except (UnreadableFileError, ValueError, RecursionError) as error:
        return AppSettings(path, mistakes=(f"{path} cannot be read ({error}), so its keys are not used.",))
    return _settings(path, text, tables)


def _settings(path: str, text: str, tables: Mapping[str, object]) -> AppSettings:
    keys, label = tables.get(KEYS, {}), tables.get(LABEL, {})
    if not isinstance(keys, dict) or not isinstance(label, dict):
        return AppSettings(path, mistakes=(f"{path}: [{KEYS}] and [{LABEL}] must be tables.",))
    lines = {name: _line_of(text, name) for name in keys}
    mistakes = [
        f'{path}, line {lines[name]}: the keys of {name!r} are {str(value)[:80]!r}; expected a text such as "ctrl+k".'
        for name, value in keys.items()
        if not isinstance(value, str) or not value.strip()
    ]
    grades = label.get(GRADES, False)
    if not isinstance(grades, bool):
        mistakes.append(f"{path}: {GRADES!r} under [{LABEL}] is {str(grades)[:80]!r}; expected true or false.")
    written = {name: value for name, value in keys.items() if isinstance(value, str) and value.strip()}
    return AppSettings(path, written, lines, grades is True, tuple(mistakes))


def _line_of(text: str, name: str) -> int:
    """The number of the first line of [keys] that begins with *name*, from 1."""
    is_inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("["):
            is_inside = line.strip().startswith(f"[{KEYS}]")
        if is_inside and line.lstrip().lstrip("\"'").startswith(name):
            return number
    return 0
