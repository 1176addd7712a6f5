"""Any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, gateways, OpenAI itself.

The `openai` package is not used: a request is one POST, and a person with a local server has nothing to install.
"""

from __future__ import annotations

import json
import os

from engine.errors import MissingKeyError, ProviderHttpError
from engine.judge.provider import END_TURN, MAX_TOKENS, REFUSAL, Calls, Completion
from engine.judge.providers.credentials import without
from engine.judge.providers.http import post
from engine.judge.providers.messages_api import HEADERS, count, decoded, refusal, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engine.judge.provider import Question
    from engine.judge.providers.http import HttpResponse

KEY, BASE_URL = "OPENAI_API_KEY", "OPENAI_BASE_URL"
DEFAULT_URL = "https://api.openai.com/v1"
STOP_REASONS = {"stop": END_TURN, "length": MAX_TOKENS, "content_filter": REFUSAL}

MISSING_KEY = (
    "The judge openai needs OPENAI_BASE_URL, such as http://localhost:11434/v1 for a server of your own, or "
    "OPENAI_API_KEY for OpenAI's. Create one at https://platform.openai.com/api-keys; it is billed apart from a "
    "ChatGPT subscription."
)


class OpenAiProvider:
    """One request per completion on a connection of its own, without retries, under a wall-clock deadline.

    Only the environment names the server and the key, never a root's configuration: a cloned repository could
    otherwise send prompts, and the key, to any server.
    """

    name = "openai"

    def __init__(self, model: str, environ: Mapping[str, str] = os.environ) -> None:
        self.model = model
        self._environ = environ
        self._calls = Calls()

    @property
    def fingerprint(self) -> str:
        """The server's URL without a password: two servers may give one name to different models."""
        scheme, slashes, rest = self._url().partition("://")
        host, slash, path = rest.partition("/")
        return scheme + slashes + host.rpartition("@")[2] + slash + path

    def hide(self, text: str) -> str:
        """See `Provider.hide`."""
        return without(text, (self._environ.get(KEY, ""),))

    def prepare(self) -> None:
        """See `Provider.prepare`. A local server may need no key."""
        if not (self._environ.get(KEY) or self._environ.get(BASE_URL)):
            raise MissingKeyError(MISSING_KEY)

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises MissingKeyError, ProviderTimeoutError, ProviderHttpError or
        ProviderCancelledError."""
        self.prepare()
        key, url = self._environ.get(KEY, ""), self._url()
        headers = {**HEADERS, **({"authorization": f"Bearer {key}"} if key else {})}
        body = json.dumps(request_body(self.model, question, url), ensure_ascii=False).encode()
        address = f"{url}/chat/completions"
        return self._calls.run(lambda: read_answer(post(address, headers, body, timeout_s), key), timeout_s)

    def close(self) -> None:
        self._calls.close()

    def _url(self) -> str:
        return (self._environ.get(BASE_URL) or DEFAULT_URL).rstrip("/")


def request_body(model: str, question: Question, url: str) -> dict[str, Any]:
    """The request as JSON values. OpenAI's own models refuse `max_tokens`, the name that other servers know."""
    limit = "max_completion_tokens" if url == DEFAULT_URL else "max_tokens"
    schema = {"name": "answer", "strict": True, "schema": dict(question.schema)}
    form = {"response_format": {"type": "json_schema", "json_schema": schema}} if question.schema else {}
    return {
        "model": model,
        "messages": [{"role": "system", "content": question.system}, {"role": "user", "content": question.user}],
        limit: question.max_tokens,
        **form,
    }


def read_answer(response: HttpResponse, key: str) -> Completion:
    """The completion in a response. Raises ProviderHttpError for any other answer, with *key* hidden."""
    if response.status != 200:
        raise refusal(response, (key,))
    answer = decoded(response.content)
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ProviderHttpError("The server's answer is not a chat completion. Check OPENAI_BASE_URL.")
    content, reason = message.get("content"), str(choice.get("finish_reason"))
    return Completion(
        text=text_of(content),
        input_tokens=count(answer.get("usage"), "prompt_tokens"),
        output_tokens=count(answer.get("usage"), "completion_tokens"),
        stop_reason=REFUSAL if message.get("refusal") or _is_refused(content) else STOP_REASONS.get(reason, reason),
    )


def _is_refused(content: object) -> bool:
    """Whether a part of the content is a refusal."""
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "refusal" for part in parts)
