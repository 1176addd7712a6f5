"""A retrieval into the label store, with what its numbers depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import config_json

if TYPE_CHECKING:
    from engine.config import Config
    from engine.retrieval import Retrieval
    from engine.search.index import Index
    from labels.store import LabelStore


def record(retrieval: Retrieval, store: LabelStore, index: Index, config: Config) -> None:
    """Keep *retrieval*, which ran over *index* with *config*. Raises LabelStoreError."""
    memories = [index.memory(one.memory.id) for one in retrieval.candidates]
    store.record_retrieval(
        retrieval,
        root=index.root,
        config_json=config_json(config),
        corpus_hash=index.corpus_hash,
        bodies={memory.summary.id: memory.body for memory in memories if memory},
    )
