"""Memories that may hold an instruction to the assistant: see `engine.quality.safety`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.quality.registry import Finding
from engine.quality.safety import gate
from engine.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot


def spoken(count: int) -> str:
    """A sentence for *count* memories that a person has to read."""
    return f"{counted(count, 'memory looks', 'memories look')} like a prompt injection"


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each active memory at or above `max_risk`. Its severity is the risk."""
    for memory in subject.active:
        memory_id = memory.summary.id
        if subject.risks.get(memory_id, subject.max_risk) < subject.max_risk or not gate.risk(memory):
            continue
        result = gate.scan_text(gate.text_of(memory))
        if result.risk >= subject.max_risk:
            first = result.detections[0]
            reason, where = f"{first.category}: {first.reason}", f"characters {first.start} to {first.end}"
            accept = f"Then memsift quality accept {memory_id}, or memsift retire {memory_id}"
            action = f"Read it: memsift show {memory_id}. {accept}"
            yield Finding("safety", memory_id, result.risk, reason, action, where)
