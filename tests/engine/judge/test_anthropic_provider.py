"""The SDK provider and the judge over real HTTP: each way an API can answer, and the status it gives."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import anthropic  # noqa: F401 - loaded here, so that no timed call below pays for it
import pytest

from engine.config import JudgeConfig
from engine.errors import MissingKeyError, ProviderHttpError
from engine.judge.judge import Judge
from engine.judge.prompts import SCHEMA, STRICT, parse_request, request_text, shuffled
from engine.judge.provider import Completion
from engine.judge.providers.anthropic import AnthropicProvider
from engine.prompt import Turn, typed_prompt
from tests.engine.judge.api_server import (
    CLOSED,
    GARBAGE,
    KEY,
    ApiServer,
    Reply,
    dripping,
    failed,
    kept,
    kept_titles,
    late,
    message,
    said,
)
from tests.engine.judge.cases import HOSTILE_TEXTS, memory, pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.judge.verdict import Judgement

PROMPT = typed_prompt("how do we rotate the signing key", (Turn("user", "the JWT one"),))
MODEL = "claude-haiku-4-5"
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.fixture(scope="module")
def running() -> Iterator[ApiServer]:
    with ApiServer() as server:
        yield server


@pytest.fixture
def server(running: ApiServer) -> ApiServer:
    running.answers.clear()
    running.requests.clear()
    return running


def ask(server: ApiServer, *replies: Reply, timeout_s: float = 10.0, count: int = 4) -> Judgement:
    server.answers.extend(replies)
    provider = AnthropicProvider(MODEL, api_key=KEY, base_url=server.url)
    return Judge(provider, JudgeConfig(timeout_per_call=timeout_s)).evaluate(PROMPT, pool(count), "auto")


def approved(judgement: Judgement) -> list[int]:
    return [number for number, verdict in enumerate(judgement.verdicts) if verdict.decision == "approved"]


def shown_at(*indices: int, count: int = 4) -> list[int]:
    """The candidates that stand at these indices of the request."""
    return sorted(shuffled(PROMPT, count)[index] for index in indices)


def assert_flagged(judgement: Judgement, status: str) -> None:
    assert judgement.status == status
    assert [(verdict.decision, verdict.status) for verdict in judgement.verdicts] == [("flagged", status)] * 4
    assert KEY not in judgement.detail


def test_a_good_answer_approves_what_it_kept(server: ApiServer) -> None:
    judgement = ask(server, kept(0, 2))
    assert (judgement.status, judgement.detail) == ("ok", "")
    assert approved(judgement) == shown_at(0, 2)
    assert [verdict.decision for verdict in judgement.verdicts].count("rejected") == 2
    assert (judgement.provider, judgement.model) == ("anthropic", MODEL)
    assert (judgement.input_tokens, judgement.output_tokens) == (120, 9)
    assert judgement.elapsed_ms > 0


def test_the_request_has_the_documented_shape(server: ApiServer) -> None:
    ask(server, kept())
    (request,) = server.requests
    order = shuffled(PROMPT, 4)
    assert request.path == "/v1/messages"
    assert request.body == {
        "model": MODEL,
        "max_tokens": 256,
        "system": STRICT,
        "messages": [{"role": "user", "content": request_text(PROMPT, [pool(4)[i] for i in order], PROMPT.turns)}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }
    assert KEY in (request.headers.get("authorization") or request.headers["x-api-key"])


@pytest.mark.parametrize(
    ("reply", "indices"),
    [
        (said('Of these, the second: {"keep": [1]}. The rest is unrelated.'), (1,)),
        (said('```json\n{"keep": [1]}\n```'), (1,)),
        (said('{"keep": [99, -1, "2", true, 0, 0, null, 4]}'), (0, 2)),
        (said('{"keep": []}'), ()),
        (said('{"keep": [3]} and then it ran', stop_reason="max_tokens"), (3,)),
        (message([{"type": "text", "text": '{"keep":'}, {"type": "text", "text": " [1]}"}]), (1,)),
        (
            message(
                [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": '{"keep":[2]}'}]
            ),
            (2,),
        ),
        (dripping(0.001, kept(1)), (1,)),
        (late(0.2, kept(1)), (1,)),
    ],
    ids=[
        "prose",
        "fence",
        "odd indices",
        "nothing",
        "complete before max_tokens",
        "blocks",
        "thinking",
        "drip",
        "late",
    ],
)
def test_an_untidy_answer_is_understood(server: ApiServer, reply: Reply, indices: tuple[int, ...]) -> None:
    judgement = ask(server, reply)
    assert judgement.status == "ok"
    assert approved(judgement) == shown_at(*indices)


@pytest.mark.parametrize(
    ("reply", "status", "detail"),
    [
        (failed(400, "model: no such model"), "http_error", "The API answered 400: model: no such model"),
        (failed(401, "invalid x-api-key"), "http_error", "The API answered 401: invalid x-api-key"),
        (failed(429, "slow down"), "http_error", "The API answered 429: slow down"),
        (failed(500, "internal"), "http_error", "The API answered 500: internal"),
        (failed(529, "Overloaded"), "http_error", "The API answered 529: Overloaded"),
        (Reply(b"<html>Bad gateway</html>", 502, "text/html"), "http_error", "The API answered 502."),
        (CLOSED, "http_error", "No connection to 127.0.0.1 (RemoteProtocolError). Check the network."),
        (replace(kept(0), cut=True), "http_error", "RemoteProtocolError"),
        (GARBAGE, "http_error", ""),
        (replace(GARBAGE, content_type="text/html"), "http_error", "The API's answer is not a message."),
        (Reply(b"[]"), "http_error", ""),
        (Reply(b'{"hello": "world"}'), "http_error", "The API's answer is not a message."),
        (Reply(b""), "http_error", ""),
        (said("", stop_reason="refusal"), "refused", "The model refused to answer."),
        (message([], stop_reason="refusal"), "refused", "The model refused to answer."),
        (said('{"keep": [0, 1', stop_reason="max_tokens"), "parse_error", "cut off before it was complete"),
        (said("The first one looks right."), "parse_error", "The answer holds no keep-list: The first one looks"),
        (message([]), "parse_error", "The answer is empty."),
        (message([{"type": "tool_use", "id": "t", "name": "x", "input": {"keep": [0]}}]), "parse_error", "empty"),
    ],
    ids=[
        *("400", "401", "429", "500", "529", "502 html", "closed", "cut", "garbage", "html", "list", "other json"),
        *("empty body", "refusal", "refusal without content", "truncated", "prose", "no content", "tool use"),
    ],
)
def test_a_failure_is_a_status_and_one_request(server: ApiServer, reply: Reply, status: str, detail: str) -> None:
    judgement = ask(server, reply)
    assert_flagged(judgement, status)
    assert detail in judgement.detail
    assert judgement.detail.endswith((".", detail))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [late(4, kept(0)), dripping(0.05, kept(0)), late(4, CLOSED), late(4, failed(500))],
    ids=["late", "dripping", "late close", "late error"],
)
def test_the_deadline_holds_over_the_whole_call(server: ApiServer, reply: Reply) -> None:
    judgement = ask(server, reply, timeout_s=0.4)
    assert_flagged(judgement, "timeout")
    assert judgement.detail == "No answer within 0.4 s."
    assert 400 <= judgement.elapsed_ms < 5 * 400


def test_nobody_listening_is_an_error_with_a_next_step() -> None:
    with ApiServer() as gone:
        url = gone.url
    judgement = Judge(AnthropicProvider(MODEL, KEY, url), JudgeConfig()).evaluate(PROMPT, pool(4), "auto")
    assert_flagged(judgement, "http_error")
    assert judgement.detail == "No connection to 127.0.0.1 (ConnectError). Check the network."


def test_an_unusable_base_url_is_an_error() -> None:
    judgement = Judge(AnthropicProvider(MODEL, KEY, "no-scheme"), JudgeConfig()).evaluate(PROMPT, pool(4), "auto")
    assert_flagged(judgement, "http_error")
    assert judgement.detail == "No connection to the API (UnsupportedProtocol). Check the network."


def test_a_key_that_the_server_repeats_is_hidden(server: ApiServer) -> None:
    judgement = ask(server, failed(401, f"bad key {KEY}\nand sk-ant-api03-another_one-00 " + "x" * 900))
    assert judgement.detail.startswith("The API answered 401: bad key [hidden] and [hidden] xxx")
    assert len(judgement.detail) < 230


@pytest.mark.parametrize("key", ["sk-ant-line\nbreak-0123", "sk-ant-nul\x00-0123456789"])
def test_a_key_that_cannot_be_sent_is_not_shown(server: ApiServer, key: str) -> None:
    provider = AnthropicProvider(MODEL, api_key=key, base_url=server.url)
    judgement = Judge(provider, JudgeConfig()).evaluate(PROMPT, pool(4), "auto")
    assert_flagged(judgement, "http_error")
    assert key not in judgement.detail
    assert key[-4:] not in judgement.detail
    assert key not in repr(provider)


def test_an_error_carries_no_cause_that_a_traceback_would_print(server: ApiServer) -> None:
    server.answers.append(failed(401))
    with pytest.raises(ProviderHttpError) as raised:
        AnthropicProvider(MODEL, KEY, server.url).complete(STRICT, "hello", SCHEMA, 5)
    assert raised.value.__suppress_context__
    assert raised.value.__cause__ is None


def test_key_and_url_come_from_the_environment(server: ApiServer) -> None:
    server.answers.append(said("hello"))
    environ = {"ANTHROPIC_API_KEY": "from-environ", "ANTHROPIC_BASE_URL": server.url}
    completion = AnthropicProvider(MODEL, environ=environ).complete(STRICT, "hello", SCHEMA, 5)
    assert completion == Completion("hello", 120, 9, "end_turn")
    assert "from-environ" in server.requests[0].headers["authorization"]


def test_a_token_is_used_when_there_is_no_key(server: ApiServer) -> None:
    environ = {"ANTHROPIC_AUTH_TOKEN": "a-token", "ANTHROPIC_BASE_URL": server.url}
    AnthropicProvider(MODEL, environ=environ).complete(STRICT, "hello", SCHEMA, 5)
    assert server.requests[0].headers["authorization"] == "Bearer a-token"


def test_key_and_token_together_use_the_key_and_print_nothing(
    server: ApiServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    environ = {"ANTHROPIC_API_KEY": "a-key", "ANTHROPIC_AUTH_TOKEN": "a-token", "ANTHROPIC_BASE_URL": server.url}
    with caplog.at_level(logging.WARNING):
        AnthropicProvider(MODEL, environ=environ).complete(STRICT, "hello", SCHEMA, 5)
    assert server.requests[0].headers["authorization"] == "Bearer a-key"
    assert (caplog.records, capfd.readouterr()) == ([], ("", ""))


def test_a_missing_key_is_a_status_and_no_request(server: ApiServer, tmp_path: object) -> None:
    provider = AnthropicProvider(MODEL, environ={"ANTHROPIC_BASE_URL": server.url, "HOME": str(tmp_path)})
    judgement = Judge(provider, JudgeConfig()).evaluate(PROMPT, pool(4), "auto")
    assert_flagged(judgement, "no_key")
    assert "ANTHROPIC_API_KEY" in judgement.detail
    assert server.requests == []
    with pytest.raises(MissingKeyError):
        provider.complete(STRICT, "hello", SCHEMA, 5)


def test_one_provider_answers_many_threads(server: ApiServer) -> None:
    titles = ["Memory 1", "Memory 3"]
    judge = Judge(AnthropicProvider(MODEL, KEY, server.url), JudgeConfig(timeout_per_call=30))
    server.answer = kept_titles(*titles)
    prompts = [typed_prompt(f"prompt number {number}") for number in range(12)]
    with ThreadPoolExecutor(4) as threads:
        judgements = list(threads.map(lambda prompt: judge.evaluate(prompt, pool(5), "auto"), prompts))
    assert [judgement.status for judgement in judgements] == ["ok"] * 12
    assert [approved(judgement) for judgement in judgements] == [[1, 3]] * 12
    assert len(server.requests) == 12


def test_hostile_texts_reach_the_api_as_data(server: ApiServer) -> None:
    memories = [memory(f"{text}#{number}", tags=(text,)) for number, text in enumerate(HOSTILE_TEXTS)]
    server.answer = lambda _: said('{"keep": [0, 500]}')
    judge = Judge(AnthropicProvider(MODEL, KEY, server.url), JudgeConfig())
    for text in HOSTILE_TEXTS:
        judgement = judge.evaluate(typed_prompt(text, (Turn("user", text),)), memories, "auto")
        assert (judgement.status, len(approved(judgement))) == ("ok", 1)
    for request in server.requests:
        content = request.body["messages"][0]["content"]
        assert content.count("<candidate ") == len(memories)
        assert content.count("</memory_data>") == 1
        assert len(parse_request(content)[1]) == len(memories)


def test_called_from_an_event_loop_it_says_so_instead_of_raising(server: ApiServer) -> None:
    async def inside() -> Judgement:
        return ask(server)

    assert_flagged(asyncio.run(inside()), "http_error")


def test_a_cancelled_call_leaves_the_server_usable(server: ApiServer) -> None:
    assert ask(server, late(4, kept(0)), timeout_s=0.1).status == "timeout"
    assert ask(server, kept(1)).status == "ok"
