"""What the providers of chat servers share: a call under a deadline, what a server turns out to refuse or need, and
reading its answers: texts, counts and errors, in whatever form servers have them.
"""

from __future__ import annotations

import json
import os
from queue import Empty, SimpleQueue
from threading import Thread

from engine.errors import ProviderCancelledError, ProviderHttpError, ProviderTimeoutError
from engine.judge.provider import CANCELLED, MAX_TOKENS, Provider
from engine.judge.providers.credentials import presentable, without
from engine.lean.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from engine.judge.provider import Completion, Question
    from engine.judge.providers.http import HttpResponse

    Post = Callable[[dict[str, Any]], HttpResponse]

HEADERS = {"accept": "application/json", "content-type": "application/json"}
TEXT_TYPES = ("text", "output_text")
SEARCH_RESULT, TOOL = "web_search_tool_result", "tool_use"
"""Types of the parts of a message's content."""

PLAIN_LIMIT = 2_000
"""Characters of an error that is a plain text."""

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
        self._waiting: set[SimpleQueue[Completion | Exception]] = set()
        self._refused: frozenset[str] = frozenset()
        self._thinks = False

    def hide(self, text: str) -> str:
        """See `Provider.hide`."""
        return without(text, self._secrets())

    def close(self) -> None:
        """End the wait for every call under way."""
        for results in tuple(self._waiting):
            results.put(ProviderCancelledError(CANCELLED))

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
        """The completion for `Provider.complete`. *address* is for messages, *post* sends the body of a request.

        Each call runs in a thread of its own. Nothing else bounds a whole call: a name lookup cannot be interrupted,
        and a socket's timeout begins anew with each byte that arrives. A call that is given up ends when its server
        stops sending, or with the process.
        """
        results: SimpleQueue[Completion | Exception] = SimpleQueue()

        def work() -> None:
            try:
                results.put(self._completion(question, address, post))
            except Exception as error:  # noqa: BLE001 - raised in the thread that waits
                results.put(error)

        self._waiting.add(results)
        Thread(target=work, name="memsift-judge", daemon=True).start()
        try:
            found = results.get(timeout=timeout_s)
        except Empty:
            found = ProviderTimeoutError()
        finally:
            self._waiting.discard(results)
        if isinstance(found, ProviderTimeoutError):
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s from {address}.") from None
        if isinstance(found, Exception):
            raise found
        return found

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
        """The server's answer to *body*, without the parameters that it refuses, or with their other names."""
        refused = self._refused
        while True:
            sent = {}
            for parameter, value in body.items():
                name = OTHER_NAME.get(parameter, parameter) if parameter in refused else parameter
                if name not in refused:
                    sent[name] = value
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


def refusal(response: HttpResponse, secrets: Collection[str], address: str) -> ProviderHttpError:
    """The error for a response with a status other than 200, with the server's message."""
    text = complaint_of(response.content)
    reason = f": {presentable(text, secrets)}" if text else "."
    return ProviderHttpError(f"{address} answered {response.status}{reason}", response.status, response.retry_after_s)


def complaint_of(content: bytes) -> str:
    """The text of an error in the API's form, or in a form of other servers: `error` or `detail` as a text, or a list
    of faults with their places. A text that is neither JSON nor a page is the message itself. Empty for anything else.
    Never a text that only repeats the request."""
    answer = decoded(content)
    error = answer.get("error", answer)
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail")
    if isinstance(error, list):
        faults = [(fault.get("loc"), fault.get("msg")) for fault in error if isinstance(fault, dict)]
        error = "; ".join(
            f"{'.'.join(map(str, place))}: {text}"
            for place, text in faults
            if isinstance(place, list) and isinstance(text, str)
        )
    if error and isinstance(error, str):
        return error
    text = content.decode("utf-8", "replace").strip()
    return "" if text[:1] in ("{", "[", "<", "") else text[:PLAIN_LIMIT]


def decoded(content: bytes) -> dict[str, Any]:
    """The JSON object in *content*; an empty one for anything else."""
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def count(usage: object, field: str) -> int:
    """The number of tokens in a field of *usage*; 0 for anything else."""
    value = usage.get(field) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def text_of(content: object) -> str:
    """The text of a message's content: a text, or a list of parts. Thoughts, tools and other parts are skipped."""
    return "".join(map(_text, content)) if isinstance(content, list) else _text(content)


def _text(part: object) -> str:
    """The text of a part: a text, or an object with a text whose type, if it has one, is a type of text.

    Results of a search stand between two texts, so they count as an empty line.
    """
    if isinstance(part, dict) and part.get("type") == SEARCH_RESULT:
        return "\n\n"
    is_text = isinstance(part, dict) and part.get("type", "text") in TEXT_TYPES
    text = part.get("text") if is_text and isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def is_thought(text: str) -> bool:
    """Whether *text* holds no answer yet: it is empty, or a thought that did not end."""
    return not text.strip() or (text.lstrip().startswith("<think>") and "</think>" not in text)


def tool_text(content: object) -> str:
    """The arguments with which a message calls a tool, for a model that answers in this way; else empty."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "".join(json.dumps(part.get("input")) for part in parts if part.get("type") == TOOL)
