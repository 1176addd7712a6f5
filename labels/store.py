"""The label store: everything a person said, one event per key press, and the retrievals it was said about."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from engine.errors import LabelStoreError
from engine.version import __version__
from labels import calls, events, frame, newest, people, plans, runs, sightings, silence
from labels.database import BUSY_TIMEOUT_S, LabelDatabase
from labels.records import ADJUDICATE, LABEL, MAX_GRADE, RETRACT, SKIP, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Set
    from pathlib import Path

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from labels.orders import Plan
    from labels.records import Card, Dispute, Event, Gold, Label, Outcome, Pair, Pool, Repeat, RunSettings
    from labels.silence import Silence

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

        *config_json* is as `labels.run_settings.settings_json` makes it. Replaying the prompt in the same run
        (root, system, settings, corpus) replaces what was kept of it. Raises LabelStoreError if the prompt's id has
        labels that were given for another text.
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
        """The newest outcome of each (prompt, system), of one root or of all.

        Their candidates are those that were injected or that somebody was asked about.
        """
        return self.replays(root).outcomes

    def replays(self, root: str | None = None, *, scored: bool = True) -> newest.Replays:
        """The same outcomes, if not *scored* without scores and probabilities, and what was ever brought up."""
        return newest.newest_replays(self._db, root, scored)

    def texts_brought_up(self, root: str | None = None, known: Set[Pair] = frozenset()) -> Set[Pair]:
        """Every memory text that those outcomes are about, also where it was not injected and nobody was asked.

        *known* are the texts in outcomes that have been read; it is quick where the store knows no others.
        """
        return newest.newest_texts(self._db, root, known)

    def prompt_texts(self) -> dict[str, str]:
        """What every prompt says, by id."""
        return frame.prompt_texts(self._db)

    def inclusion(self) -> dict[str, dict[str, float]]:
        """How likely each memory was to come into its pool, where a pool holds a sample: prompt id -> memory id."""
        return frame.inclusion(self._db)

    def judge_calls(self, root: str | None = None) -> tuple[calls.JudgeCall, ...]:
        """What asking the judge took in those retrievals."""
        return calls.newest_calls(self._db, root)

    def run_settings(self, root: str | None = None) -> dict[str, RunSettings]:
        """What each run was made with: run id -> settings."""
        return calls.run_settings(self._db, root)

    def prompt(self, prompt_id: str) -> Prompt | None:
        """A prompt as it was recorded."""
        return runs.recorded_prompt(self._db, prompt_id)

    def pooled(self, seed: int) -> dict[str, list[str]]:
        """What the newest pool of each prompt held, of the pools that *seed* made: prompt id -> memory ids."""
        return runs.newest_pools(self._db, seed)

    def silences(self, root: str, corpus_hash: str) -> list[Silence]:
        """What was replayed over these memories of a root and brought up nothing that could be asked about."""
        return silence.silences(self._db, root, corpus_hash)

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

    def undo(
        self,
        annotator: str,
        prompt_ids: Collection[str] | None = None,
        *,
        root: str | None = None,
        adjudications: bool = False,
    ) -> Event | None:
        """Take back the annotator's latest standing label or skip, or adjudication, optionally only among *prompt_ids*.

        With *root*, only what is about memories that a run over that root brought up for the same prompt. What was
        imported is not taken back. Returns the event that was, None if there is none. Whatever it had
        superseded stands again.
        """
        with self._db.writing():
            event = events.latest_standing(self._db, annotator, prompt_ids, root, adjudications)
            if event is not None:
                retraction = {**event._asdict(), "event_id": None, "ts": self._timestamp(), "action": RETRACT}
                retraction |= {"verdict": None, "grade": None, "reason": "", "note": "", "elapsed_ms": 0}
                retraction |= self._stamp()
                self._db.insert("label_event", {**retraction, "supersedes": event.event_id})
        return event

    # What has been said

    def labels(
        self,
        annotator: str | None = None,
        prompt_id: str | None = None,
        root: str | None = None,
        *,
        bare: bool = False,
    ) -> tuple[Label, ...]:
        """Current labels in the order in which they were given, whatever text they are about.

        With *root*, only those of memories that a run over that root brought up for the same prompt; *bare* ones come
        without grade, reason, note and source.
        """
        return events.current_labels(self._db, annotator, prompt_id, root, bare)

    def is_labelled(self, root: str) -> bool:
        """Whether there is any current label of what was retrieved over a root."""
        return events.is_labelled(self._db, root)

    def recent(self, annotator: str, limit: int = 10, *, repeats: bool = False) -> tuple[Label, ...]:
        """The annotator's latest current labels, newest first; with *repeats* every standing label, also those."""
        return events.recent_labels(self._db, annotator, limit, repeats)

    def events(self, annotator: str | None = None, limit: int | None = None) -> tuple[Event, ...]:
        """Every event that was ever written, retractions and what they took back included, oldest first.

        With *limit*, only the newest so many.
        """
        return events.all_events(self._db, annotator, limit)

    def skips(self, annotator: str, prompt_id: str) -> Mapping[Pair, int]:
        """How often each card of a prompt was skipped; without those taken back, and without repeats."""
        return events.skips(self._db, annotator, prompt_id)

    def all_skips(self, annotator: str) -> Mapping[tuple[str, Pair], int]:
        """`skips` of every prompt at once: (prompt id, pair) -> times."""
        return events.all_skips(self._db, annotator)

    def labelled_pairs(self, annotator: str, root: str | None = None) -> dict[str, set[Pair]]:
        """What `labels` are about, without what they say: prompt id -> pairs."""
        return events.labelled_pairs(self._db, annotator, root)

    # What has been seen

    def record_sighting(self, annotator: str, prompt_id: str) -> None:
        """Write down that ranks and verdicts of a prompt have been on the annotator's screen; once is enough."""
        ts = self._timestamp()
        with self._db.writing():
            sightings.record_sighting(self._db, annotator, prompt_id, ts)

    def seen_prompts(self, annotator: str) -> frozenset[str]:
        """The prompts of which the annotator has seen ranks and verdicts: what is said of them now is not blind."""
        return sightings.seen_prompts(self._db, annotator)

    # Several people, and one person twice

    def gold(self, root: str | None = None) -> tuple[Gold, ...]:
        """What people say together of each pair, of one root or of all: adjudicated, else the majority, else the one.

        Pairs on which they are evenly split have none.
        """
        return people.gold(self._db, root)

    def adjudications(self, root: str | None = None) -> tuple[Label, ...]:
        """The labels that settle pairs, the latest of each, in the order in which they were given."""
        return people.adjudications(self._db, root)

    def disputes(self, root: str | None = None, prompt_id: str | None = None) -> tuple[Dispute, ...]:
        """The pairs whose current labels differ and that nobody has settled, whatever text they are about."""
        return people.disputes(self._db, root, prompt_id)

    def repeats(self, root: str | None = None, annotator: str | None = None) -> tuple[Repeat, ...]:
        """Each repeat beside the label that stood when it was given, in the order of the repeats."""
        return people.repeats(self._db, root, annotator)

    def repeated(self, annotator: str, prompt_id: str) -> frozenset[Pair]:
        """The cards of a prompt that the annotator has answered or skipped as repeats."""
        return people.repeated(self._db, annotator, prompt_id)

    # In which order

    def strata(self, root: str, *, besides: str | None = None) -> dict[str, str]:
        """The stratum in which each prompt of a root stood when the newest order was made: prompt id -> stratum.

        Whatever is labelled is a simple random sample of each of these strata, whoever labelled it (labels/orders.py).
        Orders of the annotator *besides* are left out.
        """
        return plans.newest_strata(self._db, root, besides)

    def plan(self, root: str, annotator: str) -> Plan | None:
        """The annotator's order and strata; None before any order was made."""
        return plans.plan_of(self._db, root, annotator)

    def save_plan(self, root: str, annotator: str, plan: Plan) -> None:
        """Keep the order, and the strata of the plan's prompts; strata of other prompts stay."""
        ts = self._timestamp()
        with self._db.writing():
            plans.save_plan(self._db, root, annotator, plan, ts)

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
            row |= events.superseding(self._db, row) if action == LABEL and not row["repeat"] else {"supersedes": None}
            event_id = self._db.insert("label_event", row)
        return events.event_of({**row, "event_id": event_id})

    def _require_prompt(self, prompt_id: str) -> None:
        if not self._db.rows("SELECT 1 FROM prompt WHERE prompt_id = ?", [prompt_id]):
            raise LabelStoreError(
                f"Label store {self.path}: it does not know the prompt {prompt_id!r}. Replay the prompt first."
            )

    def _stamp(self) -> dict[str, Any]:
        """What every key press carries whatever it says."""
        made = {"uid": self._token(UID_BYTES), "session": self.session, "source": ""}
        return {**made, "guideline": self._guideline, "app_version": __version__}

    def _timestamp(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds")
