"""A Messages API on loopback, for tests: real HTTP, scripted answers, and the refusals of the documented API.

with ApiServer() as server:
    server.answers.append(kept(0, 2))       # the next answers, in order; then `server.answer` is asked
    AnthropicProvider("claude-haiku-4-5", api_key=KEY, base_url=server.url)
    server.requests[0].body["messages"]
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

KEY = "sk-ant-test-0123456789abcdef"
"""A key that the server accepts (it accepts any)."""


@dataclass(frozen=True)
class ApiRequest:
    """One request as it came. Header names are in lower case; `body` is the decoded JSON."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the server sends: *delay_s* before the first byte, *drip_s* between single bytes of the body.

    `closed` closes the connection without an answer, `cut` after half of the body.
    """

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    closed: bool = False
    cut: bool = False


def said(text: str, stop_reason: str = "end_turn") -> Reply:
    """A message with one text block; 120 tokens in, 9 out."""
    return message([{"type": "text", "text": text}], stop_reason)


def message(content: list[dict[str, Any]], stop_reason: str = "end_turn") -> Reply:
    """A message with the given content blocks."""
    usage = {"input_tokens": 120, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    body = {
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }
    return Reply(json.dumps(body).encode())


def kept(*indices: int) -> Reply:
    """A well-formed answer that keeps *indices* (of the request, not of the pool)."""
    return said(json.dumps({"keep": list(indices)}))


def failed(status: int, text: str = "scripted failure") -> Reply:
    """An error in the API's form."""
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
    kind = kinds.get(status, "invalid_request_error" if status < 500 else "api_error")
    body = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_test"}
    return Reply(json.dumps(body).encode(), status=status)


def late(delay_s: float, reply: Reply) -> Reply:
    """*reply* after *delay_s* seconds."""
    return replace(reply, delay_s=delay_s)


def dripping(drip_s: float, reply: Reply) -> Reply:
    """*reply* with *drip_s* seconds between the bytes of its body."""
    return replace(reply, drip_s=drip_s)


CLOSED = Reply(closed=True)
GARBAGE = Reply(b"\x00\xff<html>{not json")


def kept_titles(*titles: str) -> Callable[[ApiRequest], Reply]:
    """An `answer` that keeps the candidates with these titles, wherever the request shows them."""
    from engine.judge.prompts import parse_request

    def answer(request: ApiRequest) -> Reply:
        _, shown = parse_request(request.body["messages"][0]["content"])
        return kept(*(index for index, title in enumerate(shown) if title in titles))

    return answer


class ApiServer:
    """A context manager that serves POST /v1/messages on a free port of 127.0.0.1.

    Each request takes the next of `answers`; when there is none, `answer(request)`, which keeps nothing unless given.
    What the API refuses (no key, unknown parameters, an open schema) is refused first. `requests` are in order of
    arrival, refused ones included.
    """

    def __init__(self, answer: Callable[[ApiRequest], Reply] = lambda _: kept()) -> None:
        self.answer = answer
        self.answers: deque[Reply] = deque()
        self.requests: list[ApiRequest] = []
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        """What ANTHROPIC_BASE_URL has to be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def reply_to(self, request: ApiRequest) -> Reply:
        self.requests.append(request)
        refused = refusal(request)
        if refused is not None:
            return refused
        try:
            return self.answers.popleft()
        except IndexError:
            return self.answer(request)

    def __enter__(self) -> ApiServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def refusal(request: ApiRequest) -> Reply | None:
    """What the API (version 2026-10-21: no sampling parameters) answers to a bad *request*; None for a good one."""
    headers, body = request.headers, request.body
    if request.path != "/v1/messages":
        return failed(404, f"no such path: {request.path}")
    if not (headers.get("x-api-key") or headers.get("authorization")):
        return failed(401, "no credentials")
    if not headers.get("anthropic-version"):
        return failed(400, "anthropic-version: header is required")
    unknown = {"temperature", "top_p", "top_k", "output_format"} & body.keys()
    missing = {"model", "max_tokens", "messages"} - body.keys()
    if unknown or missing:
        return failed(400, f"not permitted: {sorted(unknown)}, required: {sorted(missing)}")
    if body["messages"][-1]["role"] != "user":
        return failed(400, "the conversation must end with a user message")
    schema = body.get("output_config", {}).get("format", {}).get("schema", {})
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return failed(400, "output_config.format.schema: additionalProperties must be false")
    return None


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # joined by server_close, so that no socket outlives the test
    api: ApiServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that gave up is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 5
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep the test's output clean."""

    def do_POST(self) -> None:
        self.close_connection = True
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.api.reply_to(ApiRequest(self.path, headers, json.loads(raw)))
        if reply.delay_s:
            self.server.api.closing.wait(reply.delay_s)
        if not reply.closed:
            with contextlib.suppress(OSError):
                self._send(reply)

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("content-type", reply.content_type)
        self.send_header("content-length", str(len(reply.body)))
        self.send_header("connection", "close")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        body = reply.body[: len(reply.body) // 2] if reply.cut else reply.body
        for part in [body] if not reply.drip_s else [body[i : i + 1] for i in range(len(body))]:
            if self.server.api.closing.is_set():
                return
            self.wfile.write(part)
            if reply.drip_s:
                self.server.api.closing.wait(reply.drip_s)
