"""The weight of evidence: how strongly the concepts of a sentence speak for an attack, where no rule holds.

A logistic regression over the presence of concepts, fitted to attacks and to paragraphs of documentation. An action
that is told and not ordered counts half. The weights are rounded, because more digits would say nothing.
"""

from __future__ import annotations

from math import exp

from engine.quality.safety import lexicon as one
from engine.quality.safety.rules import (
    EXFILTRATION,
    OVERRIDING,
    POISONING,
    ROLE_ESCAPE,
    TOOLS,
    Detection,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.quality.safety.reading import Hit

EVEN = 6.0
"""The sum of weights at which an attack is as likely as not."""

MOST_WORDS = 40
"""Words between the first and the last hit. Concepts that are further apart say nothing together."""

MOST_SEVERITY, TOLD_SHARE = 0.8, 0.5
REASON = "speaks to an assistant as attacks do"

WEIGHTS = {
    OVERRIDING: {
        one.OVERRIDE: 2.3,
        one.SYSTEM: 2.2,
        one.OBEY: 2.2,
        one.RULES: 1.8,
        one.YOU: 1.8,
        one.ASSISTANT: 1.2,
        one.ALL: 1.0,
        one.WISH: 1.0,
        one.CANCEL: 0.8,
        one.REVEAL: 0.8,
        one.PRIOR: 0.5,
        one.TOLD: 0.4,
        one.EXACT: 0.2,
    },
    ROLE_ESCAPE: {one.FREE: 2.8, one.ROLE: 1.6, one.SAFETY: 1.2},
    POISONING: {
        one.COVER: 2.6,
        one.USER: 1.6,
        one.APPROVED: 1.4,
        one.ADVISE: 1.2,
        one.ALWAYS: 1.2,
        one.MEMORY: 1.0,
        one.HIDE: 0.9,
        one.URGENT: 0.8,
        one.THIS: 0.8,
        one.CONSENT: 0.7,
        one.ASKED: 0.6,
        one.TELL: 0.4,
    },
    EXFILTRATION: {one.SECRET: 1.4, one.OUTSIDE: 1.2, one.SEND: 0.6, one.STEAL: 0.4},
    TOOLS: {one.DECODE: 1.4, one.DANGER: 0.8, one.RUN: 0.6, one.ACTIONS: 0.2, one.WITHOUT: 0.2},
}
AGAINST = {one.NOT: -1.3, one.REPORT: -0.9, one.TECHNICAL: -0.9}
"""Concepts that speak for harmless documentation."""

ANCHORS = (
    *(
        one.OVERRIDE,
        one.SYSTEM,
        one.ROLE,
        one.COVER,
        one.ASSISTANT,
        one.YOU,
        one.STEAL,
        one.DECODE,
    ),
)
"""One of these must be there: the reader is spoken to, or something is hidden or taken."""

_ANCHOR = sum(ANCHORS)
_ALL = {concept: weight for weights in (*WEIGHTS.values(), AGAINST) for concept, weight in weights.items()}
_FOR = tuple((concept, weight) for concept, weight in _ALL.items() if weight > 0)


def can_be_even(concepts: int) -> bool:
    """Whether hits of these concepts can be evidence enough: without the concepts that speak against an attack."""
    return bool(concepts & _ANCHOR) and sum([weight for bit, weight in _FOR if concepts & bit]) >= EVEN


def weighed(hits: Sequence[Hit]) -> Detection | None:
    """The detection that the hits of a sentence amount to, or None."""
    if hits[-1].place - hits[0].place > MOST_WORDS:
        return None
    ordered = told = 0
    for hit in hits:
        if hit.is_told:
            told |= hit.concepts
        else:
            ordered |= hit.concepts
    # rounded, because Python 3.12 adds floats more exactly than 3.11
    total = round(sum(_share(concept, ordered, told, weight) * weight for concept, weight in _ALL.items()), 6)
    if total <= EVEN:
        return None
    severity = round(min(MOST_SEVERITY, 1 / (1 + exp(EVEN - total))), 3)
    return Detection(_category(ordered | told), severity, hits[0].start, hits[-1].end, REASON)


def _share(concept: int, ordered: int, told: int, weight: float) -> float:
    if ordered & concept or (told & concept and weight < 0):
        return 1.0
    return TOLD_SHARE if told & concept else 0.0


def _category(concepts: int) -> str:
    """The category whose concepts weigh most."""
    sums = {
        category: sum(weight for concept, weight in weights.items() if concepts & concept)
        for category, weights in WEIGHTS.items()
    }
    return max(sums, key=sums.__getitem__)
