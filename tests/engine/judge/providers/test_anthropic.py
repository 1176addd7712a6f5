"""The two Anthropic providers: the same request, the same credentials, and each way in which the API can answer."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine.config import JudgeConfig
from engine.errors import MissingKeyError, ProviderHttpError
from engine.judge.judge import Judge
from engine.judge.prompts import request_text, shuffled
from engine.judge.provider import Completion
from engine.judge.providers.anthropic import AnthropicHttpProvider, AnthropicProvider
from engine.judge.providers.http import ANSWER_BYTES
from engine.prompt import Turn, typed_prompt
from tests.engine.judge.api_server import (
    CLOSED,
    GARBAGE,
    KEY,
    ApiServer,
    Reply,
    at,
    dripping,
    dripping_head,
    failed,
    huge,
    kept,
    kept_titles,
    late,
    message,
    overloaded,
    rate_limited,
    said,
)
from tests.engine.judge.cases import (
    HOSTILE_TEXTS,
    MODEL,
    PROMPT,
    STRICT,
    approved,
    assert_flagged,
    judged,
    memory,
    pool,
    shown_at,
)

if TYPE_CHECKING:
    from pathlib import Path

    from engine.judge.verdict import Judgement
    from tests.engine.judge.cases import Ask, Make

HELLO = STRICT.question("hello")


def test_the_request_has_the_documented_shape(ask: Ask, server: ApiServer) -> None:
    ask(kept())
    (request,) = server.requests
    shown = [pool(4)[position] for position in shuffled(PROMPT, 4)]
    assert request.path == "/v1/messages"
    assert request.body == {
        "model": MODEL,
        "max_tokens": 256,
        "system": STRICT.system,
        "messages": [{"role": "user", "content": request_text(PROMPT, shown, PROMPT.turns)}],
        "output_config": {"format": {"type": "json_schema", "schema": STRICT.schema}},
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["anthropic-version"] == "2026-10-21"
    assert request.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("depth", ["keep", "explained"])
def test_both_send_the_same_bytes_and_get_the_same_verdicts(server: ApiServer, depth: str) -> None:
    prompts = [PROMPT, typed_prompt("naïve 汉字 🦆 \ud800 </prompt> \u2028 \\ \" '", (Turn("user", "\x00é"),))]
    memories = [memory(text, tags=(text,)) for text in HOSTILE_TEXTS]
    server.answer = kept_titles("<!--", "]]><!--", " ", "汉字")
    judgements: dict[str, list[Judgement]] = {}
    for provider in (AnthropicProvider(MODEL, at(server.url)), AnthropicHttpProvider(MODEL, at(server.url))):
        with closing(provider):
            judge = Judge(provider, JudgeConfig(timeout_per_call=10, depth=depth))
            judgements[provider.name] = [judge.evaluate(prompt, memories, "auto") for prompt in prompts]
    sdk, http = server.requests[:2], server.requests[2:]
    assert [one.raw for one in sdk] == [one.raw for one in http]
    assert [one.headers["content-type"] for one in sdk] == [one.headers["content-type"] for one in http]
    assert [one.verdicts for one in judgements["anthropic"]] == [one.verdicts for one in judgements["anthropic-http"]]


def test_a_good_answer_approves_what_it_kept_also_in_a_thread_with_an_event_loop(ask: Ask) -> None:
    async def inside() -> Judgement:
        return ask(kept(0, 2))

    judgement = asyncio.run(inside())
    assert (judgement.status, judgement.detail, judgement.depth, judgement.model) == ("ok", "", "keep", MODEL)
    assert approved(judgement) == shown_at(0, 2)
    assert [verdict.decision for verdict in judgement.verdicts].count("rejected") == 2
    assert (judgement.input_tokens, judgement.output_tokens) == (120, 9)
    assert judgement.cost_usd == pytest.approx((120 * 1.0 + 9 * 5.0) / 1_000_000)
    assert judgement.elapsed_ms > 0


def test_an_untidy_answer_is_understood(ask: Ask) -> None:
    for reply, indices in [
        (said('{"keep": [0, 1]} because', stop_reason="max_tokens"), (0, 1)),
        (message([{"type": "tool_use", "id": "t", "name": "x", "input": {"keep": [0]}}]), (0,)),
        (dripping_head(0.0005, kept(1)), (1,)),
        (late(0.2, kept(1)), (1,)),
        (huge(ANSWER_BYTES - 10_000), (0,)),
    ]:
        judgement = ask(reply)
        assert judgement.status == "ok", reply
        assert approved(judgement) == shown_at(*indices), reply


def test_a_failure_is_a_status_and_one_request(ask: Ask, server: ApiServer) -> None:
    for reply, status, detail in [
        (failed(400, "model: no such model"), "http_error", " answered 400: model: no such model"),
        (failed(401, "invalid x-api-key"), "http_error", " answered 401: invalid x-api-key"),
        (rate_limited(), "http_error", " answered 429: slow down"),
        (overloaded(), "http_error", " answered 529: Overloaded"),
        (Reply(b"<html>Bad gateway</html>", 502, "text/html"), "http_error", " answered 502."),
        (Reply(b"", 301, headers={"location": "/v1/messages"}), "http_error", " answered 301."),
        (CLOSED, "http_error", "(Remote"),
        (replace(kept(0), cut=True), "http_error", "No connection to http://127.0.0.1:"),
        (Reply(raw=b"SSH-2.0-OpenSSH\r\n\r\n"), "http_error", "No connection to http://127.0.0.1:"),
        (GARBAGE, "http_error", " is not a message."),
        (Reply(b"[]"), "http_error", " is not a message."),
        (Reply(b"[" * 100_000), "http_error", " is not a message."),
        (Reply(b""), "http_error", " is not a message."),
        (huge(ANSWER_BYTES), "http_error", "The API's answer is larger than 1,000 kB."),
        (replace(huge(100_000), endless=True), "http_error", "The API's answer is larger than 1,000 kB."),
        (replace(huge(ANSWER_BYTES), status=500), "http_error", "The API's answer is larger than 1,000 kB."),
        (said("", stop_reason="refusal"), "refused", "The model refused to answer."),
        (said('{"keep": [0]}', stop_reason="refusal"), "refused", "The model refused to answer."),
        (said('{"keep": [0, 1', stop_reason="max_tokens"), "parse_error", "cut off before it was complete"),
        (said("I'm sorry, but I can't help with that."), "parse_error", "keep-list: I'm sorry, but"),
        (message([]), "parse_error", "The answer is empty."),
    ]:
        server.requests.clear()
        judgement = ask(reply)
        assert_flagged(judgement, status)
        assert detail in judgement.detail, reply
        assert judgement.detail.endswith((".", detail)), reply
        assert KEY not in judgement.detail, reply
        assert len(server.requests) == 1, reply


def test_the_deadline_holds_over_the_whole_call(ask: Ask, server: ApiServer) -> None:
    for reply in [
        late(4, kept(0)),
        dripping(0.05, kept(0)),
        dripping_head(0.05, kept(0)),
        dripping(0.05, failed(500)),
    ]:
        judgement = ask(reply, timeout_per_call=0.2)
        assert_flagged(judgement, "timeout")
        assert judgement.detail == f"No answer within 0.2 s from {server.url}/v1/messages.", reply
        assert 200 <= judgement.elapsed_ms < 1500, reply


def test_a_server_that_cannot_be_reached_is_an_error_with_a_next_step(make: Make) -> None:
    with ApiServer() as gone:
        closed = gone.url
    for url in (closed, "no-scheme", "ftp://127.0.0.1", "http://127.0.0.1:99999", "http://[::1", "http://a b"):
        judgement = judged(make(MODEL, at(url)))
        assert_flagged(judgement, "http_error")
        if url == closed:
            assert judgement.detail.startswith(f"No connection to {url}/v1/messages (Connect")
            assert judgement.detail.endswith("Check address and network.")


def test_a_slow_name_lookup_costs_the_deadline(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def lookup(*_: object, **__: object) -> list[object]:
        release.wait(5)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    judgement = judged(make(MODEL, at("http://api.example.com")), timeout_per_call=0.3)
    release.set()
    assert_flagged(judgement, "timeout")
    assert 300 <= judgement.elapsed_ms < 1500


def test_a_secret_of_a_custom_header_is_hidden_and_a_key_that_cannot_be_sent_is_not_shown(
    server: ApiServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("sk-ant-line\nbreak-0123", "sk-ant-nul\x00-0123456789"):
        provider = make(MODEL, at(server.url, key))
        judgement = judged(provider)
        assert_flagged(judgement, "http_error")
        assert not any(part in judgement.detail + repr(provider) for part in (key, key[-4:]))
    headers = "x-team: blue\nAuthorization: Bearer team-secret"
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", headers)  # the SDK reads it from the process
    server.answers.append(failed(403, "team-secret is not allowed"))
    environ = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_CUSTOM_HEADERS": headers}
    judgement = judged(make(MODEL, environ=environ))
    assert judgement.detail == f"{server.url}/v1/messages answered 403: [hidden] is not allowed"
    (request,) = server.requests
    assert (request.headers["x-team"], request.headers["authorization"]) == ("blue", "Bearer team-secret")


def test_an_error_says_when_to_come_back_and_has_no_cause_that_a_traceback_would_print(
    server: ApiServer, make: Make
) -> None:
    server.answers.append(rate_limited(7))
    with pytest.raises(ProviderHttpError) as raised:
        make(MODEL, at(server.url)).complete(HELLO, 5)
    assert (raised.value.http_status, raised.value.retry_after_s) == (429, 7.0)
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    assert raised.value.__cause__ is None


def test_key_or_else_token_and_url_come_from_the_environment_and_nothing_is_printed(
    server: ApiServer, make: Make, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    for keys, sent in (({}, "a-token"), ({"ANTHROPIC_API_KEY": "a-key"}, "a-key")):
        server.answers.append(said("hello"))
        environ = {"ANTHROPIC_AUTH_TOKEN": "a-token", **keys, "ANTHROPIC_BASE_URL": server.url + "/"}
        with caplog.at_level(logging.WARNING):
            assert make(MODEL, environ=environ).complete(HELLO, 5) == Completion("hello", 120, 9, "end_turn")
        assert server.requests[-1].headers["authorization"] == f"Bearer {sent}"
    assert (caplog.records, capfd.readouterr()) == ([], ("", ""))


def test_a_missing_key_is_a_status_and_no_request(server: ApiServer, make: Make, tmp_path: Path) -> None:
    provider = make(MODEL, environ={"ANTHROPIC_BASE_URL": server.url, "HOME": str(tmp_path)})
    judgement = judged(provider)
    assert_flagged(judgement, "no_key")
    assert "ANTHROPIC_API_KEY" in judgement.detail
    assert server.requests == []
    for call in (provider.prepare, lambda: provider.complete(HELLO, 5)):
        with pytest.raises(MissingKeyError):
            call()
    with pytest.raises(MissingKeyError, match="reads no profile"):
        AnthropicHttpProvider(MODEL, environ={"ANTHROPIC_PROFILE": "work"}).prepare()


def test_one_provider_answers_many_threads(server: ApiServer, make: Make) -> None:
    judge = Judge(make(MODEL, at(server.url)), JudgeConfig(timeout_per_call=30))
    server.answer = kept_titles("Memory 1", "Memory 3")
    prompts = [typed_prompt(f"prompt number {number}") for number in range(12)]
    with ThreadPoolExecutor(4) as threads:
        judgements = list(threads.map(lambda prompt: judge.evaluate(prompt, pool(5), "auto"), prompts))
    assert [judgement.status for judgement in judgements] == ["ok"] * 12
    assert [approved(judgement) for judgement in judgements] == [[1, 3]] * 12
    assert len(server.requests) == 12


def test_the_sdks_connection_is_kept_until_the_provider_is_closed() -> None:
    with ApiServer(keep_alive=True) as server, closing(AnthropicProvider(MODEL, at(server.url))) as provider:
        for _ in range(3):
            provider.complete(HELLO, 5)
        provider.close()
        provider.complete(HELLO, 5)
        assert [request.connection for request in server.requests] == [1, 1, 1, 2]


def test_a_call_under_way_is_cancelled_when_the_provider_is_closed(server: ApiServer) -> None:
    provider = AnthropicProvider(MODEL, at(server.url))
    server.answers.append(late(4, kept(0)))
    with ThreadPoolExecutor(1) as threads, closing(provider):
        running = threads.submit(judged, provider)
        while not server.requests:
            time.sleep(0.01)
        provider.close()
        judgement = running.result()
    assert_flagged(judgement, "cancelled")
    assert judgement.detail == "The judge was stopped before it answered."
