"""Record a retrieval in the label store, with the settings that its numbers depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import SYSTEMS, is_injected
from labels.run_settings import settings_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from engine.memory import Memory
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex
    from labels.store import LabelStore


def record(
    retrieval: Retrieval,
    store: LabelStore,
    index: OpenIndex,
    config: Config,
    judge: Judge | None = None,
    cutoff: Cutoff | None = None,
    memory: Callable[[str], Memory | None] | None = None,
) -> None:
    """Record *retrieval*, which ran over *index* with *config*, *judge* and *cutoff*. Raises LabelStoreError.

    The judge is recorded only if the retrieval's system has one, and the cutoff only if it is of the system's kind.
    *memory* gives the memory of an id; the index reads its file each time. Injections of a hook have no settings here.
    """
    settings = "{}" if is_injected(retrieval.system) else _settings(retrieval.system, config, judge, cutoff)
    memories = [(memory or index.memory)(candidate.memory.id) for candidate in retrieval.candidates]
    store.record_retrieval(
        retrieval,
        root=index.root,
        config_json=settings,
        corpus_hash=index.corpus_hash,
        bodies={kept.summary.id: kept.body for kept in memories if kept},
    )


def _settings(name: str, config: Config, judge: Judge | None, cutoff: Cutoff | None) -> str:
    system = SYSTEMS[name]
    return settings_json(
        system.of(config),
        samples=judge.samples if judge and system.has_judge else None,
        cutoff=cutoff if cutoff and cutoff.kind == system.cutoff else None,
    )
