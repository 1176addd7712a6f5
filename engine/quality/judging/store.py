"""The newest rating of each memory text, of all roots, in the private SQLite file of `engine.quality.decisions`.

A rating is a suggestion: it says nothing about what the person decided. Assessments are printed as JSON rows.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from engine.errors import DecisionsError
from engine.lean.record import Record, fields
from engine.lean.sqlite import DAMAGE, for_writing
from engine.paths import decisions_file
from engine.quality.decisions import open_decisions
from engine.quality.judging.rating import DECISIONS, RULE, UNANSWERED, Assessment, Rating, rating_fields, rating_text
from engine.stores.private_database import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


NEWEST = """
select memory, digest, category, title, words, decision, overall, provider, model from rating
where root = :root and rubric = :rubric and (provider, model, template_hash) = (
    select provider, model, template_hash from rating
    where root = :root and rubric = :rubric and provider <> :rule order by at desc limit 1)
order by memory
"""
"""The ratings of a root by a rubric and the model that rated last."""

OF_1_0_0 = "ratings.db"
"""The file beside the decisions in which version 1.0.0 kept the ratings."""


class Rated(Record):
    """A model's rating in the store. `decision` is accepted, rejected or undecided; `words` is the memory's length."""

    memory_id: str
    digest: str
    category: str
    title: str
    words: int
    decision: str
    overall: float
    provider: str
    model: str


class RatingStore:
    """The ratings in the file of decisions. Every method raises DecisionsError where it cannot be read or written."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._file = open_decisions(environ)
        try:
            self._bring(_old_file(environ))
        except DecisionsError:
            self.close()
            raise

    def _bring(self, old: str) -> None:
        """Move the ratings of version 1.0.0 into the file. A rating that is there already is the newer one."""
        if not os.path.exists(old):
            return
        try:
            with closing(for_writing(old)) as file:  # a process that died may have left a change that is to be undone
                rows = file.execute("select * from rating").fetchall()
        except DAMAGE as error:
            if not os.path.exists(old):  # another process has just brought them
                return
            raise DecisionsError(
                f"The ratings of version 1.0.0 in {old} cannot be read ({error}). Delete the file: the judge's cache "
                "still has the answers."
            ) from None
        with self._file.changing() as db:
            db.executemany(f"insert or ignore into rating values ({', '.join('?' * 14)})", rows)
        with suppress(OSError):  # the next process tries again
            os.remove(old)

    def close(self) -> None:
        self._file.close()

    def keep(self, root: str, rubric: str, words: int, found: Assessment) -> None:
        """Keep an assessment that has a rating, in place of an earlier one of the same text by the same rubric."""
        if found.rating is None:
            return
        memory, asked = found.memory, found.judgement
        named = (root, memory.id, memory.digest, rubric, memory.category, memory.title, words)
        said = (found.decision, found.rating.overall, rating_text(found.rating))
        by = (asked.provider, asked.model, asked.template_hash, datetime.now(UTC).isoformat(timespec="milliseconds"))
        row = [storable(value) for value in (*named, *said, *by)]
        with self._file.changing() as db:
            db.execute(f"insert or replace into rating values ({', '.join('?' * len(row))})", row)

    def ratings(self, root: str, rubric: str) -> list[Rated]:
        """The ratings of a root by a rubric and the model that rated last, in the order of ids.

        Ratings by another model or another wording are left out, because they cannot be compared. So are rejections by
        rule. Texts that have changed since are among them.
        """
        return [Rated(*row) for row in self._file.rows(NEWEST, {"root": root, "rubric": rubric, "rule": RULE})]


def may_have_ratings(environ: Mapping[str, str]) -> bool:
    """Whether there is a file that may hold ratings, so that nobody makes one to look into it."""
    return os.path.exists(decisions_file(environ)) or os.path.exists(_old_file(environ))


def _old_file(environ: Mapping[str, str]) -> str:
    return os.path.join(os.path.dirname(decisions_file(environ)), OF_1_0_0)


NO_RATING = rating_fields(Rating(0.0)) | {"overall": None}


def row_of(root: str, rubric: str, threshold: float, found: Assessment) -> dict[str, Any]:
    """The row of an assessment. `decision` is accepted, rejected, undecided or unanswered."""
    memory, verdict = found.memory, found.verdict
    rating = rating_fields(found.rating) if found.rating else NO_RATING
    asked = {name: value for name, value in fields(found.judgement).items() if name not in ("verdicts", "depth")}
    return {
        "root": root,
        **{name: getattr(memory, name) for name in ("id", "title", "category", "path", "digest")},
        "rubric": rubric,
        "threshold": threshold,
        "decision": found.decision,
        **rating,
        "rejection_reasons": list(found.reasons),
        "samples": verdict.samples,
        "agreement": verdict.agreement,
        "judgement": asked,
    }


def summary_of(found: Iterable[Assessment]) -> dict[str, Any]:
    """How many memories have each decision, and the tokens and cost of all."""
    rated = list(found)
    decisions = [assessment.decision for assessment in rated]
    costs = [assessment.judgement.cost_usd for assessment in rated]
    return {
        "memories": len(rated),
        **{word: decisions.count(word) for word in (*DECISIONS.values(), UNANSWERED)},
        "by_rule": sum(assessment.judgement.provider == RULE for assessment in rated),
        "input_tokens": sum(assessment.judgement.input_tokens for assessment in rated),
        "output_tokens": sum(assessment.judgement.output_tokens for assessment in rated),
        "cost_usd": sum(cost or 0.0 for cost in costs) if any(cost is not None for cost in costs) else None,
    }
