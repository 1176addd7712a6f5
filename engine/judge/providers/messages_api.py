"""Anthropic's Messages API as it is on the wire: what is sent, and what an answer says.

API version 2026-10-21, which refuses `temperature`. The order of the keys is the SDK's (2.12), so that both providers
send the same bytes.
"""

from __future__ import annotations

from engine.errors import ProviderHttpError
from engine.judge.provider import Completion
from engine.judge.providers.redaction import presentable, without
from engine.lean.json_text import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from engine.judge.provider import Question
    from engine.judge.providers.http_post import HttpResponse

API_VERSION = "2026-10-21"
DEFAULT_URL = "https://api.anthropic.com"
PATH = "/v1/messages"


def request_body(model: str, question: Question) -> dict[str, Any]:
    return {
        "max_tokens": question.max_tokens,
        "messages": [{"role": "user", "content": question.user}],
        "model": model,
        "output_config": {"format": {"type": "json_schema", "schema": dict(question.schema)}},
        "system": question.system,
    }


def encoded(body: dict[str, Any]) -> bytes:
    return dumps(body, ascii_only=False, space="").encode()


def read_answer(response: HttpResponse, secrets: Collection[str]) -> Completion:
    """What a response says, *secrets* hidden in it. Raises ProviderHttpError for an error of the server's."""
    if response.status != 200:
        raise refusal(response, secrets)
    message = decoded(response.content)
    content = message.get("content")
    if not isinstance(content, list):
        raise ProviderHttpError("The API's answer is not a message. Check ANTHROPIC_BASE_URL.")
    usage = message.get("usage")
    return Completion(
        text=without("".join(map(_text, content)), secrets),
        input_tokens=count(usage, "input_tokens"),
        output_tokens=count(usage, "output_tokens"),
        stop_reason=str(message.get("stop_reason")),
    )


def refusal(response: HttpResponse, secrets: Collection[str]) -> ProviderHttpError:
    """The error that a response with another status than 200 stands for."""
    error = decoded(response.content).get("error")
    said = error.get("message") if isinstance(error, dict) else None
    message = f": {presentable(said, secrets)}" if isinstance(said, str) and said else "."
    return ProviderHttpError(f"The API answered {response.status}{message}", response.status, response.retry_after_s)


def decoded(content: bytes) -> dict[str, Any]:
    """The JSON object in *content*; an empty one for anything else."""
    try:
        value = loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def count(usage: object, field: str) -> int:
    """A number of tokens; 0 for anything that is none."""
    value = usage.get(field) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(block: object) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else ""
