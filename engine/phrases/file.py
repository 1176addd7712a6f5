"""Reading the phrases of a root: a line of JSON for each phrase, in the root itself and in the user's state folder.

The index reads this in the background of the hook, so no slow imports here: see engine/lean.
"""

from __future__ import annotations

import os
import unicodedata

from engine.lean.json_text import loads
from engine.lean.record import Record
from engine.paths import state_dir
from engine.search.phrases import MOST_PHRASES, MOST_WORDS
from engine.stores.files import UnreadableFileError, bytes_of, require_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER, NAME = ".memsift", "phrases.jsonl"
MOST_BYTES = 100_000_000
"""The largest file that is read: 50,000 memories with eight phrases each take 70 MB."""

MOST_CHARACTERS = 400
"""Characters of a phrase. A longer one is no phrase."""

MARKERS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
"""The lines that git puts around a conflict. All phrases between them count."""

JOINERS = "\u200c\u200d"
"""Invisible signs that words of some languages need."""

OF_MODEL = "model "
"""The beginning of `by` where a model wrote the phrase; its name follows."""


class PhraseRow(Record):
    """A phrase of a memory, or its removal. `digest`: the first 16 digits of that of the text it was written for.

    `by` is a person's name, or OF_MODEL and a model's name. `at` is ISO 8601 in UTC, with milliseconds. `file` and
    `line`, from 1, say where it stands.
    """

    memory_id: str
    phrase: str
    digest: str
    by: str
    at: str
    is_removed: bool = False
    file: str = ""
    line: int = 0


class PhraseProblem(Record):
    """A line that does not count, and why. `line` is from 1; 0 stands for the whole file."""

    file: str
    line: int
    reason: str

    @property
    def text(self) -> str:
        """The problem for people."""
        return f"{self.file}{f', line {self.line:,},' if self.line else ''} {self.reason}"


class PhraseReading(Record):
    """The phrases of a root.

    `rows`: memory id -> the phrases that were not removed, the earliest first. `removed` are the removals. `counted`:
    memory id -> the phrases that count, at most MOST_PHRASES of MOST_WORDS words each.
    """

    rows: Mapping[str, tuple[PhraseRow, ...]]
    counted: Mapping[str, tuple[str, ...]]
    problems: tuple[PhraseProblem, ...] = ()
    removed: tuple[PhraseRow, ...] = ()


def phrases_files(root: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The files that may hold phrases of *root*: in a root that is a folder, and in the user's state folder."""
    root = os.path.realpath(root)
    inside = (os.path.join(root, FOLDER, NAME),) if os.path.isdir(root) else ()
    return (*inside, os.path.join(state_dir(root, environ), NAME))


def read_phrases(root: str, environ: Mapping[str, str], *, is_own: bool = True) -> PhraseReading:
    """The phrases of *root*. Never raises: what cannot be used is a problem, and the rest counts.

    Without *is_own*, only those in the user's state folder: others may have written the root.
    """
    found: dict[tuple[str, str], PhraseRow] = {}
    problems: list[PhraseProblem] = []
    for path in phrases_files(root, environ)[0 if is_own else -1 :]:
        try:
            for number, _, row in lines_of(path):
                if isinstance(row, str):
                    problems.append(PhraseProblem(path, number, row))
                elif latest(row, found.get(key := (row.memory_id, row.phrase))) is row:
                    found[key] = row
        except UnreadableFileError as error:
            problems.append(PhraseProblem(path, 0, str(error)))
    rows: dict[str, list[PhraseRow]] = {}
    for row in sorted(found.values(), key=lambda row: (row.at, row.phrase)):
        if not row.is_removed:
            rows.setdefault(row.memory_id, []).append(row)
    for memory_id, own in rows.items():
        if own[MOST_PHRASES:]:
            reason = f"is one phrase too many for {memory_id!r}: the first {MOST_PHRASES} count"
            problems.append(PhraseProblem(own[MOST_PHRASES].file, own[MOST_PHRASES].line, reason))
    return PhraseReading(
        {memory_id: tuple(own) for memory_id, own in rows.items()},
        {memory_id: tuple([row.phrase for row in own[:MOST_PHRASES]]) for memory_id, own in rows.items()},
        tuple(problems),
        tuple([row for row in found.values() if row.is_removed]),
    )


def lines_of(path: str) -> Iterator[tuple[int, str, PhraseRow | str]]:
    """The number and the text of each line that is not empty, and its row, or the reason why it is none.

    There is nothing in a missing file. No link is followed out of the folder above FOLDER. Raises UnreadableFileError.
    A byte that is not UTF-8 becomes a lone surrogate, as `os.fsdecode` makes it.
    """
    if not os.path.lexists(path):
        return
    require_inside(os.path.realpath(os.path.dirname(os.path.dirname(path))), path)
    raw = bytes_of(path, MOST_BYTES).removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(raw.decode("utf-8", "surrogateescape").split("\n"), 1):
        if text := line.strip(" \t\r"):
            yield number, text, _row(text, path, number)


def latest(row: PhraseRow, other: PhraseRow | None) -> PhraseRow:
    """The row that counts, of two with the same memory and phrase: the later one, and a removal at the same time."""
    if other is None:
        return row
    return max(other, row, key=lambda row: (row.at, row.is_removed, row.digest, row.by))


def problem_of(phrase: str) -> str:
    """Why a text is no phrase, in words that follow its line or itself; empty for a phrase."""
    if not phrase.strip():
        return "has no phrase"
    if len(phrase) > MOST_CHARACTERS or len(phrase.split()) > MOST_WORDS:
        return f"has a phrase of more than {MOST_WORDS} words or {MOST_CHARACTERS} characters"
    if not (phrase.isascii() and phrase.isprintable()) and any(
        unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") and sign not in JOINERS for sign in phrase
    ):
        return "has a phrase with characters that control a terminal or hide text"
    return ""


def _row(text: str, file: str, number: int) -> PhraseRow | str:
    """The row that a line spells, or the reason why it is none."""
    if text.startswith(MARKERS):
        return "is a mark of a conflict in git; the phrases around it count"
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return "is not JSON"
    if not isinstance(value, dict):
        return "is not a JSON object"
    if "v" in value:
        return "was written by another version of memsift"
    parts = [value.get(name, "") for name in ("id", "phrase", "digest", "by", "at")]
    if not all(isinstance(part, str) for part in parts) or not isinstance(value.get("removed", False), bool):
        return "has a field of another kind"
    memory_id, phrase, digest, by, at = parts
    if not memory_id.strip():
        return "names no memory"
    return problem_of(phrase) or PhraseRow(memory_id, phrase, digest, by, at, value.get("removed", False), file, number)
