"""What several people said of the same pair, and what one person said of it twice."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from labels.events import LABEL_COLUMNS, OF_ROOT, label_of
from labels.records import Dispute, Gold, Repeat

if TYPE_CHECKING:
    from labels.database import LabelDatabase
    from labels.records import Label, Pair


def gold(db: LabelDatabase, root: str | None) -> tuple[Gold, ...]:
    rows = db.rows(f"SELECT * FROM gold AS said WHERE {OF_ROOT} ORDER BY prompt_id, memory_id, digest", {"root": root})
    return tuple(Gold(**row) for row in rows)


def adjudications(db: LabelDatabase, root: str | None) -> tuple[Label, ...]:
    rows = db.tuples(
        f"SELECT {LABEL_COLUMNS} FROM adjudication_current AS said WHERE {OF_ROOT} ORDER BY event_id", {"root": root}
    )
    return tuple(map(label_of, rows))


def disputes(db: LabelDatabase, root: str | None, prompt_id: str | None) -> tuple[Dispute, ...]:
    # only what is asked for: SQLite uses no index for "is null or equal"
    where = "TRUE" if prompt_id is None else "prompt_id = :prompt"
    rows = db.tuples(
        f"""WITH pair AS (
                SELECT prompt_id, memory_id, digest FROM label_current WHERE {where}
                GROUP BY prompt_id, memory_id, digest HAVING min(verdict) <> max(verdict)
                EXCEPT SELECT prompt_id, memory_id, digest FROM adjudication_current
            )
            SELECT {LABEL_COLUMNS} FROM pair JOIN label_current AS said USING (prompt_id, memory_id, digest)
            WHERE {OF_ROOT} ORDER BY prompt_id, memory_id, digest, event_id""",
        {"root": root, "prompt": prompt_id},
    )
    pairs = groupby(map(label_of, rows), key=lambda label: (label.prompt_id, label.memory_id, label.digest))
    return tuple(Dispute(*pair, tuple(said)) for pair, said in pairs)


def repeats(db: LabelDatabase, root: str | None, annotator: str | None) -> tuple[Repeat, ...]:
    rows = db.rows(
        f"""SELECT annotator, prompt_id, memory_id, digest, verdict AS again, (
                SELECT first.verdict FROM label_standing AS first
                WHERE first.annotator = said.annotator AND first.prompt_id = said.prompt_id
                  AND first.memory_id = said.memory_id AND first.digest = said.digest
                  AND first.action = 'label' AND NOT first.repeat AND first.event_id < said.event_id
                ORDER BY first.event_id DESC LIMIT 1
            ) AS first
            FROM label_standing AS said
            WHERE action = 'label' AND repeat AND first IS NOT NULL
              AND (:annotator IS NULL OR annotator = :annotator) AND {OF_ROOT} ORDER BY event_id""",
        {"annotator": annotator, "root": root},
    )
    return tuple(Repeat(**row) for row in rows)


def repeated(db: LabelDatabase, annotator: str, prompt_id: str) -> frozenset[Pair]:
    rows = db.rows(
        "SELECT DISTINCT memory_id, digest FROM label_standing WHERE repeat AND annotator = ? AND prompt_id = ?",
        [annotator, prompt_id],
    )
    return frozenset((row["memory_id"], row["digest"]) for row in rows)
