"""What the hook's path needs of `os.path` where paths are POSIX's; see `lean_os`.

A path that takes more than a look (one with `..` in it, one that leads through a link) goes to `os.path`.
"""

from __future__ import annotations

from posix import lstat, stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os.path import *  # noqa: F403
else:
    TYPE, FOLDER, REGULAR, LINK = 0o170000, 0o040000, 0o100000, 0o120000

    def join(path, *more):
        for part in more:
            if part.startswith("/"):
                path = part
            else:
                path += part if path.endswith("/") or not path else f"/{part}"
        return path

    def dirname(path):
        head, slash, _ = path.rpartition("/")
        return head.rstrip("/") or head + slash

    def isabs(path):
        return path.startswith("/")

    def exists(path):
        return _type(stat, path) is not None

    def lexists(path):
        return _type(lstat, path) is not None

    def isdir(path):
        return _type(stat, path) == FOLDER

    def isfile(path):
        return _type(stat, path) == REGULAR

    def abspath(path):
        return path if _is_plain(path) else __getattr__("abspath")(path)

    def realpath(path):
        if not _is_plain(path):
            return __getattr__("realpath")(path)
        end = 0
        while end >= 0:
            end = path.find("/", end + 1)
            try:
                kind = lstat(path[:end] if end >= 0 else path).st_mode & TYPE
            except OSError:
                continue
            if kind == LINK:
                return __getattr__("realpath")(path)
        return path

    def _is_plain(path):
        """Whether a path is absolute and spelled in the shortest way."""
        return path.startswith("/") and not {"", ".", ".."} & set(path[1:].split("/"))

    def _type(ask, path):
        try:
            return ask(path).st_mode & TYPE
        except (OSError, ValueError):
            return None

    def __getattr__(name):
        import os

        return getattr(os.path, name)
