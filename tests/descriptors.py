"""A watch over the whole project in every test: only SQLite opens a SQLite file that this process may have open.

POSIX locks belong to a process and a file. Closing any descriptor of the file frees all of them, also SQLite's own
(https://www.sqlite.org/howtocorrupt.html, section 2.2).
"""

import os
import sys
from pathlib import Path
from urllib.parse import unquote

PROJECT = Path(__file__).resolve().parents[1]
ROOMS = tuple(f"{PROJECT / room}{os.sep}" for room in ("engine", "labels", "tui"))
LOCKED = ("", "-shm")
"""Suffixes of the files on which SQLite holds locks."""

opened: set[str] = set()
"""The names of the files, without folders, that SQLite opened in this process."""

places: set[str] = set()
"""Their resolved paths."""

offences: list[str] = []
"""Files of `places` that code of the project opened itself, with the line that did it."""


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook (PEP 578). SQLite takes no locks on a file that it opens as immutable."""
    if event == "sqlite3.connect" and b"immutable=1" not in os.fsencode(arguments[0]):  # type: ignore[arg-type]
        note_database(os.fsdecode(arguments[0]))  # type: ignore[arg-type]
    elif event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        path, flags = os.fsdecode(arguments[0]), arguments[2]
        is_new = isinstance(flags, int) and flags & os.O_EXCL
        if Path(path).name in opened and not is_new and os.path.realpath(path) in places:
            note_offence(path)


def note_database(database: str) -> None:
    path = unquote(database.removeprefix("file:").partition("?")[0]) if database.startswith("file:") else database
    for suffix in LOCKED:
        place = os.path.realpath(path + suffix)
        places.add(place)
        opened.update((Path(place).name, Path(path).name + suffix))


def note_offence(path: str) -> None:
    """Note the nearest caller that is code of the project; a test may open what it likes."""
    frame = sys._getframe(2)
    while frame and not frame.f_code.co_filename.startswith(str(PROJECT / "tests")):
        if frame.f_code.co_filename.startswith(ROOMS):
            offences.append(f"{frame.f_code.co_filename}, line {frame.f_lineno}: opens {path}")
            return
        frame = frame.f_back  # type: ignore[assignment]
