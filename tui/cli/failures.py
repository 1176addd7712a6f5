"""What the system around a command may lack: a stdin, UTF-8, room under stdout, a current folder."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def open_streams() -> None:
    """Make stdin, stdout and stderr the same in every locale: data is UTF-8, and names of files may hold any bytes.

    A terminal shows a question mark for each character that it does not have. A process without one of the three gets
    an empty one: Python says None, and libraries expect a file.
    """
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if not isinstance(stream, TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdin else "surrogateescape")


def drop_unwritten() -> None:
    """Forget lines that a full disk did not take: Python writes them again at its end, and then exits with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def explanation(error: OSError | UnicodeDecodeError) -> str:
    """The line for a person on an error of the system that no command expected."""
    if isinstance(error, UnicodeDecodeError):
        return "The input is no UTF-8 text. Convert it first: iconv -f latin1 -t utf-8"
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
