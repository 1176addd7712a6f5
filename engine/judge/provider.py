"""The one thing that a judge needs of a model: a call that takes a question and gives an answer within a time limit."""

from __future__ import annotations

from engine.judge.verdict import LIVE
from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

END_TURN, MAX_TOKENS, REFUSAL, PAUSE = "end_turn", "max_tokens", "refusal", "pause_turn"
"""Stop reasons that the judge knows, in the words of the Anthropic Messages API."""

CANCELLED = "The judge was stopped before it answered."


class Question(Record):
    """One request: instructions, data, the JSON schema of the answer, and the largest answer in tokens.

    An empty schema asks for free text. `searches` is the number of web searches that the model may make; only a
    provider with its own search tool looks at it. `temperature` is 0..2, None for the server's own. `is_limited`: a
    person chose `max_tokens`, so a model that thinks gets no more.
    """

    system: str
    user: str
    schema: Mapping[str, Any]
    max_tokens: int
    searches: int = 0
    temperature: float | None = None
    is_limited: bool = False


class WebSource(Record):
    """A web page that a model found."""

    url: str
    title: str


class Completion(Record):
    """A model's answer, word for word: it may hold a secret, so `Provider.hide` comes before people see any of it.

    Token counts are 0 where the provider gives none; `source` is one of verdict.SOURCES. `searches` counts the web
    searches that are billed, `pages` are their pages: the cited pages, or all pages if none is cited. `is_thought`:
    there is nothing but thoughts before an answer.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    stop_reason: str = END_TURN
    source: str = LIVE
    searches: int = 0
    pages: tuple[WebSource, ...] = ()
    is_thought: bool = False


class Provider:
    """A model behind one call. Safe to call from several threads at once.

    `name` is the provider, such as "anthropic", and `model` the model, as the provider names it. `fingerprint` is
    anything else that tells this provider from another of the same name and model. It holds no secret. Every method
    raises only subclasses of `engine.errors.ProviderError`, whose messages hold no secret. A provider that has no key,
    and holds nothing between calls, has only `complete` of its own.
    """

    name = ""
    model = ""
    fingerprint = ""

    def hide(self, text: str) -> str:
        """*text* for people, logs and files: the provider's keys in it are hidden."""
        return text

    def prepare(self) -> None:
        """Check that nothing is missing that every call needs. Cheap: answers of the cache need no call.

        A library that is slow to load is loaded by the first call, before its *timeout_s* begins.

        Raises MissingKeyError where there is no key, ProviderError where something else is missing.
        """

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """The model's answer to *question*, by its schema where the provider can enforce one.

        *timeout_s* is wall time in seconds over the whole call.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Give back everything held between calls. A call under way may end with ProviderCancelledError."""
