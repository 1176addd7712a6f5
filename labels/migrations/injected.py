"""Step 7: what was injected is found without looking at every candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


def m007_injected(db: Database) -> None:
    db.execute("CREATE INDEX result_injected ON result (run_id, prompt_id) WHERE injected")
