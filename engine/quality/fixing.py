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
    for one in sorted(found, key=lambda one: _is_merge(one) and one.memory_id in older):
        ids = [one.memory_id, *(mates[one.memory_id] if _is_merge(one) else ())]
        others = [other for other in ids[1:] if other not in taken]
        if not one.change or one.memory_id in taken or (_is_merge(one) and not others):
            continue
        about = one.change[1] if one.change[0] == LIST else one.memory_id
        if about not in taken:
            made.append(_fix(root, one, others, by_id))
            taken.update({about, one.memory_id, *others} - {""})
    return made


def together(made: Sequence[Fix]) -> Together:
    """The changes as one operation."""
    counts = {check: sum(one.check == check for one in made) for check in dict.fromkeys(one.check for one in made)}
    parts = ", ".join(f"{count:,} of {check}" for check, count in counts.items())
    return Together(tuple(one.operation for one in made), f"Settled findings by {len(made):,} changes: {parts}")


def _is_merge(one: Finding) -> bool:
    return one.change[:1] == (MERGE,)


def _mates(found: Sequence[Finding]) -> dict[str, list[str]]:
    """The memories that are merged into each memory. They were changed earlier, or their paths are smaller."""
    mates: dict[str, list[str]] = {}
    for one in found:
        if _is_merge(one):
            mates.setdefault(one.memory_id, []).extend(one.others)
    return mates


def _fix(root: str, one: Finding, others: Sequence[str], by_id: Mapping[str, Memory]) -> Fix:
    kind = one.change[0]
    if kind == LIST:
        return Fix(one.check, f"bring the line of {one.change[1]} in step", Relist(root, one.change[1]))
    memory = by_id[one.memory_id]
    if kind == MERGE:
        summaries = tuple(by_id[other].summary for other in others)
        return Fix(one.check, f"merge {', '.join(others)} into {one.memory_id}", Merge(root, memory.summary, summaries))
    if kind == TAKE_OUT:
        from engine.quality.checks.secrets import secrets_of

        return Fix(one.check, f"take secrets out of {one.memory_id}", TakeOut(root, memory.summary, secrets_of(memory)))
    return Fix(one.check, f"retire {one.memory_id}: {one.reason}", Retire(root, memory.summary, one.reason))
