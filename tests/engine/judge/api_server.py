"""A model's API on loopback, for tests: real HTTP, scripted answers, and the refusals of the documented API.

with ApiServer() as server:
    server.answers.append(kept(0, 2))       # the next answers, in order; then `server.answer` is asked
    AnthropicProvider("claude-haiku-4-5", at(server.url))
    server.requests[0].body["messages"]

It speaks Anthropic's Messages API and, at /v1/chat/completions, what OpenAI-compatible servers speak.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections import deque
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

MODELS = "/v1/models"
"""The list of models: a GET without a body, so nothing in it can be refused."""

KEY = "sk-ant-test-0123456789abcdef"
"""A key that the server accepts (it accepts any)."""


def at(url: str, key: str = KEY) -> dict[str, str]:
    """The environment of a provider of Anthropic's kind that asks the server at *url*."""
    return {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": url}


@dataclass(frozen=True)
class ApiRequest:
    """One request as it came: `raw` byte for byte, `body` decoded. Header names are in lower case.

    `connection` numbers the connections of a server from 1.
    """

    path: str
    headers: dict[str, str]
    raw: bytes
    connection: int = 1

    @property
    def body(self) -> dict[str, Any]:
        decoded = json.loads(self.raw)
        assert isinstance(decoded, dict)
        return decoded


@dataclass(frozen=True)
class Reply:
    """An answer of the server: *delay_s* before the first byte, *drip_s* between single bytes of the body.

    `closed` closes the connection without an answer, `cut` after half of the body. `raw` is the whole answer, head
    included, instead of what the other fields would make. `endless` sends the body again and again.
    """

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    closed: bool = False
    cut: bool = False
    raw: bytes = b""
    endless: bool = False


def said(text: str, stop_reason: str = "end_turn") -> Reply:
    """A message with one text block; 120 tokens in, 9 out."""
    return message([{"type": "text", "text": text}], stop_reason)


def message(content: list[dict[str, Any]], stop_reason: str = "end_turn") -> Reply:
    """A message with the given content blocks."""
    usage = {"input_tokens": 120, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    body = {"id": "msg_test", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": content}
    return Reply(json.dumps({**body, "stop_reason": stop_reason, "stop_sequence": None, "usage": usage}).encode())


def kept(*indices: int) -> Reply:
    """A well-formed answer that keeps *indices* (of the request, not of the pool)."""
    return said(json.dumps({"keep": list(indices)}))


def failed(status: int, text: str = "scripted failure") -> Reply:
    """An error in the API's form."""
    body = {"type": "error", "error": {"type": "api_error", "message": text}, "request_id": "req_test"}
    return Reply(json.dumps(body).encode(), status=status)


def rate_limited(retry_after_s: int = 7) -> Reply:
    """An answer 429 that says when to come back."""
    return replace(failed(429, "slow down"), headers={"retry-after": str(retry_after_s)})


def overloaded() -> Reply:
    return failed(529, "Overloaded")


def huge(size: int) -> Reply:
    """A well-formed answer with *size* bytes of white space in front of it."""
    return Reply(b" " * size + kept(0).body)


def chatted(text: str | None, finish_reason: str = "stop", refusal: str | None = None, **more: object) -> Reply:
    """An answer of an OpenAI-compatible server, with *more* fields of its message; 120 tokens in, 9 out."""
    said_by_it = {"role": "assistant", "content": text, "refusal": refusal, **more}
    choices = [{"index": 0, "message": said_by_it, "finish_reason": finish_reason}]
    usage = {"prompt_tokens": 120, "completion_tokens": 9, "total_tokens": 129}
    body = {"id": "chatcmpl-test", "object": "chat.completion", "model": "local", "choices": choices, "usage": usage}
    return Reply(json.dumps(body).encode())


def late(delay_s: float, reply: Reply) -> Reply:
    """*reply* after *delay_s* seconds."""
    return replace(reply, delay_s=delay_s)


def dripping(drip_s: float, reply: Reply) -> Reply:
    """*reply* with *drip_s* seconds between the bytes of its body."""
    return replace(reply, drip_s=drip_s)


def dripping_head(drip_s: float, reply: Reply) -> Reply:
    """*reply* with *drip_s* seconds between all its bytes, from the first of the status line on."""
    head = f"HTTP/1.1 {reply.status} OK\r\nconnection: close\r\ncontent-length: {len(reply.body)}\r\n\r\n"
    return Reply(raw=head.encode() + reply.body, drip_s=drip_s)


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
    """A context manager that serves POST on a free port of 127.0.0.1.

    Each request takes the next of `answers`; when there is none, `answer(request)`, which keeps nothing unless given.
    What the API refuses (no key, unknown parameters, an open schema) is refused first. `requests` are in order of
    arrival, refused ones included. With *keep_alive* a connection serves several requests. *tls* wraps each connection.
    """

    def __init__(
        self,
        answer: Callable[[ApiRequest], Reply] | None = None,
        *,
        keep_alive: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.answer = answer or self.keep_nothing
        self.keep_alive = keep_alive
        self.answers: deque[Reply] = deque()
        self.requests: list[ApiRequest] = []
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @staticmethod
    def keep_nothing(_: ApiRequest) -> Reply:
        return kept()

    def reply_to(self, request: ApiRequest) -> Reply:
        self.requests.append(request)
        if not request.path.endswith(MODELS) and (refused := refusal(request)):
            return refused
        try:
            return self.answers.popleft()
        except IndexError:
            return self.answer(request)

    def __enter__(self) -> ApiServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def refusal(request: ApiRequest) -> Reply | None:
    """The API's answer to a bad *request*, by the documentation of version 2026-10-21; None for a good one."""
    body, path = request.body, request.path.partition("?")[0]
    if path == "/v1/chat/completions":
        return None if {"model", "messages"} <= body.keys() else failed(400, "model and messages are required")
    if path != "/v1/messages":
        return failed(404, f"no such path: {request.path}")
    if not (request.headers.get("x-api-key") or request.headers.get("authorization")):
        return failed(401, "no credentials")
    if not request.headers.get("anthropic-version"):
        return failed(400, "anthropic-version: header is required")
    unknown = {"temperature", "top_p", "top_k", "output_format"} & body.keys()
    missing = {"model", "max_tokens", "messages"} - body.keys()
    if unknown or missing or body["messages"][-1]["role"] != "user":
        return failed(400, f"not permitted: {sorted(unknown)}, required: {sorted(missing)} and a last turn of the user")
    schema = body.get("output_config", {}).get("format", {}).get("schema", {})
    if _is_open(schema):
        return failed(400, "output_config.format.schema: additionalProperties must be false")
    if schema and body.get("tools"):
        return failed(400, "output_config.format: citations are not supported with structured outputs")
    return None


def _is_open(schema: Any) -> bool:
    """Whether any object of a JSON schema allows properties that it does not name."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    is_object = isinstance(schema, dict) and schema.get("type") == "object"
    return (is_object and schema.get("additionalProperties") is not False) or any(map(_is_open, inner))


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # joined by server_close, so that no socket outlives the test
    request_queue_size = 128  # the usual five connections are too few for clients with many threads
    api: ApiServer

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.numbers = itertools.count(1)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that gave up is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 5
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep the test's output clean."""

    def setup(self) -> None:
        super().setup()
        self.number = next(self.server.numbers)

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        api = self.server.api
        self.close_connection = not api.keep_alive
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = api.reply_to(ApiRequest(self.path, headers, raw, self.number))
        if reply.delay_s:
            api.closing.wait(reply.delay_s)
        if reply.closed:
            self.close_connection = True
            return
        with contextlib.suppress(OSError):
            if not reply.raw:
                self._send_head(reply)
            body = reply.raw or reply.body
            body = body[: len(body) // 2] if reply.cut else body
            self._send_body(body, reply.drip_s)
            while reply.endless and not api.closing.is_set():
                self._send_body(body, reply.drip_s)

    def _send_head(self, reply: Reply) -> None:
        self.send_response(reply.status)
        length = {} if reply.endless else {"content-length": str(len(reply.body))}
        closing = {"connection": "close"} if self.close_connection else {}
        for name, value in {"content-type": reply.content_type, **length, **closing, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_body(self, body: bytes, drip_s: float) -> None:
        for part in [body] if not drip_s else [body[i : i + 1] for i in range(len(body))]:
            if self.server.api.closing.is_set():
                return
            self.wfile.write(part)
            if drip_s:
                self.server.api.closing.wait(drip_s)
