"""Label events in the store: read back as labels, skips and repeats; the consensus of several people; seen ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labels.records import (
    NOT_KNOWN,
    NOT_RELEVANT,
    RELEVANT,
    Dispute,
    Event,
    Gold,
    Repeat,
    blindness,
    grouped,
    nested,
)
from labels.tables import QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.records import Pair
    from labels.tables import LabelTables

    PairKey = tuple[str, str, str]
    """(prompt id, memory id, digest)."""

OF_ROOT = QUERIES["part of_root"]


class StoredEvents:
    """The labels of a store, and what follows from its events."""

    _db: LabelTables

    def labels(
        self, annotator: str | None = None, prompt_id: str | None = None, root: str | None = None
    ) -> tuple[Event, ...]:
        """Current labels in the order of their events, also of texts that have changed since.

        With *root*, only labels of memories that a run over the root returned for the same prompt.
        """
        # only the filters that are given: SQLite uses no index for "is null or equal"
        asked = {"annotator": annotator, "prompt_id": prompt_id}
        given = {name: value for name, value in asked.items() if value is not None}
        where = " AND ".join([*(f"{name} = :{name}" for name in given), OF_ROOT])
        return self._labels(f"label_current AS event WHERE {where} ORDER BY event_id", {**given, "root": root})

    def _labels(self, source: str, parameters: dict[str, Any]) -> tuple[Event, ...]:
        return tuple(map(event_of, self._db.rows(f"SELECT * FROM {source}", parameters)))

    def recent(self, annotator: str, limit: int = 10, *, repeats: bool = False) -> tuple[Event, ...]:
        """The annotator's latest current labels, newest first. With *repeats*, all standing labels and repeats.

        Answers to list cards are left out.
        """
        source = "label_standing WHERE action = 'label' AND" if repeats else "label_current WHERE"
        of_cards = "annotator = :annotator AND ifnull(titles, 0) = 0"
        newest_first = f"{source} {of_cards} ORDER BY event_id DESC LIMIT :limit"
        return self._labels(newest_first, {"annotator": annotator, "limit": limit})

    def adjudications(self, root: str | None = None) -> tuple[Event, ...]:
        """The latest adjudication of each pair, in the order of their events."""
        return self._labels(f"adjudication_current AS event WHERE {OF_ROOT} ORDER BY event_id", {"root": root})

    def events(self, annotator: str | None = None, limit: int | None = None) -> tuple[Event, ...]:
        """All events, oldest first, also retractions and retracted events. With *limit*, only the newest."""
        query = QUERIES["events"].format(whose="annotator = :annotator" if annotator is not None else "TRUE")
        rows = self._db.rows(query, {"annotator": annotator, "limit": limit})
        return tuple(event_of(row) for row in reversed(rows))

    def skips(self, annotator: str, prompt_id: str | None = None) -> dict[str, dict[Pair, int]]:
        """The number of standing skips of each card, without repeats: prompt id -> pair -> skips."""
        query = QUERIES["skips"].format(which="TRUE" if prompt_id is None else "prompt_id = :prompt_id")
        rows = self._db.tuples(query, {"annotator": annotator, "prompt_id": prompt_id})
        return nested((name, (memory_id, digest), times) for name, memory_id, digest, times in rows)

    def repeats(self, root: str | None = None) -> tuple[Repeat, ...]:
        """Each repeat with the label that stood before it, in the order of the repeats."""
        return tuple(Repeat(**row) for row in self._db.rows(QUERIES["repeats"], {"root": root}))

    def repeated(self, annotator: str, prompt_id: str) -> frozenset[Pair]:
        """The cards of a prompt that the annotator has answered or skipped as repeats."""
        sql = "SELECT memory_id, digest FROM label_standing WHERE repeat AND annotator = ? AND prompt_id = ?"
        return frozenset(self._db.tuples(sql, [annotator, prompt_id]))

    def first_given(self) -> dict[tuple[str, ...], tuple[str, int]]:
        """(annotator, prompt id, memory id, digest) -> time and id of the first label, also of one that was changed."""
        sql = """SELECT annotator, prompt_id, memory_id, digest, min(ts), min(event_id) FROM label_event
        WHERE action IN ('label', 'adjudicate') AND NOT repeat GROUP BY annotator, prompt_id, memory_id, digest"""
        return {tuple(key): (ts, event_id) for *key, ts, event_id in self._db.tuples(sql)}

    def seen_prompts(self, annotator: str | None = None) -> frozenset[str]:
        """The prompts whose ranks and verdicts the annotator has seen, or anybody."""
        sql = "SELECT DISTINCT prompt_id FROM sighting WHERE annotator = ifnull(?, annotator)"
        rows = self._db.tuples(sql, [annotator])
        return frozenset(prompt_id for (prompt_id,) in rows)

    def gold(self, root: str | None = None) -> tuple[Gold, ...]:
        """The consensus of all annotators on each pair, of one root or of all, sorted by pair. A tie has none."""
        return tuple(Gold(*row) for row in self._db.tuples(QUERIES["gold"], {"root": root}))

    def disputes(self, root: str | None = None, prompt_id: str | None = None) -> tuple[Dispute, ...]:
        """The pairs with different current labels and no adjudication, also of texts that have changed since."""
        settled = {key_of(label) for label in self.adjudications(root)}
        pairs = by_pair(self.labels(prompt_id=prompt_id, root=root))
        return tuple(
            Dispute(*key, tuple(pairs[key]))
            for key in sorted(pairs.keys() - settled)
            if len({label.verdict for label in pairs[key]}) > 1
        )


def event_of(row: dict[str, Any]) -> Event:
    return Event(**{**row, "blind": blindness(row["blind"]), "repeat": bool(row["repeat"])})


def event_row(event: Event) -> dict[str, Any]:
    """The columns of the table `label_event`; `event_of` reads them back. An event without a number gets one."""
    blind = NOT_KNOWN if event.blind is None else event.blind
    return {**event._asdict(), "event_id": event.event_id or None, "blind": blind}


# The consensus of several people


def shared_verdict(verdicts: Sequence[str | None]) -> str | None:
    """The consensus of the verdicts on one pair; None if there is none.

    The majority of relevant against not. Unsure and unrateable have no vote, unless all verdicts are the same. The view
    `gold` of the store has the same rule in SQL, and a test compares the two.
    """
    balance = verdicts.count(RELEVANT) - verdicts.count(NOT_RELEVANT)
    if balance:
        return RELEVANT if balance > 0 else NOT_RELEVANT
    return verdicts[0] if len(set(verdicts)) == 1 else None


def by_pair(labels: Iterable[Event]) -> dict[PairKey, list[Event]]:
    return grouped((key_of(label), label) for label in labels)


def key_of(label: Event) -> PairKey:
    return label.prompt_id, label.memory_id, label.digest
