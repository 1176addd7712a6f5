"""Servers that speak OpenAI's chat completions: the requests, and the meaning of the answers."""

import json
from collections.abc import Callable
from contextlib import closing

from engine.judge.providers.anthropic import AnthropicHttpProvider, AnthropicProvider
from engine.judge.providers.openai import DEFAULT_URL, OpenAiProvider, request_body
from engine.judge.verdict import Judgement
from tests.engine.judge.api_server import (
    CLOSED,
    KEY,
    ApiRequest,
    ApiServer,
    Reply,
    at,
    chatted,
    dripping,
    failed,
    huge,
    said,
)
from tests.engine.judge.cases import MODEL, STRICT, approved, assert_flagged, judged, shown_at

LIMITED = "max_tokens"


def ask(server: ApiServer, reply: Reply, timeout_s: float = 10, **environ: str) -> Judgement:
    server.answers.append(reply)
    provider = OpenAiProvider("local", {"OPENAI_BASE_URL": f"{server.url}/v1/", **environ})
    return judged(provider, timeout_per_call=timeout_s)


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


def test_openais_own_models_get_the_limit_by_its_newer_name_and_need_a_key() -> None:
    assert request_body("m", STRICT.question("hello"), DEFAULT_URL)["max_completion_tokens"] == 256
    assert LIMITED not in request_body("m", STRICT.question("hello"), DEFAULT_URL)
    judgement = judged(OpenAiProvider("m", {}))
    assert_flagged(judgement, "no_key")
    for part in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "https://platform.openai.com/api-keys", "billed apart"):
        assert part in judgement.detail


def test_a_failure_is_a_status(server: ApiServer) -> None:
    for reply, status, detail in [
        (chatted("<think>{0}</think> The first."), "parse_error", "The answer holds no keep-list: <think>"),
        (chatted('{"keep": [0', "length"), "parse_error", "cut off before it was complete"),
        (chatted(None), "parse_error", "The answer is empty."),
        (chatted('{"keep": [0]}', "content_filter"), "refused", "The model refused to answer."),
        (chatted(None, refusal="No."), "refused", "The model refused to answer."),
        (failed(404, "model 'local' not found"), "http_error", " answered 404: model 'local' not found"),
        (Reply(b'{"error": "no model loaded"}', 500), "http_error", " answered 500: no model loaded"),
        (CLOSED, "http_error", "No connection to http://127.0.0.1:"),
        (said('{"keep": [0]}'), "http_error", "not a chat completion. Check OPENAI_BASE_URL."),
        (Reply(b'{"choices": [7]}'), "http_error", "not a chat completion"),
        (Reply(b"garbage"), "http_error", "not a chat completion"),
        (huge(1_000_000), "http_error", "larger than 1,000 kB"),
        (dripping(0.05, chatted('{"keep": []}')), "timeout", "No answer within 0.4 s from http"),
    ]:
        server.requests.clear()
        judgement = ask(server, reply, timeout_s=0.4, OPENAI_API_KEY=KEY)
        assert [request.headers["authorization"] for request in server.requests] == [f"Bearer {KEY}"], reply
        assert_flagged(judgement, status)
        assert detail in judgement.detail, reply


# Servers differ


def complaining(**complaints: object) -> Callable[[ApiRequest], Reply]:
    """The answers of a server that refuses parameters, each with a complaint of its own: a text, or JSON values."""

    def answer(request: ApiRequest) -> Reply:
        for name, complaint in complaints.items():
            if name in request.body:
                text = complaint if isinstance(complaint, str) else json.dumps(complaint)
                return Reply(text.encode(), 400 if isinstance(complaint, str) else 422)
        return chatted('{"keep": [1]}')

    return answer


FASTAPI = {"detail": [{"loc": ["body", "response_format"], "msg": "Extra", "input": "max_tokens"}]}


