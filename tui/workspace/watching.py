"""Watching the files behind a workspace: which kinds of them changed, with many changes gathered into one.

Folders are watched with all that is in them, by the system's own notices where it has room for them. Single files are
looked at once a second: that costs nothing, and they need not exist yet.
"""

from __future__ import annotations

import os
from functools import partial
from stat import S_ISDIR
from threading import Event
from typing import TYPE_CHECKING

from engine.lean.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Watch = Callable[..., Iterable[set[tuple[Any, str]]]]
    Stamp = tuple[int, ...] | None

MEMORIES, SETTINGS, PROMPTS = "memories", "settings", "prompts"

TICK_S = 1.0
"""Time between two looks at single files."""

QUIET_MS, MOST_GATHERED_MS = 200, 3000
"""Changes of folders are gathered until none comes for this time, but not longer than the second number."""

POLL_MS = 3000
"""Time between two looks at every file of a folder, where the system gives no notices."""

DELETED = 3
"""`watchfiles.Change.deleted`."""

FOLDER_STAMP = ("st_dev", "st_ino")
FILE_STAMP = (*FOLDER_STAMP, "st_size", "st_mtime_ns", "st_ctime_ns")

NO_CHANGES: frozenset[str] = frozenset()


class Watched(Record):
    """The paths to watch, by kind. `prompts` may be files and folders, and so may `memories`."""

    memories: tuple[str, ...]
    settings: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()


class Watcher:
    """Watches paths until `stop`. *watch* is as `watchfiles.watch`, which is loaded in the thread that watches."""

    def __init__(self, watched: Watched, watch: Watch | None = None) -> None:
        self._kinds: dict[str, set[str]] = {}
        kinds = {MEMORIES: watched.memories, SETTINGS: watched.settings, PROMPTS: watched.prompts}
        for kind, paths in kinds.items():
            for path in paths:
                self._kinds.setdefault(path, set()).add(kind)
        self._watch = watch
        self._stop = Event()
        self._is_polling = False

    def stop(self) -> None:
        """End `changes`, at once or in a fraction of a second. Any thread may call this."""
        self._stop.set()

    def changes(self) -> Iterator[frozenset[str]]:
        """The kinds of files that changed: a set at least once in TICK_S, and an empty one if nothing changed.

        The first set holds MEMORIES: a change since they were read must not be missed.
        """
        before = self._stamps()
        missed = {MEMORIES}
        while not self._stop.is_set():
            folders = _folders(before)
            for paths in self._events([*folders]):
                now = self._stamps()
                replaced = {kind for path in now if now[path] != before[path] for kind in self._kinds[path]}
                yield frozenset(missed | replaced | self._changed(paths, folders))
                before, missed = now, set()
                gone = {kind for path in paths for kind in self._kinds.get(path, ()) if path in folders}
                if gone or _folders(now) != folders:
                    missed = replaced | gone  # a change before the folder in the same place is watched
                    break

    def _stamps(self) -> dict[str, Stamp]:
        return {path: _stamp(path) for path in self._kinds}

    def _changed(self, paths: Iterable[str], folders: Iterable[str]) -> set[str]:
        """The kinds of the folders in which *paths* lie. The settings of a root are a file of their own."""
        return {
            kind
            for folder in folders
            for kind in self._kinds[folder]
            if any(_counts(folder, path, kind) for path in paths if path not in self._kinds)
        }

    def _events(self, folders: list[str]) -> Iterator[set[str]]:
        """The paths that changed in *folders*: a set at least once in TICK_S. It ends where they cannot be watched.

        A folder itself is named only if it is gone, or another has taken its place.
        """
        if not folders:
            while not self._stop.wait(TICK_S):
                yield set()
            return
        try:
            for changes in self._notices(folders):
                yield {path for change, path in changes if path not in folders or change == DELETED}
        except FileNotFoundError:
            self._stop.wait(TICK_S)
        except (OSError, RuntimeError):  # the system has no notices, or no room for more of them
            self._stop.wait(TICK_S if self._is_polling else 0)
            self._is_polling = True

    def _notices(self, folders: list[str]) -> Iterable[set[tuple[Any, str]]]:
        if self._watch is None:
            from watchfiles import watch

            self._watch = watch
        ask = partial(self._watch, *folders, watch_filter=None, step=QUIET_MS, debounce=MOST_GATHERED_MS)
        return ask(
            stop_event=self._stop,
            rust_timeout=round(TICK_S * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=self._is_polling or None,
            poll_delay_ms=POLL_MS,
            ignore_permission_denied=True,
        )


def _counts(folder: str, path: str, kind: str) -> bool:
    """Whether a file in *folder* may be of that kind. Hidden files hold neither memories nor prompts."""
    if not path.startswith(folder.rstrip(os.sep) + os.sep):
        return False
    is_hidden = f"{os.sep}." in path[len(folder.rstrip(os.sep)) :]
    return not is_hidden and (kind == MEMORIES or path.endswith(".jsonl"))


def _folders(stamps: dict[str, Stamp]) -> dict[str, Stamp]:
    return {path: found for path, found in stamps.items() if found and len(found) == len(FOLDER_STAMP)}


def _stamp(path: str) -> Stamp:
    """Numbers that change with a file, or when another folder takes the place of a folder; None for neither."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    if S_ISDIR(found.st_mode):
        return tuple(getattr(found, name) for name in FOLDER_STAMP)
    return tuple(getattr(found, name) for name in FILE_STAMP)
