"""The keys of config.toml that no root can set: `roots`, and the tables `[label]`, `[app]` and `[keys]` of the app.

Choices that a person makes in the app lie in files of their own.
"""

from __future__ import annotations

import os
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError
from engine.lean.json_text import loads
from engine.paths import config_file
from engine.settings.roots import KEY as ROOTS
from engine.settings.roots import MOST_ROOTS, resolved
from engine.settings.sources import SWITCH_WORDS
from engine.settings.values import DEFAULT, USER, Setting
from engine.stores.files import UnreadableFileError, read_regular, text_of, write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEYS, LABEL, GRADES, APP, PLAIN = "keys", "label", "grades", "app", "plain"
SWITCHES = (f"{LABEL}.{GRADES}", f"{APP}.{PLAIN}")
OWN = (ROOTS, *SWITCHES)
"""Names of settings that only the user's file has. So are the names that begin with "keys."."""
LONGEST_CHOICE = 200
"""Bytes read from a file with a choice."""


class Choices:
    """What a person chose in the app: a file for each choice in *folder*, such as `theme`."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def read(self, name: str) -> str:
        """The text of the file; empty if it is missing or cannot be read."""
        with suppress(OSError, ValueError):
            return read_regular(str(self._folder / name), LONGEST_CHOICE).decode("utf-8").strip()
        return ""

    def write(self, name: str, chosen: str) -> None:
        """Raises OSError."""
        write_whole(str(self._folder / name), f"{chosen}\n".encode(), lasts=False)


@dataclass(frozen=True)
class AppSettings:
    """`keys`: id of an action -> its keys in the file, separated by commas. `lines`: id -> its line in the file.

    `has_grades`: whether digits give grades in Label. `is_plain`: whether the app is for a screen reader. `mistakes`: a
    sentence for each value that is not used.
    """

    path: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    has_grades: bool = False
    is_plain: bool = False
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
    keys, label, app = (tables.get(name, {}) for name in (KEYS, LABEL, APP))
    if not (isinstance(keys, dict) and isinstance(label, dict) and isinstance(app, dict)):
        return AppSettings(path, mistakes=(f"{path}: [{KEYS}], [{LABEL}] and [{APP}] must be tables.",))
    lines = {name: _line_of(text, name) for name in keys}
    mistakes = [
        f'{path}, line {lines[name]}: the keys of {name!r} are {str(value)[:80]!r}; expected a text such as "ctrl+k".'
        for name, value in keys.items()
        if not isinstance(value, str) or not value.strip()
    ]
    switches = {(LABEL, GRADES): label.get(GRADES, False), (APP, PLAIN): app.get(PLAIN, False)}
    for (table, name), value in switches.items():
        if not isinstance(value, bool):
            mistakes.append(f"{path}: {name!r} under [{table}] is {str(value)[:80]!r}; expected true or false.")
    written = {name: value for name, value in keys.items() if isinstance(value, str) and value.strip()}
    grades, is_plain = (value is True for value in switches.values())
    return AppSettings(path, written, lines, grades, is_plain, tuple(mistakes))


def own_settings(environ: Mapping[str, str]) -> list[Setting]:
    """`roots`, `label.grades`, `app.plain` and the keys of actions, as config.toml has them; else the defaults."""
    path, tables = config_file(environ), dict[str, Any]()
    with suppress(UnreadableFileError, ValueError, RecursionError):
        tables = tomllib.loads(text_of(path))
    label, app, keys = (tables[name] if isinstance(tables.get(name), dict) else {} for name in (LABEL, APP, KEYS))
    written = {ROOTS: tables.get(ROOTS), SWITCHES[0]: label.get(GRADES), SWITCHES[1]: app.get(PLAIN)}
    written |= {f"{KEYS}.{name}": value for name, value in keys.items()}
    usual: dict[str, object] = {ROOTS: [], **dict.fromkeys(SWITCHES, False)}
    return [
        Setting(name, usual[name], DEFAULT) if value is None else Setting(name, value, USER, path)
        for name, value in written.items()
    ]


def own_path(name: str) -> tuple[str, ...]:
    """The tables and the key of a setting that only the user's file has; empty for any other name."""
    if name in OWN:
        return tuple(name.split("."))
    return (KEYS, name.removeprefix(f"{KEYS}.")) if name.startswith(f"{KEYS}.") else ()


def own_value(name: str, texts: Sequence[str], environ: Mapping[str, str]) -> object:
    """The value that *texts* spell for a setting of `own_path`. Raises ConfigError for a value that is not allowed.

    `roots` takes paths, or a JSON list of them. The keys of an action are only checked by the app.
    """
    if name == ROOTS:
        return _paths(texts, environ)
    value = SWITCH_WORDS.get(texts[0].lower(), texts[0]) if name in SWITCHES else texts[0]
    if name in SWITCHES and not isinstance(value, bool):
        raise ConfigError(f"the new value: {name!r} is {value!r}; expected true or false.")
    return value


def _paths(texts: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    listed: Any = texts
    if len(texts) == 1 and texts[0].startswith("["):
        with suppress(ValueError, RecursionError):
            listed = loads(texts[0])
    paths = [given if str(given).startswith("~") else os.path.abspath(str(given)) for given in listed]  # noqa: PTH100
    for path in paths:
        if not resolved(path, environ):
            raise ConfigError(f"the new value: {ROOTS!r} names {path!r}; expected a folder or file that exists.")
    if len(paths) > MOST_ROOTS:
        raise ConfigError(f"the new value: {ROOTS!r} has {len(paths):,} paths; at most {MOST_ROOTS} are used.")
    return list(dict.fromkeys(paths))


def _line_of(text: str, name: str) -> int:
    """The number of the first line of [keys] that begins with *name*, from 1."""
    is_inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("["):
            is_inside = line.strip().startswith(f"[{KEYS}]")
        if is_inside and line.lstrip().lstrip("\"'").startswith(name):
            return number
    return 0
