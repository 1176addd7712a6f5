"""A server, and the two providers that talk to it in Anthropic's form."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from engine.judge.providers.anthropic import AnthropicHttpProvider, AnthropicProvider
from tests.engine.judge.api_server import ApiServer, at
from tests.engine.judge.cases import MODEL, judged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.judge.verdict import Judgement
    from tests.engine.judge.api_server import Reply
    from tests.engine.judge.cases import Ask, Make

PROVIDERS = {"sdk": AnthropicProvider, "http": AnthropicHttpProvider}


@pytest.fixture(scope="module")
def running() -> Iterator[ApiServer]:
    with ApiServer() as server:
        yield server


@pytest.fixture
def server(running: ApiServer) -> ApiServer:
    running.answers.clear()
    running.requests.clear()
    running.answer = ApiServer.keep_nothing
    return running


@pytest.fixture(scope="module", params=PROVIDERS)
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes providers of one kind, ready to be asked, and closes them in the end."""
    with ExitStack() as opened:

        def made(*arguments: object, **named: object) -> AnthropicProvider | AnthropicHttpProvider:
            return opened.enter_context(closing(PROVIDERS[request.param](*arguments, **named)))

        yield made


@pytest.fixture
def ask(server: ApiServer, make: Make) -> Ask:
    """Asks about four memories, with the replies given as the server's next ones."""
    provider = make(MODEL, at(server.url))

    def asked(*replies: Reply, **config: object) -> Judgement:
        server.answers.extend(replies)
        return judged(provider, **config)

    return asked


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, its key beside it."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not there")
    path = tmp_path_factory.mktemp("tls") / "cert.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*made, "-keyout", path.with_suffix(".key"), "-out", path], check=True, capture_output=True)
    return path


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[ApiServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    with ApiServer(tls=context) as server:
        yield server
