"""What commands print: rows as JSON or as lines, on streams that may lack UTF-8, room, or be closed."""

from __future__ import annotations

import os
import re
import shutil
import sys
from io import TextIOWrapper
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from engine.errors import MemsiftError
from engine.judge.verdict import TIMEOUT
from engine.lean.json_text import printed_json
from engine.stores.files import open_named, write_whole
from tui.cli.options import store_path
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from engine.memory import Skipped
    from engine.retrieval import Retrieval

    Output = tuple[dict[str, Any], str]
    """What a command found, as a row of JSON and as a text for people."""


MIN_TEXT, PIPED_TEXT, MAX_TEXT = 40, 80, 100
"""Cells of a line of a report: at least, in a pipe, and at most."""


COMMAND = re.compile(r"(?<![\w/])(?:memsift|claude|chmod) (?:'[^']*'|[^'])*?(?=[,;:)]|\. |$)")
"""A command line in a sentence, which a person may copy."""

KEPT_SPACE = "\xa0"
"""A space at which no line ends. No visible text holds one."""


def picked(record: object, *names: str) -> dict[str, Any]:
    """Some of the fields of a record, for a row of JSON."""
    return {name: getattr(record, name) for name in names}


def output(form: str, rows: object, lines: Iterable[str]) -> str:
    """The output of a command as --format says: *rows* as JSON, or *lines* for people."""
    return f"{printed_json(rows, indent=2)}\n" if form == "json" else text_of(lines)


def text_of(lines: Iterable[str]) -> str:
    """*lines* as a text in which no character commands the terminal."""
    return "".join(f"{visible(line)}\n" for line in lines)


def output_of_roots(form: str, made: Mapping[str, Output]) -> str:
    """The output of a command over one or several roots. *made*: root -> its output.

    The output over one root stays as it is. Of several, "json" becomes an array of objects with `root` first, and texts
    follow each other under their roots.
    """
    if len(made) == 1:
        ((row, text),) = made.values()
        return f"{printed_json(row, indent=2)}\n" if form == "json" else text
    if form == "json":
        return f"{printed_json([{'root': root, **row} for root, (row, _) in made.items()], indent=2)}\n"
    return "\n".join(f"{visible(root)}\n\n{text}" for root, (_, text) in made.items())


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """*text*, visible, as lines of at most *width* characters that begin with *first* and then with *rest*.

    A line may be longer for a word or for a command line in the text: it is not broken, so it can be copied.
    """
    kept = COMMAND.sub(lambda found: found[0].replace(" ", KEPT_SPACE), visible(text))
    lines = wrap(
        kept, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(KEPT_SPACE, " ") for line in lines]


def output_width(piped: int) -> int:
    """The width of stdout in cells: of the terminal, or *piped* for a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else piped


def text_width() -> int:
    """The width of a text of sentences and tables on stdout, which a wide terminal does not stretch."""
    return max(MIN_TEXT, min(output_width(PIPED_TEXT), MAX_TEXT))


def open_streams() -> None:
    """Make stdin, stdout and stderr the same in every locale: data is UTF-8, and names of files may hold any bytes.

    A terminal shows a question mark for each character that it does not have. A process without one of the three gets
    an empty one: Python says None, and libraries expect a file.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open to the end
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if not isinstance(stream, TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdin else "surrogateescape")


def write_output(text: str, output: str) -> None:
    """Write the file that a person named: complete or not at all. Raises MemsiftError, also for the label store."""
    place, store = Path(output), store_path(click.get_current_context().params.get("db"), writes=True)
    if place.exists() and store.exists() and place.samefile(store):
        raise MemsiftError(f"{output} is the label store, so it was left alone. Name another file.")
    try:
        write_whole(output, text.encode("utf-8"), open_named)
    except OSError as error:
        raise MemsiftError(f"{output}: {error.strerror or error}. Name a file that can be written.") from None


def drop_unwritten() -> None:
    """Forget lines that a full disk did not take: Python writes them again at its end, and then exits with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def explanation(error: Exception) -> str:
    """The line for a person on an error that no command expected."""
    if isinstance(error, UnicodeDecodeError):
        return "The input is not UTF-8 text. Convert it first: iconv -f latin1 -t utf-8"
    if not isinstance(error, OSError):
        return f"A bug in memsift: {type(error).__name__}: {error}. To see where: memsift --debug COMMAND"
    reason = error.strerror or str(error)
    try:
        Path.cwd()
    except OSError:
        return f"The current folder cannot be read ({reason}). It may be gone. Go to another: cd ~"
    if error.filename:
        return f"{error.filename}: {reason}. Check the permissions there, and the space on the disk."
    return f"The output could not be written in full ({reason}). Make room, or write it elsewhere."


# What stderr tells of a reading or a judge

MOST_NOTICES = 3


def report_skipped(skipped: Sequence[Skipped]) -> None:
    """Tell how many files and rows were skipped, with the reason of the first; copies of a memory come first."""
    if skipped:
        first = next((file for file in skipped if file.double_of), skipped[0])
        tell(f"{len(skipped)} skipped; {first.where}: {first.reason}")


def report_notices(notices: Sequence[Skipped]) -> None:
    """Tell about problems that cost no memory, such as a dead link in MEMORY.md."""
    for notice in notices[:MOST_NOTICES]:
        tell(f"{notice.where} {notice.reason}.")
    if len(notices) > MOST_NOTICES:
        tell(f"{len(notices) - MOST_NOTICES:,} more notices; the app lists all of them under S.")


def report_fallback(retrieval: Retrieval) -> None:
    """Tell why a fallback was used: the judge gave no answer, or SQLite has no full-text search."""
    from engine.pipeline import BY_KEYWORDS, NO_FTS5

    judgement = retrieval.judgement
    if retrieval.fallback == NO_FTS5:
        tell(f"{BY_KEYWORDS}.")
    elif judgement and retrieval.fallback:
        more = " Allow more time with --judge-timeout SECONDS." if judgement.status == TIMEOUT else ""
        tell(f"{judgement.detail or judgement.status}{more}")
