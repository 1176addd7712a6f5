"""From findings to changes: the changes that cannot be wrong, as one operation that is undone as a whole.

Memories are a person's text. So no memory is retired, merged or reworded here: only a secret that is one word without
doubt is taken out, and a list of memories is brought in step. All else waits in the inbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.curation.operations import Relist, TakeOut, Together
from engine.lean.record import Record
from engine.quality.registry import TAKE_OUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.curation.operations import Operation
    from engine.memory import Memory
    from engine.quality.registry import Finding


class Fix(Record):
    """A change that settles findings of a check: a sentence for people, and the operation."""

    check: str
    sentence: str
    operation: Operation


def plan_fixes(root: str, found: Sequence[Finding], memories: Iterable[Memory]) -> list[Fix]:
    """The changes that settle the findings. No two of them are about the same memory."""
    by_id = {memory.summary.id: memory for memory in memories}
    taken: set[str] = set()
    made: list[Fix] = []
    for finding in found:
        if finding.memory_id in taken or not finding.change:
            continue
        if finding.change[0] == TAKE_OUT:
            from engine.quality.checks.secrets import secrets_of

            memory = by_id[finding.memory_id]
            change: Operation = TakeOut(root, memory.summary, secrets_of(memory))
            made.append(Fix(finding.check, f"take secrets out of {finding.memory_id}", change))
        elif finding.change[1] not in taken:
            name = finding.change[1]
            made.append(Fix(finding.check, f"bring the line of {name} in step", Relist(root, name)))
            taken.add(name)
        taken.update({finding.memory_id} - {""})
    return made


def join_fixes(made: Sequence[Fix]) -> Together:
    """The changes as one operation."""
    counts = {check: sum(fix.check == check for fix in made) for check in dict.fromkeys(fix.check for fix in made)}
    parts = ", ".join(f"{count:,} of {check}" for check, count in counts.items())
    return Together(tuple(fix.operation for fix in made), f"Settled findings by {len(made):,} changes: {parts}")
