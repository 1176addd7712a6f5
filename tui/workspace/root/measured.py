"""The report on one root, from a label store and the memories as they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.hook.injected import TEXT_ID
from labels.measure.report import Captions, report_from_store

if TYPE_CHECKING:
    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.roots import OpenIndex
    from labels.measure.report import Report, ReportOptions
    from labels.store import LabelStore


def present_digests(store: LabelStore, index: OpenIndex) -> dict[str, str]:
    """Memory id -> digest of the present text. An injected text that no root holds never changes.

    Raises LabelStoreError.
    """
    return {**store.texts_with(TEXT_ID), **{summary.id: summary.digest for summary in index.summaries()}}


def root_report(
    store: LabelStore, index: OpenIndex, config: Config, cutoff: Cutoff | None, options: ReportOptions
) -> Report:
    """The report on the labels of one root. Raises LabelStoreError."""
    digests = present_digests(store, index)
    captions = Captions(memories={summary.id: summary.title for summary in index.summaries()})
    return report_from_store(
        store, index.root, digests, captions=captions, options=options, config=config, cutoff=cutoff
    )
