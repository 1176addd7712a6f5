"""Sightings in the label store: the prompts of which somebody has seen ranks and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labels.database import LabelDatabase


def record_sighting(db: LabelDatabase, annotator: str, prompt_id: str, ts: str) -> None:
    """Append a sighting, unless one of this annotator and prompt is there."""
    if not db.rows("SELECT 1 FROM sighting WHERE annotator = ? AND prompt_id = ?", [annotator, prompt_id]):
        db.insert("sighting", {"annotator": annotator, "prompt_id": prompt_id, "ts": ts})


def seen_prompts(db: LabelDatabase, annotator: str) -> frozenset[str]:
    rows = db.tuples("SELECT DISTINCT prompt_id FROM sighting WHERE annotator = ?", [annotator])
    return frozenset(prompt_id for (prompt_id,) in rows)
