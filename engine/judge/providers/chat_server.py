"""What the providers of chat servers share: a call under a deadline, and what a server turns out to refuse or need."""

from __future__ import annotations

import os

from engine.errors import ProviderTimeoutError
from engine.judge.provider import MAX_TOKENS, Calls, Provider
from engine.judge.providers.credentials import without
from engine.judge.providers.messages_api import complaint_of, decoded
from engine.lean.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from engine.judge.provider import Completion, Question
    from engine.judge.providers.http import HttpResponse

    Post = Callable[[dict[str, Any]], HttpResponse]

BAD_REQUEST = (400, 422)
"""The statuses with which servers refuse a parameter."""

THINKING_TOKENS = 4_096
"""Room for the thoughts of a model that thinks before it answers, beside the tokens of the answer."""

OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""A parameter with two names: a server that refuses it by one may know it by the other."""


class ChatServer(Provider):
    """One request per completion, without retries of errors, under a wall-clock deadline.

    A server may refuse a parameter that others need: then the same question is asked without it, within the same
    deadline, and later questions leave it out at once. A model may think until its tokens are used up: then it is
    asked again with more, and so are later questions. A subclass names in OPTIONAL the parameters that can be left
    out, each with a pattern that finds it in a complaint.
    """

    OPTIONAL: Mapping[str, re.Pattern[str]] = {}

    def __init__(self, model: str, environ: Mapping[str, str] = os.environ) -> None:
        self.model = model
        self._environ = environ
        self._calls = Calls()
        self._refused: frozenset[str] = frozenset()
        self._thinks = False

    def hide(self, text: str) -> str:
        """See `Provider.hide`."""
        return without(text, self._secrets())

    def close(self) -> None:
        self._calls.close()

    def _secrets(self) -> tuple[str, ...]:
        """The texts that no message may show."""
        raise NotImplementedError

    def _body(self, question: Question) -> dict[str, Any]:
        """The request as JSON values."""
        raise NotImplementedError

    def _read(self, response: HttpResponse, address: str) -> Completion:
        """The completion in a response. Raises ProviderHttpError for any other answer."""
        raise NotImplementedError

    def _asked(self, question: Question, timeout_s: float, address: str, post: Post) -> Completion:
        """The completion for `Provider.complete`. *address* is for messages, *post* sends the body of a request."""
        try:
            return self._calls.run(lambda: self._completion(question, address, post), timeout_s)
        except ProviderTimeoutError:
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s from {address}.") from None

    def _completion(self, question: Question, address: str, post: Post) -> Completion:
        roomy = replace(question, max_tokens=question.max_tokens + THINKING_TOKENS)
        has_room = self._thinks and not question.is_limited
        first = self._read(self._answer(self._body(roomy if has_room else question), post), address)
        if has_room or question.is_limited or not (first.is_thought and first.stop_reason == MAX_TOKENS):
            return first
        self._thinks = True
        again = self._read(self._answer(self._body(roomy), post), address)
        tokens = first.input_tokens + again.input_tokens, first.output_tokens + again.output_tokens
        return replace(again, input_tokens=tokens[0], output_tokens=tokens[1])

    def _answer(self, body: dict[str, Any], post: Post) -> HttpResponse:
        """The server's answer to *body*, without the parameters that it refuses."""
        refused = self._refused
        while True:
            sent = without_parameters(body, refused)
            response = post(sent)
            found = self._complaints(response, sent) if response.status in BAD_REQUEST else frozenset()
            if not found:
                break
            refused |= found
        if response.status == 200:
            self._refused = refused
        return response

    def _complaints(self, response: HttpResponse, sent: Collection[str]) -> frozenset[str]:
        """The optional parameters of the request *sent* that an error names."""
        error = decoded(response.content).get("error")
        named = error.get("param") if isinstance(error, dict) else None
        optional = [parameter for parameter in self.OPTIONAL if parameter in sent]
        if named in optional:
            return frozenset([named])
        text = complaint_of(response.content)
        return frozenset(name for name in optional if self.OPTIONAL[name].search(text))


def without_parameters(body: dict[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """*body* without *refused* parameters. One with another name that is not refused gets that name."""
    sent = {}
    for parameter, value in body.items():
        if parameter not in refused:
            sent[parameter] = value
        elif OTHER_NAME.get(parameter, parameter) not in refused:
            sent[OTHER_NAME[parameter]] = value
    return sent
