"""Memories that may not be true any more: old, superseded, or about things that the repository has no longer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.quality.checks.usage import seconds
from engine.quality.registry import RETIRE, Finding
from engine.quality.repository import RepositoryContent, repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.memory import Memory
    from engine.quality.registry import CheckedRoot

DAYS = {"session_summary": 90, "project": 180, "tech_debt": 365, "runbook": 365, "reference": 365}
MOST_DAYS = 730
"""Days after which a memory of a category is worth a look; MOST_DAYS for the other categories."""

AGE_SEVERITY, MOST_AGE_SEVERITY = 0.2, 0.5
SUPERSEDED_SEVERITY, FILE_SEVERITY, NAME_SEVERITY, VERSION_SEVERITY = 0.7, 0.5, 0.4, 0.5
SUPERSEDED = re.compile(
    r"\b(?:superseded|obsoleted) by\b|\b(?:this|decision|memory|note|rule) (?:is|was|has been) replaced by\b"
    r"|^\s*(?:status:\s*)?(?:superseded|deprecated|obsolete)\b",
    re.IGNORECASE | re.MULTILINE,
)
STATUS_WORDS = ("superseded", "deprecated", "obsolete")
CODE = re.compile(r"`([^`\n]{2,120})`")
PATH = re.compile(r"(?<![\w:/.@~-])((?:[\w.@-]+/)+[\w.@-]+\.[A-Za-z]\w{0,5})(?![\w/])")
FILE = re.compile(r"^[\w@.-]+\.(?:py|js|jsx|ts|tsx|go|rs|java|kt|swift|c|h|cpp|cs|rb|php|sh|sql|vue|svelte|proto|tf)$")
CALL = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)\(.*\)$")
VERSION = re.compile(
    r"(?<![\w/.-])(@?[A-Za-z][\w./-]*[A-Za-z0-9])\s*(?:version\s+|==|@|\s+v?|-v)(\d+(?:\.\d+){1,3})(?!\w|\.\w)"
)
GONE = re.compile(
    r"\b(?:removed|deleted|dropped|renamed|moved|former|formerly|was|old|create|new|add)\b", re.IGNORECASE
)
NEAR = 40
"""Characters before a name in which a word may say that it is gone, or not there yet."""


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """Findings about active memories. Files, functions and versions are looked up only if there is a repository."""
    project = repository(subject.project) if subject.project else None
    for memory in subject.active:
        yield from _superseded(memory)
        yield from _old(memory, subject.now)
        if project:
            text = f"{memory.summary.title}\n{memory.body}"
            yield from _missing(memory, text, project)
            yield from _versions(memory, text, project)


def _superseded(memory: Memory) -> Iterator[Finding]:
    status = {
        line.strip().lower() for part in memory.sections if part.heading.lower() == "status" for line in part.lines
    }
    match = SUPERSEDED.search(memory.body)
    said = next((word for word in STATUS_WORDS if word in status), "")
    if not said and not match:
        return
    reason = f"its own status is {said}" if said else f"it says {' '.join(match[0].split())!r}" if match else ""
    memory_id = memory.summary.id
    action = f'memsift retire {memory_id} --reason "superseded"'
    yield Finding("staleness", memory_id, SUPERSEDED_SEVERITY, reason, action, "status", (), (RETIRE,))


def _old(memory: Memory, now: float) -> Iterator[Finding]:
    summary = memory.summary
    changed = seconds(summary.updated_at or summary.created_at)
    most = DAYS.get(summary.category, MOST_DAYS)
    if changed is None or (now - changed) / 86400 <= most:
        return
    days = (now - changed) / 86400
    severity = round(min(MOST_AGE_SEVERITY, AGE_SEVERITY * days / most), 2)
    reason = f"last changed {days:,.0f} days ago; a {summary.category.replace('_', ' ')} is worth a look after {most}"
    still, gone = f"memsift quality accept {summary.id} --check staleness", f"memsift retire {summary.id}"
    action = f"Check it: memsift show {summary.id}. If it is still true, {still}, else {gone}"
    yield Finding("staleness", summary.id, severity, reason, action, "updated_at")


def _missing(memory: Memory, text: str, project: RepositoryContent) -> Iterator[Finding]:
    memory_id = memory.summary.id
    action = f"Correct it: memsift edit {memory_id}, or memsift retire {memory_id}"
    for path in dict.fromkeys(_paths(text, project)):
        if not project.has_file(path):
            yield Finding("staleness", memory_id, FILE_SEVERITY, f"the repository has no file {path}", action, path)
    if not project.is_whole or not project.names:
        return
    for match in CODE.finditer(text):
        call = CALL.match(match[1])
        name = call[1] if call else ""
        if len(name) > 3 and name not in project.names and not _is_told_gone(text, match.start()):
            reason = f"no source of the repository has the name {name}"
            yield Finding("staleness", memory_id, NAME_SEVERITY, reason, action, match[1])


def _paths(text: str, project: RepositoryContent) -> Iterator[str]:
    """The paths in a text that are meant to be in the repository: their first folder is there, or they are code."""
    tops = {file.partition("/")[0] for file in project.files if "/" in file}
    for match in PATH.finditer(text):
        if match[1].removeprefix("./").partition("/")[0] in tops and not _is_told_gone(text, match.start()):
            yield match[1]
    for match in CODE.finditer(text):
        if FILE.match(match[1]) and not _is_told_gone(text, match.start()):
            yield match[1]


def _is_told_gone(text: str, start: int) -> bool:
    return bool(GONE.search(text[max(0, start - NEAR) : start].rpartition("\n")[2]))


def _versions(memory: Memory, text: str, project: RepositoryContent) -> Iterator[Finding]:
    memory_id = memory.summary.id
    matches = {(match[1].lower(), match[2]): match for match in VERSION.finditer(text)}
    for (name, said), match in matches.items():
        locked = project.versions.get(name) or project.versions.get(name.replace("_", "-"))
        if locked and _numbers(said) < _numbers(locked[0])[: len(_numbers(said))]:
            reason = f"it names {match[1]} {said}; {locked[1]} has {locked[0]}"
            action = f"Correct it: memsift edit {memory_id}"
            yield Finding("staleness", memory_id, VERSION_SEVERITY, reason, action, match[0].strip())


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version.split("+")[0].split("-")[0])]