def test_a_parameter_that_the_server_refuses_is_left_out_from_then_on(server: ApiServer) -> None:
    other_name = {"error": {"message": "Use 'max_completion_tokens' instead.", "param": "max_tokens"}}
    for complaints, accepted in [
        ({"max_tokens": other_name}, {"max_completion_tokens", "response_format", "temperature"}),
        (
            {
                "max_tokens": "max_tokens is too large: the context has 2048 tokens",
                "max_completion_tokens": "max_completion_tokens is too large",
            },
            {"response_format", "temperature"},
        ),
        ({"response_format": FASTAPI}, {"max_tokens", "temperature"}),
        (
            {
                "response_format": {"error": "structured output is not supported by this model"},
                "temperature": {"message": "Only the default (1) temperature is supported."},
            },
            {"max_tokens"},
        ),
    ]:
        server.requests.clear()
        server.answer = complaining(**complaints)
        provider = OpenAiProvider("local", {"OPENAI_BASE_URL": f"{server.url}/v1"})
        assert [judged(provider, temperature=0.0).status for _ in range(2)] == ["ok", "ok"], accepted
        sent = [request.body.keys() - {"model", "messages"} for request in server.requests]
        assert sent[0] == {"max_tokens", "response_format", "temperature"}
        assert sent[-2:] == [accepted, accepted]
        assert accepted not in sent[:-2]


def thinking(request: ApiRequest) -> Reply:
    """The answer of a model that needs 1,000 tokens for its thoughts."""
    if request.body["max_tokens"] < 1_000:
        return chatted(None, "length", reasoning_content='The second one, or {"keep": [3]}')
    return chatted('{"keep": [1]}', reasoning_content="The second one.")


def test_a_model_that_thinks_gets_room_from_then_on_within_the_limit_of_a_person(
    server: ApiServer,
) -> None:
    server.answer = thinking
    provider = OpenAiProvider("local", {"OPENAI_BASE_URL": server.url})
    first, second = (judged(provider) for _ in range(2))
    assert (first.status, second.status, approved(first)) == ("ok", "ok", shown_at(1))
    assert (first.input_tokens, second.input_tokens) == (240, 120)
    assert [request.body["max_tokens"] for request in server.requests] == [256, 4352, 4352]
    judgement = judged(OpenAiProvider("local", {"OPENAI_BASE_URL": server.url}), max_tokens=500)
    assert_flagged(judgement, "parse_error")
    assert judgement.detail == "The answer was cut off before it was complete. Allow more: MEMSIFT_JUDGE_MAX_TOKENS."
    assert [request.body["max_tokens"] for request in server.requests[3:]] == [500]


def test_an_answer_is_found_wherever_servers_put_it(server: ApiServer) -> None:
    for reply in [
        chatted("", reasoning_content='So: {"keep": [1]}'),
        chatted(None, reasoning='{"keep": [1]}'),
        chatted(None, "tool_calls", tool_calls=[{"function": {"name": "answer", "arguments": '{"keep": [1]}'}}]),
        chatted(None, "tool_calls", tool_calls=[{"function": {"name": "answer", "arguments": {"keep": [1]}}}]),
        chatted(None, function_call={"name": "answer", "arguments": '{"keep": [1]}'}),
        chatted('{"keep": [1]}', reasoning_content='{"keep": [0]}'),
        chatted("thoughts without a beginning</think>[1]"),
        chatted("```\n[1]\n```"),
    ]:
        judgement = ask(server, reply)
        assert (judgement.status, approved(judgement)) == ("ok", shown_at(1)), reply


def test_every_form_of_a_base_url_leads_to_the_server_and_an_error_names_it(server: ApiServer) -> None:
    for base, path in [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/openai/v3", "/openai/v3/chat/completions"),
        ("/v1?api-version=2&key=secret", "/v1/chat/completions?api-version=2&key=secret"),
        ("?key=secret", "/v1/chat/completions?key=secret"),
    ]:
        provider = OpenAiProvider("local", {"OPENAI_BASE_URL": server.url + base})
        server.answers.append(failed(500, "down"))
        judgement = judged(provider)
        assert server.requests[-1].path == path, base
        assert "secret" not in judgement.detail + provider.fingerprint, base
        if path.startswith("/v1/chat/completions"):
            assert judgement.detail == f"{server.url}/v1/chat/completions answered 500: down", base


def test_servers_of_anthropics_kind_are_found_by_every_form_of_a_base_url_and_may_refuse_a_temperature(
    server: ApiServer,
) -> None:
    for kind in (AnthropicProvider, AnthropicHttpProvider):
        for base in ("", "/v1", "/v1/messages/", "?beta=true"):
            server.requests.clear()
            with closing(kind(MODEL, at(server.url + base))) as provider:
                assert judged(provider, temperature=0.5).status == "ok"
            assert [request.body.get("temperature") for request in server.requests] == [0.5, None]
            path, _, query = server.requests[-1].path.partition("?")
            assert (path, query) == ("/v1/messages", base.partition("?")[2])
