"""A large pool in two calls at once: one deadline, and one call about everything when a half fails."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from engine.config import JudgeConfig
from engine.judge.judge import Judge
from engine.judge.prompts import parse_request, shuffled
from engine.judge.provider import Completion
from engine.judge.providers.anthropic import AnthropicHttpProvider
from engine.judge.voting import LEAST_S
from tests.engine.judge.api_server import KEY, ApiRequest, ApiServer, Reply, failed, kept_titles, late
from tests.engine.judge.cases import MODEL, PROMPT, AnsweringProvider, approved, assert_flagged, pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.judge.verdict import Judgement

TITLES = ("Memory 1", "Memory 5", "Memory 6")


def ask(server: ApiServer, count: int = 9, **config: object) -> Judgement:
    with closing(AnthropicHttpProvider(MODEL, KEY, server.url)) as provider:
        judge = Judge(provider, JudgeConfig(**{"split_over": 4, "timeout_per_call": 10, **config}))
        return judge.evaluate(PROMPT, pool(count), "auto")


def sizes(server: ApiServer, count: int) -> list[int]:
    """How many candidates each of *count* requests showed, ascending. A half may still be on its way."""
    for _ in range(500):
        if len(server.requests) >= count:
            break
        time.sleep(0.01)
    return sorted(len(parse_request(request.body["messages"][0]["content"])[1]) for request in server.requests)


def by_size(answers: dict[int, Reply]) -> Callable[[ApiRequest], Reply]:
    """Answers by the number of candidates that a request shows; else keeps TITLES."""

    def answer(request: ApiRequest) -> Reply:
        shown = parse_request(request.body["messages"][0]["content"])[1]
        return answers.get(len(shown)) or kept_titles(*TITLES)(request)

    return answer


def test_a_pool_over_the_threshold_is_asked_about_in_halves_at_once() -> None:
    barrier = threading.Barrier(2, timeout=5)

    def answer(request: ApiRequest) -> Reply:
        barrier.wait()  # passes only if both requests are there together
        return kept_titles(*TITLES)(request)

    with ApiServer(answer) as server:
        judgement = ask(server)
        assert sizes(server, 2) == [4, 5]
        assert len({request.body["system"] for request in server.requests}) == 1
    assert (judgement.status, approved(judgement)) == ("ok", [1, 5, 6])
    assert (judgement.input_tokens, judgement.output_tokens) == (240, 18)
    assert [verdict.decision for verdict in judgement.verdicts].count("rejected") == 6


@pytest.mark.parametrize(("count", "split_over"), [(4, 4), (9, 0), (9, 9), (9, 30)])
def test_a_pool_up_to_the_threshold_is_one_call(count: int, split_over: int) -> None:
    with ApiServer(kept_titles(*TITLES)) as server:
        assert ask(server, count, split_over=split_over).status == "ok"
        assert sizes(server, 1) == [count]


def test_both_halves_hold_memories_of_every_rank() -> None:
    order = shuffled(PROMPT, 20)
    assert all(any(position < 10 for position in half) for half in (order[:10], order[10:]))


@pytest.mark.parametrize(
    "bad", [failed(500), Reply(closed=True), Reply(b'{"content": []}')], ids=["http", "closed", "empty"]
)
def test_when_a_half_fails_one_call_asks_about_everything(bad: Reply) -> None:
    with ApiServer(by_size({4: bad})) as server:
        judgement = ask(server)
        assert sizes(server, 3) == [4, 5, 9]
    assert (judgement.status, approved(judgement), judgement.detail) == ("ok", [1, 5, 6], "")


def test_when_the_single_call_fails_too_its_status_stands() -> None:
    with ApiServer(by_size({4: failed(500), 9: failed(529, "Overloaded")})) as server:
        judgement = ask(server)
    assert_flagged(judgement, "http_error")
    assert judgement.detail == "The API answered 529: Overloaded"


def test_a_half_that_is_late_costs_the_deadline_once() -> None:
    with ApiServer(by_size({5: late(4, Reply())})) as server:
        judgement = ask(server, timeout_per_call=0.5)
        assert sizes(server, 2) == [4, 5]
    assert_flagged(judgement, "timeout")
    assert 500 <= judgement.elapsed_ms < 1500
    assert judgement.input_tokens in (0, 120)


def test_a_failure_does_not_wait_for_the_other_half_and_the_second_call_has_the_rest_of_the_time() -> None:
    with ApiServer(by_size({4: failed(500), 5: late(4, Reply()), 9: late(4, Reply())})) as server:
        judgement = ask(server, timeout_per_call=0.6)
        assert sizes(server, 3) == [4, 5, 9]
    assert_flagged(judgement, "timeout")
    assert 600 <= judgement.elapsed_ms < 1500


def test_with_too_little_time_left_no_second_call_is_made() -> None:
    with ApiServer(by_size({4: late(1.1, failed(500, "late failure"))})) as server:
        judgement = ask(server, timeout_per_call=1.1 + 0.9 * LEAST_S)
        assert sizes(server, 2) == [4, 5]
    assert_flagged(judgement, "http_error")
    assert judgement.detail == "The API answered 500: late failure"


def test_a_provider_that_hangs_is_not_waited_for_beyond_the_deadline() -> None:
    hanging = threading.Event()

    def answer(_: str, __: str) -> Completion:
        hanging.wait(5)
        return Completion(json.dumps({"keep": []}))

    judge = Judge(AnsweringProvider(answer), JudgeConfig(split_over=1, timeout_per_call=0.2))
    started = time.perf_counter()
    judgement = judge.evaluate(PROMPT, pool(4), "auto")
    hanging.set()
    assert_flagged(judgement, "timeout")
    assert time.perf_counter() - started < 2


def test_no_index_of_one_half_means_a_memory_of_the_other() -> None:
    provider = AnsweringProvider(lambda _, __: Completion('{"keep": [0, 4, 5, 8]}'))
    judgement = Judge(provider, JudgeConfig(split_over=4)).evaluate(PROMPT, pool(9), "auto")
    order = shuffled(PROMPT, 9)
    assert approved(judgement) == sorted([order[0], order[4], order[5]])
