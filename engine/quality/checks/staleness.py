"""Memories that may not be true any more: superseded, or about things that the repository has no longer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.quality.registry import WORDS, Finding
from engine.quality.repository import RepositoryContent, read_repository

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from engine.memory import Memory
    from engine.quality.registry import CheckedRoot

SUPERSEDED_SEVERITY, FILE_SEVERITY, NAME_SEVERITY, VERSION_SEVERITY = 0.7, 0.5, 0.4, 0.5
MOST_NAMED = 3
"""Names in the reason of a finding."""

SUPERSEDED = re.compile("|".join(WORDS["superseded"]), re.IGNORECASE)
STATUS_WORDS = ("superseded", "deprecated", "obsolete")
CODE = re.compile(r"`([^`\n]{2,120})`")
PATH = re.compile(r"(?<![\w:/.@~<>{}$*\[\]-])((?:[\w.@-]+/)+[\w.@-]+\.[A-Za-z]\w{0,5})(?![\w/<{*])")
FILE = re.compile(r"^[\w@.-]+\.(?:py|js|jsx|ts|tsx|go|rs|java|kt|swift|c|h|cpp|cs|rb|php|sh|sql|vue|svelte|proto|tf)$")
CALL = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)\(.*\)$")
VERSION = re.compile(
    r"(?<![\w/.-])(@?[A-Za-z][\w./-]*[A-Za-z0-9])\s*(?:version\s+|==|@|\s+v?|-v)(\d+(?:\.\d+){1,3})(?!\w|\.\w)"
)
GONE = re.compile("|".join((rf"\b(?:{'|'.join(WORDS['gone'])})\b", *WORDS["gone signs"])), re.IGNORECASE)
STAND_IN = re.compile("|".join(WORDS["stand-ins"]), re.IGNORECASE)
RENAMED = re.compile(r"[^\s→]{2,120}\s?(?:->|→)")
NEAR = 60
"""Characters before a name in which a word may say that it is gone, or not there yet."""
TOLD = re.compile(rf"\b(?:{'|'.join(WORDS['told'])})\b", re.IGNORECASE)
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


def find_staleness(subject: CheckedRoot) -> Iterator[Finding]:
    """Findings about active memories. Files, functions and versions are looked up only if there is a repository."""
    project = read_repository(subject.project) if subject.project else None
    texts = {memory.summary.id: f"{memory.summary.title}\n{memory.body}" for memory in subject.active}
    gone: frozenset[str] = frozenset()
    if project and project.is_whole and project.names:
        gone = project.had_names({name for text in texts.values() for name in _calls(text)} - project.names)
    for memory in subject.active:
        yield from _superseded(memory)
        if project:
            text = texts[memory.summary.id]
            yield from _missing(memory, text, project, gone)
            yield from _versions(memory, text, project)


def _superseded(memory: Memory) -> Iterator[Finding]:
    status = {
        line.strip().lower() for part in memory.sections if part.heading.lower() == "status" for line in part.lines
    }
    said = next((word for word in STATUS_WORDS if word in status), "")
    match = next(filter(None, (SUPERSEDED.search("\n".join(part.lines)) for part in memory.sections)), None)
    if said or match:
        reason = f"its own status is {said}" if said else f"it says {' '.join(match[0].split())!r}" if match else ""
        action = f'memsift retire {memory.summary.id} --reason "superseded"'
        yield Finding("staleness", memory.summary.id, SUPERSEDED_SEVERITY, reason, action, "status")


def _missing(memory: Memory, text: str, project: RepositoryContent, gone: Collection[str]) -> Iterator[Finding]:
    """Files and functions that the project had, one finding for each kind.

    Others may be planned, or of another project.
    """
    paths = [path for path in dict.fromkeys(_paths(text)) if project.lost_file(path)]
    files = [path for path in paths if not any(other.endswith(f"/{path}") for other in paths)]
    calls = [call for name, call in _calls(text).items() if name in gone]
    action = f"Correct it: memsift edit {memory.summary.id}, or memsift retire {memory.summary.id}"
    for severity, lacks, lost in (
        (FILE_SEVERITY, "the repository has no file", files),
        (NAME_SEVERITY, "no source of the repository has the name", calls),
    ):
        if lost:
            more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
            reason = f"{lacks} {', '.join(lost[:MOST_NAMED])}{more}"
            yield Finding("staleness", memory.summary.id, severity, reason, action, lost[0])


def _paths(text: str) -> Iterator[str]:
    """The paths in a text, and names of sources in code, that it does not call gone or planned."""
    told = _told_lines(text)
    for match in (*PATH.finditer(text), *CODE.finditer(text)):
        is_file = match.re is PATH or FILE.match(match[1])
        if is_file and not STAND_IN.search(match[1]) and not _is_told_gone(text, match.start(), told):
            yield match[1]


def _calls(text: str) -> dict[str, str]:
    """Function -> its first call in a text that does not call it gone or planned."""
    told = _told_lines(text)
    calls = [(call[1], code) for code in CODE.finditer(text) if (call := CALL.match(code[1])) and len(call[1]) > 3]
    return {name: code[1] for name, code in reversed(calls) if not _is_told_gone(text, code.start(), told)}


def _told_lines(text: str) -> set[int]:
    """Offsets of lines that tell of a fault, and of list items below a line that says that things are gone.

    Those of all lines, if the title tells of a fault.
    """
    lines = text.split("\n")
    is_title_told = bool(TOLD.search(lines[0]))
    found: set[int] = set()
    begin, is_gone = 0, False
    for line in lines:
        is_item = bool(ITEM.match(line))
        if is_title_told or TOLD.search(line) or (is_item and is_gone):
            found.add(begin)
        if line.strip() and not is_item:
            is_gone = line.rstrip(" *_").endswith(":") and bool(GONE.search(line))
        begin += len(line) + 1
    return found


def _is_told_gone(text: str, start: int, told: Collection[int]) -> bool:
    """Whether the text says that a named file is gone or planned: the words around the name, or its line."""
    begin = text.rfind("\n", 0, start) + 1
    is_near = GONE.search(text[max(begin, start - NEAR) : start])
    return begin in told or bool(is_near or RENAMED.match(text, start))


def _versions(memory: Memory, text: str, project: RepositoryContent) -> Iterator[Finding]:
    memory_id = memory.summary.id
    matches = {(match[1].lower(), match[2]): match for match in VERSION.finditer(text)}
    for (name, said), match in matches.items():
        locked = project.versions.get(name) or project.versions.get(name.replace("_", "-"))
        if locked and _numbers(said)[0] < _numbers(locked[0])[0]:
            reason = f"it names {match[1]} {said}; {locked[1]} has {locked[0]}"
            action = f"Correct it: memsift edit {memory_id}"
            yield Finding("staleness", memory_id, VERSION_SEVERITY, reason, action, match[0].strip())


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version.split("+")[0].split("-")[0])]
