"""Reading a judge's answer, however a model wrapped it: only candidates that were offered come out."""

from __future__ import annotations

import json

from engine.judge.prompts import cut
from engine.judge.verdict import APPROVED, DECISIONS, FLAGGED, KEEP, REJECTED, Opinion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER_LIMIT = 20_000
"""Characters of an answer that are read. Thirty verdicts with a sentence each take a third of it."""

REASONING_LIMIT = 300
"""Characters of a reasoning that are kept."""

MAX_DIGITS = 6
SILENT = Opinion(FLAGGED, reasoning="the judge said nothing about it")
CONTRADICTORY = Opinion(FLAGGED, reasoning="the judge contradicted itself")


class UnreadableAnswerError(ValueError):
    """The text does not hold what was asked for."""


def opinions(text: str, count: int, depth: str) -> tuple[Opinion, ...]:
    """What *text* says of each of *count* candidates. Raises UnreadableAnswerError if it holds no answer."""
    if depth == KEEP:
        kept = kept_indices(text, count)
        return tuple(Opinion(APPROVED if index in kept else REJECTED) for index in range(count))
    return explained(text, count)


def kept_indices(text: str, count: int) -> tuple[int, ...]:
    """The distinct indices in 0..count-1 that `{"keep": [indices]}` in *text* keeps, ascending.

    Prose, code fences and other objects around the answer are passed over; of several keep-lists the last counts,
    because a model that corrects itself does so at the end. "2" and 2.0 are 2; whatever is no index that was offered
    is ignored. Raises UnreadableAnswerError if there is no keep-list.
    """
    indices = {_index(item) for item in _last_list(text, "keep")}
    return tuple(index for index in range(count) if index in indices)


def explained(text: str, count: int) -> tuple[Opinion, ...]:
    """What `{"verdicts": [...]}` in *text* says of each of *count* candidates.

    A candidate that is left out, decided in two ways or in an unknown word is flagged. Raises UnreadableAnswerError if
    there is no list of verdicts.
    """
    found: dict[int, Opinion] = {}
    for entry in _last_list(text, "verdicts"):
        if isinstance(entry, dict):
            index, opinion = _index(entry.get("index")), _opinion(entry)
            earlier = found.setdefault(index, opinion)
            if earlier.decision != opinion.decision:
                found[index] = CONTRADICTORY
    return tuple(found.get(index, SILENT) for index in range(count))


def _opinion(entry: dict[str, object]) -> Opinion:
    decision, reasoning = entry.get("decision"), entry.get("reasoning")
    return Opinion(
        decision=str(decision) if decision in DECISIONS else FLAGGED,
        confidence=_confidence(entry.get("confidence")),
        reasoning=cut(reasoning, REASONING_LIMIT) if isinstance(reasoning, str) else "",
    )


def _confidence(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None  # type: ignore[operator,arg-type]


def _last_list(text: str, field: str) -> list[object]:
    last = None
    for last in _lists(text[:ANSWER_LIMIT], field):  # noqa: B007 - the last one
        pass
    if last is None:
        raise UnreadableAnswerError(f'no {{"{field}": [...]}} in the answer')
    return last


def _lists(text: str, field: str) -> Iterator[list[object]]:
    start = text.find("{")
    while start >= 0:
        value, end = _object_at(text, start)
        found = value.get(field)
        if isinstance(found, list):
            yield found
            start = text.find("{", end)
        else:
            start = text.find("{", start + 1)


def _object_at(text: str, start: int) -> tuple[dict[str, object], int]:
    try:
        return json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return {}, start


def _index(item: object) -> int:
    """The index that *item* means, or -1. A boolean is an int in Python, and never an index."""
    if isinstance(item, int) and not isinstance(item, bool):
        return item
    if isinstance(item, float) and item.is_integer():
        return int(item)
    if isinstance(item, str):
        digits = item.strip()
        if digits.isascii() and digits.isdecimal() and len(digits) <= MAX_DIGITS:
            return int(digits)
    return -1
