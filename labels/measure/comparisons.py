"""Which systems a report compares with which."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.basis import Basis
    from labels.measure.comparison import SystemComparison
    from labels.records import Outcome


def comparisons(rows: Sequence[Outcome], basis: Basis) -> tuple[SystemComparison, ...]:
    """Each system against what it builds on, on the prompts that are labelled in full for both."""
    from labels.measure.comparison import compare

    found = []
    for systems in compared(sorted({row.system for row in rows})):
        prompts = basis.evidence.finished(systems) if basis.evidence else basis.measured
        strata = basis.evidence.strata_of(systems) if basis.evidence else None
        made = compare(rows, basis.judgements, systems, prompts, strata=strata)
        if made:
            found.append(made)
    return tuple(found)


def compared(systems: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(what it is compared with, system) for each but the first.

    bm25+judge is compared with bm25; a system that builds on none of the others with the first.
    """
    for system in systems[1:]:
        bases = [other for other in systems if system.startswith(f"{other}+")]
        yield max(bases, key=len, default=systems[0]), system
