"""Memories that were not changed for long. Most of them are still true, so this check runs only on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.quality.checks.usage import seconds
from engine.quality.registry import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot

DAYS = {"session_summary": 90, "project": 180, "tech_debt": 365, "runbook": 365, "reference": 365}
MOST_DAYS = 730
"""Days after which a memory of a category is worth a look; MOST_DAYS for the other categories."""

SEVERITY, MOST_SEVERITY = 0.2, 0.5


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each active memory that is older than memories of its category are looked at."""
    for summary in (memory.summary for memory in subject.active):
        changed = seconds(summary.updated_at or summary.created_at)
        most = DAYS.get(summary.category, MOST_DAYS)
        days = 0.0 if changed is None else (subject.now - changed) / 86400
        if days > most:
            severity = round(min(MOST_SEVERITY, SEVERITY * days / most), 2)
            kind = summary.category.replace("_", " ")
            reason = f"last changed {days:,.0f} days ago; a {kind} is worth a look after {most}"
            still, gone = f"memsift quality accept {summary.id} --check age", f"memsift retire {summary.id}"
            action = f"Check it: memsift show {summary.id}. If it is still true, {still}, else {gone}"
            yield Finding("age", summary.id, severity, reason, action, "updated_at")
