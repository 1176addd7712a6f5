"""Batches: submitted, waited for, fetched, and matched by name in any order."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from engine.config import JudgeConfig
from engine.errors import MissingKeyError, ProviderHttpError
from engine.judge.bulk.batch_api import BatchApi
from engine.judge.bulk.batches import BatchedProvider
from engine.judge.judge import Judge
from engine.judge.providers.anthropic import AnthropicHttpProvider
from engine.prompt import typed_prompt
from tests.engine.judge.api_server import KEY, ApiServer, kept_titles
from tests.engine.judge.cases import MODEL, approved, assert_flagged, pool

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    results = api.results(batch_id)
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
