"""Single settings: where the value of each comes from, what a value means, and changing it.

In a root's memory-config.json and in the user's config.toml, all other text stays.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from engine.config import CONFIG_FILE, TUNED, Config, settings_in
from engine.curation.files import FileChange, text_at, write
from engine.default_model import BALANCED, FALSE_FIRES, MEASURED
from engine.errors import ConfigError
from engine.lean.json_text import value_at
from engine.lean.record import Record
from engine.paths import config_file
from engine.settings.keys import SECTION, KeySource
from engine.settings.sources import SettingsReading, checked, section_of
from engine.stores.json_members import with_value, without_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.cutoff import Cutoff

DEFAULT, USER, ROOT, VARIABLE = "default", "user", "root", "variable"
BOM = "\ufeff"

Key = tuple[str, ...]
"""A setting by its keys from the outermost section inwards, such as ("judge", "enabled")."""


class Setting(Record):
    """A setting: its key without `retrieval.`, its value, and the source that decides it, one of the four above.

    `place` is the file or the variable; empty for a default. `wanted` is the value in the root's file where it is
    ignored, because the user does not trust the root; else None. `means` says in words what a value stands for.
    """

    key: str
    value: object
    source: str
    place: str = ""
    wanted: object = None
    means: str = ""


def settings(reading: SettingsReading, environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """Every setting of a root, in the order of `engine.config`."""
    places = {key: name for name, keys in reading.set_by for key in keys}
    untrusted = dict(reading.untrusted)
    found = []
    for key, value in settings_in(reading.config).items():
        place = places.get(f"{SECTION}.{key}", "")
        found.append(Setting(key, value, _source(place, environ), place, untrusted.get(f"{SECTION}.{key}")))
    return tuple(found)


def keys_of(name: str, others: Iterable[str] = ()) -> tuple[str, ...]:
    """The keys of a setting from the outermost section inwards. Raises ConfigError, with the nearest name.

    *others*: names of settings that are no keys of a root, for the nearest name.
    """
    known = [*settings_in(Config())]
    short = name.removeprefix(f"{SECTION}.")
    if short in known:
        return tuple(short.split("."))
    from difflib import get_close_matches

    near = get_close_matches(short, [*known, *others], 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ConfigError(f"There is no setting {name!r}.{hint} memsift config lists them all.")


def value_of(keys: tuple[str, ...], text: str) -> Any:
    """The value that *text* spells for a setting. Raises ConfigError for a value that is not allowed.

    A mode's `prompt_file` is not opened: it lies beside the file that names it.
    """
    source = KeySource("the new value")
    section = section_of(keys, text, Config())
    source.over(Config(), section)
    checked(SettingsReading("", Config(), tuple(source.mistakes)))
    return value_at(section, *keys)


def threshold_text(threshold: float | str | None, cutoff: Cutoff) -> str:
    """The meaning of `cutoff_threshold` with *cutoff*, which it was given to; empty for a number."""
    if isinstance(threshold, float | int):
        return ""
    if cutoff.kind == TUNED:
        if threshold is None:
            return "The tuned threshold, for the precision that was asked for."
        if threshold not in cutoff.model.named:
            return "The tuned threshold: too few of its labelled prompts need nothing to know this name."
        return f"At most {100 * FALSE_FIRES[threshold]:.0f} % false fires on the labels that it was tuned to."
    name = threshold or BALANCED
    served, useful = (round(100 * share) for share in MEASURED[name])
    fires = f"At most {100 * FALSE_FIRES[name]:.0f} % false fires"
    return f"{fires}; served {served} % of the prompts in need, {useful} % useful, on real roots left out."


def _source(place: str, environ: Mapping[str, str]) -> str:
    if not place:
        return DEFAULT
    if place == config_file(environ):
        return USER
    return ROOT if os.path.basename(place) == CONFIG_FILE else VARIABLE


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
