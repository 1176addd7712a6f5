"""The roots that the user trusts: all of their memory-config.json counts, also what costs money or records text.

A root is trusted by its resolved path, the owner of its folder, and the settings that it had then. A link that leads
elsewhere, a folder of another user in the same place, or settings that `git pull` changed are not trusted.
"""

from __future__ import annotations

import os
import time

from engine.config import CONFIG_FILE, SHARED_CUTOFF_FILE, Config, settings_in
from engine.lean.json_text import dumps, loads
from engine.lean.record import Record, fields
from engine.lean.sha256 import hex_digest
from engine.paths import trust_file
from engine.settings.keys import FREE, SECTION, KeySource
from engine.stores.files import (
    UnreadableFileError,
    make_folder,
    read_regular,
    read_text,
    write_whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from engine.errors import ConfigError

    T = TypeVar("T")

MAX_BYTES = 1_000_000


class TrustedRoot(Record):
    """A trusted root: its resolved path, the user id of its folder's owner, and the time as ISO 8601 in UTC.

    `settings` is a digest of its settings at that time, by `settings_digest`.
    """

    path: str
    owner: int
    since: str
    settings: str = ""


def is_trusted(root: str, environ: Mapping[str, str]) -> bool:
    """Whether the user trusts *root* with its present settings. Raises ConfigError for an unreadable list."""
    trusted = trusted_as(root, environ)
    return trusted is not None and change_of(trusted) == ""


def trust_of(root: str, environ: Mapping[str, str]) -> bool:
    """As `is_trusted`; not if the list cannot be read."""
    from engine.errors import ConfigError

    try:
        return is_trusted(root, environ)
    except ConfigError:
        return False


def trusted_as(root: str, environ: Mapping[str, str]) -> TrustedRoot | None:
    """The entry of *root* in the list, whatever changed since. Raises ConfigError for an unreadable list."""
    path = os.path.realpath(root)
    return next((trusted for trusted in trusted_roots(environ) if trusted.path == path), None)


def change_of(trusted: TrustedRoot, section: object = None) -> str:
    """The reason why a root of the list is not trusted any more, or empty.

    *section*: its present settings, if the caller has read them already.
    """
    try:
        owner = os.stat(trusted.path).st_uid
    except OSError:
        return "its folder is gone"
    if os.path.realpath(trusted.path) != trusted.path:
        return "its path is a link now"
    if owner != trusted.owner:
        return "its owner changed"
    now = _section(trusted.path) if section is None else section
    return "" if settings_digest(trusted.path, now) == trusted.settings else "its settings changed"


def _section(root: str) -> object:
    """The settings in the file of a root. Empty if the file is missing or cannot be read."""
    try:
        content = loads(read_text(root, os.path.join(root, CONFIG_FILE)))
    except (UnreadableFileError, ValueError, RecursionError):
        return {}
    return content.get(SECTION, {}) if isinstance(content, dict) else {}


def settings_digest(root: str, section: object) -> str:
    """A digest of the keys and values in *section*, and of the texts in the files that they name.

    Keys that any root may set count for nothing here, nor do unknown keys, the order of keys, and white space. A cutoff
    that the root shares is one of its settings.
    """
    source = KeySource(CONFIG_FILE, root, is_confined=True)
    config = source.over(Config(), section)
    settings = [(f"{SECTION}.{key}", value) for key, value in settings_in(config).items() if key not in FREE]
    named = [(key, value) for key, value in settings if key in source.keys]
    modes = config.judge.modes
    try:
        shared = [read_text(os.path.realpath(root), os.path.join(root, SHARED_CUTOFF_FILE))]
    except UnreadableFileError:
        shared = []
    return hex_digest(dumps([sorted(named), modes.auto.prompt, modes.search.prompt, *shared]))


def trusted_roots(environ: Mapping[str, str]) -> tuple[TrustedRoot, ...]:
    """The list, in the order of recording. Raises ConfigError for an unreadable list."""
    path = trust_file(environ)
    try:
        content = loads(read_regular(path, MAX_BYTES).decode("utf-8"))
        return tuple(
            TrustedRoot(str(row["path"]), int(row["owner"]), str(row["since"]), str(row.get("settings", "")))
            for row in content["roots"]
        )
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise _error(f"{path} cannot be read ({error}), so no root is trusted. Fix it, or delete it.") from None


def trust(root: str, environ: Mapping[str, str]) -> None:
    """Trust *root* with its present settings. Raises ConfigError if the list cannot be written, OSError for no root."""
    path = os.path.realpath(root)
    digest = settings_digest(path, _section(path))
    new = TrustedRoot(path, os.stat(path).st_uid, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), digest)
    _change(environ, lambda roots: (*(root for root in roots if root.path != path), new))


def keeping_trust(root: str, environ: Mapping[str, str], change: Callable[[], T]) -> T:
    """The result of *change*, by which the user changes the settings of *root*: a trusted root stays trusted."""
    was_trusted = trust_of(root, environ)
    result = change()
    if was_trusted:
        trust(root, environ)
    return result


def revoke(root: str, environ: Mapping[str, str]) -> bool:
    """Take *root* off the list; False if it is not there. Raises ConfigError if the list cannot be written."""
    paths = (os.path.abspath(root), os.path.realpath(root))
    if not any(trusted.path in paths for trusted in trusted_roots(environ)):
        return False
    _change(environ, lambda roots: tuple(root for root in roots if root.path not in paths))
    return True


def _change(environ: Mapping[str, str], change: Callable[[tuple[TrustedRoot, ...]], tuple[TrustedRoot, ...]]) -> None:
    """Write the list anew, under a lock, so that no process undoes the change of another."""
    from fcntl import LOCK_EX, flock

    path = trust_file(environ)
    try:
        make_folder(os.path.dirname(path))
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            flock(folder, LOCK_EX)
            roots = [fields(trusted) for trusted in change(trusted_roots(environ))]
            write_whole(path, f"{dumps({'version': 1, 'roots': roots})}\n".encode())
        finally:
            os.close(folder)
    except OSError as error:
        raise _error(f"{path} cannot be written ({error.strerror}).") from None


def _error(message: str) -> ConfigError:
    """A ConfigError. The hook reads the list often, and its module of errors seldom."""
    from engine.errors import ConfigError

    return ConfigError(message)
