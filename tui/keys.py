"""Every key of the app with its action and its help, from the table in keys.txt; and the keys that a person chose."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.actions import parse
from textual.binding import Binding, BindingType
from textual.keys import Keys, _character_to_key, format_key

from engine.errors import ConfigError
from engine.lean.sections import read_sections

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from textual.app import App
    from textual.binding import ActiveBinding
    from textual.screen import Screen

    from tui.workspace.app_settings import AppSettings


class Key(NamedTuple):
    """*keys*: Textual's key names, separated by commas. *action*: as Textual writes it. *name*: for the footer.

    *phrase*: begins with a verb, for the help and the command palette.
    """

    keys: str
    action: str
    name: str
    phrase: str


_TABLE, _INTO_INPUT = (lines for _, lines in read_sections(__file__, "keys.txt"))
KEYS = {name: Key(*row) for name, *row in (map(str.strip, line.split("|")) for line in _TABLE)}
"""By id, which a screen names in its BINDINGS."""

INTO_INPUT = frozenset(_INTO_INPUT)
"""Keys that lead into an input or a choice. They act at once: letters typed after them must reach the input, not act as
keys of the screen."""

HOMES = {"change": "browse", "copy": "browse", "list": "browse", "mark": "label", "prompt": "replay"}
"""Groups of ids that no screen is named after -> the screen to which their keys lead first."""


def bindings(shown: str = "", hidden: str = "", at_once: str = "") -> list[BindingType]:
    """The bindings of the ids in *shown*, separated by spaces, and in *hidden*, which the footer leaves out.

    Keys *at_once* act before any key typed after them, even if a later key opens an input. The screen's `check_action`
    has to refuse them while an input has the focus.
    """
    first = {*INTO_INPUT, *at_once.split()}
    return [
        Binding(
            *(KEYS[name].keys, KEYS[name].action, KEYS[name].name),
            show=name in shown.split(),
            priority=name in first,
            tooltip=KEYS[name].phrase,
            id=name,
        )
        for name in (*shown.split(), *hidden.split())
    ]


def active_keys(screen: Screen[Any]) -> dict[str, ActiveBinding]:
    """Each binding of the table that acts on *screen* now, by its id; the screen's bindings before the app's."""
    found: dict[str, ActiveBinding] = {}
    for active in screen.active_bindings.values():
        if active.enabled and active.binding.id in KEYS:
            found.setdefault(active.binding.id, active)
    return found


def idle_keys(node: Screen[Any] | App[Any], acting: Collection[str]) -> dict[str, str]:
    """The ids in the BINDINGS of *node* that are not *acting*, with the reason why each is off, or an empty text."""
    tables = [vars(kind).get("BINDINGS", ()) for kind in type(node).__mro__]
    ids = dict.fromkeys(
        binding.id for table in tables for binding in table if isinstance(binding, Binding) and binding.id in KEYS
    )
    why_off = getattr(node, "why_off", lambda _action, _parameters: "")
    return {name: why_off(*parse(KEYS[name].action)[1:]) for name in ids if name not in acting}


def home_of(name: str) -> str:
    """The screen on which the key *name* acts, if no other screen is open; empty if it belongs to a dialog."""
    group = name.split(".", 1)[0]
    return HOMES.get(group, group)


NAMED = re.compile(r"\{(" + "|".join(map(re.escape, KEYS)) + r")\}")
"""The id of a key in a sentence."""

IN_WORDS = {"enter": "enter", "backspace": "backspace"}
"""Keys that the footer shows as a sign, and sentences as a word."""


def keyed(app: App[Any], sentence: str) -> str:
    """*sentence* with the key that is in force in place of each id in braces. It must hold no text of a person."""
    return NAMED.sub(lambda found: key_word(keys_of(app, found[1])[0]), sentence)


def key_names(app: App[Any], name: str) -> str:
    """All keys of the id *name*, as the footer writes them, such as "z ⌫"."""
    binding = Binding(",".join(keys_of(app, name)), KEYS[name].action)
    return " ".join(app.get_key_display(single) for single in Binding.make_bindings([binding]))


def keys_of(app: App[Any], name: str) -> list[str]:
    """The keys of an id that are in force, as Textual names them: those of the person, or else the usual ones."""
    keys: str = getattr(app, "keys", {}).get(name, KEYS[name].keys)
    return keys.split(",")


def key_word(key: str) -> str:
    """A key in a sentence: "ctrl+r", "F4", "esc", "?"."""
    *modifiers, last = key.split("+")
    is_function = last[:1] == "f" and last[1:].isdigit()
    return "+".join([*modifiers, last.upper() if is_function else IN_WORDS.get(last) or format_key(last)])


# Keys that a person chose in config.toml

KEY_NAMES = frozenset(key.value for key in Keys if not key.value.startswith("<"))
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
    letters = {}
    for name in ("mark.relevant", "mark.not") if settings.has_grades else ():  # digits give grades
        letters[name] = ",".join(key for key in usual[name].split(",") if not key.isdigit())
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


def _key(written: str) -> str:
    """Textual's name of a key; empty for a word that is none."""
    if len(written) == 1:
        return _character_to_key(written)
    *modifiers, last = written.split("+")
    is_sign = any(last in key.keys.split(",") for key in KEYS.values())  # in words, such as "question_mark"
    is_named = {written, last} & KEY_NAMES or (len(last) == 1 and last.isalnum()) or is_sign
    return written if is_named and all(modifier in ("ctrl", "shift", "alt") for modifier in modifiers) else ""


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
    screens = (SCREENS.get(group, frozenset({home_of(group)})) for group in (first, second))
    return bool(frozenset.intersection(*screens))
