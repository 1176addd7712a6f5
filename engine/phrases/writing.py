"""Changing the phrases of a root, one program at a time; and carrying them where their memories go.

A file is written as a whole. Its lines that are no phrases stay in it, behind the phrases, except for the marks that
git leaves. Of each phrase there is one line, in the order of memories and phrases.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.errors import CurationError
from engine.lean.json_text import printed_json
from engine.lean.record import Record, replace
from engine.phrases.file import MARKERS, OF_MODEL, PhraseRow, latest, lines_of, phrases_files, problem_of, read_phrases
from engine.search.phrases import MOST_PHRASES
from engine.stores.files import (
    UnreadableFileError,
    is_inside,
    let_git_join,
    make_folder,
    open_private,
    open_shared,
    write_whole,
)
from engine.stores.lock import WAIT_S, locked
from engine.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from engine.memory import MemorySummary
    from engine.phrases.file import PhraseReading

    Make = Callable[[PhraseReading], list[PhraseRow]]

MOVED, COPIED, TAKEN_BACK = "moved", "copied", "taken back"
OPPOSITES = {MOVED: MOVED, COPIED: TAKEN_BACK, TAKEN_BACK: COPIED}
DIGITS = 16
"""Digits of a digest that a line keeps: enough to tell two texts apart."""

MOST_TRIES = 5
"""How often a file is written that another program changes at the same time."""


class Carried(Record):
    """Phrases that go with a memory, by `kind`: MOVED, COPIED, or TAKEN_BACK as the end of a copy.

    Phrases of the text with `digest` are then of that with `to_digest`, both as in `PhraseRow`: a new id changes it.
    """

    kind: str
    root: str
    memory_id: str
    to_root: str
    to_id: str
    digest: str = ""
    to_digest: str = ""

    def reversed(self) -> Carried:
        kind = OPPOSITES[self.kind]
        if kind == MOVED:
            ends = self.to_root, self.to_id, self.root, self.memory_id
            return Carried(kind, *ends, self.to_digest, self.digest)
        return replace(self, kind=kind)


def select(texts: Iterable[object], title: str, most: int = MOST_PHRASES) -> tuple[list[str], list[str]]:
    """The phrases among *texts* that a memory with this *title* can have, and a complaint about each other text."""
    found: dict[str, str] = {}
    complaints = []
    for text in texts:
        phrase = " ".join(text.split()) if isinstance(text, str) else ""
        if not isinstance(text, str):
            complaints.append("has a phrase that is no text")
        elif problem := problem_of(phrase):
            complaints.append(problem)
        elif phrase.casefold() == " ".join(title.split()).casefold():
            complaints.append("has its own title as a phrase, by which it is found already")
        else:
            found.setdefault(phrase.casefold(), phrase)
    kept = [*found.values()]
    if kept[most:]:
        complaints.append(
            f"has room for {max(0, most)} of {len(kept)} new phrases: a memory has at most {MOST_PHRASES}"
        )
    return kept[: max(0, most)], complaints


def is_old(rows: Sequence[PhraseRow], digest: str) -> bool:
    """Whether none of the phrases was written for the text with this digest."""
    return all(row.digest != digest[:DIGITS] for row in rows)


def count_with_phrases(root: str, environ: Mapping[str, str], memories: Iterable[MemorySummary]) -> str:
    """How many of these memories of *root*, as far as they are active, have phrases: words for people."""
    reading = read_phrases(root, environ)
    active = [memory for memory in memories if memory.status == "active"]
    have = [memory for memory in active if memory.id in reading.counted]
    old = sum(is_old(reading.rows[memory.id], memory.digest) for memory in have)
    said = f"{len(have):,} of {counted(len(active), 'memory')} have phrases"
    return f"{said}, {old:,} of them older than the text" if old else said


def add_phrases(
    root: str, environ: Mapping[str, str], given: Sequence[tuple[MemorySummary, Sequence[object]]], by: str
) -> tuple[int, list[str]]:
    """Add phrases to memories: how many were added, and complaints about others. *by* as in `PhraseRow`.

    The phrases of a model take the place of phrases that a model wrote for an older text. A phrase that is there
    already counts for the present text. Raises CurationError.
    """
    complaints: list[str] = []
    count = 0

    def make(reading: PhraseReading) -> list[PhraseRow]:
        nonlocal count
        count, made = 0, []
        complaints.clear()
        for memory, texts in given:
            own = {row.phrase: row for row in reading.rows.get(memory.id, ())}
            digest = memory.digest[:DIGITS]
            new, said = select(texts, memory.title, most=len([*texts]))
            is_renewed = new and by.startswith(OF_MODEL)
            old = [row for row in own.values() if row.by.startswith(OF_MODEL) and row.digest != digest]
            gone = old if is_renewed else []
            room = MOST_PHRASES - len(own.keys() - {row.phrase for row in gone} - {*new})
            fitting, more = select(new, memory.title, room)
            complaints.extend(f"{memory.id} {text}" for text in (*said, *more))
            made += [replace(row, is_removed=True) for row in gone if row.phrase not in fitting]
            made += [
                PhraseRow(memory.id, phrase, digest, own[phrase].by if phrase in own else by, "")
                for phrase in fitting
                if phrase not in own or own[phrase].digest != digest
            ]
            count += sum(phrase not in own for phrase in fitting)
        return made

    change_phrases(root, environ, make)
    return count, complaints


def change_phrases(root: str, environ: Mapping[str, str], make: Make) -> str:
    """Write the rows that *make* gives, in place of those of the same phrases; the path of the file, empty for none.

    The root is locked meanwhile. Raises CurationError.
    """
    root = os.path.realpath(root)
    with locked(root, "", environ, WAIT_S):
        return _write(root, environ, make)


def carry(carried: Sequence[Carried], environ: Mapping[str, str]) -> None:
    """Carry phrases. The caller holds the locks on the roots. To do it twice changes nothing. Raises CurationError."""
    readings = {root: read_phrases(root, environ) for going in carried for root in (going.root, going.to_root)}
    changes: dict[str, list[PhraseRow]] = {}
    for going in carried:
        rows = readings[going.root].rows.get(going.memory_id, ())
        there = {row.phrase: row for row in readings[going.to_root].rows.get(going.to_id, ())}
        come, gone = changes.setdefault(going.to_root, []), changes.setdefault(going.root, [])
        if going.kind == TAKEN_BACK:
            copies = [there[row.phrase] for row in rows if row.phrase in there]
            same = {(row.phrase, row.digest, row.by) for row in rows}
            come += [replace(row, is_removed=True) for row in copies if (row.phrase, row.digest, row.by) in same]
        else:
            digests = {going.digest: going.to_digest}
            come += [
                replace(row, memory_id=going.to_id, digest=digests.get(row.digest, row.digest))
                for row in rows
                if row.phrase not in there
            ]
            gone += [replace(row, is_removed=True) for row in rows] if going.kind == MOVED else []
    for root, made in changes.items():
        _write(root, environ, lambda _, made=made: made)  # type: ignore[misc]


def _write(root: str, environ: Mapping[str, str], make: Make) -> str:
    """As `change_phrases`, without a lock. A file that another program changes in between is read again."""
    for left in reversed(range(MOST_TRIES)):
        reading = read_phrases(root, environ)
        if not (rows := make(reading)):
            return ""
        times = {(row.memory_id, row.phrase): row.at for own in reading.rows.values() for row in own}
        times |= {(row.memory_id, row.phrase): row.at for row in reading.removed}
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        rows = [replace(row, at=max(now, times.get((row.memory_id, row.phrase), ""))) for row in rows]
        path = place_of(root, environ)
        is_shared = path == phrases_files(root, environ)[0] and os.path.isdir(root)
        before = _stamp(path)
        try:
            content = _joined(path, rows)
            os.makedirs(os.path.dirname(path), exist_ok=True) if is_shared else make_folder(os.path.dirname(path))

            def look(path: str = path, before: object = before) -> None:
                if _stamp(path) != before:
                    raise BlockingIOError("was changed by another program")

            write_whole(path, content, open_shared if is_shared else open_private, look=look)
            if is_shared:
                let_git_join(path)
            return path
        except BlockingIOError:
            if not left:
                raise CurationError(f"{path} is changed by another program all the time. Try again.") from None
        except (OSError, UnreadableFileError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CurationError(f"The phrases in {path} cannot be written ({reason}).") from None
    raise AssertionError  # the last try returns or raises


def _joined(path: str, rows: Sequence[PhraseRow]) -> bytes:
    """The file with these rows, as bytes. Raises UnreadableFileError."""
    best: dict[tuple[str, str], tuple[PhraseRow, str]] = {}
    others = []
    for _, text, row in lines_of(path):
        if not isinstance(row, str):
            key = row.memory_id, row.phrase
            if key not in best or latest(row, best[key][0]) is row:
                best[key] = row, text
        elif not text.startswith(MARKERS):
            others.append(text)
    for row in rows:
        fields = {"id": row.memory_id, "phrase": row.phrase, "digest": row.digest, "by": row.by, "at": row.at}
        text = printed_json(fields | ({"removed": True} if row.is_removed else {}))
        best[row.memory_id, row.phrase] = row, text
    lines = [text for _, (_, text) in sorted(best.items())] + others
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def place_of(root: str, environ: Mapping[str, str]) -> str:
    """The file that is written: that in the root, if the root is a folder that can be written and it leads nowhere.

    Where only the user's state folder has a file of phrases so far, it gets the others, too.
    """
    first, *others = phrases_files(root, environ)
    if not others:
        return first
    folder = os.path.dirname(first)
    is_usable = is_inside(root, first) and (os.path.isfile(first) or not os.path.lexists(first))
    is_usable = is_usable and (os.path.lexists(first) or not os.path.lexists(others[0]))
    above = folder if os.path.lexists(folder) else root
    return first if is_usable and os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK) else others[0]


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
