"""Reading a model's answer, whatever stands around it. Only indices of offered candidates come out."""

from __future__ import annotations

import json
import re

from engine.errors import ProviderError
from engine.judge.prompts import cut
from engine.judge.provider import MAX_TOKENS, PAUSE
from engine.judge.verdict import (
    APPROVED,
    DECISIONS,
    FLAGGED,
    HTTP_ERROR,
    KEEP,
    REJECTED,
    CallOutcome,
    Opinion,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from engine.judge.provider import Completion

ANSWER_LIMIT = 100_000
"""Characters of an answer that are read, counted from its end: a model thinks aloud first. Thirty verdicts with a
sentence each take 7,000."""

MAX_DEPTH = 8
"""Levels of brackets in an object that is read. Verdicts have three. The limit makes reading linear: no character lies
in more objects than that, whatever is open around them."""

REASONING_LIMIT = 300
"""Characters of a reasoning that are kept."""

EXCERPT_LIMIT = 80
"""Characters of an unreadable answer that are shown to people."""

CUT_OFF = "The answer was cut off before it was complete. Allow more: MEMSIFT_JUDGE_MAX_TOKENS."
PAUSED = "The model paused in its searches before it answered. Ask again, or leave out --web-search."
MAX_DIGITS = 6
SILENT = Opinion(FLAGGED, reasoning="the judge said nothing about it")
CONTRADICTORY = Opinion(FLAGGED, reasoning="the judge contradicted itself")


Answer = list[object]
"""The list in an answer: indices, or verdicts."""


def _nested(depth: int) -> str:
    """A pattern of text in brackets. Its repetitions are possessive, so that a failure is never tried in other ways."""
    deeper = f"|{_nested(depth - 1)}" if depth > 1 else ""
    return rf'[{{\[](?:[^"\\{{}}\[\]]++|"(?:[^"\\]++|\\.)*+"{deeper})*+[\]}}]'


_FENCE = re.compile(r"```\w*\s*(\[.*\])\s*```", re.DOTALL)
_OBJECT = re.compile(rf"(?={{){_nested(MAX_DEPTH)}", re.DOTALL)


class UnreadableAnswerError(ValueError):
    """The text holds no answer in the form that was asked for."""


def failure(error: Exception) -> CallOutcome:
    """The outcome for *error*. For an unexpected error only its type is shown: its text may quote a secret."""
    if isinstance(error, ProviderError):
        return CallOutcome(error.status, detail=str(error))
    return CallOutcome(HTTP_ERROR, detail=f"The judge failed: {type(error).__name__}.")


def opinions(text: str, count: int, depth: str, hide: Callable[[str], str] = str) -> tuple[Opinion, ...]:
    """The opinion in *text* on each of *count* candidates. Raises UnreadableAnswerError if it holds no answer.

    The last complete object that fits counts: a model thinks aloud, then answers. `{"keep": [...]}` fits if the list is
    empty or holds an index; `{"verdicts": [...]}` if it is empty or holds an entry with an index and a known decision.
    "2" and 2.0 are read as 2; an index that was not offered is ignored. *hide* takes the secrets out of a reasoning.
    """
    if depth == KEEP:
        kept = {_index(item) for item in _last_list(text, "keep", _is_index)}
        return tuple(Opinion(APPROVED if index in kept else REJECTED) for index in range(count))

    def is_verdict(item: object) -> bool:
        return isinstance(item, dict) and _is_index(item.get("index")) and item.get("decision") in DECISIONS

    # A candidate that is missing, or has an unknown decision or two different decisions, is flagged.
    found: dict[int | None, Opinion] = {}
    for entry in _last_list(text, "verdicts", is_verdict):
        if not isinstance(entry, dict):
            continue
        index, decision = _index(entry.get("index")), entry.get("decision")
        reasoning, confidence = entry.get("reasoning"), entry.get("confidence")
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
            confidence = None
        opinion = Opinion(
            decision=str(decision) if decision in DECISIONS else FLAGGED,
            confidence=None if confidence is None else float(confidence),
            reasoning=cut(hide(reasoning), REASONING_LIMIT) if isinstance(reasoning, str) else "",
        )
        if found.setdefault(index, opinion).decision != opinion.decision:
            found[index] = CONTRADICTORY
    return tuple(found.get(index, SILENT) for index in range(count))


def opinions_text(found: Iterable[Opinion]) -> str:
    """Opinions as they are kept in the cache."""
    return json.dumps([[opinion.decision, opinion.confidence, opinion.reasoning] for opinion in found])


def opinions_of_text(text: str, count: int) -> tuple[Opinion, ...] | None:
    """The *count* opinions in a text of `opinions_text`; None for any other text."""
    try:
        found = tuple(Opinion(*fields) for fields in json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return None
    is_whole = len(found) == count and all(opinion.decision in DECISIONS for opinion in found)
    return found if is_whole else None


def read_part(text: str) -> str:
    """The part of an answer that is read: without the thoughts with which some local models begin, and not too long."""
    thoughts, _, said = text.partition("</think>")
    has_thoughts = text.lstrip().startswith("<think>") or (said and "<think>" not in thoughts)
    return (said if has_thoughts else text)[-ANSWER_LIMIT:]


def _last_list(text: str, field: str, fits: Callable[[object], bool]) -> Answer:
    """The *field* of the last object in *text* in which it is a list with an item that fits, or an empty list.

    Raises UnreadableAnswerError if there is none.
    """
    last: Answer | None = None
    part = read_part(text)
    for answer in [*_bare_list(part), *(holder[field] for holder in objects(part, field, list))]:
        if not answer or any(map(fits, answer)):
            last = answer
    if last is None:
        raise UnreadableAnswerError(f'no {{"{field}": [...]}} in the answer')
    return last


def _bare_list(text: str) -> Iterator[Answer]:
    """The list that *text* is, at most in a code fence, for models that leave out the object around it."""
    fenced = _FENCE.fullmatch(text.strip())
    found = fenced[1] if fenced else text.strip()
    if found.startswith("["):
        try:
            value = json.loads(found)
        except (ValueError, RecursionError):
            return
        if isinstance(value, list):
            yield value


def objects(
    text: str, field: str, kind: type, decode: Callable[[str], object] = json.loads
) -> Iterator[dict[str, Any]]:
    """Every object in *text* whose *field* is of a *kind*, in the order in which the objects begin.

    Such an object is not searched further. Any other text in brackets is, because the answer may stand in it. Each of
    the MAX_DEPTH levels of brackets is decoded at most once. So *decode* gets no character more than 2 * MAX_DEPTH
    times: a character may lie inside and outside of a string, depending on where the text begins.
    """
    start, name = 0, f'"{field}"'
    while found := _OBJECT.search(text, start):
        try:
            value = decode(found[0]) if name in found[0] else None
        except ValueError:
            value = None
        if isinstance(value, dict) and isinstance(value.get(field), kind):
            start = found.end()
            yield value
        else:
            start = found.start() + 1


def _is_index(item: object) -> bool:
    return _index(item) is not None


def _index(item: object) -> int | None:
    """The index that *item* means, if any. A boolean is an int in Python, and never an index."""
    if isinstance(item, int) and not isinstance(item, bool):
        return item
    if isinstance(item, float) and item.is_integer():
        return int(item)
    if isinstance(item, str):
        digits = item.strip()
        if digits.isascii() and digits.isdecimal() and len(digits) <= MAX_DIGITS:
            return int(digits)
    return None


def unreadable(completion: Completion, wanted: str, hide: Callable[[str], str]) -> str:
    """Why *completion* does not hold what is *wanted*, for people."""
    if completion.stop_reason == MAX_TOKENS:
        return CUT_OFF
    if completion.stop_reason == PAUSE:
        return PAUSED
    excerpt = cut(hide(completion.text), EXCERPT_LIMIT)
    return f"The answer holds no {wanted}: {excerpt}" if excerpt else "The answer is empty."
