"""The runs in the store, each one system with one configuration over one set of memories, and their injected sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from labels.records import RunSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labels.database import LabelDatabase


class SavedRun(NamedTuple):
    """A run over `root` with results for a number of `prompts`; `ts` is the time of the latest, ISO 8601 in UTC."""

    run_id: str
    root: str
    system: str
    prompts: int
    ts: str
    config_json: str
    corpus_hash: str

    @property
    def settings(self) -> RunSettings:
        return RunSettings(self.root, self.config_json, self.corpus_hash)


class InjectedMemory(NamedTuple):
    """A memory that a run injected. Its `digest` and `title` are empty where they are not known."""

    memory_id: str
    digest: str = ""
    title: str = ""


def saved_runs(db: LabelDatabase, root: str) -> tuple[SavedRun, ...]:
    """The runs over *root*; the run with the latest result comes first."""
    rows = db.tuples(
        """SELECT run_id, root, system, count(*), max(retrieval.ts), config_json, corpus_hash
           FROM run JOIN retrieval USING (run_id) WHERE root = ? GROUP BY run_id ORDER BY max(retrieval_id) DESC""",
        [root],
    )
    return tuple(map(SavedRun._make, rows))


def injected_sets(db: LabelDatabase, run_id: str) -> Mapping[str, tuple[InjectedMemory, ...]]:
    """prompt id -> the memories that a run injected for it, best first. The prompts are in the order of the run."""
    found: dict[str, list[InjectedMemory]] = {
        prompt_id: []
        for (prompt_id,) in db.tuples(
            "SELECT prompt_id FROM retrieval WHERE run_id = ? ORDER BY retrieval_id", [run_id]
        )
    }
    rows = db.tuples(
        """SELECT prompt_id, memory_id, digest, title FROM result JOIN memory_version USING (memory_id, digest)
           WHERE run_id = ? AND injected ORDER BY prompt_id, rank""",
        [run_id],
    )
    for prompt_id, *memory in rows:
        found[prompt_id].append(InjectedMemory(*memory))
    return {prompt_id: tuple(memories) for prompt_id, memories in found.items()}
