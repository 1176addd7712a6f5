"""What people said, and what was put before them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from engine.memory import MemorySummary
    from engine.prompt import Prompt

LABEL, SKIP, RETRACT, ADJUDICATE = ACTIONS = ("label", "skip", "retract", "adjudicate")
"""What an event does. A retraction takes back the event that its `supersedes` names, an adjudication settles a pair on
which people differ."""

RELEVANT, NOT_RELEVANT, UNSURE, UNRATEABLE = "relevant", "not", "unsure", "unrateable"
VERDICTS = (RELEVANT, NOT_RELEVANT, UNSURE, UNRATEABLE)
"""What a label says. The last two are counted, but no precision is computed from them."""

REASONS = ("stale", "wrong", "duplicate", "too generic", "wrong project", "already known")
"""What is offered as the reason of a label; what was imported may give others."""

MAX_GRADE = 3

ADJUDICATED, MAJORITY, SINGLE = "adjudicated", "majority", "single"
"""Where a gold verdict comes from."""

INJECTED, JUDGE_DROPPED = "injected", "judge-dropped"
"""Strata of a pool: what at least one system injects, and a sample of what the judge dropped."""

Pair = tuple[str, str]
"""(memory id, digest): a memory as it read at one moment. A label belongs to a prompt and a pair."""

Judgements = Mapping[str, Mapping[str, bool]]
"""prompt id -> memory id -> whether it is relevant; what is absent is unjudged."""

IMPORTED = "imported"
"""The one key of the configuration of a run that comes from a file of another program: a hash of the file."""


class Event(NamedTuple):
    """One key press, as it was written down; it is never changed.

    `ts` is ISO 8601 in UTC. `verdict` is None unless `action` is a label, `grade` 0..3 or None. `blind` means that no
    rank, score, system or verdict of the prompt had been on the annotator's screen; a repeat is, whatever was shown
    since. `position` is the card's place in its pool, 1-based, `seed` the seed of that order, `elapsed_ms` the time
    from seeing the card to the key. `guideline` is a hash of the instructions that were in force. `supersedes` is the
    event that this one replaces (a label) or takes back (a retraction). `uid`, 32 hex digits, is the same in every
    store that the event was merged into; `event_id` is this store's. `session` names the sitting, `source` is empty for
    a key press here, else the file and format it was imported from. A `repeat` is an answer to a card that was shown
    again without saying so: it supersedes nothing and is not current.
    """

    event_id: int
    ts: str
    annotator: str
    prompt_id: str
    memory_id: str
    digest: str
    action: str
    verdict: str | None
    grade: int | None
    reason: str
    note: str
    blind: bool
    position: int
    seed: int
    elapsed_ms: int
    guideline: str
    app_version: str
    supersedes: int | None
    uid: str = ""
    session: str = ""
    source: str = ""
    repeat: bool = False

    @property
    def pair(self) -> Pair:
        return self.memory_id, self.digest


class Label(NamedTuple):
    """What an annotator says now of one memory text for one prompt: the latest label that was not taken back.

    `adjudicated`: it is not one opinion among others but settles what people differ on, whoever gave it.
    """

    event_id: int
    ts: str
    annotator: str
    prompt_id: str
    memory_id: str
    digest: str
    verdict: str
    grade: int | None
    reason: str
    note: str
    blind: bool
    source: str = ""
    adjudicated: bool = False

    @property
    def pair(self) -> Pair:
        return self.memory_id, self.digest


@dataclass(frozen=True)
class Gold:
    """What people say together of one memory text for one prompt.

    `basis` is ADJUDICATED, MAJORITY (of relevant against not; who is unsure has no vote unless everybody is) or SINGLE,
    `labels` from how many labels it comes. Where as many say relevant as say not there is none until it is adjudicated.
    """

    prompt_id: str
    memory_id: str
    digest: str
    verdict: str
    basis: str
    labels: int

    @property
    def pair(self) -> Pair:
        return self.memory_id, self.digest


@dataclass(frozen=True)
class Dispute:
    """A pair on which people differ: `said` are their current labels, in the order in which they were given."""

    prompt_id: str
    memory_id: str
    digest: str
    said: tuple[Label, ...]

    @property
    def pair(self) -> Pair:
        return self.memory_id, self.digest


@dataclass(frozen=True)
class Repeat:
    """A card that an annotator labelled, and was shown again without being told: both verdicts."""

    annotator: str
    prompt_id: str
    memory_id: str
    digest: str
    first: str
    again: str


@dataclass(frozen=True)
class Card:
    """A pooled memory to be labelled.

    `stratum` is INJECTED or JUDGE_DROPPED, `inclusion_probability` (0..1] the chance that it came into the pool, and
    `position` its place in the order of showing, 1-based.
    """

    memory: MemorySummary
    stratum: str
    inclusion_probability: float
    position: int

    @property
    def pair(self) -> Pair:
        return self.memory.id, self.memory.digest


@dataclass(frozen=True)
class Pool:
    """The cards of one prompt in the order in which they are shown; `seed` made that order."""

    prompt: Prompt
    cards: tuple[Card, ...]
    seed: int


class RunSettings(NamedTuple):
    """What a run was made with: over which root, its configuration as JSON, with what `settings_json` adds, which is
    empty where an export left it out, and a hash of the memories."""

    root: str
    config_json: str
    corpus_hash: str


NOTHING: Mapping[str, Any] = MappingProxyType({})


class Outcome(NamedTuple):
    """What one system did with one prompt.

    `injected` are memory ids, best first. `candidates` are those of what it looked at, in rank order, and `decisions`
    the judge's on each of them, None where no judge saw it. A store gives of the candidates only those that were
    injected or that somebody was asked about; `is_asked` says whether a judge decided on any of them, given or not.
    `fallback` is the judge's error status or empty. `run_id` is empty outside a store, `kind` the prompt's or empty.

    Of each injected memory, or of none where that is not known: `confidences` are high, medium, low, or empty where it
    was not written down, `matched` the number of the prompt's words that it matched, and `scores` SQLite's, lower is
    better; None where it is not known. By memory id, of the candidates of which it is known: `probabilities` are the
    tuned cutoff's P(relevant), `digests` those of the texts that were found.
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
