"""A proxy between the hook and the API: named by the environment as for every other program, within the deadline."""

from __future__ import annotations

import select
import socket
import socketserver
import threading
from typing import TYPE_CHECKING

import pytest

from engine.config import JudgeConfig
from engine.judge.judge import Judge
from engine.judge.providers.anthropic_http import AnthropicHttpProvider
from engine.judge.providers.proxy import Proxy, proxy_for
from tests.engine.judge.api_server import KEY, ApiServer, kept
from tests.engine.judge.cases import MODEL, PROMPT, assert_flagged, pool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.judge.verdict import Judgement

HOST = "api.example.com"


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, None),
        ({"https_proxy": ""}, None),
        ({"http_proxy": "http://other:1"}, None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, Proxy("proxy", 3128)),
        ({"https_proxy": "proxy:3128"}, Proxy("proxy", 3128)),
        ({"all_proxy": "http://proxy"}, Proxy("proxy", 80)),
        ({"https_proxy": "http://me:p%40ss@proxy:1"}, Proxy("proxy", 1, "Basic bWU6cEBzcw==")),
        ({"https_proxy": "http://proxy", "no_proxy": "*"}, None),
        ({"https_proxy": "http://proxy", "NO_PROXY": "localhost, example.com"}, None),
        ({"https_proxy": "http://proxy", "no_proxy": ".example.com"}, None),
        ({"https_proxy": "http://proxy", "no_proxy": "ample.com,other"}, Proxy("proxy", 80)),
    ],
)
def test_the_environment_names_the_proxy(environ: dict[str, str], found: Proxy | None) -> None:
    assert proxy_for("https", HOST, environ) == found


class ConnectProxy(socketserver.ThreadingTCPServer):
    """Connects every CONNECT to *to*, whatever it names, or answers *status*. `heads` are the requests."""

    daemon_threads = False

    def __init__(self, to: int, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.to, self.status = to, status
        self.heads: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://me:secret@127.0.0.1:{self.server_address[1]}"


class _Handler(socketserver.BaseRequestHandler):
    server: ConnectProxy

    def handle(self) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.request.recv(4096)
        self.server.heads.append(head)
        self.request.sendall(b"HTTP/1.1 %d Whatever\r\nvia: test\r\n\r\n" % self.server.status)
        if self.server.status == 200:
            with socket.create_connection(("127.0.0.1", self.server.to)) as onward:
                self.pump(onward)

    def pump(self, onward: socket.socket) -> None:
        ways = {self.request: onward, onward: self.request}
        while True:
            for ready in select.select(list(ways), [], [], 5)[0]:
                data = ready.recv(65536)
                if not data:
                    return
                ways[ready].sendall(data)


@pytest.fixture
def connect(tls_server: ApiServer) -> Iterator[ConnectProxy]:
    with ConnectProxy(int(tls_server.url.rpartition(":")[2])) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.02,))
        thread.start()
        yield proxy
        proxy.shutdown()
        thread.join()


def ask(url: str, environ: dict[str, str], timeout_s: float = 10) -> Judgement:
    provider = AnthropicHttpProvider(MODEL, KEY, url, environ)
    return Judge(provider, JudgeConfig(timeout_per_call=timeout_s)).evaluate(PROMPT, pool(4), "auto")


def test_a_request_over_tls_goes_through_a_tunnel(
    tls_server: ApiServer, connect: ConnectProxy, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls_server.answers.append(kept(0))
    judgement = ask("https://127.0.0.1:9", {"HTTPS_PROXY": connect.url})
    assert (judgement.status, judgement.detail) == ("ok", "")
    (head,) = connect.heads
    assert head.startswith(b"CONNECT 127.0.0.1:9 HTTP/1.1\r\n")
    assert b"proxy-authorization: Basic bWU6c2VjcmV0\r\n" in head
    assert KEY.encode() not in head
    assert tls_server.requests[0].headers["host"] == "127.0.0.1:9"
    assert "proxy-authorization" not in tls_server.requests[0].headers


def test_a_proxy_that_refuses_gets_no_key(connect: ConnectProxy, tls_server: ApiServer) -> None:
    connect.status = 407
    judgement = ask("https://127.0.0.1:9", {"HTTPS_PROXY": connect.url})
    assert_flagged(judgement, "http_error")
    assert judgement.detail == "No connection to 127.0.0.1 (ProxyRefusedError). Check the network."
    assert tls_server.requests == []


def test_a_plain_request_names_the_whole_url(server: ApiServer) -> None:
    ask(f"http://{HOST}/base", {"http_proxy": server.url.replace("://", "://me:secret@")})
    (request,) = server.requests
    assert request.path == f"http://{HOST}/base/v1/messages"
    assert (request.headers["host"], request.headers["proxy-authorization"]) == (HOST, "Basic bWU6c2VjcmV0")


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://", "http://127.0.0.1:x"])
def test_a_proxy_that_speaks_something_else_is_an_error(proxy: str) -> None:
    assert_flagged(ask(f"https://{HOST}", {"HTTPS_PROXY": proxy}), "http_error")


def test_a_proxy_that_never_answers_costs_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environ = {"HTTPS_PROXY": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        judgement = ask(f"https://{HOST}", environ, timeout_s=0.3)
    assert_flagged(judgement, "timeout")
    assert 300 <= judgement.elapsed_ms < 1500
