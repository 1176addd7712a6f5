"""Every way in which the API can answer, over real HTTP, through both providers."""

from __future__ import annotations

import json
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


def entry(index: object, decision: str, confidence: object = 0.8, reasoning: object = "It names the key.") -> object:
    return {"index": index, "reasoning": reasoning, "decision": decision, "confidence": confidence}


def explained(*entries: object) -> Reply:
    return said(json.dumps({"verdicts": entries}))


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
        (said('Of these, the second: {"keep": [1]}. The rest is unrelated.'), (1,)),
        (said('```json\n{"keep": [1]}\n```'), (1,)),
        (said('{"why": {"a": {"b": "}"}}, "answer": {"keep": [1]}}'), (1,)),
        (said('{"keep": ["2", " 0 ", "two"]}'), (0, 2)),
        (said('{"keep": [true, false, 2]}'), (2,)),
        (said('{"keep": [1, 1, "1", 1.0]}'), (1,)),
        (said('{"keep": [99, -1, 4, null, 0]}'), (0,)),
        (said('{"keep": [2.0, 1.5, 1e300]}'), (2,)),
        (said('{"keep": []}'), ()),
        (said('{"keep": [3]} and then it ran', stop_reason="max_tokens"), (3,)),
        (message([text('{"keep":'), text(" [1]}")]), (1,)),
        (message([THOUGHT, text('{"keep":[2]}')]), (2,)),
        (message([{"type": "tool_use", "id": "t", "name": "x", "input": {"keep": [0]}}]), (0,)),
        (said("[1, 3]"), (1, 3)),
        (said("```json\n[2]\n```"), (2,)),
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
        (said("The first one looks right."), "parse_error", "holds no keep-list: The first one looks"),
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


def test_a_refused_answer_is_paid_for_all_the_same(ask: Ask) -> None:
    judgement = ask(said("", stop_reason="refusal"))
    assert (judgement.input_tokens, judgement.output_tokens) == (120, 9)
    assert judgement.cost_usd is not None


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


def test_an_explained_answer_gives_a_reason_and_a_confidence_for_each(ask: Ask) -> None:
    reply = explained(entry(0, "approved"), entry(1, "rejected", 1), entry(2, "flagged", 0.1), entry(3, "approved", 0))
    judgement = ask(reply, depth="explained")
    by_index = {judgement.verdicts[shown_at(index)[0]].decision: index for index in range(4)}
    assert (judgement.status, judgement.depth) == ("ok", "explained")
    assert by_index == {"approved": 3, "rejected": 1, "flagged": 2}
    first = judgement.verdicts[shown_at(0)[0]]
    assert (first.decision, first.confidence, first.reasoning) == ("approved", 0.8, "It names the key.")


def test_an_odd_entry_of_an_explained_answer_does_not_spoil_the_others(ask: Ask) -> None:
    for wrong, decision, confidence, reasoning in [
        (entry(0, "keep"), "flagged", 0.8, "It names the key."),
        (entry(0, "approved", 80), "approved", None, "It names the key."),
        (entry(0, "approved", "0.9"), "approved", None, "It names the key."),
        (entry(0, "approved", True), "approved", None, "It names the key."),
        (entry(0, "approved", reasoning=None), "approved", 0.8, ""),
        (entry(0, "approved", reasoning="a\n\x1b[2J" + "b" * 900), "approved", 0.8, "a [2J" + "b" * 295),
        (entry("0", "approved"), "approved", 0.8, "It names the key."),
        (entry(True, "approved"), "flagged", None, "the judge said nothing about it"),
        (entry(4, "approved"), "flagged", None, "the judge said nothing about it"),
        ("approved", "flagged", None, "the judge said nothing about it"),
    ]:
        judgement = ask(explained(wrong, entry(1, "approved"), entry(2, "rejected")), depth="explained")
        first, second, third = (judgement.verdicts[shown_at(index)[0]] for index in range(3))
        assert (first.decision, first.confidence, first.reasoning) == (decision, confidence, reasoning), wrong
        assert (second.decision, third.decision) == ("approved", "rejected"), wrong


def test_a_candidate_that_is_approved_and_rejected_is_flagged(ask: Ask) -> None:
    judgement = ask(explained(entry(0, "approved"), entry(0, "rejected"), entry(1, "rejected")), depth="explained")
    assert judgement.verdicts[shown_at(0)[0]].decision == "flagged"
    assert judgement.verdicts[shown_at(0)[0]].reasoning == "the judge contradicted itself"
    assert judgement.verdicts[shown_at(1)[0]].decision == "rejected"


def test_an_answer_to_the_other_question_is_unreadable(ask: Ask) -> None:
    assert_flagged(ask(kept(0), depth="explained"), "parse_error")
    assert_flagged(ask(explained(entry(0, "approved"))), "parse_error")


def test_a_truncated_explained_answer_is_no_answer(ask: Ask) -> None:
    cut = json.dumps({"verdicts": [entry(0, "approved"), entry(1, "approved")]})[:-20]
    assert_flagged(ask(said(cut, stop_reason="max_tokens"), depth="explained"), "parse_error")
