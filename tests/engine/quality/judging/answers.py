"""Answers of a model about a memory, and the loopback server's replies with them."""

import json
import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

from tests.engine.judge.api_server import ApiRequest, Reply, message, said

POINTS = ("It names the file.", "It says the reason.", "An assistant would act on it.")
URL = "https://sqlite.org/fts5.html"


def answer(overall: float, **changes: Any) -> dict[str, Any]:
    """An answer in the JSON form, with the scores of the rubric `memory`."""
    names = ("specific", "actionable", "still_true", "stands_alone", "worth_its_tokens")
    return {
        "key_points": list(POINTS),
        "rejection_reasons": [] if overall >= 7 else ["It names no version."],
        "scores": dict.fromkeys(names, overall),
        "overall": overall,
        "suggested_title": "",
        "suggested_tags": [],
        **changes,
    }


def rated(overall: float, **changes: Any) -> Reply:
    return said(json.dumps(answer(overall, **changes)))


def title_in(request: ApiRequest) -> str:
    found = re.search(r"^<title>(.*)</title>$", request.body["messages"][0]["content"], re.MULTILINE)
    assert found
    return unescape(found[1])


def rated_by_title(scores: Mapping[str, float], otherwise: float = 8.0) -> Callable[[ApiRequest], Reply]:
    """An `answer` of the server: the score by the memory's title."""
    return lambda request: rated(scores.get(title_in(request), otherwise))


def searched(text: str, *, is_cited: bool = True) -> Reply:
    """A message after a web search, as the API gives it: the text in parts, with or without a citation."""
    page = {"type": "web_search_result", "url": URL, "title": "FTS5", "page_age": None, "encrypted_content": "eA=="}
    cited = {"type": "web_search_result_location", "url": URL, "title": "SQLite FTS5", "cited_text": "…"}
    head, _, tail = text.partition("FTS5")
    reply = message(
        [
            {"type": "text", "text": "I look it up."},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "fts5"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]},
            {"type": "text", "text": head},
            {"type": "text", "text": f"FTS5{tail}", **({"citations": [cited]} if is_cited else {})},
        ]
    )
    body = json.loads(reply.body)
    body["usage"]["server_tool_use"] = {"web_search_requests": 1}
    return type(reply)(json.dumps(body).encode())
