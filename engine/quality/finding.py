"""A finding: what a check has to say about a memory, and the command that settles it."""

from __future__ import annotations

from engine.lean.record import Record


class Finding(Record):
    """`severity` is 0..1. `where` names a place: a field, a line, character offsets, or another memory.

    `memory_id` is empty for a finding about the root. `others` are ids of further memories that it is about.
    `action` is a command line, or a sentence where no command can do it.
    """

    check: str
    memory_id: str
    severity: float
    reason: str
    action: str
    where: str = ""
    others: tuple[str, ...] = ()
