"""Phrases that say nothing, because they find many memories alike."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from engine.phrases.measuring import FIRST, find_vague
from engine.quality.registry import Finding
from engine.search.phrases import MOST_PHRASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot

VAGUE = 0.3
"""Severity."""


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each phrase that says nothing. Where its memory is accepted, the phrase stays."""
    texts = {name: [row.phrase for row in rows[:MOST_PHRASES]] for name, rows in subject.phrases.items()}
    for vague in find_vague(subject.active, texts) if texts else ():
        reason = f"the phrase says nothing: {vague.others:,} other memories come at least half as strong"
        if not 0 < vague.rank <= FIRST:
            reason += f", and its own is not among the first {FIRST}"
        action = f"memsift phrases remove {vague.memory_id} {quote(vague.phrase)}, or if it fits "
        action += f"memsift quality accept {vague.memory_id} --check phrases"
        yield Finding("phrases", vague.memory_id, VAGUE, reason, action, where=vague.phrase)
