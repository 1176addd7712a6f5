"""The records of the quality judge: a rating, and the assessment of a memory by its ratings."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING

from engine.judge.verdict import APPROVED, FLAGGED, OK, REJECTED, Judgement, Verdict
from engine.lean.record import Record, replace

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.judge.provider import WebSource
    from engine.memory import MemorySummary

BEST = 10.0
THRESHOLD = 5.0
"""The least overall score of an accepted memory, unless a person chooses another."""

UNDECIDED, UNANSWERED = "undecided", "unanswered"
DECISIONS = {APPROVED: "accepted", REJECTED: "rejected", FLAGGED: UNDECIDED}
"""A verdict's decision -> its word for people. Undecided: the samples are split in halves."""

RULE = "rule"
"""The provider's name on an assessment for which no model was asked."""


class Rating(Record):
    """One answer about a memory, or several together.

    Scores are 0..10 in tenths; `scores` are (criterion, score), and `why` (criterion, reason) for some of them.
    `reasons` say why it deserves no more. `title` and `tags` are a suggestion, empty for none. `research` says what a
    search has shown.
    """

    overall: float
    scores: tuple[tuple[str, float], ...] = ()
    key_points: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    title: str = ""
    tags: tuple[str, ...] = ()
    sources: tuple[WebSource, ...] = ()
    why: tuple[tuple[str, str], ...] = ()
    research: tuple[str, ...] = ()


class Assessment(Record):
    """The quality judge's opinion of one memory: how it was asked, and the rating, None without an answer."""

    memory: MemorySummary
    judgement: Judgement
    rating: Rating | None = None

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdicts[0]

    @property
    def decision(self) -> str:
        """A word of DECISIONS, or UNANSWERED."""
        return DECISIONS[self.verdict.decision] if self.judgement.status == OK else UNANSWERED

    @property
    def is_by_rule(self) -> bool:
        """Whether no model was asked."""
        return self.judgement.provider == RULE

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the memory is rejected; empty if it is not."""
        if self.rating is None or self.verdict.decision != REJECTED:
            return ()
        return self.rating.reasons or (f"Its score is {self.rating.overall:.1f}, and the model gave no reason.",)


def with_mean(rating: Rating, criteria: Collection[str]) -> Rating:
    """*rating* with the mean of its scores as the overall score, if all *criteria* have one."""
    scores = dict(rating.scores)
    if not criteria or scores.keys() != set(criteria):
        return rating
    return replace(rating, overall=round(fmean(scores.values()), 1))


def decision_of(rating: Rating, threshold: float) -> str:
    return APPROVED if rating.overall >= threshold else REJECTED


def combine_ratings(ratings: Sequence[Rating], decision: str, threshold: float) -> Rating:
    """One rating for several: medians of the scores, and the texts of the rating nearest to the median score.

    Only the ratings that led to *decision* count; all of them if they are split in halves.
    """
    same = [rating for rating in ratings if decision_of(rating, threshold) == decision] or list(ratings)
    middle = round(median(rating.overall for rating in same), 1)
    nearest = min(same, key=lambda rating: abs(rating.overall - middle))
    names = [name for name, _ in nearest.scores]
    columns = {name: [score for rating in same for own, score in rating.scores if own == name] for name in names}
    sources = dict.fromkeys(source for rating in same for source in rating.sources)
    return replace(
        nearest,
        overall=middle,
        scores=tuple((name, round(median(scores), 1)) for name, scores in columns.items()),
        sources=tuple(sources),
    )
