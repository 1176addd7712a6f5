"""Every way in which the API can answer, over real HTTP, through both providers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine.judge.providers.http import ANSWER_BYTES
from tests.engine.judge.api_server import (
    CLOSED,
    GARBAGE,
    KEY,
    Reply,
    dripping,
    dripping_head,
    failed,
    huge,
    kept,
    late,
    message,
    overloaded,
    rate_limited,
    said,
)
from tests.engine.judge.cases import MODEL, approved, assert_flagged, shown_at

if TYPE_CHECKING:
    from tests.engine.judge.api_server import ApiServer
    from tests.engine.judge.cases import Ask

THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def test_a_good_answer_approves_what_it_kept(ask: Ask) -> None:
    judgement = ask(kept(0, 2))
    assert (judgement.status, judgement.detail, judgement.depth) == ("ok", "", "keep")
    assert approved(judgement) == shown_at(0, 2)
    assert [verdict.decision for verdict in judgement.verdicts].count("rejected") == 2
    assert {(one.samples, one.agreement, one.source, one.confidence) for one in judgement.verdicts} == {
        (1, 1.0, "live", None)
    }
    assert judgement.model == MODEL
    assert (judgement.input_tokens, judgement.output_tokens) == (120, 9)
    assert judgement.cost_usd == pytest.approx((120 * 1.0 + 9 * 5.0) / 1_000_000)
    assert judgement.elapsed_ms > 0


def test_an_untidy_answer_is_understood(ask: Ask) -> None:
    for reply, indices in [
        (said('{"keep": [3]} and then it ran', stop_reason="max_tokens"), (3,)),
        (message([text('{"keep":'), text(" [1]}")]), (1,)),
        (message([THOUGHT, text('{"keep":[2]}')]), (2,)),
        (message([{"type": "tool_use", "id": "t", "name": "x", "input": {"keep": [0]}}]), (0,)),
        (dripping(0.001, kept(1)), (1,)),
        (dripping_head(0.001, kept(1)), (1,)),
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
        (failed(500, "internal"), "http_error", " answered 500: internal"),
        (overloaded(), "http_error", " answered 529: Overloaded"),
        (Reply(b"<html>Bad gateway</html>", 502, "text/html"), "http_error", " answered 502."),
        (Reply(b"", 301, headers={"location": "/v1/messages"}), "http_error", " answered 301."),
        (CLOSED, "http_error", "(Remote"),
        (replace(kept(0), cut=True), "http_error", "No connection to http://127.0.0.1:"),
        (Reply(raw=b"SSH-2.0-OpenSSH\r\n\r\n"), "http_error", "No connection to http://127.0.0.1:"),
        (GARBAGE, "http_error", " is not a message."),
        (replace(GARBAGE, content_type="text/html"), "http_error", " is not a message."),
        (Reply(b"[]"), "http_error", " is not a message."),
        (Reply(b"[" * 100_000), "http_error", " is not a message."),
        (Reply(b'{"hello": "world"}'), "http_error", " is not a message."),
        (Reply(b""), "http_error", " is not a message."),
        (huge(ANSWER_BYTES), "http_error", "The API's answer is larger than 1,000 kB."),
        (replace(huge(100_000), endless=True), "http_error", "The API's answer is larger than 1,000 kB."),
        (replace(huge(ANSWER_BYTES), status=500), "http_error", "The API's answer is larger than 1,000 kB."),
        (said("", stop_reason="refusal"), "refused", "The model refused to answer."),
        (said('{"keep": [0]}', stop_reason="refusal"), "refused", "The model refused to answer."),
        (message([], stop_reason="refusal"), "refused", "The model refused to answer."),
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
        late(4, CLOSED),
        late(4, failed(500)),
        dripping(0.05, failed(500)),
    ]:
        judgement = ask(reply, timeout_per_call=0.4)
        assert_flagged(judgement, "timeout")
        assert judgement.detail == f"No answer within 0.4 s from {server.url}/v1/messages.", reply
        assert 400 <= judgement.elapsed_ms < 5 * 400, reply
