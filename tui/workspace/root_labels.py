"""The labels of one annotator over the open roots, and the report on them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from engine.conversations.injected import TEXT_ID
from engine.errors import LabelStoreError
from labels.events import shared_verdict
from labels.measure.report import Captions, report_from_store
from labels.records import Card

if TYPE_CHECKING:
    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.memory import MemorySummary
    from engine.roots import OpenIndex
    from labels.measure.report import Report, ReportOptions
    from labels.records import Dispute, Event, Pair
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

    def labels(self, prompt_id: str) -> dict[Pair, Event]:
        """(memory id, digest) -> this annotator's current label, for a prompt over this root."""
        return {label.pair: label for label in self.store.labels(self.annotator, prompt_id, self.index.root)}

    def label_seen(self, prompt_id: str, memory: MemorySummary, rank: int, verdict: str) -> None:
        """Write a label that is not blind: rank and verdicts were on the screen."""
        card = Card(memory, rank)
        self.store.label(self.annotator, prompt_id, card, verdict, seed=self.seed, blind=False, elapsed_ms=0)

    def verdicts(self, prompt_id: str) -> dict[Pair, str]:
        """(memory id, digest) -> this annotator's verdict, or without one, the consensus of the other people."""
        given: dict[Pair, dict[str, str]] = {}
        for label in self.store.labels(prompt_id=prompt_id, root=self.index.root):
            given.setdefault(label.pair, {})[label.annotator] = label.verdict or ""
        found = {pair: by.get(self.annotator) or shared_verdict([*by.values()]) for pair, by in given.items()}
        return {pair: verdict for pair, verdict in found.items() if verdict}

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


def present_digests(store: LabelStore, index: OpenIndex) -> dict[str, str]:
    """Memory id -> digest of the present text. An injected text that no root holds never changes.

    Raises LabelStoreError.
    """
    return {**store.texts_with(TEXT_ID), **{summary.id: summary.digest for summary in index.summaries()}}


def present_phrases(index: OpenIndex) -> list[str]:
    """The phrases that count in the roots of *index*."""
    return index.look(lambda postings: postings.phrases())


def let_labels_follow(store: LabelStore, index: OpenIndex) -> None:
    """Let labels count for the memories of *index* that hold the labelled texts, wherever these texts lay.

    A store that cannot be written stays as it is.
    """
    with suppress(LabelStoreError):
        store.follow_rereading(index)
        store.recognise(index.root, lambda: present_digests(store, index).items())


def root_report(
    store: LabelStore, index: OpenIndex, config: Config, cutoff: Cutoff | None, options: ReportOptions
) -> Report:
    """The report on the labels of one root. Raises LabelStoreError."""
    digests, phrases = present_digests(store, index), present_phrases(index)
    captions = Captions(memories={summary.id: summary.name for summary in index.summaries()})
    return report_from_store(store, index.root, digests, captions, options, config, cutoff, phrases)
