"""What a judge said of candidates. An error is a status, never a rejection."""

from __future__ import annotations

from engine.record import record

APPROVED, REJECTED, FLAGGED = "approved", "rejected", "flagged"
"""Decisions. Flagged means undecided: every candidate is flagged when the judge could not answer."""

OK, TIMEOUT, HTTP_ERROR, PARSE_ERROR, REFUSED, NO_KEY = (
    "ok",
    "timeout",
    "http_error",
    "parse_error",
    "refused",
    "no_key",
)
"""Statuses of a judgement."""


@record
class Verdict:
    """A judge's decision on one memory."""

    memory_id: str
    decision: str
    status: str
    reasoning: str = ""


@record
class Judgement:
    """One judge call: a verdict for each candidate that was shown, in the order in which they were given.

    `elapsed_ms` is wall time of the whole call; token counts are 0 where the provider gives none; `template_hash` names
    the wording of the judge's instructions (16 hex digits); `detail` says what went wrong, for people, without secrets.
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

    def verdict_on(self, memory_id: str) -> Verdict | None:
        return next((verdict for verdict in self.verdicts if verdict.memory_id == memory_id), None)
