"""Step 6: who has seen the ranks and verdicts of which prompt, so that what they say of it later is not blind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

SIGHTINGS = (
    """
    CREATE TABLE sighting (
        annotator TEXT NOT NULL,
        prompt_id TEXT NOT NULL,
        ts TEXT NOT NULL, -- when ranks and verdicts came into view
        PRIMARY KEY (annotator, prompt_id, ts)
    )
    """,
    # an earlier memsift wrote down only that a label was given beside them; what was imported says nothing of here
    """
    INSERT INTO sighting
    SELECT annotator, prompt_id, min(ts) FROM label_event
    WHERE action IN ('label', 'skip') AND NOT blind AND source = '' GROUP BY annotator, prompt_id
    """,
    """
    CREATE TRIGGER sighting_is_never_updated BEFORE UPDATE ON sighting
    BEGIN SELECT RAISE(ABORT, 'what was seen is never changed'); END
    """,
    """
    CREATE TRIGGER sighting_is_never_deleted BEFORE DELETE ON sighting
    BEGIN SELECT RAISE(ABORT, 'what was seen cannot be unseen'); END
    """,
)


def m006_sightings(db: Database) -> None:
    for statement in SIGHTINGS:
        db.execute(statement)
