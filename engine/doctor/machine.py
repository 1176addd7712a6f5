"""The machine: Python, SQLite, the clock, the disk, and who may read memsift's files."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from engine.agents.hook_entry import bare_interpreter
from engine.doctor import note, ok, problem
from engine.paths import cache_dir, config_file, labels_file, state_home
from engine.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.doctor import DoctorFinding

LEAST_FREE_BYTES = 100_000_000
MOST_SKEW_S = 5.0
"""Seconds that the clocks of the machine and of its disk may differ. Changed files are found by their times."""

MOST_NAMED = 3
OTHERS = 0o077
"""The mode bits of group and others."""


def findings(environ: Mapping[str, str]) -> list[DoctorFinding]:
    return [_python(), _sqlite(), _clock(environ), _disk(environ), _modes(environ)]


def folders(environ: Mapping[str, str]) -> dict[str, str]:
    """memsift's own folders: the purpose, then the path. They need not exist."""
    return {
        "settings": os.path.dirname(config_file(environ)),
        "labels": os.path.dirname(labels_file(environ)),
        "indexes": cache_dir(environ),
        "logs": state_home(environ),
    }


def _python() -> DoctorFinding:
    interpreter = bare_interpreter()
    text = f"{platform.python_version()}, the hook runs {interpreter}"
    if os.access(interpreter, os.X_OK):
        return ok("python", text)
    return problem("python", f"{text}, which is not there", "Install memsift again with a permanent Python.")


def _sqlite() -> DoctorFinding:
    with closing(sqlite3.connect(":memory:")) as db, suppress(sqlite3.Error):
        db.execute("create virtual table words using fts5(text)")
        return ok("sqlite", f"{sqlite3.sqlite_version}, with FTS5")
    text = f"{sqlite3.sqlite_version} has no full-text search (FTS5): only words of titles and tags are compared"
    fix = "Install memsift with another Python. The Python of python.org, uv or your system usually has FTS5."
    return problem("sqlite", text, fix)


def _clock(environ: Mapping[str, str]) -> DoctorFinding:
    """Compare the machine's clock with the times that its disk gives to files."""
    folder = existing(state_home(environ))
    now = time.time()
    shown = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            skew = os.fstat(file.fileno()).st_mtime - now
    except OSError:
        return note("clock", f"{shown}; the disk's clock is unknown, because {folder} cannot be written")
    if abs(skew) > MOST_SKEW_S:
        text = f"{shown}; files in {folder} get times that differ by {skew:+.0f} s"
        return problem("clock", text, "Set the clocks of this machine and of its file server, for example by NTP.")
    return ok("clock", shown)


def _disk(environ: Mapping[str, str]) -> DoctorFinding:
    """The free space in memsift's folders, and whether they can be written."""
    free = {}
    for purpose, folder in folders(environ).items():
        place = existing(folder)
        if not os.access(place, os.W_OK):
            text = f"{place} cannot be written, so there is no place for {purpose}"
            return problem("disk", text, f"Allow it: chmod u+w {place}")
        free[place] = shutil.disk_usage(place).free
    place = min(free, key=free.__getitem__)
    if free[place] < LEAST_FREE_BYTES:
        text = f"only {free[place] / 1e6:,.0f} MB are free at {place}"
        return problem("disk", text, "Free some space. You may delete ~/.cache/memsift.")
    return ok("disk", f"{free[place] / 1e9:,.1f} GB free")


def _modes(environ: Mapping[str, str]) -> DoctorFinding:
    """memsift's files are for their owner alone: they hold prompts and settings."""
    strange: dict[str, str] = {}  # path -> the folder of memsift's in which it lies
    for folder in folders(environ).values():
        for place, _, names in os.walk(folder):
            for path in (place, *(os.path.join(place, name) for name in names)):
                if not os.path.islink(path) and os.stat(path).st_mode & OTHERS:
                    strange[path] = folder
    if not strange:
        return ok("files", "only you can read memsift's files")
    places = " ".join(dict.fromkeys(strange.values()))
    named = listed([*strange], MOST_NAMED)
    return note("files", f"other users may read {named}", f"Keep them out: chmod -R go= {places}")


def existing(folder: str) -> str:
    """*folder*, or the nearest folder above it that exists."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder
