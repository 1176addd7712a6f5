"""Batches: submitted, waited for, fetched, and matched by name in any order."""

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from contextlib import closing

import pytest

from engine.config import JudgeConfig
from engine.errors import MissingKeyError, ProviderError, ProviderHttpError
from engine.judge.batches import BatchedProvider
from engine.judge.judge import Judge
from engine.judge.provider import Completion
from engine.judge.providers.anthropic import AnthropicHttpProvider
from engine.judge.providers.http import ANSWER_BYTES
from engine.judge.providers.messages_api import request_body
from engine.judge.providers.sdk_client import BatchApi
from engine.prompt import typed_prompt
from tests.engine.judge.api_server import KEY, ApiServer, Reply, kept_titles
from tests.engine.judge.cases import MODEL, STRICT, approved, assert_flagged, pool

PROMPTS = [typed_prompt(f"prompt {number}") for number in range(4)]


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(kept_titles("Memory 1")) as server:
        yield server


@pytest.fixture
def api(server: ApiServer) -> Iterator[BatchApi]:
    with closing(BatchApi({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url})) as api:
        yield api


def test_a_batch_is_answered_as_its_requests_would_be(server: ApiServer, api: BatchApi) -> None:
    batched = BatchedProvider(AnthropicHttpProvider(MODEL, KEY, server.url))
    judge = Judge(batched, JudgeConfig())
    for prompt in PROMPTS:
        assert_flagged(judge.evaluate(prompt, pool(4), "auto"), "cancelled")
    wanted = batched.take_unanswered()
    assert (len(wanted), batched.take_unanswered()) == (4, {})
    server.batches.failing = {1: "errored", 2: "expired", 3: "canceled"}
    batch_id = api.submit(wanted)
    assert [api.is_ended(batch_id), api.is_ended(batch_id)] == [False, True]
    results = api.results(batch_id, wanted)
    assert results.keys() == wanted.keys()
    batched.give(results)
    first, *failed = (judge.evaluate(prompt, pool(4), "auto") for prompt in PROMPTS)
    assert (approved(first), first.input_tokens, first.output_tokens) == ([1], 120, 9)
    assert [one.status for one in failed] == ["http_error", "timeout", "cancelled"]
    assert failed[0].detail == "The batch could not answer this: internal"
    assert batched.take_unanswered() == {}


def test_a_request_is_the_same_in_the_next_process(server: ApiServer) -> None:
    def names() -> list[str]:
        batched = BatchedProvider(AnthropicHttpProvider(MODEL, KEY, server.url))
        Judge(batched, JudgeConfig(), samples=3).evaluate(PROMPTS[0], pool(4), "auto")
        return list(batched.take_unanswered())

    assert names() == names()
    assert len(set(names())) == 2  # a third is asked only if these disagree
    assert {len(name) for name in names()} == {64}


def fetched(server: ApiServer, api: BatchApi, body: bytes, encoding: str = "") -> dict[str, Completion | ProviderError]:
    server.batches.raw_results = (body, encoding)
    batch_id = api.submit({"a": request_body(MODEL, STRICT.question("hello"))})
    while not api.is_ended(batch_id):
        pass
    return api.results(batch_id, {"a"})


def succeeded(name: str, text: str) -> bytes:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
    result = {"type": "succeeded", "message": {"content": content, "stop_reason": "end_turn"}}
    return json.dumps({"custom_id": name, "result": result}).encode() + b"\n"


def test_results_are_read_line_by_line_whatever_else_is_sent(server: ApiServer, api: BatchApi) -> None:
    answer = succeeded("a", f"\u2028 {KEY}")
    odd = b'[1]\n7\n{"custom_id": "a"}\n{"custom_id": ["a"], "result": {}}\n' + b"[" * 90_000 + b"\n\xff\n"
    for body, encoding in ((odd + answer + odd, ""), (gzip.compress(odd + answer), "gzip")):
        results = fetched(server, api, succeeded("unasked", "x") + body if not encoding else body, encoding)
        assert results == {"a": Completion(f"\u2028 {KEY}")}


@pytest.mark.parametrize(
    ("result", "detail"),
    [
        ({"type": "errored"}, "The batch could not answer this: no reason given"),
        ({"type": "errored", "error": {"error": {"message": f"bad {KEY}"}}}, "could not answer this: bad [hidden]"),
        ({"type": "errored", "error": {"message": "flat"}}, "The batch could not answer this: flat"),
        ({"type": "succeeded", "message": 7}, "https://api.anthropic.com is not a message."),
        ({"type": ["?"]}, "The batch was cancelled before this was answered."),
    ],
)
def test_an_odd_result_is_an_error_of_its_request(
    server: ApiServer, api: BatchApi, result: dict[str, object], detail: str
) -> None:
    error = fetched(server, api, json.dumps({"custom_id": "a", "result": result}).encode())["a"]
    assert isinstance(error, ProviderError)
    assert detail in str(error)


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_line_that_is_larger_than_an_answer_ends_the_fetch(server: ApiServer, api: BatchApi, encoding: str) -> None:
    body = b" " * 60 * ANSWER_BYTES
    body = gzip.compress(body) if encoding else body[: 2 * ANSWER_BYTES]
    fetched(server, api, succeeded("a", "loads all modules"))
    tracemalloc.start()
    with pytest.raises(ProviderHttpError, match="larger than 1,000 kB"):
        fetched(server, api, body, encoding)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * ANSWER_BYTES


@pytest.mark.slow
def test_an_answer_of_the_batch_api_is_bounded(server: ApiServer, api: BatchApi) -> None:
    """Slow, because the SDK asks four times more."""
    bomb = Reply(gzip.compress(b" " * 50 * ANSWER_BYTES), headers={"content-encoding": "gzip"})
    server.batches.reply_to = lambda *_: bomb  # type: ignore[method-assign]
    with pytest.raises(ProviderHttpError, match="larger than 1,000 kB"):
        api.is_ended("msgbatch_1")


def test_what_the_api_refuses_is_told_without_the_key(server: ApiServer, api: BatchApi) -> None:
    with pytest.raises(ProviderHttpError, match="answered 404"):
        api.is_ended("msgbatch_none")
    with pytest.raises(ProviderHttpError, match="answered 400") as raised:
        api.submit({"a": {"model": MODEL, "max_tokens": 5, "messages": [], "temperature": 0}})
    assert KEY not in str(raised.value)
    assert server.batches.submitted == 0


def test_without_a_key_there_is_no_batch() -> None:
    with pytest.raises(MissingKeyError):
        BatchApi({"HOME": "/nowhere"})
