"""What came of asking: an opinion on each candidate, or why there is none. Never an exception."""

from __future__ import annotations

from engine.errors import ProviderError
from engine.judge.prompts import cut
from engine.judge.provider import MAX_TOKENS, REFUSAL
from engine.judge.verdict import CACHE, HTTP_ERROR, KEEP, LIVE, OK, PARSE_ERROR, REFUSED
from engine.lean.record import Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.judge.provider import Completion
    from engine.judge.verdict import Opinion

EXCERPT_LIMIT = 80
"""Characters of an unreadable answer that are shown to people."""


class Outcome(Record):
    """What one or more calls came to. `opinions` are by position in the pool; empty unless `status` is ok."""

    status: str
    opinions: Mapping[int, Opinion] = {}
    detail: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    source: str = LIVE

    def after(self, *earlier: Outcome) -> Outcome:
        """This outcome, with the tokens of *earlier* ones on top: they are paid for, too. Live, if any of them was."""
        is_live = any(one.source == LIVE for one in (self, *earlier))
        return replace(
            self,
            source=LIVE if is_live else CACHE,
            input_tokens=self.input_tokens + sum(one.input_tokens for one in earlier),
            output_tokens=self.output_tokens + sum(one.output_tokens for one in earlier),
        )


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
    """The outcome that *error* stands for; of a bug, which may quote a secret, only the kind is told."""
    if isinstance(error, ProviderError):
        return Outcome(error.status, detail=str(error))
    return Outcome(HTTP_ERROR, detail=f"The judge failed: {type(error).__name__}.")


def _read(completion: Completion, shown: tuple[int, ...], depth: str) -> Outcome:
    if completion.stop_reason == REFUSAL:
        return Outcome(REFUSED, detail="The model refused to answer.")
    # Loads `json`: for an answer there has been time, for the request there is not.
    from engine.judge.answer import UnreadableAnswerError, opinions

    try:
        said = opinions(completion.text, len(shown), depth)
    except UnreadableAnswerError:
        return Outcome(PARSE_ERROR, detail=_unreadable(completion, depth))
    return Outcome(OK, opinions=dict(zip(shown, said, strict=True)))


def _unreadable(completion: Completion, depth: str) -> str:
    if completion.stop_reason == MAX_TOKENS:
        return "The answer was cut off before it was complete."
    excerpt = cut(completion.text, EXCERPT_LIMIT)
    wanted = "keep-list" if depth == KEEP else "verdicts"
    return f"The answer holds no {wanted}: {excerpt}" if excerpt else "The answer is empty."
