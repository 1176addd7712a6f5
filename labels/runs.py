"""Runs in the store, each one system with one configuration over one set of memories: written, listed, compared.

A run holds retrievals with their prompts, memory texts, results and judge calls. `replays.py` reads the newest back.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from engine import __version__
from engine.errors import LabelStoreError
from engine.prompt import Prompt, Turn
from engine.stores.roots import roots_in
from labels.records import BY_HAND, RunSettings
from labels.tables import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.judge.verdict import Judgement
    from engine.memory import MemorySummary
    from engine.retrieval import Candidate, Retrieval
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


def run_id(root: str, system: str, config_json: str, corpus_hash: str) -> str:
    """16 hex digits. A run is one system with one configuration over one set of memories."""
    return short_hash("\0".join((root, system, config_json, corpus_hash)))


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def record_prompt(db: LabelDatabase, prompt: Prompt) -> None:
    """Insert or refresh a prompt. Raises LabelStoreError if the same id has labels for another text."""
    refuse_changed_text(db, prompt)
    db.upsert("prompt", prompt_row(prompt), keys=("prompt_id",))


def refuse_changed_text(db: LabelDatabase, prompt: Prompt) -> None:
    labelled = db.rows(
        "SELECT text FROM prompt WHERE prompt_id = ? AND prompt_id IN (SELECT prompt_id FROM label_event)", [prompt.id]
    )
    if labelled and labelled[0]["text"] != storable(prompt.text):
        raise LabelStoreError(
            f"Prompt {prompt.id!r} was labelled in {db.path} with another text; its labels would be about something "
            "else. Give the changed prompt an id of its own."
        )


def prompt_row(prompt: Prompt) -> dict[str, str]:
    """The columns of the table `prompt`; `prompt_of` reads them back."""
    turns = [{"role": turn.role, "text": turn.text} for turn in prompt.turns]
    return {
        "prompt_id": prompt.id,
        "text": prompt.text,
        "context_json": json.dumps(turns, ensure_ascii=False),
        "kind": prompt.kind,
        "source": prompt.source,
        "session_id": prompt.session_id,
        "cwd": prompt.cwd,
        "ts": prompt.timestamp,
    }


def prompt_of(row: Mapping[str, Any]) -> Prompt:
    turns = tuple(Turn(**turn) for turn in json.loads(row["context_json"]))
    same = {name: row[name] for name in ("text", "session_id", "cwd", "source", "kind")}
    return Prompt(id=row["prompt_id"], turns=turns, timestamp=row["ts"], **same)


def names_with(db: LabelDatabase, root: str) -> tuple[str, ...]:
    names = [name for (name,) in db.tuples("SELECT DISTINCT root FROM run ORDER BY root")]
    return tuple(name for name in names if root in roots_in(name))


def read_prompts(db: LabelDatabase, root: str) -> tuple[Prompt, ...]:
    """The prompts that were replayed over a root, sorted by id."""
    rows = db.rows(
        """SELECT * FROM prompt WHERE prompt_id IN (
               SELECT prompt_id FROM retrieval JOIN run USING (run_id) WHERE run.root = ?) ORDER BY prompt_id""",
        [root],
    )
    return tuple(map(prompt_of, rows))


def read_prompt(db: LabelDatabase, prompt_id: str) -> Prompt | None:
    rows = db.rows("SELECT * FROM prompt WHERE prompt_id = ?", [prompt_id])
    return prompt_of(rows[0]) if rows else None


def prompts_by_hand(db: LabelDatabase) -> frozenset[str]:
    places = ", ".join("?" * len(BY_HAND))
    rows = db.tuples(f"SELECT prompt_id FROM prompt WHERE source IN ({places})", BY_HAND)
    return frozenset(prompt_id for (prompt_id,) in rows)


def prompts_of_source(db: LabelDatabase, root: str, source: str, limit: int) -> tuple[Prompt, ...]:
    """The prompts of a source that were replayed over a root, the latest replay first."""
    rows = db.rows(
        """SELECT prompt.*, max(retrieval_id) AS latest FROM prompt JOIN retrieval USING (prompt_id)
           JOIN run USING (run_id) WHERE source = ? AND root = ? GROUP BY prompt_id ORDER BY latest DESC LIMIT ?""",
        [source, root, limit],
    )
    return tuple(map(prompt_of, rows))


def record_memory(db: LabelDatabase, memory: MemorySummary, body: str | None = None) -> None:
    """Insert a memory's present text. A recorded body stays when *body* is None."""
    row = {
        "memory_id": memory.id,
        "digest": memory.digest,
        "category": memory.category,
        "title": memory.title,
        "tags": json.dumps(memory.tags, ensure_ascii=False),
        "body": body,
        "path": memory.path,
    }
    changes = "body = coalesce(excluded.body, body), path = excluded.path"
    db.insert("memory_version", row, upsert=f"(memory_id, digest) DO UPDATE SET {changes}")


