"""Anthropic's Messages API on the wire: requests as JSON, and answers read as completions or errors.

API version 2026-10-21. The keys are in the order of the SDK (2.12), so that both providers send the same bytes.
"""

from __future__ import annotations

import json

from engine.errors import ProviderHttpError
from engine.judge.prompts import cut
from engine.judge.provider import Completion, WebSource
from engine.judge.providers.credentials import presentable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from engine.judge.provider import Question
    from engine.judge.providers.http import HttpResponse

API_VERSION = "2026-10-21"
DEFAULT_URL = "https://api.anthropic.com"
PATH = "/v1/messages"
TEXT_TYPES = ("text", "output_text")
WEB_SEARCH = "web_search_20250305"
"""The version of the search tool that every model with a search tool has."""

SEARCH_RESULT = "web_search_tool_result"
TOOL = "tool_use"
PLAIN_LIMIT = 2_000
"""Characters of an error that is a plain text."""

MOST_PAGES = 10
URL_LIMIT, PAGE_TITLE_LIMIT = 500, 200
"""Characters of a page's address and title. A page with a longer address is left out."""

HEADERS = {"accept": "application/json", "content-type": "application/json"}


def request_body(model: str, question: Question) -> dict[str, Any]:
    form = {"format": {"type": "json_schema", "schema": dict(question.schema)}}
    search = {"type": WEB_SEARCH, "name": "web_search", "max_uses": question.searches}
    return {
        "max_tokens": question.max_tokens,
        "messages": [{"role": "user", "content": question.user}],
        "model": model,
        **({"output_config": form} if question.schema else {}),
        "system": question.system,
        **({} if question.temperature is None else {"temperature": question.temperature}),
        **({"tools": [search]} if question.searches else {}),
    }


def encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def read_answer(response: HttpResponse, secrets: Collection[str], address: str) -> Completion:
    """The message in a response of the server at *address*. Raises ProviderHttpError for an error of the server, with
    *secrets* hidden."""
    if response.status != 200:
        raise refusal(response, secrets, address)
    message = decoded(response.content)
    content = message.get("content")
    if not isinstance(content, list | str):
        raise ProviderHttpError(f"The answer of {address} is not a message. Check ANTHROPIC_BASE_URL.")
    usage, text = message.get("usage"), text_of(content)
    return Completion(
        text=text or tool_text(content),
        is_thought=is_thought(text),
        input_tokens=count(usage, "input_tokens"),
        output_tokens=count(usage, "output_tokens"),
        stop_reason=str(message.get("stop_reason")),
        searches=count(usage.get("server_tool_use") if isinstance(usage, dict) else None, "web_search_requests"),
        pages=pages_of(content),
    )


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
        error = "; ".join(filter(None, map(_fault, error)))
    if error and isinstance(error, str):
        return error
    text = content.decode("utf-8", "replace").strip()
    return "" if text[:1] in ("{", "[", "<", "") else text[:PLAIN_LIMIT]


def _fault(fault: object) -> str:
    """A fault that FastAPI names: its place in the request, and what is wrong there."""
    place, text = (fault.get("loc"), fault.get("msg")) if isinstance(fault, dict) else (None, None)
    return f"{'.'.join(map(str, place))}: {text}" if isinstance(place, list) and isinstance(text, str) else ""


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


def is_thought(text: str) -> bool:
    """Whether *text* holds no answer yet: it is empty, or a thought that did not end."""
    return not text.strip() or (text.lstrip().startswith("<think>") and "</think>" not in text)


def tool_text(content: object) -> str:
    """The arguments with which a message calls a tool, for a model that answers in this way; else empty."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "".join(json.dumps(part.get("input")) for part in parts if part.get("type") == TOOL)


def pages_of(content: object) -> tuple[WebSource, ...]:
    """The web pages in a message's content: those that its texts cite, or else those that were found."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    cited = [page for part in parts for page in _pages(part.get("citations"))]
    found = [page for part in parts if part.get("type") == SEARCH_RESULT for page in _pages(part.get("content"))]
    return tuple(dict.fromkeys(cited or found))[:MOST_PAGES]


def _pages(entries: object) -> list[WebSource]:
    pages = []
    for entry in entries if isinstance(entries, list) else []:
        url, title = (entry.get("url"), entry.get("title")) if isinstance(entry, dict) else (None, None)
        if not isinstance(url, str) or not url.startswith(("https://", "http://")) or len(url) > URL_LIMIT:
            continue
        # No character could end a link, or command a terminal.
        if url.isascii() and url.isprintable() and not any(character in " <>" for character in url):
            pages.append(WebSource(url, cut(title, PAGE_TITLE_LIMIT) if isinstance(title, str) else ""))
    return pages


def _text(part: object) -> str:
    """The text of a part: a text, or an object with a text whose type, if it has one, is a type of text.

    Results of a search stand between two texts, so they count as an empty line.
    """
    if isinstance(part, dict) and part.get("type") == SEARCH_RESULT:
        return "\n\n"
    is_text = isinstance(part, dict) and part.get("type", "text") in TEXT_TYPES
    text = part.get("text") if is_text and isinstance(part, dict) else part
    return text if isinstance(text, str) else ""
