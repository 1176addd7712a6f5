"""Every key of the app with its action and its help, from the table in keys.txt; and the names of keys in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.actions import parse
from textual.binding import Binding, BindingType
from textual.keys import format_key

from engine.lean.sections import read_sections

if TYPE_CHECKING:
    from collections.abc import Collection

    from textual.app import App
    from textual.binding import ActiveBinding
    from textual.screen import Screen


class Key(NamedTuple):
    """*keys*: Textual's key names, separated by commas. *action*: as Textual writes it. *name*: for the footer.

    *sentence*: `group: Verb phrase`, shown in the command palette; the help shows it without the group.
    """

    keys: str
    action: str
    name: str
    sentence: str

    @property
    def phrase(self) -> str:
        return self.sentence.split(": ", 1)[-1]


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
    ids = (*shown.split(), *hidden.split())
    return [_binding(name, show=name in shown.split(), priority=name in first) for name in ids]


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


def _binding(name: str, *, show: bool, priority: bool) -> Binding:
    key = KEYS[name]
    return Binding(key.keys, key.action, key.name, show=show, tooltip=key.sentence, id=name, priority=priority)


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
