"""The records that are exchanged: one `Dataset`, whatever the format of the file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labels.records import LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.prompt import Prompt

PairKey = tuple[str, str, str]
"""(prompt id, memory id, digest) of a label."""


@dataclass(frozen=True)
class MemoryText:
    """The text of a memory at one moment. A format may leave `digest` empty, and `body` None."""

    id: str
    digest: str = ""
    category: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    body: str | None = None
    path: str = ""


@dataclass(frozen=True)
class LabelEvent:
    """One key press, as `labels.records.Event`, but independent of a store: `supersedes` is the uid of an event.

    A format may leave `uid`, `ts`, `annotator` and `digest` empty; the import fills them.
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
    uid: str = ""
    supersedes: str | None = None

    @property
    def pair(self) -> PairKey:
        return self.prompt_id, self.memory_id, self.digest


@dataclass(frozen=True)
class RunRow:
    """One system over one corpus; `run_id` is a hash of root, system, configuration and corpus."""

    run_id: str
    system: str
    root: str = ""
    config_json: str = ""
    config_hash: str = ""
    corpus_hash: str = ""
    engine_version: str = ""
    sqlite_version: str = ""
    ts: str = ""


@dataclass(frozen=True)
class JudgeVerdict:
    """The judge's verdict on one result; see `engine.judge.verdict.Verdict`."""

    decision: str
    status: str
    reasoning: str = ""
    confidence: float | None = None
    samples: int = 1
    agreement: float = 1.0
    source: str = "live"


@dataclass(frozen=True)
class ResultRow:
    """A candidate of a retrieval. `score` and `bm25` are SQLite's: negative, lower is better."""

    memory_id: str
    digest: str
    rank: int
    score: float
    bm25: float = 0.0
    body_bonus: int = 0
    confidence: str = ""
    injected: bool = False
    dropped_by: str | None = None
    probability: float | None = None
    matched: tuple[str, ...] = ()
    verdict: JudgeVerdict | None = None


@dataclass(frozen=True)
class JudgeCallRow:
    """The judge's call about one prompt, and its status; see `engine.judge.verdict.Judgement`."""

    ts: str
    provider: str
    model: str
    template_hash: str
    status: str
    elapsed_ms: float
    input_tokens: int = 0
    output_tokens: int = 0
    detail: str = ""
    depth: str = "keep"
    cost_usd: float | None = None


@dataclass(frozen=True)
class RetrievalRow:
    """The retrieval of one prompt in a run. `results` are in rank order."""

    run_id: str
    prompt_id: str
    ts: str = ""
    fallback: str = ""
    elapsed_ms: float = 0.0
    results: tuple[ResultRow, ...] = ()
    call: JudgeCallRow | None = None


@dataclass(frozen=True)
class PooledPair:
    """A pair in the pool of a prompt, with its stratum and the probability (0..1] with which it came into the pool."""

    prompt_id: str
    memory_id: str
    digest: str
    seed: int
    stratum: str
    inclusion_probability: float
    ts: str = ""

    @property
    def pair(self) -> PairKey:
        return self.prompt_id, self.memory_id, self.digest


@dataclass(frozen=True)
class Planned:
    """The stratum of a prompt at the time when an annotator's order of prompts was made."""

    root: str
    prompt_id: str
    annotator: str
    order_name: str
    seed: int
    stratum: str
    ts: str = ""


@dataclass(frozen=True)
class Sighting:
    """The time when an annotator saw ranks and verdicts of a prompt."""

    annotator: str
    prompt_id: str
    ts: str = ""


@dataclass(frozen=True)
class Dataset:
    """Everything that is exchanged; events are in the order in which they were written.

    `places`: where the file first names a memory id and digest. `redacted`: hashes stand in
    place of texts and ids. `by_text`: the format has no prompt ids of its own, so the text of a prompt is enough to
    recognise it.
    """

    prompts: tuple[Prompt, ...] = ()
    memories: tuple[MemoryText, ...] = ()
    events: tuple[LabelEvent, ...] = ()
    runs: tuple[RunRow, ...] = ()
    retrievals: tuple[RetrievalRow, ...] = ()
    pool: tuple[PooledPair, ...] = ()
    plan: tuple[Planned, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    places: Mapping[tuple[str, str], str] = field(default_factory=dict)
    redacted: bool = False
    by_text: bool = False


# Hashes that stand in place of texts and ids in a redacted dataset

HASH_PREFIX = "sha256:"


def text_hash(text: str) -> str:
    """`sha256:` and 64 hex digits."""
    return HASH_PREFIX + sha256(text)


def is_hash(text: str) -> bool:
    return text.startswith(HASH_PREFIX) and len(text) == len(HASH_PREFIX) + 64


def id_hash(name: str) -> str:
    """16 hex digits for an id, which may quote a text. The empty id stays empty."""
    return sha256(name)[:16] if name else ""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
