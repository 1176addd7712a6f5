"""Label events in the store: read back as labels, skips and repeats; the consensus of several people; seen ranks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from labels.records import (
    ADJUDICATED,
    MAJORITY,
    NOT_RELEVANT,
    RELEVANT,
    SINGLE,
    Dispute,
    Event,
    Gold,
    Label,
    Repeat,
    blindness,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from labels.database import LabelDatabase
    from labels.records import Pair

    PairKey = tuple[str, str, str]
    """(prompt id, memory id, digest)."""

LABEL_COLUMNS = ", ".join(Label._fields)

OF_ROOT = """(:root IS NULL OR EXISTS (
    SELECT 1 FROM result JOIN run USING (run_id)
    WHERE run.root = :root AND result.prompt_id = event.prompt_id AND result.memory_id = event.memory_id
))"""
"""SQL: a run over the root returned the memory of the row of `event` for the same prompt."""


def current_labels(
    db: LabelDatabase, annotator: str | None, prompt_id: str | None, root: str | None
) -> tuple[Label, ...]:
    # only the filters that are given: SQLite uses no index for "is null or equal"
    given = {name: value for name, value in (("annotator", annotator), ("prompt_id", prompt_id)) if value is not None}
    where = " AND ".join([*(f"{name} = :{name}" for name in given), OF_ROOT])
    rows = db.tuples(
        f"SELECT {LABEL_COLUMNS} FROM label_current AS event WHERE {where} ORDER BY event_id", {**given, "root": root}
    )
    return tuple(map(label_of, rows))


def is_labelled(db: LabelDatabase, root: str) -> bool:
    return bool(db.rows(f"SELECT 1 FROM label_current AS event WHERE {OF_ROOT} LIMIT 1", {"root": root}))


def recent_labels(db: LabelDatabase, annotator: str, limit: int, repeats: bool) -> tuple[Label, ...]:
    source = "label_standing WHERE action = 'label' AND" if repeats else "label_current WHERE"
    rows = db.tuples(
        f"SELECT {LABEL_COLUMNS} FROM {source} annotator = ? ORDER BY event_id DESC LIMIT ?", [annotator, limit]
    )
    return tuple(map(label_of, rows))


def adjudications(db: LabelDatabase, root: str | None) -> tuple[Label, ...]:
    rows = db.tuples(
        f"SELECT {LABEL_COLUMNS} FROM adjudication_current AS event WHERE {OF_ROOT} ORDER BY event_id", {"root": root}
    )
    return tuple(map(label_of, rows))


def all_events(db: LabelDatabase, annotator: str | None, limit: int | None) -> tuple[Event, ...]:
    where = "annotator = :annotator" if annotator is not None else "TRUE"
    rows = db.rows(
        f"SELECT * FROM label_event WHERE {where} ORDER BY event_id DESC LIMIT ifnull(:limit, -1)",
        {"annotator": annotator, "limit": limit},
    )
    return tuple(event_of(row) for row in reversed(rows))


def skips(db: LabelDatabase, annotator: str, prompt_id: str | None) -> dict[str, dict[Pair, int]]:
    rows = db.tuples(
        f"""SELECT prompt_id, memory_id, digest, count(*) FROM label_standing
            WHERE action = 'skip' AND NOT repeat AND annotator = :annotator
              AND {"TRUE" if prompt_id is None else "prompt_id = :prompt_id"}
            GROUP BY prompt_id, memory_id, digest""",
        {"annotator": annotator, "prompt_id": prompt_id},
    )
    found: dict[str, dict[Pair, int]] = {}
    for name, memory_id, digest, times in rows:
        found.setdefault(name, {})[memory_id, digest] = times
    return found


def repeats(db: LabelDatabase, root: str | None) -> tuple[Repeat, ...]:
    rows = db.rows(
        f"""SELECT annotator, prompt_id, memory_id, digest, verdict AS again, (
                SELECT first.verdict FROM label_standing AS first
                WHERE first.annotator = event.annotator AND first.prompt_id = event.prompt_id
                  AND first.memory_id = event.memory_id AND first.digest = event.digest
                  AND first.action = 'label' AND NOT first.repeat AND first.event_id < event.event_id
                ORDER BY first.event_id DESC LIMIT 1
            ) AS first
            FROM label_standing AS event
            WHERE action = 'label' AND repeat AND first IS NOT NULL AND {OF_ROOT} ORDER BY event_id""",
        {"root": root},
    )
    return tuple(Repeat(**row) for row in rows)


def repeated_cards(db: LabelDatabase, annotator: str, prompt_id: str) -> frozenset[Pair]:
    return frozenset(
        db.tuples(
            "SELECT DISTINCT memory_id, digest FROM label_standing WHERE repeat AND annotator = ? AND prompt_id = ?",
            [annotator, prompt_id],
        )
    )


def superseded(db: LabelDatabase, row: Mapping[str, Any]) -> dict[str, Any]:
    """`supersedes` and `ts` of the new label *row*. Its time is never before the label that it replaces.

    Else a clock that was set back would let the replaced label stay current.
    """
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
    # a list of prompts can be longer than SQLite's limit of parameters, so it goes in as a JSON array
    rows = db.rows(
        f"""SELECT * FROM label_standing AS event
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
    return Event(**{**row, "blind": blindness(row["blind"]), "repeat": bool(row["repeat"])})


