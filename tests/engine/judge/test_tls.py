"""The standard library's provider over TLS: certificates are checked, and the deadline holds there too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.config import JudgeConfig
from engine.judge.judge import Judge
from engine.judge.providers.anthropic_http import AnthropicHttpProvider
from tests.engine.judge.api_server import KEY, ApiServer, Reply, dripping, dripping_head, huge, kept
from tests.engine.judge.cases import MODEL, PROMPT, approved, assert_flagged, pool, shown_at

if TYPE_CHECKING:
    from pathlib import Path

    from engine.judge.verdict import Judgement


def ask(server: ApiServer, reply: Reply, timeout_s: float = 10) -> Judgement:
    server.answers.append(reply)
    judge = Judge(AnthropicHttpProvider(MODEL, KEY, server.url), JudgeConfig(timeout_per_call=timeout_s))
    return judge.evaluate(PROMPT, pool(4), "auto")


@pytest.mark.parametrize(
    "reply", [kept(0, 2), dripping_head(0.0005, kept(0, 2)), huge(900_000)], ids=["plain", "drip", "large"]
)
def test_an_answer_comes_through(
    tls_server: ApiServer, certificate: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    judgement = ask(tls_server, reply)
    assert (judgement.status, judgement.detail) == ("ok", "")
    assert approved(judgement) in (shown_at(0, 2), shown_at(0))


def test_a_server_that_nobody_vouches_for_gets_no_key(tls_server: ApiServer) -> None:
    judgement = ask(tls_server, kept(0))
    assert_flagged(judgement, "http_error")
    assert judgement.detail == "No connection to 127.0.0.1 (SSLCertVerificationError). Check the network."
    assert tls_server.requests == []


@pytest.mark.parametrize("drip", [dripping, dripping_head])
def test_the_deadline_holds(
    tls_server: ApiServer, certificate: Path, monkeypatch: pytest.MonkeyPatch, drip: object
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    judgement = ask(tls_server, drip(0.05, kept(0)), timeout_s=0.5)  # type: ignore[operator]
    assert_flagged(judgement, "timeout")
    assert 500 <= judgement.elapsed_ms < 1500
