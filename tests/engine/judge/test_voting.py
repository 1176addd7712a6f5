"""Several calls for one judgement: samples that vote, and a large pool in two calls under one deadline."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import JudgeConfig
from engine.judge.cache import Cache
from engine.judge.judge import LEAST_S, Judge, voted
from engine.judge.prompts import parse_request, shuffled
from engine.judge.provider import Completion
from engine.judge.providers.anthropic import AnthropicHttpProvider
from engine.judge.verdict import APPROVED, DECISIONS, FLAGGED, OK, REJECTED, TIMEOUT, CallOutcome, Judgement, Opinion
from tests.engine.judge.api_server import CLOSED, ApiRequest, ApiServer, Reply, at, failed, kept_titles, late, message
from tests.engine.judge.cases import MODEL, PROMPT, AnsweringProvider, approved, assert_flagged, judged, keeping, pool

A, R, F = APPROVED, REJECTED, FLAGGED
ERROR = CallOutcome(TIMEOUT, detail="No answer within 3 s.", input_tokens=5)


def vote(*decisions: str) -> CallOutcome:
    return CallOutcome(OK, dict(enumerate(map(Opinion, decisions))), input_tokens=10, output_tokens=1)


def result(samples: int, *outcomes: CallOutcome) -> tuple[CallOutcome, int]:
    """The vote over these outcomes, and the number of them that were asked for."""
    asked: list[int] = []

    def ask(number: int) -> CallOutcome:
        asked.append(number)
        return outcomes[number]

    found = voted(ask, samples)
    assert asked == list(range(len(asked)))
    return found, len(asked)


def test_the_majority_decides_as_soon_as_it_is_certain() -> None:
    for samples, said, decision, asked, agreement in [
        (3, [A, A, R], A, 2, 1.0),
        (3, [A, R, A], A, 3, 2 / 3),
        (3, [A, R, F], F, 3, 1 / 3),
        (3, [F, F, A], F, 2, 1.0),
        (2, [A, R], F, 2, 1 / 2),
        (5, [A, A, A, R, R], A, 3, 1.0),
        (5, [A, A, R, R, A], A, 5, 3 / 5),
        (5, [A, A, R, R, F], F, 5, 2 / 5),
        (4, [A, A, R, R], F, 4, 1 / 2),
        (4, [A, A, A, R], A, 3, 1.0),
        (1, [R], R, 1, 1.0),
    ]:
        found, count = result(samples, *map(vote, said))
        opinion = found.opinions[0]
        assert (opinion.decision, count, opinion.samples) == (decision, asked, asked), samples
        assert opinion.agreement == pytest.approx(agreement), samples
        assert (found.input_tokens, found.output_tokens) == (10 * count, count), samples
    found, count = result(3, vote(A, A), vote(A, R), vote(R, R))
    assert count == 3, "one candidate that is open keeps the vote open"
    assert [(one.decision, round(one.agreement, 2)) for one in found.opinions.values()] == [(A, 0.67), (R, 0.67)]


def test_an_error_is_no_vote_and_the_majority_gives_its_mean_and_its_first_reason() -> None:
    found, count = result(3, vote(A), ERROR, vote(A))
    assert (found.status, found.opinions[0].decision, found.opinions[0].samples, count) == (OK, A, 2, 3)
    assert (found.opinions[0].agreement, found.input_tokens) == (1.0, 25)
    disputed, _ = result(3, vote(A), ERROR, vote(R))
    assert (disputed.opinions[0].decision, disputed.opinions[0].agreement) == (F, 0.5)
    for samples, outcomes, asked in [
        *((1, [ERROR], 1), (3, [ERROR, ERROR], 2), (3, [vote(A), ERROR, ERROR], 3)),
        *((2, [ERROR], 1), (5, [ERROR] * 3, 3)),
    ]:
        found, count = result(samples, *outcomes)
        assert (found.status, found.detail, found.opinions, count) == (TIMEOUT, ERROR.detail, {}, asked)
        assert found.input_tokens == sum(outcome.input_tokens for outcome in outcomes)
    said = [Opinion(R, 0.1, "No."), Opinion(A, 0.6, "Yes."), Opinion(A, None, "Sure."), Opinion(A, 0.8, "Well.")]
    found, _ = result(5, *(CallOutcome(OK, {0: one}) for one in said))
    opinion = found.opinions[0]
    assert (opinion.decision, opinion.reasoning) == (A, "Yes.")
    assert opinion.confidence == pytest.approx(0.7)
    found, _ = result(3, vote(A), vote(R), vote(F))
    assert found.opinions[0].reasoning == "The samples disagree: 1 approved, 1 rejected, 1 flagged."


@given(st.integers(1, 7), st.lists(st.lists(st.sampled_from(DECISIONS), min_size=3, max_size=3), min_size=7))
def test_stopping_early_never_changes_a_decision(samples: int, said: list[list[str]]) -> None:
    found, _ = result(samples, *(vote(*decisions) for decisions in said))
    for position in range(3):
        column = [decisions[position] for decisions in said[:samples]]
        winner = next((one for one in DECISIONS if 2 * column.count(one) > samples), FLAGGED)
        assert found.opinions[position].decision == winner


# Through the judge


def test_each_sample_shows_the_candidates_in_an_order_of_its_own() -> None:
    provider = keeping(lambda number: ("Memory 2",) if number else ("Memory 1",))
    judgement = Judge(provider, JudgeConfig(), samples=3).evaluate(PROMPT, pool(4), "auto")
    orders = [parse_request(user)[1] for _, user in provider.asked]
    assert orders == [tuple(f"Memory {n}" for n in shuffled(PROMPT, 4, sample)) for sample in range(3)]
    assert len(set(orders)) == 3
    assert approved(judgement) == [2]
    assert [one.is_disputed for one in judgement.verdicts] == [False, True, True, False]
    assert (judgement.input_tokens, judgement.output_tokens) == (30, 6)


def test_every_sample_is_kept_by_itself(tmp_path: Path) -> None:
    provider = keeping(lambda _: ("Memory 1",))

    def ask(samples: int) -> tuple[str, int]:
        cache = Cache(str(tmp_path / "judge.db"))
        with closing(Judge(provider, JudgeConfig(), cache=cache, samples=samples)) as judge:
            return judge.evaluate(PROMPT, pool(4), "auto").verdicts[1].source, len(provider.asked)

    assert [ask(1), ask(3), ask(3), ask(1)] == [("live", 1), ("live", 2), ("cache", 2), ("cache", 2)]


# Halves of a large pool


TITLES = ("Memory 1", "Memory 5", "Memory 6")


def ask(server: ApiServer, count: int = 9, **config: object) -> Judgement:
    with closing(AnthropicHttpProvider(MODEL, at(server.url))) as provider:
        return judged(provider, count, **{"split_over": 4, **config})


def titles_in(request: ApiRequest) -> tuple[str, ...]:
    return parse_request(request.body["messages"][0]["content"])[1]


def sizes(server: ApiServer, count: int) -> list[int]:
    """How many candidates each of *count* requests showed, ascending. A half may still be on its way."""
    for _ in range(500):
        if len(server.requests) >= count:
            break
        time.sleep(0.01)
    return sorted(len(titles_in(request)) for request in server.requests)


def by_size(answers: dict[int, Reply]) -> Callable[[ApiRequest], Reply]:
    """Answers by the number of candidates that a request shows; else keeps TITLES."""
    return lambda request: answers.get(len(titles_in(request))) or kept_titles(*TITLES)(request)


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
    with ApiServer(kept_titles(*TITLES)) as server:
        for count, split_over in [(4, 4), (9, 0), (9, 9), (9, 30)]:
            server.requests.clear()
            assert ask(server, count, split_over=split_over).status == "ok"
            assert sizes(server, 1) == [count]


@pytest.mark.slow
def test_when_a_half_fails_one_call_asks_about_everything_in_the_time_that_is_left_and_its_status_stands() -> None:
    for bad in (failed(500), CLOSED, message([])):
        with ApiServer(by_size({4: bad})) as server:
            judgement = ask(server)
            assert sizes(server, 3) == [4, 5, 9]
        assert (judgement.status, approved(judgement), judgement.detail) == ("ok", [1, 5, 6], "")
    with ApiServer(by_size({4: failed(500), 9: failed(529, "Overloaded")})) as server:
        judgement = ask(server)
    assert_flagged(judgement, "http_error")
    assert judgement.detail == f"{server.url}/v1/messages answered 529: Overloaded"
    with ApiServer(by_size({4: failed(500), 5: late(4, Reply()), 9: late(4, Reply())})) as server:
        judgement = ask(server, timeout_per_call=1.0)
        assert sizes(server, 3) == [4, 5, 9]
    assert_flagged(judgement, "timeout")
    assert 1000 <= judgement.elapsed_ms < 2500
    with ApiServer(by_size({4: late(1.1, failed(500, "late failure"))})) as server:
        judgement = ask(server, timeout_per_call=1.1 + 0.9 * LEAST_S)
        assert sizes(server, 2) == [4, 5]
    assert_flagged(judgement, "http_error")
    assert judgement.detail == f"{server.url}/v1/messages answered 500: late failure"


def test_a_provider_that_hangs_is_not_waited_for_beyond_the_deadline() -> None:
    hanging = threading.Event()

    def answer(_: str, __: str) -> Completion:
        hanging.wait(5)
        return Completion(json.dumps({"keep": []}))

    started = time.perf_counter()
    judgement = judged(AnsweringProvider(answer), split_over=1, timeout_per_call=0.2)
    hanging.set()
    assert_flagged(judgement, "timeout")
    assert time.perf_counter() - started < 2


def test_no_index_of_one_half_means_a_memory_of_the_other() -> None:
    provider = AnsweringProvider(lambda _, __: Completion('{"keep": [0, 4, 5, 8]}'))
    judgement = judged(provider, 9, split_over=4)
    order = shuffled(PROMPT, 9)
    assert approved(judgement) == sorted([order[0], order[4], order[5]])