def label_of(row: tuple[Any, ...]) -> Label:
    """A label from a row of LABEL_COLUMNS."""
    *fields, blind, source, session, repeat = row
    return Label._make((*fields, blindness(blind), source, session, bool(repeat)))


def record_seen(db: LabelDatabase, annotator: str, prompt_id: str, ts: str) -> None:
    """Append to the table `sighting`, unless the annotator and prompt are there."""
    if prompt_id not in seen_prompts(db, annotator):
        db.insert("sighting", {"annotator": annotator, "prompt_id": prompt_id, "ts": ts})


def seen_prompts(db: LabelDatabase, annotator: str) -> frozenset[str]:
    rows = db.tuples("SELECT DISTINCT prompt_id FROM sighting WHERE annotator = ?", [annotator])
    return frozenset(prompt_id for (prompt_id,) in rows)


# The consensus of several people


def shared_verdict(verdicts: Sequence[str]) -> str | None:
    """The consensus of the verdicts on one pair; None if there is none.

    The majority of relevant against not. Unsure and unrateable have no vote, unless all verdicts are the same.
    """
    balance = verdicts.count(RELEVANT) - verdicts.count(NOT_RELEVANT)
    if balance:
        return RELEVANT if balance > 0 else NOT_RELEVANT
    return verdicts[0] if len(set(verdicts)) == 1 else None


def gold(labels: Iterable[Label], adjudications: Iterable[Label]) -> tuple[Gold, ...]:
    """The consensus on each pair, sorted by pair. An adjudication decides alone; a tie has no gold."""
    found = {key_of(label): Gold(*key_of(label), label.verdict, ADJUDICATED, 1) for label in adjudications}
    for key, own in by_pair(labels).items():
        verdict = shared_verdict([label.verdict for label in own])
        if verdict and key not in found:
            found[key] = Gold(*key, verdict, SINGLE if len(own) == 1 else MAJORITY, len(own))
    return tuple(found[key] for key in sorted(found))


def disputes(labels: Iterable[Label], adjudications: Iterable[Label]) -> tuple[Dispute, ...]:
    """The pairs with different verdicts and no adjudication, sorted by pair."""
    settled = {key_of(label) for label in adjudications}
    pairs = by_pair(labels)
    return tuple(
        Dispute(*key, tuple(pairs[key]))
        for key in sorted(pairs.keys() - settled)
        if len({label.verdict for label in pairs[key]}) > 1
    )


def by_pair(labels: Iterable[Label]) -> dict[PairKey, list[Label]]:
    pairs: dict[PairKey, list[Label]] = {}
    for label in labels:
        pairs.setdefault(key_of(label), []).append(label)
    return pairs


def key_of(label: Label) -> PairKey:
    return label.prompt_id, label.memory_id, label.digest
