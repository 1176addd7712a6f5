"""Step 5: what was merged in from another store counts by when it was said, not by when it came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.migrations.people import VIEWS

if TYPE_CHECKING:
    from sqlite_utils import Database

MERGED = (
    "DROP VIEW gold",
    "DROP VIEW adjudication_current",
    "DROP VIEW label_current",
    "DROP TRIGGER label_event_is_never_replaced",
    "DROP INDEX label_event_retracted_once",
    # one label can be taken back in each of two stores, and a merge loses neither retraction
    "CREATE INDEX label_event_retracted ON label_event (supersedes) WHERE action = 'retract'",
    """
    CREATE TRIGGER label_event_is_never_replaced BEFORE INSERT ON label_event
    WHEN EXISTS (SELECT 1 FROM label_event WHERE event_id = NEW.event_id)
      OR EXISTS (SELECT 1 FROM label_event WHERE uid = NEW.uid)
    BEGIN SELECT RAISE(ABORT, 'label events are never replaced: append a new one'); END
    """,
    # by time, because what was merged in has a higher event_id however old it is
    """
    CREATE VIEW label_current AS
    SELECT * FROM label_standing AS event
    WHERE action = 'label' AND NOT repeat AND NOT EXISTS (
        SELECT 1 FROM label_standing AS later
        WHERE later.annotator = event.annotator AND later.prompt_id = event.prompt_id
          AND later.memory_id = event.memory_id AND later.digest = event.digest
          AND later.action = 'label' AND NOT later.repeat
          AND (later.ts, later.event_id) > (event.ts, event.event_id)
    )
    """,
    """
    CREATE VIEW adjudication_current AS
    SELECT * FROM label_standing AS event
    WHERE action = 'adjudicate' AND NOT EXISTS (
        SELECT 1 FROM label_standing AS later
        WHERE later.prompt_id = event.prompt_id AND later.memory_id = event.memory_id AND later.digest = event.digest
          AND later.action = 'adjudicate' AND (later.ts, later.event_id) > (event.ts, event.event_id)
    )
    """,
    VIEWS[-1],
)


def m005_merged(db: Database) -> None:
    for statement in MERGED:
        db.execute(statement)
