"""From a label store to a file: a copy of the store in memory, without everything that is not to be exported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from labels.events import event_row
from labels.exchange.files import nfc
from labels.exchange.merge import QUERIES
from labels.exchange.pairs import judged_pairs
from labels.exchange.rows import id_hash, text_hash
from labels.records import Event
from labels.tables import LabelTables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.records import MemoryText

GOLD = "gold"
"""The annotator of agreed labels."""

WITH_PROMPT = ("prompt", "label_event", "retrieval", "result", "judge_call", "frame", "plan", "sighting")
WITH_MEMORY = ("memory_version", "label_event", "result", "judge_verdict", "frame")


class Extract(LabelTables):
    """A copy of a label store in memory, to be cut down and written to a file.

    `redacted`: hashes stand in place of texts and ids.
    """

    def __init__(self, db: LabelTables) -> None:
        copy = db.copied()
        copy.conn.create_function("nfc", 1, nfc)
        copy.conn.create_function("id_hash", 1, id_hash)
        copy.conn.create_function("text_hash", 1, lambda text: None if text is None else text_hash(text))
        super().__init__(copy, db.path)
        for (name,) in self.tuples("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            self.execute(f"DROP TRIGGER {name}")  # they keep events from being deleted
        self.execute(QUERIES["newest_result"])
        self.redacted = False

    @property
    def has_events(self) -> bool:
        return bool(self.tuples("SELECT 1 FROM label_event LIMIT 1"))

    def keep_roots(self, roots: Sequence[str], present: Sequence[MemoryText]) -> None:
        """Keep the runs over *roots*, and the events and pools of the memories that these found.

        Memories with imported labels may be in no run at all: they count if the roots hold them now, as *present*.
        """
        known = json.dumps([f"{memory.id}\n{memory.digest}" for memory in present])
        about = {"roots": json.dumps(list(roots)), "present": known}
        self.script(QUERIES["other_roots"], about)
        self.script(QUERIES["without_run"])
        self.script(QUERIES["unused_texts"])

    def keep_system(self, system: str) -> None:
        """Keep the runs of one system. Without a name there may be only one. ExchangeError if there is none."""
        systems = [name for (name,) in self.tuples("SELECT DISTINCT system FROM run ORDER BY system")]
        if not system and len(systems) < 2:
            return
        if system not in systems:
            asked = f"There is no run of {system!r}" if system else "A run file holds one system"
            known = ", ".join(systems) or "nothing was replayed yet"
            raise ExchangeError(f"{asked}. Choose one with --system: {known}.")
        self.execute("DELETE FROM run WHERE system <> ?", [system])
        self.script(QUERIES["without_run"])

    def keep_annotator(self, annotator: str) -> None:
        """Keep the events of one annotator; ExchangeError if there are none."""
        names = [name for (name,) in self.tuples("SELECT DISTINCT annotator FROM label_event ORDER BY annotator")]
        if nfc(annotator) not in map(nfc, names):
            known = f"There are labels by {', '.join(names)}." if names else "There are no labels yet."
            raise ExchangeError(f"There are no labels by {annotator!r}. {known}")
        for table in ("label_event", "plan", "sighting"):
            self.execute(f"DELETE FROM {table} WHERE nfc(annotator) <> ?", [nfc(annotator)])

    def keep_gold(self) -> None:
        """Put one label by the annotator `gold` in place of the events about each pair that has gold."""
        agreed = [pair for pair in judged_pairs(self) if pair.verdict]
        for table in ("label_event", "plan", "sighting"):
            self.execute(f"DELETE FROM {table}")
        for number, pair in enumerate(agreed):
            label = Event(GOLD, *pair.key, verdict=pair.verdict, grade=pair.grade, ts=pair.decided_at, uid=str(number))
            self.insert("label_event", event_row(label))

    def redact(self) -> None:
        """Put hashes in place of the texts and ids of prompts and memories.

        Left out is everything else that could quote a text: titles, tags, categories, conversations, paths, folders,
        notes, reasons, the judge's sentences and details, configurations, and matched words. Names of annotators,
        systems and models stay, and so does the kind of a prompt.
        """
        self.script(QUERIES["texts"])
        for column, tables in (("prompt_id", WITH_PROMPT), ("memory_id", WITH_MEMORY)):
            for table in tables:
                self.execute(f"UPDATE {table} SET {column} = id_hash({column})")
        self.redacted = True
