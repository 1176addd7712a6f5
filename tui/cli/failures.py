"""Failures of the system around a command: no stdin, a full disk under stdout, a current folder that was removed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def open_missing_streams() -> None:
    """Give a process without stdin, stdout or stderr an empty one: Python says None, and libraries expect a file."""
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")


def drop_unwritten() -> None:
    """Forget lines that a full disk did not take: Python writes them again at its end, and then exits with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def explanation(error: OSError) -> str:
    """The line for a person on an error of the system that no command expected."""
    reason = error.strerror or str(error)
    if not _has_folder():
        return f"The folder in which you are cannot be read ({reason}); it may be gone. Go to another: cd ~"
    if error.filename:
        return f"{error.filename}: {reason}. Look whether you may read and write there, and whether the disk has room."
    return f"The output cannot be written ({reason}), so it is not whole. Make room, or write to another place."


def _nothing(mode: str) -> TextIO:
    return Path(os.devnull).open(mode, encoding="utf-8")  # type: ignore[return-value]


def _has_folder() -> bool:
    try:
        return bool(Path.cwd())
    except OSError:
        return False
