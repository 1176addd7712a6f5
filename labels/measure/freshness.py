"""Which labels are about what was replayed, and about the memories as they read now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labels.records import Label

    Digests = Mapping[str, str]
    """memory id -> digest of its present text."""

    Seen = Mapping[str, Mapping[str, str]]
    """prompt id -> memory id -> digest of the text that the newest replay saw."""


def current(labels: Sequence[Label], digests: Digests | None) -> Sequence[Label]:
    """The labels of memories that still read as they did; all of them where *digests* are not known."""
    return [label for label in labels if digests is None or digests.get(label.memory_id) == label.digest]


def matching(labels: Sequence[Label], seen: Seen) -> list[Label]:
    """The labels about the text that the newest replay saw, and those about memories that it did not return."""
    return [
        label for label in labels if seen.get(label.prompt_id, {}).get(label.memory_id, label.digest) == label.digest
    ]


def drifted(seen: Seen, digests: Digests) -> int:
    """How many of the memories that were *seen* in a replay read otherwise now, or are gone."""
    return len({id_ for found in seen.values() for id_, digest in found.items() if digests.get(id_) != digest})
