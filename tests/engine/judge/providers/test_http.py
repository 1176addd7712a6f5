"""HTTP with the standard library: certificates and proxies as for every other program, and one deadline over all."""

import gc
import select
import socket
import socketserver
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.judge.providers.anthropic import AnthropicHttpProvider
from engine.judge.verdict import Judgement
from tests.engine.judge.api_server import KEY, ApiServer, Reply, at, dripping_head, huge, kept
from tests.engine.judge.cases import MODEL, approved, assert_flagged, judged, shown_at

HOST = "api.example.com"


class ConnectProxy(socketserver.ThreadingTCPServer):
    """Connects every CONNECT to the port *to*, or answers *status*. `heads` are the requests."""

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


@pytest.fixture
def cut_tunnel() -> Iterator[None]:
    """Before 3.11.4, Python leaves the answer of a proxy that does not connect to the garbage collector, and warns."""
    before = set(threading.enumerate())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        for asking in set(threading.enumerate()) - before:
            asking.join(10)
        gc.collect()


def ask(url: str, *replies: Reply, to: ApiServer | None = None, timeout_s: float = 10) -> Judgement:
    """Asks the API at *url*. *replies* are the next ones of the server *to*."""
    if to:
        to.answers.extend(replies)
    return judged(AnthropicHttpProvider(MODEL, at(url)), timeout_per_call=timeout_s)


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the certificate of `tls_server` be among the system's."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


# TLS


@pytest.mark.usefixtures("trusted")
def test_an_answer_comes_through(tls_server: ApiServer) -> None:
    for reply in (kept(0), dripping_head(0.0005, kept(0)), huge(900_000)):
        judgement = ask(tls_server.url, reply, to=tls_server)
        assert (judgement.status, judgement.detail, approved(judgement)) == ("ok", "", shown_at(0)), reply.drip_s


def test_a_server_that_nobody_vouches_for_gets_no_key(tls_server: ApiServer) -> None:
    judgement = ask(tls_server.url)
    assert_flagged(judgement, "http_error")
    assert judgement.detail.startswith(f"No connection to {tls_server.url}/v1/messages (SSLCertVerificationError).")
    assert tls_server.requests == []


# Proxies


@pytest.mark.parametrize(
    ("environ", "is_proxied"),
    [
        ({}, False),
        ({"http_proxy": ""}, False),
        ({"https_proxy": "http://{proxy}"}, False),
        ({"HTTP_PROXY": "http://{proxy}"}, True),
        ({"http_proxy": "{proxy}"}, True),
        ({"all_proxy": "http://{proxy}"}, True),
        ({"http_proxy": "http://{proxy}", "no_proxy": "*"}, False),
        ({"http_proxy": "http://{proxy}", "NO_PROXY": "localhost, 127.0.0.1"}, False),
        ({"http_proxy": "http://{proxy}", "no_proxy": ".0.0.1"}, False),
        ({"http_proxy": "http://{proxy}", "no_proxy": "7.0.0.1,other"}, True),
    ],
    ids=range(10),
)
def test_the_environment_names_the_proxy(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], is_proxied: bool
) -> None:
    with ApiServer() as proxy:
        for name, value in environ.items():
            monkeypatch.setenv(name, value.format(proxy=proxy.url.removeprefix("http://")))
        ask(server.url)
        assert (len(proxy.requests), len(server.requests)) == ((1, 0) if is_proxied else (0, 1))


@pytest.mark.usefixtures("trusted")
def test_a_request_over_tls_goes_through_a_tunnel(
    tls_server: ApiServer, connect: ConnectProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", connect.url)
    judgement = ask("https://127.0.0.1:9", kept(0), to=tls_server)
    assert (judgement.status, judgement.detail) == ("ok", "")
    (head,) = connect.heads
    assert head.startswith(b"CONNECT 127.0.0.1:9 HTTP/1.")
    assert b"\r\nproxy-authorization: basic bwu6c2vjcmv0\r\n" in head.lower()
    assert KEY.encode() not in head
    assert tls_server.requests[0].headers["host"] == "127.0.0.1:9"
    assert "proxy-authorization" not in tls_server.requests[0].headers


@pytest.mark.usefixtures("cut_tunnel")
def test_a_proxy_that_refuses_gets_no_key(
    connect: ConnectProxy, tls_server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", connect.url)
    connect.status = 407
    judgement = ask("https://127.0.0.1:9")
    assert_flagged(judgement, "http_error")
    assert judgement.detail == "The proxy does not connect to 127.0.0.1. Check HTTPS_PROXY."
    assert tls_server.requests == []


def test_a_plain_request_names_the_whole_url(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url.replace("://", "://me:p%40ss@"))
    ask(f"http://{HOST}/base")
    (request,) = server.requests
    assert request.path == f"http://{HOST}/base/v1/messages"
    assert (request.headers["host"], request.headers["proxy-authorization"]) == (HOST, "Basic bWU6cEBzcw==")


@pytest.mark.usefixtures("cut_tunnel")
def test_a_proxy_that_never_answers_costs_the_deadline_and_one_of_another_kind_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{silent.getsockname()[1]}")
        judgement = ask(f"https://{HOST}", timeout_s=0.3)
    assert_flagged(judgement, "timeout")
    assert 300 <= judgement.elapsed_ms < 1500
    for proxy in ("socks5://127.0.0.1:1", "http://", "http://127.0.0.1:x"):
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        assert_flagged(ask(f"https://{HOST}"), "http_error")
