"""The label store: the door to all labels of a person, and to the retrievals that they are about.

Every key press is one event. The SQL stands in the modules beside this one; exchange reads and writes the same tables.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from engine import __version__
from engine.errors import LabelStoreError
from labels import events, labelling_order, pooling, replays, runs
from labels.database import BUSY_TIMEOUT_S, LabelDatabase
from labels.records import ADJUDICATE, LABEL, MAX_GRADE, RETRACT, SKIP, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from labels.labelling_order import LabellingOrder
    from labels.records import Card, Dispute, Event, Gold, JudgeCall, Label, Outcome, Pair, Pool, Repeat, RunSettings
    from labels.replays import EmptyReplay
    from labels.runs import InjectedMemory, SavedRun

SESSION_BYTES, UID_BYTES = 8, 16
UNSAID = {"verdict": None, "grade": None, "reason": "", "note": "", "repeat": 0, "supersedes": None}


def utc_now() -> datetime:
    return datetime.now(UTC)


class LabelStore:
    """A person's labels in one SQLite file. Belongs to the thread that opened it; other processes may use the file.

    A method that writes has committed when it returns. Every method raises LabelStoreError if the file cannot be read
    or written; nothing is half written then.
    """

    def __init__(
        self, db: LabelDatabase, now: Callable[[], datetime], guideline: str, token: Callable[[int], str]
    ) -> None:
        self._db = db
        self._now = now
        self._guideline = guideline
        self._token = token
        self.session = token(SESSION_BYTES)
        self._version = self._data_version()

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

    def together(self) -> AbstractContextManager[None]:
        """A `with` block whose writes are one transaction: all of them are on disk at its end, or none if it raises."""
        return self._db.writing()

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
            run = runs.record_run(self._db, root, retrieval.system, config_json, corpus_hash, ts)
            runs.record_results(self._db, run, retrieval, ts)

    def record_pool(self, pool: Pool) -> None:
        """Keep the strata and inclusion probabilities of a pool. The newest pool of a prompt and seed counts."""
        ts = self._timestamp()
        with self._db.writing():
            runs.record_prompt(self._db, pool.prompt)
            for card in pool.cards:
                runs.record_memory(self._db, card.memory)
                pooling.record_card(self._db, pool, card, ts)

    def record_prompt(self, prompt: Prompt) -> None:
        """Keep a prompt, such as one with another source. Raises as `record_retrieval` does."""
        with self._db.writing():
            runs.record_prompt(self._db, prompt)

    def record_seen(self, annotator: str, prompt_id: str) -> None:
        """Note that the annotator has seen ranks and verdicts of a prompt. Later labels of it are not blind."""
        ts = self._timestamp()
        with self._db.writing():
            events.record_seen(self._db, annotator, prompt_id, ts)

    # Retrievals and pools are read

    def names_with(self, root: str) -> tuple[str, ...]:
        """The names of roots that were replayed, alone or together with others, and that *root* is one of."""
        return runs.names_with(self._db, root)

    def prompts(self, root: str) -> tuple[Prompt, ...]:
        """The prompts that were replayed over a root."""
        return runs.read_prompts(self._db, root)

    def prompt(self, prompt_id: str) -> Prompt | None:
        return runs.read_prompt(self._db, prompt_id)

    def prompt_texts(self) -> dict[str, str]:
        """The text of every prompt: prompt id -> text."""
        return dict(self._db.tuples("SELECT prompt_id, text FROM prompt"))

    def prompts_by_hand(self) -> frozenset[str]:
        """The ids of the prompts that a person typed or picked: their source is one of BY_HAND."""
        return runs.prompts_by_hand(self._db)

    def prompts_of_source(self, root: str, source: str, limit: int = 1000) -> tuple[Prompt, ...]:
        """The prompts of a source that were replayed over a root, the latest replay first."""
        return runs.prompts_of_source(self._db, root, source, limit)

    def outcomes(self, root: str | None = None) -> tuple[Outcome, ...]:
        """The newest outcome of each prompt and system, of one root or of all.

        Candidates are only the injected memories and those with a label event.
        """
        return replays.newest_outcomes(self._db, root)

    def returned_texts(self, root: str | None = None) -> set[Pair]:
        """All memory texts that the retrievals of `outcomes` returned, injected or not."""
        return replays.newest_texts(self._db, root)

    def texts_with(self, prefix: str) -> dict[str, str]:
        """The recorded digest of each memory whose id begins with *prefix*, for ids that never change their text."""
        return runs.texts_with(self._db, prefix)

    def judge_calls(self, root: str | None = None) -> tuple[JudgeCall, ...]:
        """The judge calls of the retrievals of `outcomes`."""
        return replays.newest_judge_calls(self._db, root)

    def verdicts(self, root: str | None = None) -> dict[str, dict[Pair, str]]:
        """The judge's decisions in the retrievals of `outcomes`: prompt id -> pair -> decision."""
        return replays.newest_verdicts(self._db, root)

    def run_settings(self, root: str | None = None) -> dict[str, RunSettings]:
        """The settings of each run: run id -> settings."""
        return replays.run_settings(self._db, root)

    def saved_runs(self, root: str) -> tuple[SavedRun, ...]:
        """The runs over a root; the run with the latest result comes first."""
        return runs.saved_runs(self._db, root)

    def injected_sets(self, run_id: str) -> Mapping[str, tuple[InjectedMemory, ...]]:
        """prompt id -> the memories that a run injected for it, best first."""
        return runs.injected_sets(self._db, run_id)

    def empty_replays(self, root: str, corpus_hash: str) -> list[EmptyReplay]:
        """The replays over a root with these memories that left nothing to label."""
        return replays.empty_replays(self._db, root, corpus_hash)

    def pooled(self, seed: int) -> dict[str, list[str]]:
        """The newest pool of each prompt with *seed*: prompt id -> memory ids."""
        return pooling.newest_pools(self._db, seed)

    def inclusion(self) -> dict[str, dict[str, float]]:
        """Inclusion probabilities, for prompts whose pools hold a sample: prompt id -> memory id -> probability."""
        return pooling.inclusion(self._db)

    def seen_prompts(self, annotator: str) -> frozenset[str]:
        """The prompts whose ranks and verdicts the annotator has seen."""
        return events.seen_prompts(self._db, annotator)

    # Key presses are written

    def label(
        self,
        annotator: str,
        prompt_id: str,
        card: Card,
        verdict: str,
        *,
        seed: int,
        blind: bool,
        elapsed_ms: int,
        grade: int | None = None,
        reason: str = "",
        note: str = "",
        repeat: bool = False,
    ) -> Event:
        """Append a label. It supersedes the annotator's earlier label of the same text; a *repeat* supersedes nothing.

        Raises ValueError unless *verdict* is in VERDICTS and *grade* is 0..3 or None. Raises LabelStoreError unless the
        prompt was recorded by `record_retrieval` or `record_pool`.
        """
        if verdict not in VERDICTS or (grade is not None and not 0 <= grade <= MAX_GRADE):
            raise ValueError(f"no such verdict or grade: {verdict!r}, {grade!r}")
        content = {"verdict": verdict, "grade": grade, "reason": reason, "note": note, "repeat": int(repeat)}
        how = {"seed": seed, "blind": int(blind), "elapsed_ms": elapsed_ms}
        return self._append(LABEL, annotator, prompt_id, card, {**content, **how})

    def skip(
        self,
        annotator: str,
        prompt_id: str,
        card: Card,
        *,
        seed: int,
        blind: bool,
        elapsed_ms: int,
        repeat: bool = False,
    ) -> Event:
        """Append a skip: the card comes back at the end of its prompt. The prompt must have been recorded."""
        how = {"seed": seed, "blind": int(blind), "elapsed_ms": elapsed_ms, "repeat": int(repeat)}
        return self._append(SKIP, annotator, prompt_id, card, how)

    def adjudicate(
        self, annotator: str, prompt_id: str, card: Card, verdict: str, *, seed: int, elapsed_ms: int
    ) -> Event:
        """Append the verdict that settles a dispute. It is not blind, because the other verdicts were shown.

        Raises as `label` does.
        """
        if verdict not in VERDICTS:
            raise ValueError(f"no such verdict: {verdict!r}")
        content = {"verdict": verdict, "seed": seed, "blind": 0, "elapsed_ms": elapsed_ms}
        return self._append(ADJUDICATE, annotator, prompt_id, card, content)

    def undo(
        self,
        annotator: str,
        prompt_ids: Collection[str] | None = None,
        *,
        root: str | None = None,
        adjudications: bool = False,
    ) -> Event | None:
        """Take back the annotator's latest standing label or skip, or with *adjudications* the latest adjudication.

        *prompt_ids* and *root* limit the search: to these prompts, and to memories that runs over the root returned.
        Imported events are not taken back. Returns the event, or None if there is none. A label that the event had
        superseded is current again.
        """
        with self._db.writing():
            event = events.latest_standing(self._db, annotator, prompt_ids, root, adjudications)
            if event is not None:
                retraction = {**event._asdict(), **self._stamp(), **UNSAID, "event_id": None, "action": RETRACT}
                retraction |= {"repeat": event.repeat, "elapsed_ms": 0, "supersedes": event.event_id}
                self._db.insert("label_event", retraction)
        return event

    def _append(self, action: str, annotator: str, prompt_id: str, card: Card, given: Mapping[str, Any]) -> Event:
        row = {**UNSAID, **given, **self._stamp(), "annotator": annotator, "prompt_id": prompt_id, "action": action}
        row |= {"memory_id": card.memory.id, "digest": card.memory.digest, "position": card.position}
        with self._db.writing():
            if runs.read_prompt(self._db, prompt_id) is None:
                raise LabelStoreError(
                    f"Label store {self.path}: it does not know the prompt {prompt_id!r}. Replay the prompt first."
                )
            runs.record_memory(self._db, card.memory)
            if action == LABEL and not row["repeat"]:
                row |= events.superseded(self._db, row)
            event_id = self._db.insert("label_event", row)
        return events.event_of({**row, "event_id": event_id})

    def _stamp(self) -> dict[str, Any]:
        """The columns of every new event: its time, its names, and the versions in force."""
        named = {"uid": self._token(UID_BYTES), "session": self.session, "source": ""}
        return {"ts": self._timestamp(), **named, "guideline": self._guideline, "app_version": __version__}

    def _timestamp(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds")

    # Labels are read

    def labels(
        self, annotator: str | None = None, prompt_id: str | None = None, root: str | None = None
    ) -> tuple[Label, ...]:
        """Current labels in the order of their events, also of texts that have changed since.

        With *root*, only labels of memories that a run over the root returned for the same prompt.
        """
        return events.current_labels(self._db, annotator, prompt_id, root)

    def is_labelled(self, root: str) -> bool:
        """Whether there is a current label of a memory that a run over the root returned."""
        return events.is_labelled(self._db, root)

    def recent(self, annotator: str, limit: int = 10, *, repeats: bool = False) -> tuple[Label, ...]:
        """The annotator's latest current labels, newest first. With *repeats*, all standing labels and repeats."""
        return events.recent_labels(self._db, annotator, limit, repeats)

    def events(self, annotator: str | None = None, limit: int | None = None) -> tuple[Event, ...]:
        """All events, oldest first, also retractions and retracted events. With *limit*, only the newest."""
        return events.all_events(self._db, annotator, limit)

    def skips(self, annotator: str, prompt_id: str | None = None) -> dict[str, dict[Pair, int]]:
        """The number of standing skips of each card, without repeats: prompt id -> pair -> skips."""
        return events.skips(self._db, annotator, prompt_id)

    def gold(self, root: str | None = None) -> tuple[Gold, ...]:
        """The consensus of all annotators on each pair, of one root or of all. Ties have none."""
        return events.gold(self.labels(root=root), self.adjudications(root))

    def disputes(self, root: str | None = None, prompt_id: str | None = None) -> tuple[Dispute, ...]:
        """The pairs with different current labels and no adjudication, also of texts that have changed since."""
        return events.disputes(self.labels(prompt_id=prompt_id, root=root), self.adjudications(root))

    def adjudications(self, root: str | None = None) -> tuple[Label, ...]:
        """The latest adjudication of each pair, in the order of their events."""
        return events.adjudications(self._db, root)

    def repeats(self, root: str | None = None) -> tuple[Repeat, ...]:
        """Each repeat with the label that stood before it, in the order of the repeats."""
        return events.repeats(self._db, root)

    def repeated(self, annotator: str, prompt_id: str) -> frozenset[Pair]:
        """The cards of a prompt that the annotator has answered or skipped as repeats."""
        return events.repeated_cards(self._db, annotator, prompt_id)

    # Labelling orders

    def plan(self, root: str, annotator: str) -> LabellingOrder | None:
        """The annotator's labelling order; None before the first."""
        return labelling_order.plan_of(self._db, root, annotator)

    def save_plan(self, root: str, annotator: str, plan: LabellingOrder) -> None:
        """Keep the order, and the strata of its prompts. Strata of other prompts stay."""
        ts = self._timestamp()
        with self._db.writing():
            labelling_order.save_plan(self._db, root, annotator, plan, ts)

    def strata(self, root: str, *, besides: str | None = None) -> dict[str, str]:
        """The newest stratum of each prompt of a root, without plans of the annotator *besides*.

        The labelled prompts of a stratum are a simple random sample of it: see `labels.labelling_order`.
        """
        return labelling_order.newest_strata(self._db, root, besides)
