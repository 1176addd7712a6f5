"""The files behind a workspace: watching them, reading them again, and what a workspace takes from that."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_ISDIR
from threading import Event
from typing import TYPE_CHECKING

from engine.config import CONFIG_FILE, SHARED_CUTOFF_FILE
from engine.conversations.activity import LOG_FILE
from engine.errors import MemsiftError
from engine.lean.record import replace
from engine.opening import reread
from engine.paths import config_file, cutoff_file, state_dir, trust_file
from engine.phrases.file import phrases_files
from engine.roots import together
from engine.settings.sources import read_config, said
from tui.workspace.judging import make_judge
from tui.workspace.retrievals import with_hook_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from engine.config import Config
    from engine.conversations.prompt_files import PromptReading
    from engine.judge.judge import Judge
    from engine.judge.limits import Limits
    from engine.roots import OpenRoots
    from tui.workspace.judging import JudgeOptions

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


class Watcher:
    """Watches the files and folders of each kind until `stop`.

    *watch* is as `watchfiles.watch`, which is loaded in the thread that watches.
    """

    def __init__(self, watched: Mapping[str, Iterable[str]], watch: Watch | None = None) -> None:
        self._kinds: dict[str, set[str]] = {}
        for kind, paths in watched.items():
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
                beside = paths - self._kinds.keys()  # the settings of a root are a file of their own
                kinds = ((folder, kind) for folder in folders for kind in self._kinds[folder])
                changed = {kind for folder, kind in kinds if any(_counts(folder, path, kind) for path in beside)}
                yield frozenset(missed | replaced | changed)
                before, missed = now, set()
                gone = {kind for path in paths for kind in self._kinds.get(path, ()) if path in folders}
                if gone or _folders(now) != folders:
                    missed = replaced | gone  # a change before the folder in the same place is watched
                    break

    def _stamps(self) -> dict[str, Stamp]:
        return {path: _stamp(path) for path in self._kinds}

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


def file_stamps(paths: Iterable[str]) -> tuple[tuple[str, int, int], ...]:
    """Path, size and time of each file that is there. They differ as soon as one of the files does."""
    found = []
    for path in paths:
        with suppress(OSError):
            status = os.stat(path)  # noqa: PTH116
            found.append((path, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _counts(folder: str, path: str, kind: str) -> bool:
    """Whether a file in *folder* may be of that kind. Hidden files hold neither memories nor prompts.

    A new folder may hold files for which no notice comes, because they were written before it was watched.
    """
    if not path.startswith(folder.rstrip(os.sep) + os.sep):
        return False
    is_hidden = f"{os.sep}." in path[len(folder.rstrip(os.sep)) :]
    return not is_hidden and (kind == MEMORIES or path.endswith((".jsonl", ".md")) or Path(path).is_dir())


def _folders(stamps: dict[str, Stamp]) -> dict[str, Stamp]:
    return {path: found for path, found in stamps.items() if found and len(found) == len(FOLDER_STAMP)}


def _stamp(path: str) -> Stamp:
    """Numbers that change with a file, or when another folder takes the place of a folder; None if there is neither."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return tuple(getattr(found, name) for name in (FOLDER_STAMP if S_ISDIR(found.st_mode) else FILE_STAMP))


REST = 20
"""After a reading, the same kind of file is not read again for this number of times its duration."""


@dataclass(frozen=True)
class Settings:
    """The settings as the hook takes them. `mistakes`: sentences about settings that have no effect."""

    joint: OpenRoots
    notice: str = ""
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChangedSources:
    """Files that were read again; None for files that did not change.

    `has_memories`: the memories may have changed, and if `is_reread` the index files hold them. `problem`: the error
    that ended the reading.
    """

    has_memories: bool = False
    is_reread: bool = True
    settings: Settings | None = None
    prompts: PromptReading | None = None
    problem: MemsiftError | None = None


@dataclass(frozen=True)
class Sources:
    """*others*: roots beside *root*. *prompts* gives the paths of files and folders that are there now; new ones may
    come in the folders *sessions*. *is_trusted*: all of the root's configuration counts."""

    root: str
    environ: Mapping[str, str]
    judge: JudgeOptions
    prompts: Callable[[], tuple[str, ...]] = tuple
    sessions: tuple[str, ...] = ()
    is_trusted: bool = False
    spending: Limits | None = None
    others: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(map(os.path.realpath, (self.root, *self.others)))

    @property
    def watched(self) -> dict[str, list[str]]:
        """The paths to watch, by kind."""
        memories = [path for root in self.roots for path in (root, *([] if Path(root).is_dir() else [f"{root}-wal"]))]
        phrases = [path for root in self.roots for path in phrases_files(root, self.environ)]
        memories += [*phrases, trust_file(self.environ)]  # trust lets the phrases of a root count
        states = [state_dir(root, self.environ) for root in self.roots]
        settings = [str(Path(root, name)) for root in self.roots for name in (CONFIG_FILE, SHARED_CUTOFF_FILE)]
        settings += [*map(cutoff_file, states), config_file(self.environ), trust_file(self.environ)]
        logs = [str(Path(state, LOG_FILE)) for state in states]
        prompts = [*map(os.path.realpath, (*self.prompts(), *self.sessions)), *logs]
        return {MEMORIES: memories, SETTINGS: settings, PROMPTS: prompts}

    def settings(self) -> Settings:
        """The settings as they are now. As in the hook, a wrong value leaves the value of the weaker source."""
        given = {**self.environ, **self.judge.flags}
        readings = [read_config(root, given, is_trusted=self.is_trusted) for root in (self.root, *self.others)]
        applied = partial(self.judge.applied, environ=self.environ)
        joint = together([replace(reading, config=applied(reading.config)) for reading in readings], self.environ)
        ignored = [f"The tuned cutoff is not used: it {joint.problem}."] if joint.problem else []
        mistakes = [line for reading in readings for line in (*said(reading), *reading.remarks)]
        notice = " ".join(filter(None, (readings[0].notice, joint.notice)))
        return Settings(joint, notice, tuple(dict.fromkeys([*mistakes, *ignored])))

    def judge_of(self, config: Config) -> Judge | None:
        """The judge of changed settings. Nobody has agreed to its cost yet. Raises ConfigError."""
        return make_judge(self.judge, config, self.environ, self.spending)

    def read_again(self, kinds: frozenset[str]) -> ChangedSources:
        """Read all files of these kinds. An error is in the result, not an exception."""
        try:
            is_reread = MEMORIES not in kinds or not [root for root in self.roots if not reread(root, self.environ)]
            prompts = self.read_prompts() if PROMPTS in kinds else None
            settings = self.settings() if SETTINGS in kinds else None
            return ChangedSources(MEMORIES in kinds, is_reread, settings, prompts)
        except MemsiftError as error:
            return ChangedSources(problem=error)

    def read_prompts(self) -> PromptReading:
        """The prompts of the files, as far as these exist, and those that only the hook's log tells."""
        from engine.conversations.prompt_files import read_prompts

        return with_hook_log(read_prompts([*filter(os.path.exists, self.prompts())]), self.root, self.environ)

    def follow(self, watcher: Watcher, tell: Callable[[ChangedSources], object]) -> None:
        """Read files again that change, until *watcher* stops. It belongs into a thread of its own.

        *tell* is called in that thread, with something that was read or with a problem.
        """
        waiting, due = NO_CHANGES, 0.0
        for kinds in watcher.changes():
            waiting |= kinds
            began = time.monotonic()
            if waiting and began >= due:
                tell(self.read_again(waiting))
                now = time.monotonic()
                waiting, due = NO_CHANGES, now + REST * (now - began)
