"""A retrieval: every candidate for a prompt, and the stage that dropped it, if any."""

from __future__ import annotations

from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.judge.verdict import Judgement, Verdict
    from engine.memory import MemorySummary
    from engine.prompt import Prompt

DROP_STAGES = ("status", "floor", "cutoff", "judge", "cap", "repeat", "budget")
"""The stages of the pipeline that can drop a candidate, in their order. The last three are one walk by rank."""

HIGH, MEDIUM, LOW = "high", "medium", "low"


class Session(Record):
    """The memories that the conversation holds, by `memory_key`: two roots may have memories with the same id.

    `injected`: key -> digest of the memory's content at that time. `given`: key -> digest, id of the prompt that it was
    given with (empty for old clients), hash of that prompt. A row of memsift 1.0.0 has an id as its key.
    """

    injected: Mapping[str, str] = {}
    given: Mapping[str, tuple[str, str, str]] = {}
    is_new: bool = True

    def has(self, memory: MemorySummary) -> bool:
        """Whether the conversation holds a memory as it is now."""
        return self.injected.get(memory_key(memory), self.injected.get(memory.own.id)) == memory.digest


def memory_key(memory: MemorySummary) -> str:
    """A name of a memory among those of all roots: its file and its id."""
    return f"{memory.file}\n{memory.own.id}"


class Candidate(Record):
    """A retrieved memory.

    `score` orders the candidates; lower is better, and it is negative. With the strategy `memsift` it is minus the
    strength, with `fts5_bm25` it is `bm25` - `body_bonus` (0 to 3 matched body tokens), with `title_tags` minus points.
    `bm25` is negative as well. `ratio` is score / best score, 0..1. `matched` are the prompt's words in the memory, and
    `length` is the number of its tokens, 0 where no index was asked.
    `unsure` is the part of the strength that counts for the rank alone. `rank` counts from 1; 0 before it is given.
    `probability` is P(relevant), 0..1, if there is a cutoff; then `confidence` follows from it. `needs` is the least
    P(relevant) that the cutoff asked of this memory.
    `dropped_by` is one of DROP_STAGES, or None for an injected memory; `reason` is the same in words.
    """

    memory: MemorySummary
    bm25: float
    body_bonus: int
    score: float
    matched: tuple[str, ...]
    rank: int = 0
    ratio: float = 0.0
    confidence: str = ""
    verdict: Verdict | None = None
    probability: float | None = None
    dropped_by: str | None = None
    reason: str = ""
    length: int = 0
    unsure: float = 0.0
    needs: float | None = None

    @property
    def injected(self) -> bool:
        return self.dropped_by is None

    @property
    def strength(self) -> float:
        """The part of the score that counts for floors and P(relevant); positive, higher is better."""
        return -self.score - self.unsure


class Retrieval(Record):
    """The result of one system for one prompt.

    `candidates` are in rank order, dropped ones included. `strategy` is the configuration's `match_strategy`, or
    "title_tags" without FTS5. `fallback` is the status of a judge that could not answer, else empty.
    """

    prompt: Prompt
    system: str
    mode: str
    strategy: str
    candidates: tuple[Candidate, ...]
    judgement: Judgement | None
    fallback: str
    elapsed_ms: float

    @property
    def injected(self) -> tuple[Candidate, ...]:
        """The injected set, best first."""
        return tuple([candidate for candidate in self.candidates if candidate.dropped_by is None])
