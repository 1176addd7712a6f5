"""Runs in the store, each one system with one configuration over one set of memories: written, listed, compared.

A run holds retrievals with their prompts, memory texts, results and judge calls. The newest retrieval of each prompt
and system is read back as outcomes.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.agents.registry import agent_in
from engine.config import SYSTEMS
from engine.errors import LabelStoreError
from engine.lean.record import fields
from engine.prompt import TYPED, Prompt, Turn
from engine.stores.roots import roots_in
from labels.records import BY_HAND, CHOSEN, JudgeCall, Outcome, RunSettings, grouped, nested, picked
from labels.run_settings import changed_settings
from labels.tables import QUERIES, storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.memory import MemorySummary
    from engine.retrieval import Retrieval
    from labels.records import MemoryText, Pair
    from labels.tables import LabelTables

THIS_ROOT = QUERIES["part this_root"]
PROMPT_COLUMNS = "text kind source session_id cwd".split()
MEMORY_COLUMNS = "digest category title path".split()
RESULT_COLUMNS = "rank bm25 body_bonus score confidence injected dropped_by probability matched".split()
CALL_COLUMNS = "provider model template_hash status elapsed_ms input_tokens output_tokens detail depth cost_usd".split()
VERDICT_COLUMNS = "decision status reasoning confidence samples agreement source".split()
"""The columns of the tables with the names of fields of the engine's records."""


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


class EmptyReplay(NamedTuple):
    """A retrieval whose system injected nothing; a `is_bare` one found no candidate either."""

    prompt_id: str
    system: str
    config_json: str
    is_bare: bool = False


class StoredRuns:
    """The runs and pools of a store, with their prompts and memory texts."""

    _db: LabelTables

    def names_with(self, root: str) -> tuple[str, ...]:
        """The names of roots that were replayed, alone or together with others, and that *root* is one of."""
        known = "SELECT root FROM run UNION SELECT root FROM same_memories ORDER BY root"
        names = [name for (name,) in self._db.tuples(known)]
        return tuple(name for name in names if root in roots_in(name))

    def prompts(self, root: str) -> tuple[Prompt, ...]:
        """The prompts that were replayed over a root, sorted by id."""
        return tuple(map(prompt_of, self._db.rows(QUERIES["prompts"], {"root": root})))

    def prompt(self, prompt_id: str) -> Prompt | None:
        rows = self._db.rows("SELECT * FROM prompt WHERE prompt_id = ?", [prompt_id])
        return prompt_of(rows[0]) if rows else None

    def prompt_texts(self) -> dict[str, str]:
        """The text of every prompt: prompt id -> text."""
        return dict(self._db.tuples("SELECT prompt_id, text FROM prompt"))

    def prompt_days(self) -> dict[str, str]:
        """Prompt id -> the day on which it was typed, in ISO 8601, where its source says it."""
        return dict(self._db.tuples("SELECT prompt_id, substr(ts, 1, 10) FROM prompt WHERE ts <> ''"))

    def agents(self) -> dict[str, str]:
        """Prompt id -> the coding agent in which it was typed, as far as its source tells."""
        return {name: agent_in(source) for name, source in self._db.tuples("SELECT prompt_id, source FROM prompt")}

    def prompts_by_hand(self) -> frozenset[str]:
        """The ids of the prompts that a person typed or picked: their source is one of BY_HAND."""
        places = ", ".join("?" * len(BY_HAND))
        rows = self._db.tuples(f"SELECT prompt_id FROM prompt WHERE source IN ({places})", BY_HAND)
        return frozenset(prompt_id for (prompt_id,) in rows)

    def preferred_prompts(self) -> frozenset[str]:
        """The labelled prompts that the removed labelling orders `disagreement-first` and `uncertain-first` put first.

        They are no random sample.
        """
        return frozenset(prompt_id for (prompt_id,) in self._db.tuples(QUERIES["preferred"]))

    def prompts_of_source(self, root: str, source: str, limit: int = 1000) -> tuple[Prompt, ...]:
        """The prompts of a source that were replayed over a root, the latest replay first."""
        asked = {"source": source, "root": root, "limit": limit}
        return tuple(map(prompt_of, self._db.rows(QUERIES["prompts_of_source"], asked)))

    def texts_with(self, prefix: str) -> dict[str, str]:
        """The recorded digest of each memory whose id begins with *prefix*, for ids that never change their text."""
        sql = "SELECT memory_id, digest FROM memory_version WHERE memory_id GLOB ?"
        return dict(self._db.tuples(sql, [f"{prefix}*"]))

    def saved_runs(self, root: str) -> tuple[SavedRun, ...]:
        """The runs over a root; the run with the latest result comes first."""
        return tuple(map(SavedRun._make, self._db.tuples(QUERIES["saved_runs"], {"root": root})))

    def injected_sets(self, run_id: str) -> Mapping[str, tuple[InjectedMemory, ...]]:
        """prompt id -> the memories that a run injected for it, best first, in the order of the run."""
        prompts = self._db.tuples("SELECT prompt_id FROM retrieval WHERE run_id = ? ORDER BY retrieval_id", [run_id])
        found: dict[str, list[InjectedMemory]] = {prompt_id: [] for (prompt_id,) in prompts}
        for prompt_id, *memory in self._db.tuples(QUERIES["injected"], [run_id]):
            found[prompt_id].append(InjectedMemory(*memory))
        return {prompt_id: tuple(memories) for prompt_id, memories in found.items()}

    # Pools

    def pooled(self, seed: int) -> dict[str, list[str]]:
        """The newest pool of each prompt with *seed*: prompt id -> memory ids."""
        rows = self._db.tuples(QUERIES["pooled"], {"seed": seed})
        return {prompt_id: json.loads(memory_ids) for prompt_id, memory_ids in rows}

    def drawn(self, seed: int) -> dict[str, float]:
        """The prompts with a list card in a pool with *seed*, and the probability with which each was drawn."""
        return dict(self._db.tuples(QUERIES["drawn"], {"seed": seed}))

    # The newest retrievals, as outcomes of systems

    def outcomes(self, root: str | None = None) -> tuple[Outcome, ...]:
        """The newest outcome of each prompt and system, of one root or of all, oldest first.

        Candidates are only the injected memories and those with a label event: no measure needs the others.
        """
        rows = self._db.rows(QUERIES["outcomes"], {"root": root})
        listed = self._db.rows(QUERIES["candidates"], {"root": root})
        found = grouped((row["retrieval_id"], row) for row in listed)
        return tuple(outcome(row, found.get(row["retrieval_id"], ())) for row in rows)

    def returned_texts(self, root: str | None = None) -> set[Pair]:
        """All memory texts that the retrievals of `outcomes` returned, injected or not."""
        return set(self._db.tuples(QUERIES["returned_texts"], {"root": root}))

    def verdicts(self, root: str | None = None) -> dict[str, dict[Pair, str]]:
        """The judge's decisions in the retrievals of `outcomes` for which it answered: prompt id -> pair -> decision.

        Where several systems asked it about a memory, the newest answer counts.
        """
        rows = self._db.tuples(QUERIES["verdicts"], {"root": root})
        return nested((prompt_id, (memory_id, digest), decision) for prompt_id, memory_id, digest, decision in rows)

    def run_settings(self, root: str | None = None) -> dict[str, RunSettings]:
        """The settings of each run over *root*, or over all roots: run id -> settings."""
        sql = f"SELECT run_id, root, config_json, corpus_hash FROM run WHERE :root IS NULL OR {THIS_ROOT}"
        return {run_id: RunSettings(*made) for run_id, *made in self._db.tuples(sql, {"root": root})}

    def empty_replays(self, root: str, corpus_hash: str) -> list[EmptyReplay]:
        """The replays over a root with these memories that injected nothing."""
        rows = self._db.tuples(QUERIES["empty_replays"], {"root": root, "corpus": corpus_hash})
        return list(map(EmptyReplay._make, rows))


