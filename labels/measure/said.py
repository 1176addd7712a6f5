"""What people said of what was replayed, as far as it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.freshness import current, drifted, matching
from labels.measure.gate.evidence import moments
from labels.measure.notes import LabelFacts
from labels.measure.outcomes import Consensus, consensus, texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labels.measure.freshness import Digests
    from labels.records import Label, Outcome
    from labels.store import LabelStore


@dataclass(frozen=True)
class Said:
    """`labels` are those that count, each one person's; `settled` are what settles where people differ.

    `moments` says when each memory was dealt with, prompt id -> memory id -> a number that rises.
    """

    labels: Sequence[Label]
    settled: Sequence[Label]
    agreed: Consensus
    moments: Mapping[str, Mapping[str, int]]
    facts: LabelFacts


def said_of(
    store: LabelStore, rows: Sequence[Outcome], root: str | None, digests: Digests | None, annotator: str | None
) -> Said:
    """What *annotator*, or everybody, says of the memories in *rows*, the newest outcomes of *root*.

    It counts if it is about the text that was replayed and, where *digests* are known, that the memory has now.
    """
    seen = texts(rows)
    brought_up = store.returned_texts(root)
    every = store.labels(annotator=annotator, root=root)
    fresh = current(every, digests)
    labels = matching(fresh, seen)
    settled = [] if annotator else matching(current(store.adjudications(root), digests), seen)
    agreed = consensus(labels, settled)
    facts = LabelFacts(
        stale=len(every) - len(fresh),
        unmatched=len(fresh) - len(labels),
        disputed=agreed.disputed,
        drifted=None if digests is None else drifted(brought_up, digests),
        brought_up=len(dict(brought_up)),
    )
    return Said(labels, settled, agreed, moments([*labels, *settled], agreed.judgements), facts)
