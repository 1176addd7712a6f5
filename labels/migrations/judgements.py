"""Step 3: what a verdict is drawn from, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

JUDGEMENTS = (
    "ALTER TABLE judge_call ADD COLUMN depth TEXT NOT NULL DEFAULT 'keep'",
    "ALTER TABLE judge_call ADD COLUMN cost_usd REAL",  # NULL where tokens or price are not known
    "ALTER TABLE judge_verdict ADD COLUMN confidence REAL",  # 0..1, NULL where the judge did not say
    "ALTER TABLE judge_verdict ADD COLUMN samples INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE judge_verdict ADD COLUMN agreement REAL NOT NULL DEFAULT 1.0",  # share of the samples, 0..1
    "ALTER TABLE judge_verdict ADD COLUMN source TEXT NOT NULL DEFAULT 'live'",
)


def m003_judgements(db: Database) -> None:
    for statement in JUDGEMENTS:
        db.execute(statement)