def run_id(root: str, system: str, config_json: str, corpus_hash: str) -> str:
    """16 hex digits. A run is one system with one configuration over one set of memories."""
    return short_hash("\0".join((root, system, config_json, corpus_hash)))


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def record_prompt(db: LabelTables, prompt: Prompt) -> None:
    """Insert or refresh a prompt. Raises LabelStoreError if the same id has labels for another text.

    A prompt that was added to the sample stays there, also if a retrieval from before says that it was typed.
    """
    labelled = db.rows(QUERIES["labelled_text"], [prompt.id])
    if labelled and labelled[0]["text"] != storable(prompt.text):
        raise LabelStoreError(
            f"Prompt {prompt.id!r} was labelled in {db.path} with another text; its labels would be about something "
            "else. Give the changed prompt an id of its own."
        )
    row = prompt_row(prompt)
    is_chosen = "SELECT 1 FROM prompt WHERE prompt_id = ? AND source = ?"
    if prompt.source == TYPED and db.rows(is_chosen, [prompt.id, CHOSEN]):
        row["source"] = CHOSEN
    db.upsert("prompt", row, keys=("prompt_id",))


def prompt_row(prompt: Prompt) -> dict[str, str]:
    """The columns of the table `prompt`; `prompt_of` reads them back."""
    turns = json.dumps([fields(turn) for turn in prompt.turns], ensure_ascii=False)
    renamed = {"prompt_id": prompt.id, "context_json": turns, "ts": prompt.timestamp}
    return {**renamed, **picked(prompt, PROMPT_COLUMNS)}


def prompt_of(row: Mapping[str, Any]) -> Prompt:
    turns = tuple(Turn(**turn) for turn in json.loads(row["context_json"]))
    same = {name: row[name] for name in PROMPT_COLUMNS}
    return Prompt(id=row["prompt_id"], turns=turns, timestamp=row["ts"], **same)


