"""The roots that a user has beside a project's own: `roots = ["~/notes"]` in config.toml, above all tables.

Only the user names them. A project's memory-config.json cannot: it could bring any file of the user into a prompt.
"""

from __future__ import annotations

import os

from engine.lean.record import Record
from engine.paths import config_file, home_dir
from engine.settings.keys import shown
from engine.stores.files import UnreadableFileError, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "roots"
MOST_ROOTS = 20


class UserRoots(Record):
    """The user's roots that exist, resolved and in their order, and a sentence for each value that is not used."""

    roots: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()


def user_roots(environ: Mapping[str, str]) -> UserRoots:
    """The roots in config.toml. Never raises an Exception.

    The parser is slow to load, so the text is searched first.
    """
    path = config_file(environ)
    if not os.path.lexists(path):
        return UserRoots()
    try:
        text = text_of(path)
        if KEY not in text:
            return UserRoots()
        import tomllib

        listed = tomllib.loads(text).get(KEY, [])
    except (UnreadableFileError, ValueError, RecursionError):
        return UserRoots((), (f"{path} cannot be read, so its {KEY} are not used. Fix it, or delete it.",))
    if not isinstance(listed, list):
        return UserRoots((), (f"{path}: {KEY!r} is {shown(listed)}; expected a list of paths.",))
    found = [(value, resolved(value, environ)) for value in listed[:MOST_ROOTS]]
    mistakes = [
        f"{path}: {KEY!r} names {shown(value)}, which is not used; expected the absolute path, or one from ~, of a "
        "folder or file that exists."
        for value, root in found
        if not root
    ]
    if len(listed) > MOST_ROOTS:
        mistakes.append(f"{path}: {KEY!r} has {len(listed):,} paths; only the first {MOST_ROOTS} are used.")
    return UserRoots(tuple(dict.fromkeys(root for _, root in found if root)), tuple(mistakes))


def resolved(value: object, environ: Mapping[str, str]) -> str:
    """The path that *value* spells, resolved; empty if it is none."""
    if not isinstance(value, str):
        return ""
    path = home_dir(environ) + value[1:] if value == "~" or value.startswith("~/") else value
    try:
        return os.path.realpath(path) if os.path.isabs(path) and os.path.exists(path) else ""
    except (OSError, ValueError):
        return ""
