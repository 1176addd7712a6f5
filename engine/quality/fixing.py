"""From findings to changes: the changes that need no judgement, as one operation that is undone as a whole.

A finding that a person has to look at first has no change. A memory is changed once: what else was found about it is
looked for again afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.curation.operations import Merge, Relist, Retire, TakeOut, Together
from engine.lean.record import Record
from engine.quality.registry import LIST, MERGE, TAKE_OUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.curation.operations import Operation
    from engine.memory import Memory
    from engine.quality.registry import Finding


class Fix(Record):
    """A change that settles findings of a check: a sentence for people, and the operation."""

    check: str
    sentence: str
    operation: Operation


def fixes(root: str, found: Sequence[Finding], memories: Iterable[Memory]) -> list[Fix]:
    """The changes that settle the findings. No two of them are about the same memory.

    Of several copies, all are merged into the newest: so merges into an older copy come last.
    """
    by_id = {memory.summary.id: memory for memory in memories}
    mates = _mates(found)
    older = {other for others in mates.values() for other in others}
    taken: set[str] = set()
    made: list[Fix] = []
    for finding in sorted(found, key=lambda finding: _is_merge(finding) and finding.memory_id in older):
        ids = [finding.memory_id, *(mates[finding.memory_id] if _is_merge(finding) else ())]
        others = [other for other in ids[1:] if other not in taken]
        if not finding.change or finding.memory_id in taken or (_is_merge(finding) and not others):
            continue
        about = finding.change[1] if finding.change[0] == LIST else finding.memory_id
        if about not in taken:
            made.append(Fix(finding.check, *_change(root, finding, others, by_id)))
            taken.update({about, finding.memory_id, *others} - {""})
    return made


def together(made: Sequence[Fix]) -> Together:
    """The changes as one operation."""
    counts = {check: sum(fix.check == check for fix in made) for check in dict.fromkeys(fix.check for fix in made)}
    parts = ", ".join(f"{count:,} of {check}" for check, count in counts.items())
    return Together(tuple(fix.operation for fix in made), f"Settled findings by {len(made):,} changes: {parts}")


def _is_merge(finding: Finding) -> bool:
    return finding.change[:1] == (MERGE,)


def _mates(found: Sequence[Finding]) -> dict[str, list[str]]:
    """The memories that are merged into each memory. They were changed earlier, or their paths are smaller."""
    mates: dict[str, list[str]] = {}
    for finding in found:
        if _is_merge(finding):
            mates.setdefault(finding.memory_id, []).extend(finding.others)
    return mates


def _change(root: str, finding: Finding, others: Sequence[str], by_id: Mapping[str, Memory]) -> tuple[str, Operation]:
    kind = finding.change[0]
    if kind == LIST:
        return f"bring the line of {finding.change[1]} in step", Relist(root, finding.change[1])
    name, memory = finding.memory_id, by_id[finding.memory_id]
    if kind == MERGE:
        merged = Merge(root, memory.summary, tuple(by_id[other].summary for other in others))
        return f"merge {', '.join(others)} into {name}", merged
    if kind == TAKE_OUT:
        from engine.quality.checks.secrets import secrets_of

        return f"take secrets out of {name}", TakeOut(root, memory.summary, secrets_of(memory))
    return f"retire {name}: {finding.reason}", Retire(root, memory.summary, finding.reason)
