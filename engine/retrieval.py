"""A retrieval: every candidate that one prompt brought up, and what became of each."""

from __future__ import annotations

from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.judge.verdict import Judgement, Verdict
    from engine.memory import MemorySummary
    from engine.prompt import Prompt

DROP_STAGES = ("status", "floor", "cutoff", "judge", "cap", "repeat", "budget")
"""The stages of the pipeline that can drop a candidate, in the order in which they act."""

HIGH, MEDIUM, LOW = "high", "medium", "low"


class Candidate(Record):
    """A retrieved memory.

    `bm25` is negative, lower is better, and so is `score`, by which they are ranked: with the strategy `fts5_bm25` it
    is bm25 - `body_bonus` (0 to 3 matched body tokens), with `memsift` the strength, with `title_tags` points.
    `ratio` is score / best score, 0..1. `matched` are the prompt tokens found in it. `rank` is 1-based in the pool.
    `probability` is P(relevant), 0..1, of what reached a cutoff that was tuned; `confidence` follows from it then.
    `dropped_by` is one of DROP_STAGES, or None for a memory that is injected; `reason` says it in words.
    """

    memory: MemorySummary
    rank: int
    bm25: float
    body_bonus: int
    score: float
    ratio: float
    confidence: str
    matched: tuple[str, ...]
    verdict: Verdict | None = None
    probability: float | None = None
    dropped_by: str | None = None
    reason: str = ""

    @property
    def injected(self) -> bool:
        return self.dropped_by is None


class Retrieval(Record):
    """What one system did with one prompt.

    `candidates` are in rank order, dropped ones included. `strategy` is how they were found: `match_strategy`, or
    "title_tags" without FTS5. `fallback` is the judge's error status if its row of the fallback table was taken, else
    empty. `least` is the P(relevant) that it took to pass the cutoff, None where there was no cutoff.
    """

    prompt: Prompt
    system: str
    mode: str
    strategy: str
    candidates: tuple[Candidate, ...]
    judgement: Judgement | None
    fallback: str
    elapsed_ms: float
    least: float | None = None

    @property
    def injected(self) -> tuple[Candidate, ...]:
        """The injected set, best first."""
        return tuple(candidate for candidate in self.candidates if candidate.injected)
