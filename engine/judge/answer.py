"""Reading a judge's answer: `{"keep": [indices]}`, however a model wrapped it."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER_LIMIT = 10_000
"""Characters of an answer that are read. A keep-list takes a hundred; more is not an answer."""

MAX_DIGITS = 6


class UnreadableAnswerError(ValueError):
    """The text holds no JSON object with a `keep` list."""


def kept_indices(text: str, count: int) -> tuple[int, ...]:
    """The distinct indices in 0..count-1 that *text* keeps, ascending.

    Prose, code fences and other objects around the answer are passed over; of several keep-lists the last counts,
    because a model that corrects itself does so at the end. "2" is 2; whatever is no index that was offered is ignored.
    Raises UnreadableAnswerError if there is no keep-list.
    """
    kept = None
    for kept in _keep_lists(text[:ANSWER_LIMIT]):  # noqa: B007 - the last one
        pass
    if kept is None:
        raise UnreadableAnswerError('no {"keep": [...]} in the answer')
    indices = {_index(item) for item in kept}
    return tuple(index for index in range(count) if index in indices)


def _keep_lists(text: str) -> Iterator[list[object]]:
    start = text.find("{")
    while start >= 0:
        value, end = _object_at(text, start)
        kept = value.get("keep")
        if isinstance(kept, list):
            yield kept
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
    if isinstance(item, str):
        digits = item.strip()
        if digits.isascii() and digits.isdecimal() and len(digits) <= MAX_DIGITS:
            return int(digits)
    return -1
