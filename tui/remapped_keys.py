"""Keys that differ from the table: those that a person chose in config.toml."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from textual.keys import Keys, _character_to_key

from engine.errors import ConfigError
from tui.keys import KEYS, home_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui.workspace.app_settings import AppSettings


NAMED = frozenset(key.value for key in Keys if not key.value.startswith("<"))
DIALOGS = frozenset({"merge", "form", "type", "agree", "pick", "close", "help"})
"""The groups of ids that act in a dialog only."""

SCREENS = {"mark": frozenset({"replay", "label", "settle"}), "change": frozenset({"browse", "inbox"})}
"""Groups of ids that act on several screens."""

EVERYWHERE = frozenset({"app", "go", "prompt", "copy", "pane"})
"""Groups of ids that act on every screen."""


def key_map(settings: AppSettings) -> tuple[dict[str, str], tuple[str, ...]]:
    """By id: the keys of every action, as Textual names them. Empty if nothing is changed. Then the mistakes.

    A wrong id, a word that is no key, and a key that another action of the same screen has are mistakes: that line is
    not used.
    """
    chosen: dict[str, str] = {}
    mistakes = list(settings.mistakes)
    for name, written in settings.keys.items():
        place = _place(settings, name)
        keys = [_key(key.strip()) for key in written.split(",")]
        if name not in KEYS:
            mistakes.append(f"{place}: there is no action {name!r}.{_near(name)} tui/KEYS.md lists all.")
        elif not all(keys):
            mistakes.append(f'{place}: {written!r} is no key. Keys look like "k", "ctrl+k", "f6", "space" or "?".')
        else:
            chosen[name] = ",".join(keys)
    while found := next(((name, clash) for name in chosen if (clash := _clash(name, chosen))), None):
        name, clash = found
        place, written = _place(settings, name), settings.keys[name]
        mistakes.append(f"{place}: {written!r} is the key of {clash}, too. Give {clash} another key in [keys].")
        del chosen[name]
    usual = {name: key.keys for name, key in KEYS.items()}
    letters = {name: _without_digits(usual[name]) for name in ("mark.relevant", "mark.not") if settings.has_grades}
    return ({**usual, **letters, **chosen} if chosen or letters else {}), tuple(mistakes)


def usual_keys(name: str) -> str:
    """The keys of an action before anybody changed them. Raises ConfigError for an unknown id."""
    if name not in KEYS:
        raise ConfigError(f"There is no action {name!r}.{_near(name)} tui/KEYS.md lists all.")
    return KEYS[name].keys


def refuse_wrong_keys(settings: AppSettings, name: str, written: str) -> None:
    """Raise ConfigError for an unknown id, and for keys that would be a mistake in these settings. Empty: no keys."""
    usual_keys(name)
    if not written:
        return
    _, before = key_map(settings)
    lines = {action: line for action, line in settings.lines.items() if action != name}
    _, now = key_map(replace(settings, keys={**settings.keys, name: written}, lines=lines))
    for mistake in now:
        if mistake not in before:
            raise ConfigError(mistake)


def _place(settings: AppSettings, name: str) -> str:
    """The file and line of the keys of *name*; of keys that are not written yet, the file."""
    return f"{settings.path}, line {settings.lines[name]}" if name in settings.lines else settings.path


def _without_digits(keys: str) -> str:
    """Where digits give grades, the usual answers have letters alone."""
    return ",".join(key for key in keys.split(",") if not key.isdigit())


def _key(written: str) -> str:
    """Textual's name of a key; empty for a word that is none."""
    if len(written) == 1:
        return _character_to_key(written)
    *modifiers, last = written.split("+")
    is_named = written in NAMED or last in NAMED or (len(last) == 1 and last.isalnum()) or _is_sign(last)
    return written if is_named and all(modifier in ("ctrl", "shift", "alt") for modifier in modifiers) else ""


def _is_sign(name: str) -> bool:
    """Whether *name* is a sign in words, as the table of keys spells it, such as "question_mark"."""
    return any(name in key.keys.split(",") for key in KEYS.values())


def _near(name: str) -> str:
    found = get_close_matches(name, KEYS, 1)
    return f" Did you mean {found[0]!r}?" if found else ""


def _clash(name: str, chosen: Mapping[str, str]) -> str:
    """The id of another action that has one of the *chosen* keys of *name* on the same screen; empty if there is none.

    Two actions that share a key in the table of keys may go on to do so: only one of them acts at a time.
    """
    new = set(chosen[name].split(",")) - set(KEYS[name].keys.split(","))
    for other, key in KEYS.items():
        theirs = set(chosen.get(other, key.keys).split(","))
        if other != name and _meet(name, other) and theirs & new:
            return other
    return ""


def _meet(name: str, other: str) -> bool:
    """Whether two actions can be offered at the same time."""
    first, second = name.split(".")[0], other.split(".")[0]
    if first in DIALOGS or second in DIALOGS:
        return first == second
    if first in EVERYWHERE or second in EVERYWHERE:
        return True
    return bool(_screens(first) & _screens(second))


def _screens(group: str) -> frozenset[str]:
    return SCREENS.get(group, frozenset({home_of(group)}))
