"""Any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, gateways, OpenAI itself.

The `openai` package is not used: a request is one POST, and a person with a local server has nothing to install.
"""

from __future__ import annotations

import json
import os
import re
from urllib.parse import urlsplit

from engine.errors import MissingKeyError, ProviderHttpError
from engine.judge.provider import END_TURN, MAX_TOKENS, REFUSAL, Completion
from engine.judge.providers.chat_server import (
    HEADERS,
    ChatServer,
    count,
    decoded,
    is_thought,
    refusal,
    text_of,
    tool_text,
)
from engine.judge.providers.http import below, post, shown
from engine.lean.sha256 import hex_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engine.judge.provider import Question
    from engine.judge.providers.http import HttpResponse

KEY, BASE_URL = "OPENAI_API_KEY", "OPENAI_BASE_URL"
DEFAULT_URL = "https://api.openai.com/v1"
PATH = "/chat/completions"
THOUGHTS = ("reasoning_content", "reasoning")
"""The fields in which servers put the thoughts of a model."""

STOP_REASONS = {"stop": END_TURN, "length": MAX_TOKENS, "content_filter": REFUSAL}

MISSING_KEY = (
    "The judge openai needs OPENAI_BASE_URL, such as http://localhost:11434/v1 for a server of your own, or "
    "OPENAI_API_KEY for OpenAI's. Create one at https://platform.openai.com/api-keys; it is billed apart from a "
    "ChatGPT subscription."
)


class OpenAiProvider(ChatServer):
    """Only the environment names the server and the key, never a root's configuration: a cloned repository could
    otherwise send prompts, and the key, to any server.

    The fingerprint is the server's URL without secrets: two servers may give one name to different models."""

    name = "openai"
    OPTIONAL = {
        "response_format": re.compile(r"response.format|json_schema|structured.output", re.IGNORECASE),
        "temperature": re.compile("temperature", re.IGNORECASE),
        "max_tokens": re.compile(r"\bmax_tokens\b", re.IGNORECASE),
        "max_completion_tokens": re.compile("max_completion_tokens", re.IGNORECASE),
    }

    def __init__(self, model: str, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__(model, environ)
        query = self._base().partition("?")[2]
        self.fingerprint = shown(self._base()) + (f"?{hex_digest(query)[:16]}" if query else "")

    def prepare(self) -> None:
        """See `Provider.prepare`. A local server may need no key."""
        if not (self._environ.get(KEY) or self._environ.get(BASE_URL)):
            raise MissingKeyError(MISSING_KEY)

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises MissingKeyError, ProviderTimeoutError, ProviderHttpError or
        ProviderCancelledError."""
        self.prepare()
        key, base = self._environ.get(KEY, ""), self._base()
        has_path = urlsplit(base).path.strip("/")  # a server without a path has completions below /v1, as they all do
        url = below(base, PATH if has_path else f"/v1{PATH}")
        headers = {**HEADERS, **({"authorization": f"Bearer {key}"} if key else {})}

        def sent(body: dict[str, Any]) -> HttpResponse:
            return post(url, headers, json.dumps(body, ensure_ascii=False).encode(), timeout_s)

        return self._asked(question, timeout_s, shown(url), sent)

    def _secrets(self) -> tuple[str, ...]:
        return (self._environ.get(KEY, ""),)

    def _base(self) -> str:
        return (self._environ.get(BASE_URL) or DEFAULT_URL).rstrip("/")

    def _body(self, question: Question) -> dict[str, Any]:
        return request_body(self.model, question, self._base())

    def _read(self, response: HttpResponse, address: str) -> Completion:
        if response.status != 200:
            raise refusal(response, self._secrets(), address)
        answer = decoded(response.content)
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise ProviderHttpError(f"The answer of {address} is not a chat completion. Check OPENAI_BASE_URL.")
        content, reason = message.get("content"), str(choice.get("finish_reason"))
        stop = REFUSAL if message.get("refusal") or _is_refused(content) else STOP_REASONS.get(reason, reason)
        said = text_of(content) or called_text(message) or tool_text(content)
        # A server may take the whole answer for thoughts: finished thoughts may hold the answer.
        thoughts = filter(None, (text_of(message.get(name)) for name in THOUGHTS))
        return Completion(
            text=said if said.strip() or stop == MAX_TOKENS else next(thoughts, ""),
            is_thought=is_thought(said),
            input_tokens=count(answer.get("usage"), "prompt_tokens"),
            output_tokens=count(answer.get("usage"), "completion_tokens"),
            stop_reason=stop,
        )


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
        **({} if question.temperature is None else {"temperature": question.temperature}),
    }


def called_text(message: dict[str, Any]) -> str:
    """The arguments with which *message* calls tools, for a model that answers in this way."""
    calls = message.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    given = [call.get("arguments") for call in (*functions, message.get("function_call")) if isinstance(call, dict)]
    return "".join(text if isinstance(text, str) else json.dumps(text) for text in given)


def _is_refused(content: object) -> bool:
    """Whether a part of the content is a refusal."""
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "refusal" for part in parts)
