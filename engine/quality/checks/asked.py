"""Memories without phrases by which people ask for them, and phrases that are older than the text of their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.phrases.writing import is_old
from engine.quality.registry import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot

USUAL = 0.5
"""The share of memories with phrases from which on a memory without them is a finding."""

OLD, LACKING = 0.2, 0.1
"""Severities."""


def count_of(subject: CheckedRoot) -> int:
    """The number of active memories with phrases."""
    return sum(memory.summary.id in subject.phrases for memory in subject.active)


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """Memories with old phrases; and those without any, where most memories have some."""
    is_usual = count_of(subject) >= USUAL * len(subject.active)
    for memory in (memory.summary for memory in subject.active):
        rows = subject.phrases.get(memory.id, ())
        again = f"memsift phrases write, or if they still fit memsift quality accept {memory.id} --check asked"
        if rows and is_old(rows, memory.digest):
            yield Finding("asked", memory.id, OLD, "its phrases are older than its text", again)
        elif not rows and is_usual:
            reason = "no phrases, by which a prompt in other words finds it"
            yield Finding("asked", memory.id, LACKING, reason, f"memsift phrases add {memory.id} PHRASE")
