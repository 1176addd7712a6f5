"""Differences between the files of a root: doubles of a memory, and the list of memories (index.md or MEMORY.md)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from engine.errors import CurationError
from engine.quality.registry import LIST, Finding
from engine.stores.files import LargeFileError, UnreadableFileError, is_inside, read_text
from engine.stores.writing import writings_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.quality.registry import CheckedRoot
    from engine.stores.writing import IndexEntry, Writing

DOUBLE_SEVERITY = 0.6
NOTICE_SEVERITY, DEAD_SEVERITY, UNLISTED_SEVERITY, TITLE_SEVERITY = 0.5, 0.4, 0.5, 0.3

MOST_NAME = 200


def find_drift(subject: CheckedRoot) -> Iterator[Finding]:
    """Doubles, dead links, memories without a line or with the line of another text, and problems of the list."""
    for notice in subject.notices:
        reason = f"{notice.where} {notice.reason}"
        yield Finding("drift", "", NOTICE_SEVERITY, reason, f"Edit {notice.where}", notice.where)
    held = {memory.summary.id: memory.summary.file for memory in subject.memories}
    for double in subject.doubles:  # nobody would notice these files otherwise: they are not shown
        kept, other = held.get(double.double_of, ""), os.path.join(subject.root, double.where)
        if kept not in ("", other):
            action = f"Keep in {os.path.relpath(kept, subject.root)} what is right, and delete {double.where}"
            reason = f"{double.where} {double.reason}"
            yield Finding("drift", double.double_of, DOUBLE_SEVERITY, reason, action, double.where)
    files = {
        os.path.relpath(memory.summary.file, subject.root).replace(os.sep, "/"): memory for memory in subject.active
    }
    for writing, names in writings_in(subject.root, files).items():
        name = writing.INDEX_FILE
        try:
            lines = read_text(subject.root, os.path.join(subject.root, name)).splitlines()
        except LargeFileError as error:
            if name not in [notice.where for notice in subject.notices]:
                reason = f"{name} {error}, so it is not compared with the memories"
                yield Finding("drift", "", NOTICE_SEVERITY, reason, f"Look whether {name} is needed", name)
            continue
        except UnreadableFileError:
            continue
        entries = list(writing.entries(lines))
        if not subject.notices:
            yield from _dead(subject.root, writing, entries)
        own = {file: files[file].summary.id for file in names if file != name}
        yield from _of_memories(subject.root, writing, lines, own)


def _dead(root: str, writing: Writing, entries: Sequence[IndexEntry]) -> Iterator[Finding]:
    name = writing.INDEX_FILE
    for entry in entries:
        if not os.path.exists(os.path.join(root, entry.name)):
            where = f"{name}:{entry.start + 1}"
            reason = f"{where} names {entry.name[:200]}, which does not exist"
            action = f"Delete the line {entry.start + 1} of {name}"
            yield Finding("drift", "", DEAD_SEVERITY, reason, action, where, (), _change(root, writing, entry.name))


def _change(root: str, writing: Writing, name: str) -> tuple[str, ...]:
    """The change that takes away the line of a file that is gone; none for a name that can be no file of the root.

    None also in a list that people write: the line may be all that is left of the memory.
    """
    is_name = writing.IS_SORTED and len(os.path.basename(name)) < MOST_NAME and "\0" not in name
    return (LIST, name) if is_name and is_inside(root, os.path.join(root, name)) else ()


def _of_memories(root: str, writing: Writing, lines: Sequence[str], ids: Mapping[str, str]) -> Iterator[Finding]:
    """Memories that no line lists or names, and generated lines with another title than the file.

    *ids*: file -> memory. A missing line is added by `fix` as long as the client still loads the whole list.
    """
    name, listed = writing.INDEX_FILE, {entry.name: entry for entry in writing.entries(lines)}
    text = "\n".join(lines)
    linked = {file for line in lines for file in writing.links(line)}
    longer = text
    for file, memory_id in ids.items():
        entry = listed.get(file)
        expected = _expected(root, writing, file, lines[entry.start] if entry else "")
        if entry and expected and writing.IS_SORTED and lines[entry.start].strip() != expected.strip():
            where = f"{name}:{entry.start + 1}"
            reason = "its line in the list has another title, category or tags than the file"
            action = f"Change {where} to: {expected}"
            yield Finding("drift", memory_id, TITLE_SEVERITY, reason, action, where, (), (LIST, file))
        elif expected and not entry and file not in linked and not _is_named(text, file):
            longer = f"{longer}\n{expected}"
            change = () if writing.left_out(longer) else (LIST, file)
            reason, action = f"{name} does not list it", f"Add the line: {expected}"
            yield Finding("drift", memory_id, UNLISTED_SEVERITY, reason, action, name, (), change)


def _is_named(text: str, file: str) -> bool:
    """Whether a list names a file without a link: with its ending, in [[...]], in backticks, or as a whole word."""
    stem = re.escape(os.path.splitext(os.path.basename(file))[0])
    plain = rf"|(?<![\w-]){stem}(?![\w-])" if re.search(r"[_-]", stem) else ""
    return file in text or bool(re.search(rf"\[\[{stem}[\]|#]|`{stem}`{plain}", text))


def _expected(root: str, writing: Writing, file: str, old: str) -> str:
    """The line that should list a file; empty if it should not be listed, or cannot be read."""
    try:
        text = read_text(root, os.path.join(root, file))
        return writing.entry_line(file, text, old, text if old else "")
    except (UnreadableFileError, CurationError):
        return ""
