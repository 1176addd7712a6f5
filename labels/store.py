"""The label store: everything a person said, one event per key press, and the retrievals it was said about."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from engine.errors import LabelStoreError
from engine.version import __version__
from labels import calls, runs
from labels.database import BUSY_TIMEOUT_S, LabelDatabase
from labels.records import ADJUDICATE, LABEL, MAX_GRADE, RETRACT, SKIP, VERDICTS, Event, Gold, Label, Repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from labels.measure.outcomes import Outcome
    from labels.records import Card, Pair, Pool

LABEL_COLUMNS = """event_id, ts, annotator, prompt_id, memory_id, digest, verdict, grade, reason, note, blind, uid,
    source, action = 'adjudicate' AS adjudicated"""

OF_ROOT = """(:root IS NULL OR EXISTS (
    SELECT 1 FROM result JOIN run USING (run_id)
    WHERE run.root = :root AND result.prompt_id = said.prompt_id AND result.memory_id = said.memory_id
))"""
"""Whether a run over a root brought up the memory of a row of the view or table called `said`, for the same prompt."""

SESSION_BYTES, UID_BYTES = 8, 16


def utc_now() -> datetime:
    return datetime.now(UTC)


class LabelStore:
    """A person's labels in one SQLite file. Use it from the thread that opened it; other processes may use the file.

    Every method that writes has committed when it returns. Every method raises LabelStoreError when the file cannot be
    read or written; nothing is half written then.
    """

    def __init__(
        self, db: LabelDatabase, now: Callable[[], datetime], guideline: str, token: Callable[[int], str]
    ) -> None:
        self._db = db
        self._now = now
        self._guideline = guideline
        self._token = token
        self.session = token(SESSION_BYTES)

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
        """Open the store at *path*, making it if it is not there and updating its schema if it is older.

        *now* gives aware times; *guideline* names the labelling instructions in force; another process that is writing
        is waited for *busy_timeout_s*. *token* gives random hex of so many bytes, which names this sitting and its
        events. Raises LabelStoreError for a place or file that cannot be a label store, and
        NewerStoreError for one that a newer memsift made; both are left as they were.
        """
        return cls(LabelDatabase(path, busy_timeout_s), now, guideline, token)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        return self._db.path

    # What was retrieved

    def record_retrieval(
        self, retrieval: Retrieval, *, root: str, config_json: str, corpus_hash: str, bodies: Mapping[str, str]
    ) -> None:
        """Keep a retrieval with its prompt, memory texts (*bodies* by memory id), results and judge call.

        Replaying the prompt in the same run (root, system, configuration, corpus) replaces what was kept of it. Raises
        LabelStoreError if the prompt's id has labels that were given for another text.
        """
        ts = self._timestamp()
        with self._db.writing():
            runs.record_prompt(self._db, retrieval.prompt)
            for candidate in retrieval.candidates:
                runs.record_memory(self._db, candidate.memory, bodies.get(candidate.memory.id))
            run = runs.record_run(self._db, root, retrieval.system, config_json, corpus_hash, ts)
            runs.record_results(self._db, run, retrieval, ts)

    def record_frame(self, pool: Pool) -> None:
        """Keep the pool's strata and inclusion probabilities; the newest pool of a prompt and seed counts."""
        ts = self._timestamp()
        with self._db.writing():
            runs.record_prompt(self._db, pool.prompt)
            for card in pool.cards:
                runs.record_memory(self._db, card.memory)
                runs.record_card(self._db, pool, card, ts)

    def prompts(self, root: str) -> tuple[Prompt, ...]:
        """The prompts that were replayed over a root."""
        return runs.read_prompts(self._db, root)

    def outcomes(self, root: str | None = None) -> tuple[Outcome, ...]:
        """The newest outcome of each (prompt, system), of one root or of all."""
        return runs.newest_outcomes(self._db, root)

    def result_digests(self, root: str | None = None) -> dict[str, dict[str, str]]:
        """Which text of a memory those outcomes are about: prompt id -> memory id -> digest."""
        return runs.newest_digests(self._db, root)

    def judge_calls(self, root: str | None = None) -> tuple[calls.JudgeCall, ...]:
        """What asking the judge took in those retrievals."""
        return calls.newest_calls(self._db, root)

    def run_configs(self, root: str | None = None) -> dict[str, str]:
        """The configuration, as JSON, of each run: run id -> JSON."""
        return calls.run_configs(self._db, root)

    def sampled_prompts(self) -> frozenset[str]:
        """The prompts in whose pool only a random sample of what the judge dropped was put."""
        rows = self._db.rows("SELECT DISTINCT prompt_id FROM frame WHERE inclusion_probability < 1")
        return frozenset(row["prompt_id"] for row in rows)

    def pooled_pairs(self, prompt_id: str, seed: int) -> tuple[Pair, ...]:
        """What the newest pool of a prompt and seed held; empty if there was none."""
        rows = self._db.rows(
            """SELECT memory_id, digest FROM frame WHERE prompt_id = :prompt AND seed = :seed
               AND ts = (SELECT max(ts) FROM frame WHERE prompt_id = :prompt AND seed = :seed)""",
            {"prompt": prompt_id, "seed": seed},
        )
        return tuple((row["memory_id"], row["digest"]) for row in rows)

    # What a person says

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
        """Append a label; an earlier one of the same annotator for the same text is superseded, not changed.

        A *repeat* supersedes nothing and stands beside the label. *verdict* is one of VERDICTS and *grade* 0..3 or
        None, else ValueError. The prompt must have been recorded by `record_retrieval` or `record_frame`, else
        LabelStoreError.
        """
        if verdict not in VERDICTS or (grade is not None and not 0 <= grade <= MAX_GRADE):
            raise ValueError(f"no such verdict or grade: {verdict!r}, {grade!r}")
        given = {"verdict": verdict, "grade": grade, "reason": reason, "note": note, "repeat": int(repeat)}
        return self._press(LABEL, annotator, prompt_id, card, seed, blind, elapsed_ms, given)

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
        return self._press(SKIP, annotator, prompt_id, card, seed, blind, elapsed_ms, {"repeat": int(repeat)})

    def adjudicate(
        self,
        annotator: str,
        prompt_id: str,
        card: Card,
        verdict: str,
        *,
        seed: int,
        elapsed_ms: int,
        note: str = "",
    ) -> Event:
        """Append the verdict that settles a pair on which people differ. It is never blind: their verdicts were shown.

        Raises as `label` does.
        """
        if verdict not in VERDICTS:
            raise ValueError(f"no such verdict: {verdict!r}")
        given = {"verdict": verdict, "note": note}
        return self._press(ADJUDICATE, annotator, prompt_id, card, seed, False, elapsed_ms, given)

    def undo(self, annotator: str, prompt_ids: Collection[str] | None = None) -> Event | None:
        """Take back the annotator's latest standing key press, optionally only among *prompt_ids*.

        What was imported is not taken back. Returns the event that was, None if there is none. Whatever it had
        superseded stands again.
        """
        with self._db.writing():
            event = self._latest_standing(annotator, prompt_ids)
            if event is not None:
                retraction = {**vars(event), "event_id": None, "ts": self._timestamp(), "action": RETRACT}
                retraction |= {"verdict": None, "grade": None, "reason": "", "note": "", "elapsed_ms": 0}
                retraction |= self._stamp()
                self._db.insert("label_event", {**retraction, "supersedes": event.event_id})
        return event

    # What has been said

    def labels(
        self, annotator: str | None = None, prompt_id: str | None = None, root: str | None = None
    ) -> tuple[Label, ...]:
        """Current labels in the order in which they were given, whatever text they are about.

        With *root*, only those of memories that a run over that root brought up for the same prompt.
        """
        rows = self._db.rows(
            f"""SELECT {LABEL_COLUMNS} FROM label_current AS said
                WHERE (:annotator IS NULL OR annotator = :annotator) AND (:prompt IS NULL OR prompt_id = :prompt)
                  AND {OF_ROOT} ORDER BY event_id""",
            {"annotator": annotator, "prompt": prompt_id, "root": root},
        )
        return tuple(label_of(row) for row in rows)

    def recent(self, annotator: str, limit: int = 10) -> tuple[Label, ...]:
        """The annotator's latest current labels, newest first."""
        # the plus keeps SQLite from gathering and sorting all of the annotator's events: it walks back from the newest
        rows = self._db.rows(
            f"SELECT {LABEL_COLUMNS} FROM label_current WHERE +annotator = ? ORDER BY event_id DESC LIMIT ?",
            [annotator, limit],
        )
        return tuple(label_of(row) for row in rows)

    def events(self, annotator: str | None = None, limit: int | None = None) -> tuple[Event, ...]:
        """Every event that was ever written, retractions and what they took back included, oldest first.

        With *limit*, only the newest so many.
        """
        rows = self._db.rows(
            """SELECT * FROM label_event WHERE :annotator IS NULL OR annotator = :annotator
               ORDER BY event_id DESC LIMIT ifnull(:limit, -1)""",
            {"annotator": annotator, "limit": limit},
        )
        return tuple(event_of(row) for row in reversed(rows))

    def skips(self, annotator: str, prompt_id: str) -> Mapping[Pair, int]:
        """How often each card of a prompt was skipped; without those taken back, and without repeats."""
        rows = self._db.rows(
            """SELECT memory_id, digest, count(*) AS times FROM label_standing
               WHERE action = 'skip' AND NOT repeat AND annotator = ? AND prompt_id = ? GROUP BY memory_id, digest""",
            [annotator, prompt_id],
        )
        return {(row["memory_id"], row["digest"]): row["times"] for row in rows}

    # Several people, and one person twice

    def gold(self, root: str | None = None) -> tuple[Gold, ...]:
        """What people say together of each pair, of one root or of all: adjudicated, else the majority, else the one.

        Pairs on which they are evenly split have none.
        """
        rows = self._db.rows(
            f"SELECT * FROM gold AS said WHERE {OF_ROOT} ORDER BY prompt_id, memory_id, digest", {"root": root}
        )
        return tuple(Gold(**row) for row in rows)

    def adjudications(self, root: str | None = None) -> tuple[Label, ...]:
        """The labels that settle pairs, the latest of each, in the order in which they were given."""
        rows = self._db.rows(
            f"SELECT {LABEL_COLUMNS} FROM adjudication_current AS said WHERE {OF_ROOT} ORDER BY event_id",
            {"root": root},
        )
        return tuple(label_of(row) for row in rows)

    def repeats(self, root: str | None = None, annotator: str | None = None) -> tuple[Repeat, ...]:
        """Each repeat beside the label that stood when it was given, in the order of the repeats."""
        rows = self._db.rows(
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

    # In which order

    def strata(self, root: str) -> dict[str, str]:
        """The stratum in which each prompt of a root stood when the newest order was made: prompt id -> stratum."""
        rows = self._db.rows("SELECT prompt_id, stratum FROM plan WHERE root = ? ORDER BY ts, rowid", [root])
        return {row["prompt_id"]: row["stratum"] for row in rows}

    # How it is written

    def _press(
        self,
        action: str,
        annotator: str,
        prompt_id: str,
        card: Card,
        seed: int,
        blind: bool,
        elapsed_ms: int,
        given: dict[str, Any],
    ) -> Event:
        row = {"verdict": None, "grade": None, "reason": "", "note": "", "repeat": 0, **given}
        row |= {"ts": self._timestamp(), "annotator": annotator, "prompt_id": prompt_id, "action": action}
        row |= {"memory_id": card.memory.id, "digest": card.memory.digest, "position": card.position}
        row |= {"seed": seed, "blind": int(blind), "elapsed_ms": elapsed_ms, **self._stamp()}
        with self._db.writing():
            self._require_prompt(prompt_id)
            runs.record_memory(self._db, card.memory)
            row["supersedes"] = self._current_id(row) if action == LABEL and not row["repeat"] else None
            event_id = self._db.insert("label_event", row)
        return event_of({**row, "event_id": event_id})

    def _require_prompt(self, prompt_id: str) -> None:
        if not self._db.rows("SELECT 1 FROM prompt WHERE prompt_id = ?", [prompt_id]):
            raise LabelStoreError(
                f"Label store {self.path}: it does not know the prompt {prompt_id!r}. Replay the prompt first."
            )

    def _current_id(self, row: dict[str, Any]) -> int | None:
        found = self._db.rows(
            """SELECT event_id FROM label_current WHERE annotator = :annotator AND prompt_id = :prompt_id
               AND memory_id = :memory_id AND digest = :digest""",
            row,
        )
        return found[0]["event_id"] if found else None

    def _latest_standing(self, annotator: str, prompt_ids: Collection[str] | None) -> Event | None:
        # a list of prompts can be longer than SQLite allows parameters, so it goes in as one JSON array; the plus makes
        # SQLite walk back from the newest event instead of gathering and sorting all
        rows = self._db.rows(
            """SELECT * FROM label_standing WHERE +annotator = :annotator AND source = ''
               AND (:prompts IS NULL OR prompt_id IN (SELECT value FROM json_each(:prompts)))
               ORDER BY event_id DESC LIMIT 1""",
            {"annotator": annotator, "prompts": None if prompt_ids is None else json.dumps(list(prompt_ids))},
        )
        return event_of(rows[0]) if rows else None

    def _stamp(self) -> dict[str, Any]:
        """What every key press carries whatever it says."""
        made = {"uid": self._token(UID_BYTES), "session": self.session, "source": ""}
        return {**made, "guideline": self._guideline, "app_version": __version__}

    def _timestamp(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds")


def event_of(row: Mapping[str, Any]) -> Event:
    return Event(**{**row, "blind": bool(row["blind"]), "repeat": bool(row["repeat"])})


def label_of(row: Mapping[str, Any]) -> Label:
    return Label(**{**row, "blind": bool(row["blind"]), "adjudicated": bool(row["adjudicated"])})
