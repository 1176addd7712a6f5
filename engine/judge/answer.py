"""Reading a model's answer, whatever stands around it. Only indices of offered candidates come out."""

from __future__ import annotations

import json

from engine.errors import ProviderError
from engine.judge.prompts import cut
from engine.judge.provider import MAX_TOKENS, REFUSAL
from engine.judge.verdict import (
    APPROVED,
    DECISIONS,
    FLAGGED,
    HTTP_ERROR,
    KEEP,
    OK,
    PARSE_ERROR,
    REFUSED,
    REJECTED,
    Opinion,
    Outcome,
)
from engine.lean.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.judge.provider import Completion

ANSWER_LIMIT = 20_000
"""Characters of an answer that are read. Thirty verdicts with a sentence each take a third of it."""

REASONING_LIMIT = 300
"""Characters of a reasoning that are kept."""

EXCERPT_LIMIT = 80
"""Characters of an unreadable answer that are shown to people."""

MAX_DIGITS = 6
SILENT = Opinion(FLAGGED, reasoning="the judge said nothing about it")
CONTRADICTORY = Opinion(FLAGGED, reasoning="the judge contradicted itself")


class UnreadableAnswerError(ValueError):
    """The text holds no answer in the form that was asked for."""


def outcome_of(call: Callable[[], Completion], shown: tuple[int, ...], depth: str) -> Outcome:
    """The outcome of *call*, which asks about the candidates at the positions *shown*, in that order."""
    try:
        completion = call()
    except Exception as error:  # noqa: BLE001 - the hook must not die of a provider's bug
        return failure(error)
    return replace(
        _read(completion, shown, depth),
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
        source=completion.source,
    )


def failure(error: Exception) -> Outcome:
    """The outcome for *error*. For an unexpected error only its type is shown: its text may quote a secret."""
    if isinstance(error, ProviderError):
        return Outcome(error.status, detail=str(error))
    return Outcome(HTTP_ERROR, detail=f"The judge failed: {type(error).__name__}.")


def opinions(text: str, count: int, depth: str) -> tuple[Opinion, ...]:
    """The opinion in *text* on each of *count* candidates. Raises UnreadableAnswerError if it holds no answer.

    Prose, code fences, thoughts and other objects around the answer are skipped. "2" and 2.0 are read as 2; an index
    that was not offered is ignored. A candidate with two different decisions is flagged: one of the two may come from a
    title that the model repeats.
    """
    read = _opinions_of_keep_list if depth == KEEP else _opinions_of_verdicts
    return read(_without_thoughts(text[:ANSWER_LIMIT]), count)


def _opinions_of_keep_list(text: str, count: int) -> tuple[Opinion, ...]:
    """From `{"keep": [indices]}`."""
    answers = [{_index(item) for item in found} for found in _lists(text, "keep")]
    return tuple(_kept({index in answer for answer in answers}) for index in range(count))


def _opinions_of_verdicts(text: str, count: int) -> tuple[Opinion, ...]:
    """From `{"verdicts": [...]}`. A candidate that is missing, or has an unknown decision, is flagged."""
    found: dict[int, Opinion] = {}
    for entry in (entry for answer in _lists(text, "verdicts") for entry in answer):
        if isinstance(entry, dict):
            index, opinion = _index(entry.get("index")), _opinion(entry)
            earlier = found.setdefault(index, opinion)
            if earlier.decision != opinion.decision:
                found[index] = CONTRADICTORY
    return tuple(found.get(index, SILENT) for index in range(count))


def _without_thoughts(text: str) -> str:
    """*text* without the thoughts with which some local models begin."""
    return text.partition("</think>")[2] if text.lstrip().startswith("<think>") else text


def _kept(decisions: set[bool]) -> Opinion:
    if len(decisions) > 1:
        return CONTRADICTORY
    return Opinion(APPROVED if True in decisions else REJECTED)


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


def _read(completion: Completion, shown: tuple[int, ...], depth: str) -> Outcome:
    if completion.stop_reason == REFUSAL:
        return Outcome(REFUSED, detail="The model refused to answer.")
    try:
        found = opinions(completion.text, len(shown), depth)
    except UnreadableAnswerError:
        return Outcome(PARSE_ERROR, detail=_unreadable(completion, depth))
    return Outcome(OK, opinions=dict(zip(shown, found, strict=True)))


def _unreadable(completion: Completion, depth: str) -> str:
    if completion.stop_reason == MAX_TOKENS:
        return "The answer was cut off before it was complete."
    excerpt = cut(completion.text, EXCERPT_LIMIT)
    wanted = "keep-list" if depth == KEEP else "verdicts"
    return f"The answer holds no {wanted}: {excerpt}" if excerpt else "The answer is empty."
