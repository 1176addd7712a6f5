"""What goes between a label store and a file: one shape, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.records import LABEL

if TYPE_CHECKING:
    from engine.prompt import Prompt

PairKey = tuple[str, str, str]
"""(prompt id, memory id, digest): what a label is about."""


@dataclass(frozen=True)
class MemoryText:
    """A memory as it read at one moment. `digest` is empty where a format does not say, `body` None where unknown."""

    id: str
    digest: str = ""
    category: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    body: str | None = None
    path: str = ""


@dataclass(frozen=True)
class LabelEvent:
    """One key press, as `labels.records.Event`, but free of any one store: `supersedes` is the uid of an event.

    What a format does not say is empty: `uid`, `ts`, `annotator` and `digest` are then found when it is imported.
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
    blind: bool = False
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
class Run:
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
    """What a judge decided on one result; see `engine.judge.verdict.Verdict`."""

    decision: str
    status: str
    reasoning: str = ""
    confidence: float | None = None
    samples: int = 1
    agreement: float = 1.0
    source: str = "live"


@dataclass(frozen=True)
class Result:
    """A memory that a system looked at. `score` and `bm25` are SQLite's: negative, lower is better."""

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
class JudgeCall:
    """How the judge was asked about one prompt, and how it went; see `engine.judge.verdict.Judgement`."""

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
class Retrieved:
    """What a run did with one prompt. `results` are in rank order."""

    run_id: str
    prompt_id: str
    ts: str = ""
    fallback: str = ""
    elapsed_ms: float = 0.0
    results: tuple[Result, ...] = ()
    call: JudgeCall | None = None


@dataclass(frozen=True)
class Framed:
    """A pooled pair: why it was put before a person, and with what chance (0..1]."""

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
    """The stratum in which a prompt stood when an annotator's order of prompts was made."""

    root: str
    prompt_id: str
    annotator: str
    order_name: str
    seed: int
    stratum: str
    ts: str = ""


@dataclass(frozen=True)
class Sighting:
    """When an annotator saw ranks and verdicts of a prompt."""

    annotator: str
    prompt_id: str
    ts: str = ""


@dataclass(frozen=True)
class Dataset:
    """All that is exchanged; events are in the order in which they were written down.

    `redacted`: it holds hashes in the place of texts and ids. `by_text`: its format has no ids of its own for prompts,
    so that a prompt may be known by its text alone.
    """

    prompts: tuple[Prompt, ...] = ()
    memories: tuple[MemoryText, ...] = ()
    events: tuple[LabelEvent, ...] = ()
    runs: tuple[Run, ...] = ()
    retrievals: tuple[Retrieved, ...] = ()
    frame: tuple[Framed, ...] = ()
    plan: tuple[Planned, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    redacted: bool = False
    by_text: bool = False
