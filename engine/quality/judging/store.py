"""The newest rating of each memory text, of all roots: a private SQLite file in the user's data folder.

A rating is a suggestion. What the person decided is kept apart, in `engine.quality.decisions`. Assessments are printed
as JSON rows.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from engine.errors import RatingsError
from engine.lean.record import Record, fields
from engine.lean.sections import read_sections
from engine.paths import ratings_file
from engine.quality.judging.answer import rating_fields, rating_text
from engine.quality.judging.rating import DECISIONS, RULE, UNANSWERED, Assessment, Rating
from engine.stores.private_database import PrivateDatabase, storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


SQL = {name: "\n".join(lines) for name, lines in read_sections(__file__, "ratings.sql")}


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
    """The ratings at *path*. Every method raises RatingsError where the file cannot be read or written."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = PrivateDatabase(path, lambda db: db.execute(SQL["table"]), self._explained)

    @classmethod
    def open(cls, environ: Mapping[str, str]) -> Self:
        return cls(ratings_file(environ))

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
        return [Rated(*row) for row in self._file.rows(SQL["newest"], {"root": root, "rubric": rubric, "rule": RULE})]

    def _explained(self, error: Exception) -> RatingsError:
        return RatingsError(
            f"The ratings in {self._path} cannot be read or written ({error}). Check the file and its folder, or "
            "delete the file: the judge's cache still has the answers."
        )


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
        "by_rule": sum(assessment.is_by_rule for assessment in rated),
        "input_tokens": sum(assessment.judgement.input_tokens for assessment in rated),
        "output_tokens": sum(assessment.judgement.output_tokens for assessment in rated),
        "cost_usd": sum(cost or 0.0 for cost in costs) if any(cost is not None for cost in costs) else None,
    }
