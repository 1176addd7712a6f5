"""What has been said, read back from the label store."""

from __future__ import annotations

import json
from functools import partial
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from labels.records import Event, Label

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from labels.database import LabelDatabase
    from labels.records import Pair

LABEL_FIELDS = (
    "event_id",
    "ts",
    "annotator",
    "prompt_id",
    "memory_id",
    "digest",
    "verdict",
    "grade",
    "reason",
    "note",
    "json(CASE WHEN blind THEN 'true' ELSE 'false' END)",
    "source",
)
"""Of a current label, for JSON; it is not adjudicated."""

BARE = {"grade": "NULL", "reason": "''", "note": "''", "source": "''"}
"""What stands for that which no number needs."""

NEW_LABEL = partial(tuple.__new__, Label)
WHEN = attrgetter("ts", "event_id")
"""Orders labels by time: those that were merged into a store are numbered when they came."""

ABOUT = attrgetter("annotator", "prompt_id", "memory_id", "digest")
"""Of the labels that have this in common, the latest counts."""

LABEL_COLUMNS = """event_id, ts, annotator, prompt_id, memory_id, digest, verdict, grade, reason, note, blind, source,
    action = 'adjudicate' AS adjudicated"""

OF_ROOT = """(:root IS NULL OR EXISTS (
    SELECT 1 FROM result JOIN run USING (run_id)
    WHERE run.root = :root AND result.prompt_id = said.prompt_id AND result.memory_id = said.memory_id
))"""
"""Whether a run over a root brought up the memory of a row of the view or table called `said`, for the same prompt."""


def current_labels(
    db: LabelDatabase, annotator: str | None, prompt_id: str | None, root: str | None, bare: bool = False
) -> tuple[Label, ...]:
    asked = {"annotator": annotator, "prompt_id": prompt_id}
    # only what is asked for: SQLite uses no index for "is null or equal"
    terms = [f"{name} = :{name}" for name, value in asked.items() if value is not None]
    where = " AND ".join(["action = 'label' AND NOT repeat", *terms, *([OF_ROOT] if root is not None else [])])
    fields = [BARE.get(name, name) for name in LABEL_FIELDS] if bare else LABEL_FIELDS
    columns = db.columns(fields, f"label_standing AS said WHERE {where}", {**asked, "root": root})
    return latest(sorted(map(NEW_LABEL, zip(*columns, repeat(False, len(columns[0])), strict=True))))


def latest(labels: Sequence[Label]) -> tuple[Label, ...]:
    """What the view `label_current` leaves of standing *labels*; it looks for a later one of each, which takes long."""
    if len(set(map(ABOUT, labels))) == len(labels):
        return tuple(labels)
    return tuple(sorted({ABOUT(label): label for label in sorted(labels, key=WHEN)}.values()))


def is_labelled(db: LabelDatabase, root: str) -> bool:
    return bool(db.rows(f"SELECT 1 FROM label_current AS said WHERE {OF_ROOT} LIMIT 1", {"root": root}))


def recent_labels(db: LabelDatabase, annotator: str, limit: int, repeats: bool) -> tuple[Label, ...]:
    said = "label_standing WHERE action = 'label' AND" if repeats else "label_current WHERE"
    rows = db.tuples(
        f"SELECT {LABEL_COLUMNS} FROM {said} annotator = ? ORDER BY event_id DESC LIMIT ?", [annotator, limit]
    )
    return tuple(map(label_of, rows))


def all_events(db: LabelDatabase, annotator: str | None, limit: int | None) -> tuple[Event, ...]:
    where = "annotator = :annotator" if annotator is not None else "TRUE"
    rows = db.rows(
        f"SELECT * FROM label_event WHERE {where} ORDER BY event_id DESC LIMIT ifnull(:limit, -1)",
        {"annotator": annotator, "limit": limit},
    )
    return tuple(event_of(row) for row in reversed(rows))


def skips(db: LabelDatabase, annotator: str, prompt_id: str) -> Mapping[Pair, int]:
    rows = db.rows(
        """SELECT memory_id, digest, count(*) AS times FROM label_standing
           WHERE action = 'skip' AND NOT repeat AND annotator = ? AND prompt_id = ? GROUP BY memory_id, digest""",
        [annotator, prompt_id],
    )
    return {(row["memory_id"], row["digest"]): row["times"] for row in rows}


def all_skips(db: LabelDatabase, annotator: str) -> Mapping[tuple[str, Pair], int]:
    rows = db.rows(
        """SELECT prompt_id, memory_id, digest, count(*) AS times FROM label_standing
           WHERE action = 'skip' AND NOT repeat AND annotator = ? GROUP BY prompt_id, memory_id, digest""",
        [annotator],
    )
    return {(row["prompt_id"], (row["memory_id"], row["digest"])): row["times"] for row in rows}


def labelled_pairs(db: LabelDatabase, annotator: str, root: str | None) -> dict[str, set[Pair]]:
    rows = db.tuples(
        f"""SELECT prompt_id, memory_id, digest FROM label_standing AS said
            WHERE action = 'label' AND NOT repeat AND annotator = :annotator AND {OF_ROOT}""",
        {"annotator": annotator, "root": root},
    )
    found: dict[str, set[Pair]] = {}
    for prompt_id, memory_id, digest in rows:
        found.setdefault(prompt_id, set()).add((memory_id, digest))
    return found


def superseding(db: LabelDatabase, row: Mapping[str, Any]) -> dict[str, Any]:
    """What a new label supersedes, if anything, and its time: not before that, even where the clock was set back."""
    found = db.rows(
        """SELECT event_id, ts FROM label_current WHERE annotator = :annotator AND prompt_id = :prompt_id
           AND memory_id = :memory_id AND digest = :digest""",
        dict(row),
    )
    return {"supersedes": found[0]["event_id"], "ts": max(row["ts"], found[0]["ts"])} if found else {"supersedes": None}


def latest_standing(
    db: LabelDatabase, annotator: str, prompt_ids: Collection[str] | None, root: str | None, adjudications: bool
) -> Event | None:
    """The annotator's latest key press that was not taken back, optionally only among *prompt_ids* or of a root."""
    # a list of prompts can be longer than SQLite allows parameters, so it goes in as one JSON array
    rows = db.rows(
        f"""SELECT * FROM label_standing AS said
           WHERE annotator = :annotator AND source = '' AND (action = 'adjudicate') = :adjudications
           AND (:prompts IS NULL OR prompt_id IN (SELECT value FROM json_each(:prompts))) AND {OF_ROOT}
           ORDER BY event_id DESC LIMIT 1""",
        {
            "annotator": annotator,
            "root": root,
            "adjudications": adjudications,
            "prompts": None if prompt_ids is None else json.dumps(list(prompt_ids)),
        },
    )
    return event_of(rows[0]) if rows else None


def event_of(row: dict[str, Any]) -> Event:
    return Event(**{**row, "blind": bool(row["blind"]), "repeat": bool(row["repeat"])})


def label_of(row: tuple[Any, ...]) -> Label:
    """A row of LABEL_COLUMNS, whose order is that of a label's fields."""
    *told, blind, source, adjudicated = row
    return Label._make((*told, bool(blind), source, bool(adjudicated)))
