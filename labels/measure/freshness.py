"""Which labels are about what was replayed, and about the memories as they read now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from labels.records import Label, Pair

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


def drifted(brought_up: Set[Pair], digests: Digests) -> int:
    """How many of the memories that replays brought up have been edited since one of those replays, or are gone."""
    return len({memory_id for memory_id, digest in brought_up if digests.get(memory_id) != digest})
