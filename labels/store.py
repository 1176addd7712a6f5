"""The label store: the door to all labels of a person, and to the retrievals that they are about.

Every key press is one event. The SQL stands in queries.sql and in the modules beside this one. Exchange reads and
writes the same tables.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from engine import __version__
from engine.errors import LabelStoreError
from engine.stores.roots import roots_in
from labels import runs
from labels.database import BUSY_TIMEOUT_S, LabelDatabase
from labels.events import StoredEvents, event_of, event_row
from labels.records import (
    ADJUDICATE,
    INJECTED,
    LABEL,
    LISTED,
    MAX_GRADE,
    NOT_RELEVANT,
    RELEVANT,
    RETRACT,
    SKIP,
    VERDICTS,
    Event,
    grouped,
)
from labels.runs import StoredRuns
from labels.tables import QUERIES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import NotRequired, TypedDict, Unpack

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex
    from labels.records import Card, Pair, Pool

    class KeyPress(TypedDict):
        """How a card was answered: see `labels.records.Event`."""

        seed: int
        blind: bool
        elapsed_ms: int
        repeat: NotRequired[bool]
        titles: NotRequired[int | None]


SESSION_BYTES, UID_BYTES = 8, 16

NAMING = ("label_event", "frame", "result", "judge_verdict")
"""The tables that name a text of a memory."""

EARLIER = "memory_id = ? AND digest = ?"
FROZEN = "label_event_is_never_updated"


def utc_now() -> datetime:
    return datetime.now(UTC)


class LabelStore(StoredEvents, StoredRuns):
    """A person's labels in one SQLite file. Belongs to the thread that opened it; other processes may use the file.

    A method that writes has committed when it returns. Every method raises LabelStoreError if the file cannot be read
    or written; nothing is half written then. Its bases read: `StoredEvents` in events.py, `StoredRuns` in runs.py.
    """

    _db: LabelDatabase
    _problem: LabelStoreError | None = None
    _folder: TemporaryDirectory[str] | None = None

    def __init__(
        self, db: LabelDatabase, now: Callable[[], datetime], guideline: str, token: Callable[[int], str]
    ) -> None:
        self._db = db
        self._now = now
        self._guideline = guideline
        self._token = token
        self.session = token(SESSION_BYTES)
        try:
            self._version = self._data_version()
        except LabelStoreError:
            db.close()
            raise

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        now: Callable[[], datetime] = utc_now,
        guideline: str = "",
        busy_timeout_s: float = BUSY_TIMEOUT_S,
        token: Callable[[int], str] = secrets.token_hex,
    ) -> Self:
        """Open the store at *path*. Makes a missing file, and updates an older schema.

        *now* gives aware times; *guideline* is a hash of the labelling instructions; *busy_timeout_s* is the longest
        wait for another process that writes; *token* gives random hex of a number of bytes, for the names of the
        session and its events. Raises LabelStoreError for a path that cannot be a label store, and NewerStoreError for
        a store of a newer memsift; both are left as they were.
        """
        return cls(LabelDatabase(path, busy_timeout_s), now, guideline, token)

    @classmethod
    def without_file(cls, problem: LabelStoreError) -> Self:
        """An empty store in a temporary folder, in place of a file that cannot be used: it refuses all key presses.

        Memories and replays are shown beside it. *problem* is raised instead of keeping a label.
        """
        try:
            folder = TemporaryDirectory(prefix="memsift-")
        except OSError:
            raise problem from None
        store = cls.open(Path(folder.name, "labels.db"))
        store._problem, store._folder = problem, folder
        return store

    def another(self) -> Self:
        """A second connection for another thread. Neither keeps the other waiting for longer than one transaction.

        It is for retrievals, which can be made again: a power cut may take its latest writes, but no label.
        """
        self._db.require_in_place()
        db = LabelDatabase(self.path, BUSY_TIMEOUT_S, self._db.turn)
        db.execute("PRAGMA synchronous = NORMAL")
        return type(self)(db, self._now, self._guideline, self._token)

    def close(self) -> None:
        self._db.close()
        if self._folder:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        return self._db.path

    def has_news(self) -> bool:
        """Whether another connection, of this program or of another, wrote to the file since the last call.

        Raises MovedStoreError if the file was moved, replaced or deleted since it was opened.
        """
        self._db.require_in_place()
        before, self._version = self._version, self._data_version()
        return before != self._version

    def move(self, path: Path, carry: Callable[[LabelDatabase, LabelDatabase], object]) -> None:
        """Go on with the store at *path*, once *carry* has brought there what this one holds. Raises MemsiftError."""
        self._db.move(path, carry)
        self._version = self._data_version()

    def _data_version(self) -> int:
        return int(self._db.tuples("PRAGMA data_version")[0][0])

    def follow_rereading(self, index: OpenIndex) -> None:
        """Let labels and results of version 1.0.0 count for memories of *index* that are now read differently.

        Version 1.0.0 read front matter by line, later versions read it as YAML. So the title and the digest of such a
        note differ. Labels, pools and results name a text by its digest, so their rows get the present digest.
        """
        digests = {memory.id: memory.digest for memory in index.summaries()}
        known = self._db.tuples("SELECT memory_id, digest FROM memory_version")
        others = {memory_id for memory_id, digest in known if digests.get(memory_id, digest) != digest}
        memories = [memory for memory_id in sorted(others) if (memory := index.memory(memory_id)) is not None]
        pairs = {(memory_id, digest) for memory_id, digest in known}
        moved = [memory for memory in memories if (memory.summary.id, memory.earlier_digest) in pairs]
        if not moved:
            return
        with self._db.writing():
            ((guard,),) = self._db.tuples("SELECT sql FROM sqlite_master WHERE name = ?", [FROZEN])
            self._db.execute(f"DROP TRIGGER {FROZEN}")
            for memory in moved:
                about = memory.summary
                self._db.insert("memory_version", runs.memory_row(about, memory.body), upsert="DO NOTHING")
                named = [about.id, memory.earlier_digest]
                for table in NAMING:
                    self._db.execute(f"UPDATE OR IGNORE {table} SET digest = ? WHERE {EARLIER}", [about.digest, *named])
                for table in ("frame", "memory_version"):  # a pool may name both texts
                    self._db.execute(f"DELETE FROM {table} WHERE {EARLIER}", named)
            self._db.execute(guard)

    def together(self) -> AbstractContextManager[None]:
        """A `with` block whose writes are one transaction: all of them are on disk at its end, or none if it raises."""
        return self._db.writing()

    def recognise(self, root: str, texts: Callable[[], Collection[Pair]]) -> None:
        """Let runs over another folder count for *root*, if *root* holds the same memories: a clone, or a moved folder.

        That is so if *texts* hold more than half of the labelled texts of that folder. *texts* is called only if such a
        folder has labels. Once there is a run over *root* alone, runs over it and other roots together are not added.
        """
        labelled = grouped(
            (other, (memory_id, digest))
            for other, memory_id, digest in self._db.tuples(QUERIES["labelled_elsewhere"], {"root": root})
        )
        here = set(texts()) if labelled else set()
        same = [other for other, pairs in labelled.items() if 2 * len(here.intersection(pairs)) > len(pairs)]
        if self._db.tuples("SELECT 1 FROM run WHERE root = ? LIMIT 1", [root]):
            same = [other for other in same if not set(roots_in(root)) & set(roots_in(other))]
        if not same:
            return
        with self._db.writing():
            for other in same:
                row = {"root": root, "other": other, "ts": self._timestamp()}
                self._db.insert("same_memories", row, upsert="DO NOTHING")

    # Retrievals and pools are written

    def record_retrieval(
        self, retrieval: Retrieval, *, root: str, config_json: str, corpus_hash: str, bodies: Mapping[str, str]
    ) -> None:
        """Keep a retrieval with its prompt, memory texts (*bodies* by memory id), results and judge call.

        *config_json* comes from `labels.run_settings.settings_json`. A retrieval of the same prompt and run (root,
        system, settings, corpus) is replaced. Raises LabelStoreError if the prompt's id has labels for another text.
        """
        ts = self._timestamp()
        with self._db.writing():
            runs.record_prompt(self._db, retrieval.prompt)
            for candidate in retrieval.candidates:
                runs.record_memory(self._db, candidate.memory, bodies.get(candidate.memory.id))
            row = runs.run_row(root, retrieval.system, config_json, corpus_hash)
            versions = {"engine_version": __version__, "sqlite_version": sqlite3.sqlite_version, "ts": ts}
            self._db.insert("run", {**row, **versions}, upsert="(run_id) DO NOTHING")
            runs.record_results(self._db, row["run_id"], retrieval, ts)

    def record_pool(self, pool: Pool) -> None:
        """Keep a pool. The newest pool of a prompt and seed counts."""
        ts = self._timestamp()
        with self._db.writing():
            runs.record_prompt(self._db, pool.prompt)
            for card in (*pool.cards, *pool.listed):
                runs.record_memory(self._db, card.memory)
                of_card = {"memory_id": card.memory.id, "digest": card.memory.digest}
                key = {"prompt_id": pool.prompt.id, **of_card, "seed": pool.seed}
                how, share = (LISTED, pool.drawn) if card in pool.listed else (INJECTED, 1.0)
                row = {**key, "stratum": how, "inclusion_probability": share, "ts": ts}
                self._db.upsert("frame", row, keys=tuple(key))

    def record_prompt(self, prompt: Prompt) -> None:
        """Keep a prompt, such as one with another source. Raises as `record_retrieval` does."""
        with self._db.writing():
            runs.record_prompt(self._db, prompt)
            self._db.execute("UPDATE prompt SET source = ? WHERE prompt_id = ?", [prompt.source, prompt.id])

    def record_seen(self, annotator: str, prompt_id: str) -> None:
        """Note that the annotator has seen ranks and verdicts of a prompt. Later labels of it are not blind."""
        ts = self._timestamp()
        with self._db.writing():
            if prompt_id not in self.seen_prompts(annotator):
                self._db.insert("sighting", {"annotator": annotator, "prompt_id": prompt_id, "ts": ts})

    # Key presses are written

    def label(
        self,
        annotator: str,
        prompt_id: str,
        card: Card,
        verdict: str,
        *,
        grade: int | None = None,
        reason: str = "",
        note: str = "",
        **how: Unpack[KeyPress],
    ) -> Event:
        """Append a label. It supersedes the annotator's earlier label of the same text; a *repeat* supersedes nothing.

        Raises ValueError unless *verdict* is in VERDICTS and *grade* is 0..3 or None. Raises LabelStoreError unless the
        prompt was recorded by `record_retrieval` or `record_pool`.
        """
        if verdict not in VERDICTS or (grade is not None and not 0 <= grade <= MAX_GRADE):
            raise ValueError(f"no such verdict or grade: {verdict!r}, {grade!r}")
        content = {"verdict": verdict, "grade": grade, "reason": reason, "note": note}
        return self._append(LABEL, annotator, prompt_id, card, **content, **how)

    def answer_list(
        self, annotator: str, prompt_id: str, cards: Sequence[Card], helped: Collection[Pair], **how: Unpack[KeyPress]
    ) -> Event:
        """Append the answer to a list card: a label for each of *cards*, relevant if it *helped*. Returns the last.

        There must be a card. Raises as `label` does.
        """
        together: dict[str, Any] = {**how, "titles": len(cards), "ts": self._timestamp()}
        with self._db.writing():
            for card in cards:
                verdict = RELEVANT if card.pair in helped else NOT_RELEVANT
                last = self._append(LABEL, annotator, prompt_id, card, verdict=verdict, **together)
        return last

    def skip(self, annotator: str, prompt_id: str, card: Card, **how: Unpack[KeyPress]) -> Event:
        """Append a skip: the card comes back at the end of its prompt. The prompt must have been recorded."""
        return self._append(SKIP, annotator, prompt_id, card, **how)

    def adjudicate(
        self, annotator: str, prompt_id: str, card: Card, verdict: str, *, seed: int, elapsed_ms: int
    ) -> Event:
        """Append the verdict that settles a dispute. It is not blind, because the other verdicts were shown.

        Raises as `label` does.
        """
        if verdict not in VERDICTS:
            raise ValueError(f"no such verdict: {verdict!r}")
        how = {"seed": seed, "blind": False, "elapsed_ms": elapsed_ms}
        return self._append(ADJUDICATE, annotator, prompt_id, card, verdict=verdict, **how)

    def undo(
        self,
        annotator: str,
        prompt_ids: Collection[str] | None = None,
        *,
        root: str | None = None,
        adjudications: bool = False,
    ) -> Event | None:
        """Take back the annotator's latest standing label or skip, or with *adjudications* the latest adjudication.

        The answer to a list card is taken back as a whole.

        *prompt_ids* and *root* limit the search: to these prompts, and to memories that runs over the root returned.
        Imported events are not taken back. Returns the event, or None if there is none. A label that the event had
        superseded is current again.
        """
        prompts = None if prompt_ids is None else json.dumps(list(prompt_ids))
        asked = {"annotator": annotator, "root": root, "adjudications": adjudications, "prompts": prompts}
        with self._db.writing():
            rows = self._db.rows(QUERIES["latest_standing"], asked)
            event = event_of(rows[0]) if rows else None
            if event is not None and event.titles:
                rows = self._db.rows(QUERIES["same_list"], event._asdict())
            for taken in map(event_of, rows):
                shown = {name: getattr(taken, name) for name in ("blind", "repeat", "position", "seed")}
                made = {**shown, **self._stamp(), "supersedes": taken.event_id}
                retraction = Event(annotator, taken.prompt_id, taken.memory_id, taken.digest, RETRACT, **made)
                self._db.insert("label_event", event_row(retraction))
        return event

    def _append(self, action: str, annotator: str, prompt_id: str, card: Card, **given: Any) -> Event:
        if self._problem:
            raise self._problem
        self._db.require_in_place()
        made = {**self._stamp(), **given, "position": card.position}
        event = Event(annotator, prompt_id, card.memory.id, card.memory.digest, action, **made)
        with self._db.writing():
            if self.prompt(prompt_id) is None:
                raise LabelStoreError(
                    f"Label store {self.path}: it does not know the prompt {prompt_id!r}. Replay the prompt first."
                )
            runs.record_memory(self._db, card.memory)
            if action == LABEL and not event.repeat:
                for earlier, ts, titles in self._db.tuples(QUERIES["superseded"], event._asdict()):
                    # the later time, else a clock that was set back would let the replaced label stay current
                    event = event._replace(supersedes=earlier, ts=max(event.ts, ts), titles=event.titles or titles)
            return event._replace(event_id=self._db.insert("label_event", event_row(event)))

    def _stamp(self) -> dict[str, Any]:
        """The columns of every new event: its time, its names, and the versions in force."""
        named = {"uid": self._token(UID_BYTES), "session": self.session, "source": ""}
        return {"ts": self._timestamp(), **named, "guideline": self._guideline, "app_version": __version__}

    def _timestamp(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds")