def memory_row(memory: MemorySummary | MemoryText, body: str | None) -> dict[str, Any]:
    """The columns of the table `memory_version`."""
    tags = json.dumps(memory.tags, ensure_ascii=False)
    return {"memory_id": memory.id, **picked(memory, MEMORY_COLUMNS), "tags": tags, "body": body}


def record_memory(db: LabelTables, memory: MemorySummary, body: str | None = None) -> None:
    """Insert a memory's present text. A recorded body stays when *body* is None."""
    row = memory_row(memory, body)
    changes = ", ".join(f"{name} = coalesce(excluded.{name}, {name})" for name in row)
    db.insert("memory_version", row, upsert=f"(memory_id, digest) DO UPDATE SET {changes}")


def run_row(root: str, system: str, config_json: str, corpus_hash: str) -> dict[str, str]:
    """The columns of the table `run` that tell runs apart."""
    made = RunSettings(root, config_json, corpus_hash)
    name = run_id(root, system, config_json, corpus_hash)
    return {"run_id": name, "system": system, "config_hash": short_hash(config_json), **made._asdict()}


def record_results(db: LabelTables, run: str, retrieval: Retrieval, ts: str) -> None:
    """Write the retrieval, in place of the run's earlier one for the prompt. Prompt and memories must be there."""
    judgement = retrieval.judgement
    said = {verdict.memory_id: picked(verdict, VERDICT_COLUMNS) for verdict in judgement.verdicts} if judgement else {}
    results = []
    for found in retrieval.candidates:
        about = {"memory_id": found.memory.id, "digest": found.memory.digest, "verdict": said.get(found.memory.id)}
        results.append({**about, **picked(found, RESULT_COLUMNS)})
    call = {"ts": ts, **picked(judgement, CALL_COLUMNS)} if judgement else None
    row = {"run_id": run, "prompt_id": retrieval.prompt.id, "ts": ts, **picked(retrieval, ["fallback", "elapsed_ms"])}
    write_retrieval(db, {**row, "results": results, "call": call})


def write_retrieval(db: LabelTables, retrieved: Mapping[str, Any]) -> None:
    """Write a row of the table `retrieval`, in place of the run's earlier one for the prompt.

    It has `results`, each with its `verdict` or None, and the `call` of the judge or None.
    """
    at = {name: storable(retrieved[name]) for name in ("run_id", "prompt_id")}
    where = "run_id = :run_id AND prompt_id = :prompt_id"
    db.execute(f"DELETE FROM judge_verdict WHERE call_id IN (SELECT call_id FROM judge_call WHERE {where})", at)
    for table in ("judge_call", "result", "retrieval"):
        db.execute(f"DELETE FROM {table} WHERE {where}", at)
    db.insert("retrieval", {name: value for name, value in retrieved.items() if name not in ("results", "call")})
    call_id = db.insert("judge_call", {**at, **retrieved["call"]}) if retrieved["call"] else None
    for result in retrieved["results"]:
        row = {**at, **result, "matched": json.dumps(result["matched"], ensure_ascii=False)}
        verdict = row.pop("verdict")
        db.insert("result", row)
        if verdict and call_id is not None:
            about = {"call_id": call_id, "memory_id": row["memory_id"], "digest": row["digest"]}
            db.insert("judge_verdict", {**about, **verdict})


def outcome(retrieved: dict[str, Any], found: Sequence[dict[str, Any]]) -> Outcome:
    """The outcome of a row of `retrieval` with the candidates *found*."""
    injected = [candidate for candidate in found if candidate["injected"]]
    about = {name: value for name, value in retrieved.items() if name != "retrieval_id"}
    asked_ms, cost_usd, answers, is_live = map(about.pop, ("asked_ms", "cost_usd", "answers", "is_live"))
    call = JudgeCall(asked_ms, cost_usd, answers or 0, is_live in (None, 1))
    return Outcome(
        **about,
        is_asked=answers is not None,
        call=None if asked_ms is None else call,
        injected=column(injected, "memory_id"),
        candidates=column(found, "memory_id"),
        decisions=column(found, "decision"),
        confidences=column(injected, "confidence"),
        matched=column(injected, "matched"),
        scores=column(injected, "score"),
        probabilities={row["memory_id"]: row["probability"] for row in found if row["probability"] is not None},
        digests={row["memory_id"]: row["digest"] for row in found},
    )


def column(rows: Sequence[dict[str, Any]], name: str) -> tuple[Any, ...]:
    return tuple([row[name] for row in rows])


def empty_prompts(replays: Iterable[EmptyReplay], system: str, config: Config, cutoff: Cutoff | None) -> set[str]:
    """The prompts whose replay by *system* would be empty again with the present *config* and *cutoff*.

    The judge's settings do not matter: a judge only sees what the first stage found.
    """
    named = SYSTEMS[system]
    own = [replay for replay in replays if replay.system == system]
    recorded = {replay.config_json for replay in own}
    same = {settings for settings in recorded if not changed_settings(settings, named, config, cutoff, has_judge=False)}
    return {replay.prompt_id for replay in own if replay.config_json in same}
