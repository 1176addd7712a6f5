"""What there is on this machine for a first start: the memories and transcripts of the user's projects."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from engine.lean.record import Record
from engine.paths import projects_dir
from engine.settings.roots import find_roots, own_users
from engine.stores.files import open_regular
from engine.stores.registry import store_of
from engine.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_PROJECTS, MOST_LINES, LONGEST_LINE = 200, 20, 100_000
"""Projects that are looked at, the newest first; rows of a transcript in which its project's folder is looked for."""

DEMO = "demo"
"""The choice of the example data in place of a root."""


class FoundRoot(Record):
    """A root with the number of its memory files, the folder of its project's transcripts, their number, and the time
    of the newest file, in seconds."""

    root: str
    memories: int
    folder: str
    transcripts: int
    newest: float

    @property
    def text(self) -> str:
        """One line about it: counts and the date."""
        day = datetime.fromtimestamp(self.newest, UTC).strftime("%Y-%m-%d")
        counts = counted(self.memories, "memory"), counted(self.transcripts, "transcript", "transcripts")
        return " · ".join((*counts, day))


def places(environ: Mapping[str, str]) -> tuple[FoundRoot, ...]:
    """The roots of all projects that Claude Code knows, the newest first. Folders of other users are left out.

    A project's folder stands in its transcripts. As for the hook, `.claude/memory` is looked for from there upwards.
    """
    folders = [entry for entry in _entries(projects_dir(environ)) if entry.is_dir() and _is_own(entry, environ)]
    found: dict[str, FoundRoot] = {}
    for folder in sorted(folders, key=_time, reverse=True)[:MOST_PROJECTS]:
        transcripts = [entry for entry in _entries(str(folder)) if entry.suffix == ".jsonl"]
        newest = max(map(_time, (folder, *transcripts)))
        for root in _roots(folder, transcripts, environ):
            if root not in found and (count := _files(root)):
                found[root] = FoundRoot(root, count, str(folder), len(transcripts), newest)
    return tuple(sorted(found.values(), key=lambda place: -place.newest))


def _roots(folder: Path, transcripts: Iterable[Path], environ: Mapping[str, str]) -> Sequence[str]:
    """The roots of a project, as for the hook; without a transcript that names its folder, the auto memory there."""
    cwd = next(filter(None, map(_cwd, sorted(transcripts, key=_time, reverse=True)[:3])), "")
    if Path(cwd).is_absolute():
        return find_roots(cwd, environ).roots
    own = folder / "memory"
    return [os.path.realpath(own)] if own.is_dir() and _is_own(own, environ) else []


def _cwd(transcript: Path) -> str:
    """The project's folder, as one of the first rows of a transcript names it; empty without such a row."""
    try:
        with open_regular(str(transcript)) as file:
            for _ in range(MOST_LINES):
                line = file.readline(LONGEST_LINE)
                if b'"cwd"' in line:
                    found = json.loads(line)
                    cwd = found.get("cwd") if isinstance(found, dict) else ""
                    return cwd if isinstance(cwd, str) else ""
    except (OSError, ValueError, RecursionError):
        return ""
    return ""


def _files(root: str) -> int:
    try:
        return len(store_of(root).listing(root).names)
    except OSError:
        return 0


def _entries(folder: str) -> list[Path]:
    try:
        return list(Path(folder).iterdir())
    except OSError:
        return []


def _is_own(path: Path, environ: Mapping[str, str]) -> bool:
    try:
        return {path.lstat().st_uid, path.stat().st_uid} <= set(own_users(environ))
    except OSError:
        return False


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
