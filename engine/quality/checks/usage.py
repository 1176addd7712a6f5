"""Memories that the hook never injected, and those that it injected often although they were not relevant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.quality.registry import Finding, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot

LEAST_DAYS, LEAST_PROMPTS = 14.0, 100
"""A shorter log says nothing about a memory that was never injected."""

LEAST_INJECTED, LEAST_LABELS, MOST_RELEVANT = 3, 5, 0.34
"""Fewer injections or labels are no sign yet that a memory is mostly irrelevant."""

UNUSED_SEVERITY, FULL_AT = 0.2, 20


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """Findings from the counts in `usage`. A memory that is newer than the log had no chance yet."""
    has_log = subject.log_days >= LEAST_DAYS and subject.log_prompts >= LEAST_PROMPTS
    for memory in (memory.summary for memory in subject.active):
        counts = subject.usage.get(memory.id, Usage())
        labels = counts.relevant + counts.irrelevant
        made = seconds(memory.created_at or memory.updated_at)
        is_older = made is not None and made < subject.now - subject.log_days * 86400
        if has_log and not counts.injected and is_older:
            reason = f"never injected in {subject.log_prompts:,} prompts of {subject.log_days:.0f} days"
            action = f"Give it a clearer title and tags (memsift edit {memory.id}), or memsift archive {memory.id}"
            yield Finding("usage", memory.id, UNUSED_SEVERITY, reason, action)
        elif counts.injected >= LEAST_INJECTED and labels >= LEAST_LABELS and counts.relevant <= MOST_RELEVANT * labels:
            severity = round(counts.irrelevant / labels * min(1.0, 0.5 + counts.injected / FULL_AT / 2), 2)
            reason = f"injected {counts.injected:,} times, but only {counts.relevant} of {labels} labels say relevant"
            action = f"Narrow its title and tags (memsift edit {memory.id}), or memsift retire {memory.id}"
            yield Finding("usage", memory.id, severity, reason, action)


def seconds(text: str) -> float | None:
    """Seconds since 1970 of an ISO 8601 time; None for another text."""
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
