"""What a judge said of candidates. An error is a status, never a rejection."""

from __future__ import annotations

from engine.config import DEPTHS as DEPTHS
from engine.config import EXPLAINED as EXPLAINED
from engine.config import KEEP as KEEP
from engine.lean.record import Record

APPROVED, REJECTED, FLAGGED = DECISIONS = ("approved", "rejected", "flagged")
"""Flagged means undecided: the judge could not tell, or could not answer at all."""

OK, TIMEOUT, HTTP_ERROR, PARSE_ERROR, REFUSED, NO_KEY, CANCELLED = STATUSES = (
    "ok",
    "timeout",
    "http_error",
    "parse_error",
    "refused",
    "no_key",
    "cancelled",
)
"""How a judgement came out: whether the judge answered, or why not."""

LIVE, CACHE = SOURCES = ("live", "cache")
"""Where an answer comes from."""


class Opinion(Record):
    """What one answer, or several together, say of one candidate.

    `confidence` is 0..1, or None where none was given. `samples` are the answers, `agreement` the share of them that
    say the same as most.
    """

    decision: str
    confidence: float | None = None
    reasoning: str = ""
    samples: int = 1
    agreement: float = 1.0


class Verdict(Record):
    """A judge's decision on one memory.

    `confidence` is 0..1: how sure the judge is of the decision, or None where it did not say. `samples` are the answers
    that the decision is drawn from (0 on an error), `agreement` the share of them that say the same as most, 0..1.
    """

    memory_id: str
    decision: str
    status: str
    reasoning: str = ""
    confidence: float | None = None
    samples: int = 1
    agreement: float = 1.0
    source: str = LIVE

    @property
    def is_disputed(self) -> bool:
        """Whether its samples said different things."""
        return self.samples > 0 and self.agreement < 1


class Judgement(Record):
    """What a judge said of one prompt: a verdict for each candidate, in the order in which they were given.

    `elapsed_ms` is wall time of all calls; token counts are sums over them, 0 where the provider gives none; `cost_usd`
    is None where tokens or price are not known. `template_hash` names the wording of the instructions (16 hex digits):
    judgements of different hashes or depths are not comparable. `detail` says what went wrong, without secrets.
    """

    status: str
    verdicts: tuple[Verdict, ...]
    provider: str
    model: str
    template_hash: str
    elapsed_ms: float
    input_tokens: int = 0
    output_tokens: int = 0
    detail: str = ""
    depth: str = KEEP
    cost_usd: float | None = None

    @property
    def is_answer(self) -> bool:
        """Whether the judge answered."""
        return self.status == OK

    @property
    def is_failure(self) -> bool:
        """Whether it was asked and could not answer: a missing key is no judge."""
        return self.status not in (OK, NO_KEY)

    def verdict_on(self, memory_id: str) -> Verdict | None:
        return next((verdict for verdict in self.verdicts if verdict.memory_id == memory_id), None)
