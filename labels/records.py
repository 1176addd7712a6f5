"""The records of the label store: events, labels, pools, and the outcomes of replays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from engine.judge.verdict import STATUSES
from engine.prompt import TYPED

if TYPE_CHECKING:
    from engine.memory import MemorySummary
    from engine.prompt import Prompt

T = TypeVar("T")
Outer = TypeVar("Outer")
Inner = TypeVar("Inner")

LABEL, SKIP, RETRACT, ADJUDICATE = ACTIONS = ("label", "skip", "retract", "adjudicate")
"""The actions of events. A retraction takes back the event in its `supersedes`; an adjudication settles a dispute."""

RELEVANT, NOT_RELEVANT, UNSURE, UNRATEABLE = "relevant", "not", "unsure", "unrateable"
VERDICTS = (RELEVANT, NOT_RELEVANT, UNSURE, UNRATEABLE)
"""The verdicts of labels. The last two are counted, but no precision is computed from them."""

REASONS = ("stale", "wrong", "duplicate", "too generic", "wrong project", "already known")
"""The reasons that the app offers. Imported labels may have others."""

MAX_GRADE, NEEDED = 3, 2
"""The highest grade, and the least grade of a memory that a prompt needs. Relevant without a grade counts as needed."""

ADJUDICATED, MAJORITY, SINGLE = "adjudicated", "majority", "single"
"""The sources of a gold verdict."""

CHOSEN, REMOVED = "chosen by hand", "typed, removed"
"""Sources of prompts that a person added to the labelled sample, and of typed prompts that the app shows no more."""

BY_HAND = (TYPED, CHOSEN, REMOVED)
"""Sources of prompts that are no part of a random sample: a person wrote or picked them, perhaps to see a failure."""

INJECTED, LISTED = "injected", "listed"
"""The values of the column `stratum` for a memory with a card of its own, and for a title on the list card."""

Pair = tuple[str, str]
"""(memory id, digest): one text of a memory. A label belongs to a prompt and a pair."""

Judgements = Mapping[str, Mapping[str, bool]]
"""prompt id -> memory id -> whether the memory is relevant. Absent memories are unjudged."""

IMPORTED = "imported"
"""The only configuration key of a run that was imported from another program's file; its value is the file's hash."""

NOT_KNOWN = -1
"""In the column `blind`: the file from which a label was imported does not say."""

BY_TIME = attrgetter("ts", "event_id")
"""Sorts events and labels by time. The event id alone would put merged events after all earlier ones."""


class Event(NamedTuple):
    """One key press of an annotator. Events are never changed.

    The current label of an annotator for one memory text and one prompt is the latest label that was not taken back.

    `digest` names the text of the memory. `action` is one of ACTIONS. `verdict` is None for skips and retractions;
    `grade` is 0..3 or None. `ts` is the time in ISO 8601, in UTC. `blind`: the annotator had seen no rank, score,
    system or verdict of the prompt, None where that is not known of an imported label; repeats are always blind. A
    `repeat` answers a card that was shown a second time; it supersedes nothing and is never current. `position` is
    the card's place in its pool, 1-based, and `seed` the seed of that order. `elapsed_ms` runs from showing the
    card to the key press. `guideline` is a hash of the labelling instructions. `session` names one start of the
    app, or is the time of an import. `source` is empty for a key press here, else the imported file and its format.
    `titles` is the number of titles on the list card that the event answered, with an event for each title; 0 on
    another card of a prompt that was drawn for a list card and has nothing to list; else None.
    `uid`, 32 hex digits, is the same in every store; `event_id` belongs to this store. `supersedes` is the event id
    that a label replaces or a retraction takes back; in `labels.exchange` it is the uid of that event.

    A file to import may leave out what has a default.
    """

    annotator: str
    prompt_id: str
    memory_id: str
    digest: str = ""
    action: str = LABEL
    verdict: str | None = None
    grade: int | None = None
    reason: str = ""
    note: str = ""
    ts: str = ""
    blind: bool | None = None
    repeat: bool = False
    position: int = 0
    seed: int = 0
    elapsed_ms: int = 0
    guideline: str = ""
    app_version: str = ""
    session: str = ""
    source: str = ""
    titles: int | None = None
    uid: str = ""
    supersedes: str | int | None = None
    event_id: int = 0

    @property
    def pair(self) -> Pair:
        return self.memory_id, self.digest


@dataclass(frozen=True)
class LabelledPair:
    """One memory text for one prompt."""

    prompt_id: str
    memory_id: str
    digest: str

    @property
    def pair(self) -> Pair:
        return self.memory_id, self.digest


@dataclass(frozen=True)
class Gold(LabelledPair):
    """The consensus of all annotators on one memory text for one prompt (`labels/events.py` has the rule).

    `basis` is ADJUDICATED, MAJORITY or SINGLE; `labels` counts the labels behind the verdict. `is_title`: a list card
    asked about the memory, because no system injected it.
    """

    verdict: str
    basis: str
    labels: int
    is_title: bool = False


@dataclass(frozen=True)
class Dispute(LabelledPair):
    """A pair on which annotators differ. `labels` are their current labels in the order of the events."""

    labels: tuple[Event, ...]


@dataclass(frozen=True)
class Repeat:
    """Both verdicts of an annotator on a card that was shown twice."""

    annotator: str
    prompt_id: str
    memory_id: str
    digest: str
    first: str
    again: str


class MemoryText(NamedTuple):
    """The text of a memory at one moment. A file to import may leave out what has a default."""

    id: str
    digest: str = ""
    category: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    body: str | None = None
    path: str = ""


@dataclass(frozen=True)
class Card:
    """A pooled memory to label. `position` is its place in the order of showing, 1-based."""

    memory: MemorySummary
    position: int

    @property
    def pair(self) -> Pair:
        return self.memory.id, self.memory.digest


@dataclass(frozen=True)
class Pool:
    """The cards of one prompt in the order of showing, which `seed` decides.

    `drawn` is the probability with which the prompt was drawn for a list card, 0 if it was not drawn. `listed` are the
    memories whose titles that card shows: the first candidates that no system injected.
    """

    prompt: Prompt
    cards: tuple[Card, ...]
    seed: int
    listed: tuple[Card, ...] = ()
    drawn: float = 0.0

    @property
    def titles(self) -> int | None:
        """The value of `titles` in an event of one of the `cards`: see Event."""
        return None if self.listed or not self.drawn else 0


class RunSettings(NamedTuple):
    """The settings of a run: its root, its configuration and a hash of the root's memories.

    `config_json` is made by `labels.run_settings.settings_json`; it is empty where an export left it out.
    """

    root: str
    config_json: str
    corpus_hash: str


class JudgeCall(NamedTuple):
    """One call of the judge, for one prompt.

    `elapsed_ms` and `cost_usd` (None if unknown) cover all `answers`; a failed call has 0 answers. `is_live` is False
    for answers from the cache, which took no time and no money.
    """

    elapsed_ms: float
    cost_usd: float | None
    answers: int
    is_live: bool


NOTHING: Mapping[str, Any] = MappingProxyType({})


class Outcome(NamedTuple):
    """The result of one system for one prompt.

    `injected` are memory ids, best first. `candidates` are memory ids in rank order, and `decisions` the judge's
    decision on each, None where it saw none. From a store, candidates are only the injected and the labelled memories;
    `is_asked` says whether a judge decided on any candidate, also on others. `fallback` is the judge's error status or
    empty. `run_id` is empty outside a store; `kind` is the prompt's kind or empty.

    `confidences`, `matched` and `scores` describe the injected memories, or are empty if unknown. A confidence is high,
    medium, low or empty; `matched` counts the prompt's terms in the memory; a lower score is better.
    `probabilities` (the cutoff's P(relevant)) and `digests` map candidates to values, where known. `is_phrase`: a run
    file says that the prompt was a phrase of a memory when it was replayed. `call` is the judge's, None without one.
    """

    prompt_id: str
    system: str
    injected: tuple[str, ...]
    candidates: tuple[str, ...]
    decisions: tuple[str | None, ...]
    fallback: str
    elapsed_ms: float
    run_id: str = ""
    kind: str = ""
    is_asked: bool = False
    confidences: tuple[str, ...] = ()
    matched: tuple[int | None, ...] = ()
    scores: tuple[float | None, ...] = ()
    probabilities: Mapping[str, float] = NOTHING
    digests: Mapping[str, str] = NOTHING
    is_phrase: bool = False
    call: JudgeCall | None = None

    @property
    def is_unanswered(self) -> bool:
        """Whether a judge should have decided and gave no answer. What was injected then is no evidence about it."""
        return self.fallback in STATUSES


def nested(rows: Iterable[tuple[Outer, Inner, T]]) -> dict[Outer, dict[Inner, T]]:
    """outer -> inner -> value. Of several values in one place, the last counts."""
    found: dict[Outer, dict[Inner, T]] = {}
    for outer, inner, value in rows:
        found.setdefault(outer, {})[inner] = value
    return found


def grouped(pairs: Iterable[tuple[Outer, T]]) -> dict[Outer, list[T]]:
    """key -> its values, in their order."""
    found: dict[Outer, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def picked(record: object, names: Iterable[str]) -> dict[str, Any]:
    """The values of some fields of a record, by their names."""
    return {name: getattr(record, name) for name in names}


def blindness(stored: int) -> bool | None:
    """Whether a label was given blind, from its column; None if that is not known."""
    return None if stored == NOT_KNOWN else bool(stored)
