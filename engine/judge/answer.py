"""Reading a judge's answer, however a model wrapped it: only candidates that were offered come out."""

from __future__ import annotations

import json

from engine.judge.prompts import cut
from engine.judge.verdict import APPROVED, DECISIONS, FLAGGED, KEEP, REJECTED, Opinion

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
    """What *text* says of each of *count* candidates. Raises UnreadableAnswerError if it holds no answer.

    Prose, code fences, thoughts and other objects around the answer are passed over. "2" and 2.0 are 2; whatever is no
    index that was offered is ignored. A candidate of which two answers, or two entries of one, say different things is
    flagged: one of the two may be a title that the model repeats.
    """
    return (kept if depth == KEEP else explained)(_without_thoughts(text[:ANSWER_LIMIT]), count)


def kept(text: str, count: int) -> tuple[Opinion, ...]:
    """See `opinions`; by `{"keep": [indices]}`."""
    answers = [{_index(item) for item in found} for found in _lists(text, "keep")]
    return tuple(_kept({index in answer for answer in answers}) for index in range(count))


def explained(text: str, count: int) -> tuple[Opinion, ...]:
    """See `opinions`; by `{"verdicts": [...]}`. A candidate that is left out, or decided in other words, is flagged."""
    found: dict[int, Opinion] = {}
    for entry in (entry for answer in _lists(text, "verdicts") for entry in answer):
        if isinstance(entry, dict):
            index, opinion = _index(entry.get("index")), _opinion(entry)
            earlier = found.setdefault(index, opinion)
            if earlier.decision != opinion.decision:
                found[index] = CONTRADICTORY
    return tuple(found.get(index, SILENT) for index in range(count))


def _without_thoughts(text: str) -> str:
    """*text* without the thoughts that some local models begin with."""
    return text.partition("</think>")[2] if text.lstrip().startswith("<think>") else text


def _kept(said: set[bool]) -> Opinion:
    """By whether each answer keeps it."""
    if len(said) > 1:
        return CONTRADICTORY
    return Opinion(APPROVED if True in said else REJECTED)


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


def _lists(text: str, field: str) -> list[list[object]]:
    """Every list that is the *field* of an object in *text*. Raises UnreadableAnswerError if there is none."""
    found: list[list[object]] = []
    start = text.find("{")
    while start >= 0:
        value, end = _object_at(text, start)
        answer = value.get(field)
        if isinstance(answer, list):
            found.append(answer)
        start = text.find("{", end if isinstance(answer, list) else start + 1)
    if not found:
        raise UnreadableAnswerError(f'no {{"{field}": [...]}} in the answer')
    return found


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
