"""The newest retrieval of each prompt and system, read back from the store as outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from engine.config import JUDGED as JUDGED_SYSTEM
from engine.config import SYSTEMS
from labels.records import JudgeCall, Outcome, RunSettings
from labels.run_settings import changed_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.records import Pair
    from labels.tables import LabelTables

NEWEST = """
    SELECT max(retrieval.retrieval_id) FROM retrieval JOIN run USING (run_id)
    LEFT JOIN judge_call USING (run_id, prompt_id)
    WHERE (:root IS NULL OR run.root = :root)
      AND (judge_call.template_hash IS NULL OR (run.system, judge_call.template_hash) IN (
          SELECT asked.system, latest.template_hash FROM judge_call AS latest JOIN run AS asked USING (run_id)
          WHERE latest.call_id IN (
              SELECT max(call_id) FROM judge_call JOIN run AS any_run USING (run_id)
              WHERE :root IS NULL OR any_run.root = :root GROUP BY any_run.system
          )
      ))
    GROUP BY retrieval.prompt_id, run.system
"""
"""SQL: the ids of the newest retrievals. A system's retrievals with an older judge prompt are left out: another prompt
makes another judge."""

JUDGED = "LEFT JOIN judge_call USING (run_id, prompt_id) LEFT JOIN judge_verdict USING (call_id, memory_id)"


class EmptyReplay(NamedTuple):
    """A retrieval with nothing to label: its system injected nothing, and its judge dropped nothing."""

    prompt_id: str
    system: str
    config_json: str


class NewestReplays:
    """The newest retrievals of a store, as outcomes of systems."""

    _db: LabelTables

    def outcomes(self, root: str | None = None) -> tuple[Outcome, ...]:
        """The newest outcome of each prompt and system, of one root or of all, oldest first.

        Candidates are only the injected memories and those with a label event: no measure needs the others.
        """
        rows = self._db.rows(
            f"""SELECT retrieval_id, run_id, prompt_id, run.system, fallback, retrieval.elapsed_ms, kind,
                       EXISTS (SELECT 1 FROM judge_verdict WHERE judge_verdict.call_id = judge_call.call_id) AS is_asked
                FROM retrieval JOIN run USING (run_id) JOIN prompt USING (prompt_id)
                LEFT JOIN judge_call USING (run_id, prompt_id)
                WHERE retrieval_id IN ({NEWEST}) ORDER BY retrieval_id""",
            {"root": root},
        )
        found = found_memories(self._db, root)
        return tuple(outcome(row, found.get(row["retrieval_id"], ())) for row in rows)

    def returned_texts(self, root: str | None = None) -> set[Pair]:
        """All memory texts that the retrievals of `outcomes` returned, injected or not."""
        rows = self._db.tuples(
            f"""SELECT DISTINCT memory_id, digest FROM retrieval JOIN result USING (run_id, prompt_id)
                WHERE retrieval_id IN ({NEWEST})""",
            {"root": root},
        )
        return set(rows)

    def judge_calls(self, root: str | None = None) -> tuple[JudgeCall, ...]:
        """The judge calls of the retrievals of `outcomes`."""
        rows = self._db.rows(
            f"""SELECT judge_call.prompt_id, run.system, judge_call.elapsed_ms, judge_call.cost_usd,
                       coalesce(max(judge_verdict.samples), 0) AS answers,
                       coalesce(max(judge_verdict.source = 'live'), 1) AS is_live
                FROM retrieval JOIN run USING (run_id) JOIN judge_call USING (run_id, prompt_id)
                LEFT JOIN judge_verdict USING (call_id)
                WHERE retrieval_id IN ({NEWEST}) GROUP BY call_id ORDER BY call_id""",
            {"root": root},
        )
        return tuple(JudgeCall(**{**row, "is_live": bool(row["is_live"])}) for row in rows)

    def verdicts(self, root: str | None = None) -> dict[str, dict[Pair, str]]:
        """The judge's decisions in the retrievals of `outcomes` for which it answered: prompt id -> pair -> decision.

        Where several systems asked it about a memory, the newest answer counts.
        """
        rows = self._db.tuples(
            f"""SELECT judge_call.prompt_id, memory_id, digest, decision
                FROM retrieval JOIN run USING (run_id) JOIN judge_call USING (run_id, prompt_id)
                JOIN judge_verdict USING (call_id)
                WHERE retrieval_id IN ({NEWEST}) AND judge_call.status = 'ok' ORDER BY retrieval_id""",
            {"root": root},
        )
        found: dict[str, dict[Pair, str]] = {}
        for prompt_id, memory_id, digest, decision in rows:
            found.setdefault(prompt_id, {})[memory_id, digest] = decision
        return found

    def run_settings(self, root: str | None = None) -> dict[str, RunSettings]:
        """The settings of each run over *root*, or over all roots: run id -> settings."""
        sql = "SELECT run_id, root, config_json, corpus_hash FROM run WHERE :root IS NULL OR root = :root"
        return {run_id: RunSettings(*made) for run_id, *made in self._db.tuples(sql, {"root": root})}

    def empty_replays(self, root: str, corpus_hash: str) -> list[EmptyReplay]:
        """The replays over a root with these memories that left nothing to label."""
        rows = self._db.tuples(
            """SELECT prompt_id, system, config_json FROM retrieval JOIN run USING (run_id)
               WHERE root = :root AND corpus_hash = :corpus AND NOT EXISTS (
                   SELECT 1 FROM result INDEXED BY result_injected
                   WHERE result.run_id = retrieval.run_id AND result.prompt_id = retrieval.prompt_id AND injected)
               AND (system NOT GLOB :judged OR NOT EXISTS (
                   SELECT 1 FROM result WHERE result.run_id = retrieval.run_id
                   AND result.prompt_id = retrieval.prompt_id AND dropped_by = 'judge'))""",
            {"root": root, "corpus": corpus_hash, "judged": f"*{JUDGED_SYSTEM}"},
        )
        return list(map(EmptyReplay._make, rows))


def found_memories(db: LabelTables, root: str | None) -> dict[int, list[dict[str, Any]]]:
    """The candidates of the newest retrievals: retrieval id -> candidates in rank order."""
    # SQLite keeps the order of a cross join: from the newest retrievals to their results
    rows = db.rows(
        f"""SELECT retrieval_id, memory_id, result.digest, decision, probability, injected, result.confidence,
                   nullif(json_array_length(matched), 0) AS matched, score
            FROM (SELECT retrieval_id, run_id, prompt_id FROM retrieval WHERE retrieval_id IN ({NEWEST}))
            CROSS JOIN result USING (run_id, prompt_id) {JUDGED}
            WHERE injected OR (prompt_id, memory_id) IN (SELECT prompt_id, memory_id FROM label_event)
            ORDER BY retrieval_id, rank""",
        {"root": root},
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["retrieval_id"], []).append(row)
    return found


def outcome(retrieved: dict[str, Any], found: Sequence[dict[str, Any]]) -> Outcome:
    """The outcome of a row of `retrieval` with the candidates *found*."""
    injected = [candidate for candidate in found if candidate["injected"]]
    about = {name: value for name, value in retrieved.items() if name != "retrieval_id"}
    return Outcome(
        **about | {"is_asked": bool(retrieved["is_asked"])},
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
