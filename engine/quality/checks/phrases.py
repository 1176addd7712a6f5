"""The phrases by which people ask for memories: missing, older than the text of their memory, or vague."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from engine.phrases.measuring import FIRST, find_vague
from engine.phrases.writing import is_old
from engine.quality.registry import Finding
from engine.search.phrases import MOST_PHRASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot

USUAL = 0.5
"""The share of memories with phrases from which on a memory without them is a finding."""

VAGUE, OLD, LACKING = 0.3, 0.2, 0.1
"""Severities."""


def count_of(subject: CheckedRoot) -> int:
    """The number of active memories with phrases."""
    return sum(memory.summary.id in subject.phrases for memory in subject.active)


def find_asked(subject: CheckedRoot) -> Iterator[Finding]:
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


def find_phrases(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each phrase that finds many memories alike. Where its memory is accepted, the phrase stays."""
    texts = {name: [row.phrase for row in rows[:MOST_PHRASES]] for name, rows in subject.phrases.items()}
    for vague in find_vague(subject.active, texts) if texts else ():
        reason = f"the phrase says nothing: {vague.others:,} other memories come at least half as strong"
        if not 0 < vague.rank <= FIRST:
            reason += f", and its own is not among the first {FIRST}"
        action = f"memsift phrases remove {vague.memory_id} {quote(vague.phrase)}, or if it fits "
        action += f"memsift quality accept {vague.memory_id} --check phrases"
        yield Finding("phrases", vague.memory_id, VAGUE, reason, action, where=vague.phrase)
