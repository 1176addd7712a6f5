"""How often a model's ratings agree with the person's decisions: over all, by category and by length."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from engine.lean.record import Record
from engine.quality.decisions import ACCEPTED, QUALITY, decisions
from engine.quality.judging.rating import UNDECIDED
from engine.quality.judging.store import RatingStore
from labels.measure.agreement import concord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.quality.judging.store import Rated
    from labels.measure.agreement import Concord

MODEL, PERSON = "model", "person"
EVERYTHING = "all"
SHORT_WORDS = 30
SHORT, LONG = f"up to {SHORT_WORDS} words", f"more than {SHORT_WORDS} words"
"""Models are known to rate terse technical notes too low, so their length is looked at."""


class Compared(Record):
    """A rating beside the person's decision on the same text."""

    rated: Rated
    is_kept: bool

    @property
    def is_accepted(self) -> bool:
        return self.rated.decision == ACCEPTED


class RatingAgreement(Record):
    """The table of each group of memories, and the memories on which model and person differ.

    `undecided` counts the memories with a decision whose samples were split.
    """

    groups: tuple[tuple[str, Concord], ...]
    differing: tuple[Compared, ...]
    undecided: int


def rating_agreement(roots: Sequence[str], rubric: str, environ: Mapping[str, str]) -> RatingAgreement:
    """The agreement on all texts of *roots* that have a rating by *rubric* and a decision.

    Raises RatingsError and DecisionsError.
    """
    pairs: list[Compared] = []
    with closing(RatingStore.open(environ)) as store:
        for root in roots:
            decided = decisions(root, environ)
            for rated in store.ratings(root, rubric):
                verdict = decided.get((QUALITY, rated.memory_id, rated.digest))
                pairs += [Compared(rated, verdict == ACCEPTED)] if verdict else []
    clear = [pair for pair in pairs if pair.rated.decision != UNDECIDED]
    return RatingAgreement(
        groups=tuple(_tables(clear)),
        differing=tuple(pair for pair in clear if pair.is_accepted != pair.is_kept),
        undecided=len(pairs) - len(clear),
    )


def _tables(pairs: Sequence[Compared]) -> list[tuple[str, Concord]]:
    """A table for everything, then for each category, then for short and long memories."""
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    categories = sorted({pair.rated.category for pair in pairs})
    for name in (EVERYTHING, *categories, SHORT, LONG):
        counts[name] = Counter()
    for pair in pairs:
        length = SHORT if pair.rated.words <= SHORT_WORDS else LONG
        for name in (EVERYTHING, pair.rated.category, length):
            counts[name][pair.is_accepted, pair.is_kept] += 1
    return [(name, concord(MODEL, PERSON, count)) for name, count in counts.items() if count]
