"""The labels of one annotator over the open roots, read from the label store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.workspace.root.measured import present_digests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.roots import OpenIndex
    from labels.records import Dispute, Label, Pair
    from labels.store import LabelStore


class RootLabels:
    """The part of a workspace that reads labels. Every method raises LabelStoreError."""

    store: LabelStore
    index: OpenIndex
    annotator: str
    seed: int

    def earlier_pools(self) -> dict[str, frozenset[Pair]]:
        """Prompt id -> the newest recorded pool, as (memory id, current digest), without deleted memories.

        A memory that changed since then has a new digest, so it has no label and is asked about again.
        """
        digests = self.digests()
        return {
            prompt_id: frozenset([(memory_id, digests[memory_id]) for memory_id in memory_ids if memory_id in digests])
            for prompt_id, memory_ids in self.store.pooled(self.seed).items()
        }

    def digests(self) -> dict[str, str]:
        """Memory id -> digest of its current text."""
        return present_digests(self.store, self.index)

    def skips(self, prompt_id: str) -> Mapping[Pair, int]:
        """(memory id, digest) -> how often this annotator skipped that card of the prompt."""
        return self.store.skips(self.annotator, prompt_id).get(prompt_id, {})

    def labels(self, prompt_id: str) -> dict[Pair, Label]:
        """(memory id, digest) -> this annotator's current label, for a prompt over this root."""
        return {label.pair: label for label in self.store.labels(self.annotator, prompt_id, self.index.root)}

    def labelled_pairs(self) -> dict[str, set[Pair]]:
        """Prompt id -> the (memory id, digest) pairs that this annotator has labelled over this root."""
        found: dict[str, set[Pair]] = {}
        for label in self.store.labels(self.annotator, root=self.index.root):
            found.setdefault(label.prompt_id, set()).add(label.pair)
        return found

    def disputes(self, prompt_id: str | None = None) -> tuple[Dispute, ...]:
        """The pairs on which people differ, of one prompt or of all. Changed memories are left out."""
        digests = self.digests()
        disputes = self.store.disputes(self.index.root, prompt_id)
        return tuple(dispute for dispute in disputes if digests.get(dispute.memory_id) == dispute.digest)
