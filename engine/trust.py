"""The roots that the user trusts: all of their memory-config.json counts, also what costs money or records text.

A root is trusted by its resolved path and the owner of its folder. A link that leads elsewhere, or a folder of another
user in the same place, is not trusted.
"""

from __future__ import annotations

import os
import time

from engine.lean.json_text import dumps, loads
from engine.lean.record import Record, fields
from engine.paths import trust_file
from engine.stores.files import make_folder, open_private, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.errors import ConfigError

MAX_BYTES = 1_000_000


class TrustedRoot(Record):
    """A trusted root: its resolved path, the user id of its folder's owner, and the time as ISO 8601 in UTC."""

    path: str
    owner: int
    since: str


def is_trusted(root: str, environ: Mapping[str, str]) -> bool:
    """Whether the user trusts *root*. Raises ConfigError for an unreadable list."""
    path = os.path.realpath(root)
    return any(one.path == path and change_of(one) == "" for one in trusted_roots(environ))


def change_of(trusted: TrustedRoot) -> str:
    """The reason why a root of the list is not trusted any more, or empty."""
    try:
        owner = os.stat(trusted.path).st_uid
    except OSError:
        return "its folder is gone"
    if os.path.realpath(trusted.path) != trusted.path:
        return "its path is a link now"
    return "" if owner == trusted.owner else "its owner changed"


def trusted_roots(environ: Mapping[str, str]) -> tuple[TrustedRoot, ...]:
    """The list, in the order of recording. Raises ConfigError for an unreadable list."""
    path = trust_file(environ)
    try:
        content = loads(read_regular(path, MAX_BYTES).decode("utf-8"))
        return tuple(TrustedRoot(str(one["path"]), int(one["owner"]), str(one["since"])) for one in content["roots"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, RecursionError, LookupError, TypeError) as error:
        raise _error(f"{path} cannot be read ({error}), so no root is trusted. Fix it, or delete it.") from None


def trust(root: str, environ: Mapping[str, str]) -> None:
    """Add *root* to the list. Raises ConfigError if it cannot be written, and OSError for a root that is gone."""
    path = os.path.realpath(root)
    new = TrustedRoot(path, os.stat(path).st_uid, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    _change(environ, lambda roots: (*(one for one in roots if one.path != path), new))


def revoke(root: str, environ: Mapping[str, str]) -> bool:
    """Take *root* off the list; False if it is not there. Raises ConfigError if the list cannot be written."""
    paths = (os.path.abspath(root), os.path.realpath(root))
    if not any(one.path in paths for one in trusted_roots(environ)):
        return False
    _change(environ, lambda roots: tuple(one for one in roots if one.path not in paths))
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
            _write(path, change(trusted_roots(environ)))
        finally:
            os.close(folder)
    except OSError as error:
        raise _error(f"{path} cannot be written ({error.strerror}).") from None


def _write(path: str, roots: tuple[TrustedRoot, ...]) -> None:
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8", opener=open_private) as file:
        file.write(dumps({"version": 1, "roots": [fields(one) for one in roots]}) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _error(message: str) -> ConfigError:
    """A ConfigError. The hook reads the list often, and its module of errors seldom."""
    from engine.errors import ConfigError

    return ConfigError(message)
