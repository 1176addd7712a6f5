"""The names of keys, as a person reads them. Sentences name a key by its id, as in "{go.label} labels them"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from textual.binding import Binding
from textual.keys import format_key

from tui.bindings import KEYS

if TYPE_CHECKING:
    from textual.app import App

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
