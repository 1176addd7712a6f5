"""A judge's decisions on candidates. An error is a status, never a rejection."""

from __future__ import annotations

from engine.config import DEPTHS as DEPTHS
from engine.config import EXPLAINED as EXPLAINED
from engine.config import KEEP as KEEP
from engine.lean.record import Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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
"""How a judgement ended: with an answer, or with the reason why there is none."""

MAX_UNANSWERED = 0.1
"""The share of questions without an answer above which a run says so, and nothing is decided about the judge."""

LIVE, CACHE = SOURCES = ("live", "cache")
"""Where an answer comes from."""


class Opinion(Record):
    """The decision of one answer, or of several together, on one candidate.

    `confidence` is 0..1, or None where none was given. `samples` counts the answers; `agreement` is the share of them
    that gave the commonest decision, 0..1.
    """

    decision: str
    confidence: float | None = None
    reasoning: str = ""
    samples: int = 1
    agreement: float = 1.0


class CallOutcome(Record):
    """The result of one or more calls. `opinions` are by position in the pool; empty unless `status` is ok.

    `searches` counts the web searches that are billed.
    """

    status: str
    opinions: Mapping[int, Opinion] = {}
    detail: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    source: str = LIVE
    searches: int = 0

    def after(self, *earlier: CallOutcome) -> CallOutcome:
        """This outcome with the tokens of *earlier* calls added, because they are paid for, too. Live if any was."""
        is_live = any(outcome.source == LIVE for outcome in (self, *earlier))
        return replace(
            self,
            source=LIVE if is_live else CACHE,
            input_tokens=self.input_tokens + sum(outcome.input_tokens for outcome in earlier),
            output_tokens=self.output_tokens + sum(outcome.output_tokens for outcome in earlier),
            searches=self.searches + sum(outcome.searches for outcome in earlier),
        )


class Verdict(Record):
    """A judge's decision on one memory.

    `confidence` is 0..1: how sure the judge is of the decision, or None where it gave none. `samples` counts the
    answers behind the decision (0 on an error); `agreement` is the share of them that gave it, 0..1.
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
        """Whether the samples gave different decisions."""
        return self.samples > 0 and self.agreement < 1


class Judgement(Record):
    """A judge's answer on one prompt: a verdict for each candidate, in the order of the candidates.

    `elapsed_ms` is wall time of all calls. Token counts are sums over them, 0 where the provider gives none; `cost_usd`
    is None where tokens or price are not known. `template_hash` names the wording of the instructions (16 hex digits):
    judgements of different hashes or depths cannot be compared. `detail` describes an error, without secrets.
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
        """Whether the judge was asked and could not answer. Without a key it is not asked."""
        return self.status not in (OK, NO_KEY)

    def verdict_on(self, memory_id: str) -> Verdict | None:
        return next((verdict for verdict in self.verdicts if verdict.memory_id == memory_id), None)
