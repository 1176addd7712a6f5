"""What asking the judge took, and what the runs were made with, as the store recorded it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.newest import NEWEST
from labels.records import RunSettings

if TYPE_CHECKING:
    from labels.database import LabelDatabase


@dataclass(frozen=True)
class JudgeCall:
    """One prompt put before the judge.

    `elapsed_ms` and `cost_usd` (None where it is not known) are over all of its `answers`, of which there is none when
    it failed. `is_live` is false for what the cache answered, which took no time and no money.
    """

    prompt_id: str
    system: str
    elapsed_ms: float
    cost_usd: float | None
    answers: int
    is_live: bool


def newest_calls(db: LabelDatabase, root: str | None) -> tuple[JudgeCall, ...]:
    """The judge's calls of the newest retrieval of each prompt and system."""
    rows = db.rows(
        f"""SELECT judge_call.prompt_id, run.system, judge_call.elapsed_ms, judge_call.cost_usd,
                   coalesce(max(judge_verdict.samples), 0) AS answers,
                   coalesce(max(judge_verdict.source = 'live'), 1) AS is_live
            FROM retrieval JOIN run USING (run_id) JOIN judge_call USING (run_id, prompt_id)
            LEFT JOIN judge_verdict USING (call_id)
            WHERE retrieval_id IN ({NEWEST}) GROUP BY call_id ORDER BY call_id""",
        {"root": root},
    )
    return tuple(JudgeCall(**{**row, "is_live": bool(row["is_live"])}) for row in rows)


def run_settings(db: LabelDatabase, root: str | None) -> dict[str, RunSettings]:
    """What each run over *root*, or any, was made with: run id -> settings."""
    sql = "SELECT run_id, root, config_json, corpus_hash FROM run WHERE :root IS NULL OR root = :root"
    return {run_id: RunSettings(*made) for run_id, *made in db.tuples(sql, {"root": root})}