def texts_with(db: LabelDatabase, prefix: str) -> dict[str, str]:
    """The recorded digest of each memory whose id begins with *prefix*: memory id -> digest."""
    return dict(db.tuples("SELECT memory_id, digest FROM memory_version WHERE memory_id GLOB ?", [f"{prefix}*"]))


def record_run(db: LabelDatabase, root: str, system: str, config_json: str, corpus_hash: str, ts: str) -> str:
    """Insert the run unless it is there, and return its id."""
    row = {
        "run_id": run_id(root, system, config_json, corpus_hash),
        "root": root,
        "system": system,
        "config_json": config_json,
        "config_hash": short_hash(config_json),
        "corpus_hash": corpus_hash,
        "engine_version": __version__,
        "sqlite_version": sqlite3.sqlite_version,
        "ts": ts,
    }
    db.insert("run", row, upsert="(run_id) DO NOTHING")
    return row["run_id"]


def record_results(db: LabelDatabase, run: str, retrieval: Retrieval, ts: str) -> None:
    """Write the retrieval, in place of the run's earlier one for the prompt. Prompt and memories must be there."""
    forget_results(db, run, retrieval.prompt.id)
    about = {"run_id": run, "prompt_id": retrieval.prompt.id}
    spent = {"fallback": retrieval.fallback, "elapsed_ms": retrieval.elapsed_ms}
    db.insert("retrieval", {**about, "ts": ts, **spent})
    for candidate in retrieval.candidates:
        db.insert("result", about | result_columns(candidate))
    if retrieval.judgement is not None:
        record_judgement(db, {**about, "ts": ts}, retrieval.judgement, retrieval.candidates)


def forget_results(db: LabelDatabase, run: str, prompt_id: str) -> None:
    at = {"run": run, "prompt": prompt_id}
    where = "run_id = :run AND prompt_id = :prompt"
    db.execute(f"DELETE FROM judge_verdict WHERE call_id IN (SELECT call_id FROM judge_call WHERE {where})", at)
    for table in ("judge_call", "result", "retrieval"):
        db.execute(f"DELETE FROM {table} WHERE {where}", at)


def result_columns(candidate: Candidate) -> dict[str, Any]:
    return {
        "memory_id": candidate.memory.id,
        "digest": candidate.memory.digest,
        "rank": candidate.rank,
        "bm25": candidate.bm25,
        "body_bonus": candidate.body_bonus,
        "score": candidate.score,
        "confidence": candidate.confidence,
        "injected": int(candidate.injected),
        "dropped_by": candidate.dropped_by,
        "probability": candidate.probability,
        "matched": json.dumps(candidate.matched, ensure_ascii=False),
    }


CALL_COLUMNS = "provider model template_hash status elapsed_ms input_tokens output_tokens detail depth cost_usd".split()
VERDICT_COLUMNS = "memory_id decision status reasoning confidence samples agreement source".split()
"""The columns of the tables `judge_call` and `judge_verdict` with the names of fields of Judgement and Verdict."""


def record_judgement(
    db: LabelDatabase, at: dict[str, str], judgement: Judgement, candidates: Iterable[Candidate]
) -> None:
    """Insert the judge call and its verdicts; *at* holds run_id, prompt_id and ts."""
    call_id = db.insert("judge_call", at | {name: getattr(judgement, name) for name in CALL_COLUMNS})
    digests = {candidate.memory.id: candidate.memory.digest for candidate in candidates}
    for verdict in judgement.verdicts:
        if verdict.memory_id in digests:
            about = {"call_id": call_id, "digest": digests[verdict.memory_id]}
            db.insert("judge_verdict", about | {name: getattr(verdict, name) for name in VERDICT_COLUMNS})


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
