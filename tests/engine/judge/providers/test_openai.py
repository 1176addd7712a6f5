"""Servers that speak OpenAI's chat completions: the requests, and the meaning of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.config import JudgeConfig
from engine.judge.judge import Judge
from engine.judge.providers.openai import DEFAULT_URL, OpenAiProvider, request_body
from tests.engine.judge.api_server import CLOSED, KEY, ApiServer, Reply, chatted, dripping, failed, huge, said
from tests.engine.judge.cases import PROMPT, STRICT, approved, assert_flagged, pool, shown_at

if TYPE_CHECKING:
    from engine.judge.verdict import Judgement

LIMITED = "max_tokens"


def ask(server: ApiServer, reply: Reply, timeout_s: float = 10, **environ: str) -> Judgement:
    server.answers.append(reply)
    provider = OpenAiProvider("local", {"OPENAI_BASE_URL": f"{server.url}/v1/", **environ})
    return Judge(provider, JudgeConfig(timeout_per_call=timeout_s)).evaluate(PROMPT, pool(4), "auto")


def test_the_request_has_the_shape_that_servers_document(server: ApiServer) -> None:
    judgement = ask(server, chatted('{"keep": [0, 2]}'))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert "authorization" not in request.headers
    assert list(request.body) == ["model", "messages", "max_tokens", "response_format"]
    assert (request.body["model"], request.body["max_tokens"]) == ("local", 256)
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
    assert request.body["messages"][0]["content"] == STRICT.system
    assert request.body["response_format"]["json_schema"]["schema"] == STRICT.schema
    assert (judgement.status, approved(judgement)) == ("ok", shown_at(0, 2))
    assert (judgement.provider, judgement.model, judgement.cost_usd) == ("openai", "local", None)
    assert (judgement.input_tokens, judgement.output_tokens) == (120, 9)


def test_openais_own_models_get_the_limit_by_its_newer_name() -> None:
    assert request_body("m", STRICT.question("hello"), DEFAULT_URL)["max_completion_tokens"] == 256
    assert LIMITED not in request_body("m", STRICT.question("hello"), DEFAULT_URL)


@pytest.mark.parametrize(
    ("reply", "status", "detail"),
    [
        (chatted("<think>{0}</think> The first."), "parse_error", "The answer holds no keep-list: <think>"),
        (chatted('{"keep": [0', "length"), "parse_error", "cut off before it was complete"),
        (chatted(None), "parse_error", "The answer is empty."),
        (chatted('{"keep": [0]}', "content_filter"), "refused", "The model refused to answer."),
        (chatted(None, refusal="No."), "refused", "The model refused to answer."),
        (failed(404, "model 'local' not found"), "http_error", "The API answered 404: model 'local' not found"),
        (failed(401, f"bad key {KEY}"), "http_error", "The API answered 401: bad key [hidden]"),
        (Reply(b'{"error": "no model loaded"}', 500), "http_error", "The API answered 500."),
        (CLOSED, "http_error", "No connection to 127.0.0.1"),
        (said('{"keep": [0]}'), "http_error", "not a chat completion. Check OPENAI_BASE_URL."),
        (Reply(b'{"choices": [7]}'), "http_error", "not a chat completion"),
        (Reply(b"garbage"), "http_error", "not a chat completion"),
        (huge(1_000_000), "http_error", "larger than 1,000 kB"),
        (dripping(0.05, chatted('{"keep": []}')), "timeout", "No answer within 0.4 s."),
    ],
    ids=range(14),
)
def test_a_failure_is_a_status(server: ApiServer, reply: Reply, status: str, detail: str) -> None:
    judgement = ask(server, reply, timeout_s=0.4, OPENAI_API_KEY=KEY)
    assert_flagged(judgement, status)
    assert detail in judgement.detail
    assert KEY not in judgement.detail


def test_the_key_is_sent_and_hidden_in_what_comes_back(server: ApiServer) -> None:
    judgement = ask(server, chatted(f"your key is {KEY}"), OPENAI_API_KEY=KEY)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert judgement.detail == "The answer holds no keep-list: your key is [hidden]"


def test_without_key_and_server_it_says_what_to_set() -> None:
    judgement = Judge(OpenAiProvider("m", {}), JudgeConfig()).evaluate(PROMPT, pool(4), "auto")
    assert_flagged(judgement, "no_key")
    for part in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "https://platform.openai.com/api-keys", "billed apart"):
        assert part in judgement.detail
