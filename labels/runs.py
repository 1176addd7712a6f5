"""Retrievals, written down whole; labels/newest.py reads those that count back as outcomes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

from engine.errors import LabelStoreError
from engine.prompt import Prompt, Turn
from engine.version import __version__
from labels.database import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.judge.verdict import Judgement
    from engine.memory import MemorySummary
    from engine.retrieval import Candidate, Retrieval
    from labels.database import LabelDatabase
    from labels.records import Card, Pool


def run_id(root: str, system: str, config_json: str, corpus_hash: str) -> str:
    """16 hex digits: the same system over the same memories is the same run."""
    return short_hash("\0".join((root, system, config_json, corpus_hash)))


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def record_prompt(db: LabelDatabase, prompt: Prompt) -> None:
    """Insert or refresh a prompt; LabelStoreError if labels were given for another text of the same id."""
    refuse_changed_text(db, prompt)
    row = prompt_row(prompt)
    changes = ", ".join(f"{name} = excluded.{name}" for name in row if name != "prompt_id")
    db.insert("prompt", row, upsert=f"(prompt_id) DO UPDATE SET {changes}")


def read_prompts(db: LabelDatabase, root: str) -> tuple[Prompt, ...]:
    """The prompts that were replayed over a root, by id."""
    rows = db.rows(
        """SELECT * FROM prompt WHERE prompt_id IN (
               SELECT prompt_id FROM retrieval JOIN run USING (run_id) WHERE run.root = ?) ORDER BY prompt_id""",
        [root],
    )
    return tuple(prompt_of(row) for row in rows)


def prompt_of(row: Mapping[str, Any]) -> Prompt:
    turns = tuple(Turn(**turn) for turn in json.loads(row["context_json"]))
    told = {name: row[name] for name in ("session_id", "cwd", "source", "kind")}
    return Prompt(id=row["prompt_id"], text=row["text"], turns=turns, timestamp=row["ts"], **told)


def recorded_prompt(db: LabelDatabase, prompt_id: str) -> Prompt | None:
    rows = db.rows("SELECT * FROM prompt WHERE prompt_id = ?", [prompt_id])
    return prompt_of(rows[0]) if rows else None


def prompt_row(prompt: Prompt) -> dict[str, str]:
    """What the table says of a prompt; `prompt_of` reads it back."""
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


def refuse_changed_text(db: LabelDatabase, prompt: Prompt) -> None:
    labelled = db.rows(
        "SELECT text FROM prompt WHERE prompt_id = ? AND prompt_id IN (SELECT prompt_id FROM label_event)", [prompt.id]
    )
    if labelled and labelled[0]["text"] != storable(prompt.text):
        raise LabelStoreError(
            f"Prompt {prompt.id!r} was labelled in {db.path} with another text; its labels would be about something "
            "else. Give the changed prompt an id of its own."
        )


def record_memory(db: LabelDatabase, memory: MemorySummary, body: str | None = None) -> None:
    """Insert a memory as it reads now; a known body is kept when *body* is None."""
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
    return str(row["run_id"])


def record_results(db: LabelDatabase, run: str, retrieval: Retrieval, ts: str) -> None:
    """Replace what *run* says of the retrieval's prompt; prompt and memories must be there."""
    prompt_id = retrieval.prompt.id
    forget_results(db, run, prompt_id)
    row = {"run_id": run, "prompt_id": prompt_id, "ts": ts}
    db.insert("retrieval", {**row, "fallback": retrieval.fallback, "elapsed_ms": retrieval.elapsed_ms})
    for candidate in retrieval.candidates:
        db.insert("result", result_row(run, prompt_id, candidate))
    if retrieval.judgement is not None:
        record_judgement(db, row, retrieval.judgement, retrieval.candidates)


def forget_results(db: LabelDatabase, run: str, prompt_id: str) -> None:
    at = {"run": run, "prompt": prompt_id}
    where = "run_id = :run AND prompt_id = :prompt"
    db.execute(f"DELETE FROM judge_verdict WHERE call_id IN (SELECT call_id FROM judge_call WHERE {where})", at)
    for table in ("judge_call", "result", "retrieval"):
        db.execute(f"DELETE FROM {table} WHERE {where}", at)


def result_row(run: str, prompt_id: str, candidate: Candidate) -> dict[str, Any]:
    return {
        "run_id": run,
        "prompt_id": prompt_id,
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


def record_judgement(
    db: LabelDatabase, at: dict[str, str], judgement: Judgement, candidates: Iterable[Candidate]
) -> None:
    """Insert the judge call and its verdicts; *at* holds run_id, prompt_id and ts."""
    call = {
        **at,
        "provider": judgement.provider,
        "model": judgement.model,
        "template_hash": judgement.template_hash,
        "status": judgement.status,
        "elapsed_ms": judgement.elapsed_ms,
        "input_tokens": judgement.input_tokens,
        "output_tokens": judgement.output_tokens,
        "detail": judgement.detail,
        "depth": judgement.depth,
        "cost_usd": judgement.cost_usd,
    }
    call_id = db.insert("judge_call", call)
    digests = {candidate.memory.id: candidate.memory.digest for candidate in candidates}
    for verdict in judgement.verdicts:
        if verdict.memory_id in digests:
            row = {
                "call_id": call_id,
                "memory_id": verdict.memory_id,
                "digest": digests[verdict.memory_id],
                "decision": verdict.decision,
                "status": verdict.status,
                "reasoning": verdict.reasoning,
                "confidence": verdict.confidence,
                "samples": verdict.samples,
                "agreement": verdict.agreement,
                "source": verdict.source,
            }
            db.insert("judge_verdict", row)


def record_card(db: LabelDatabase, pool: Pool, card: Card, ts: str) -> None:
    """Insert or refresh the sampling frame's entry of a card; its prompt and memory must be there."""
    row = {
        "prompt_id": pool.prompt.id,
        "memory_id": card.memory.id,
        "digest": card.memory.digest,
        "seed": pool.seed,
        "stratum": card.stratum,
        "inclusion_probability": card.inclusion_probability,
        "ts": ts,
    }
    changes = ", ".join(f"{name} = excluded.{name}" for name in ("stratum", "inclusion_probability", "ts"))
    db.insert("frame", row, upsert=f"(prompt_id, memory_id, digest, seed) DO UPDATE SET {changes}")


def newest_pools(db: LabelDatabase, seed: int) -> dict[str, list[str]]:
    rows = db.tuples(
        """SELECT prompt_id, json_group_array(memory_id) FROM frame
           JOIN (SELECT prompt_id, max(ts) AS ts FROM frame WHERE seed = :seed GROUP BY prompt_id) USING (prompt_id, ts)
           WHERE seed = :seed GROUP BY prompt_id""",
        {"seed": seed},
    )
    return {prompt_id: json.loads(memory_ids) for prompt_id, memory_ids in rows}
