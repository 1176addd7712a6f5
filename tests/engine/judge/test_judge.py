"""The judge: verdicts in the candidates' order, errors as statuses, nothing raised, and its price."""

import pytest

from engine.config import JudgeConfig
from engine.errors import (
    MissingKeyError,
    ProviderCancelledError,
    ProviderError,
    ProviderHttpError,
    ProviderRefusedError,
    ProviderTimeoutError,
)
from engine.judge.judge import Judge
from engine.judge.prices import cost_usd
from engine.judge.prompts import JudgeTemplate
from engine.judge.provider import MAX_TOKENS, REFUSAL, Completion
from engine.judge.verdict import Judgement, Verdict
from engine.prompt import Turn, typed_prompt
from tests.engine.judge.cases import LENIENT, STRICT, AnsweringProvider, keeping, pool

PROMPT = typed_prompt("how do we rotate the signing key")


def decisions(judgement: Judgement) -> list[str]:
    return [verdict.decision for verdict in judgement.verdicts]


def failing(error: Exception) -> AnsweringProvider:
    def answer(_: str, __: str) -> Completion:
        raise error

    return AnsweringProvider(answer)


def test_verdicts_are_mapped_back_through_the_shuffle() -> None:
    memories = pool(8)
    judge = Judge(keeping(lambda _: ("Memory 1", "Memory 6")), JudgeConfig(), clock=iter([10.0, 10.25]).__next__)
    judgement = judge.evaluate(PROMPT, memories, "auto")
    assert judgement == Judgement(
        status="ok",
        verdicts=tuple(
            Verdict(candidate.id, "approved" if number in (1, 6) else "rejected", "ok")
            for number, candidate in enumerate(memories)
        ),
        provider="answering",
        model="function",
        template_hash=STRICT.hash,
        elapsed_ms=250.0,
        input_tokens=10,
        output_tokens=2,
    )


@pytest.mark.parametrize(("mode", "expected"), [("auto", STRICT), ("search", LENIENT)])
def test_the_mode_chooses_the_instructions(mode: str, expected: JudgeTemplate) -> None:
    provider = keeping(lambda _: ())
    judgement = Judge(provider, JudgeConfig(timeout_per_call=1.5)).evaluate(PROMPT, pool(2), mode)
    assert provider.timeouts == [1.5]
    assert [asked for asked, _ in provider.asked] == [expected.system]
    assert judgement.template_hash == expected.hash
    nobody = Judge(provider, JudgeConfig()).evaluate(PROMPT, (), mode)
    assert (nobody.status, nobody.verdicts, len(provider.asked)) == ("ok", (), 1)


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        (JudgeConfig(), ["turn 3", "turn 4", "turn 5", "turn 6", "turn 7"]),
        (JudgeConfig(context_turns=2), ["turn 6", "turn 7"]),
        (JudgeConfig(context_turns=0), []),
        (JudgeConfig(include_conversation_context=False), []),
    ],
)
def test_the_last_turns_are_shown(config: JudgeConfig, shown: list[str]) -> None:
    provider = keeping(lambda _: ())
    turns = tuple(Turn("user", f"turn {number}") for number in range(8))
    Judge(provider, config).evaluate(typed_prompt("fix that", turns), pool(2), "auto")
    assert [f"turn {n}" for n in range(8) if f">turn {n}<" in provider.asked[0][1]] == shown


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ProviderTimeoutError("No answer within 3 s."), "timeout"),
        (ProviderHttpError("The API answered 500."), "http_error"),
        (ProviderRefusedError("no"), "refused"),
        (ProviderCancelledError("stopped"), "cancelled"),
        (MissingKeyError("set ANTHROPIC_API_KEY"), "no_key"),
        (ZeroDivisionError("secret"), "http_error"),
    ],
)
def test_an_error_or_a_bug_flags_every_candidate_with_its_status(error: Exception, status: str) -> None:
    judgement = Judge(failing(error), JudgeConfig()).evaluate(PROMPT, pool(3), "auto")
    is_known = isinstance(error, ProviderError)
    detail = str(error) if is_known else "The judge failed: ZeroDivisionError."
    assert (judgement.status, judgement.detail) == (status, detail)
    assert [(verdict.decision, verdict.status) for verdict in judgement.verdicts] == [("flagged", status)] * 3
    assert [verdict.memory_id for verdict in judgement.verdicts] == [candidate.id for candidate in pool(3)]


@pytest.mark.parametrize(
    ("completion", "status", "detail"),
    [
        (Completion('{"keep": [0]}', 5, 6, REFUSAL), "refused", "The model refused to answer."),
        (
            Completion('{"keep": [0, ', 5, 6, MAX_TOKENS),
            "parse_error",
            "The answer was cut off before it was complete. Allow more: MEMSIFT_JUDGE_MAX_TOKENS.",
        ),
        (
            Completion("none\nof them", 5, 6),
            "parse_error",
            "The answer holds no keep-list: none of them",
        ),
        (Completion("", 5, 6), "parse_error", "The answer is empty."),
    ],
)
def test_an_unusable_answer_is_a_status_and_still_counts_its_tokens(
    completion: Completion, status: str, detail: str
) -> None:
    provider = AnsweringProvider(lambda _, __: completion)
    judgement = Judge(provider, JudgeConfig()).evaluate(PROMPT, pool(2), "auto")
    assert (judgement.status, judgement.detail) == (status, detail)
    assert (judgement.input_tokens, judgement.output_tokens) == (5, 6)
    assert decisions(judgement) == ["flagged", "flagged"]
    complete = AnsweringProvider(lambda _, __: Completion('{"keep": [0, 1]} because', stop_reason=MAX_TOKENS))
    judgement = Judge(complete, JudgeConfig()).evaluate(PROMPT, pool(2), "auto")
    assert (judgement.status, decisions(judgement)) == ("ok", ["approved", "approved"])


def test_a_million_tokens_each_way_cost_what_the_table_says_and_no_other_cost_is_guessed() -> None:
    for model, usd in [
        ("claude-haiku-4-5", 6.0),
        ("claude-haiku-4-5-20251001", 6.0),
        ("claude-sonnet-4-5", 18.0),
        ("claude-opus-4-5", 30.0),
        ("claude-opus-4-1", 90.0),
        ("claude-opus-4-20250514", 90.0),
        ("claude-3-5-haiku-latest", 4.8),
    ]:
        for provider in ("anthropic", "anthropic-http"):
            assert cost_usd(provider, model, 1_000_000, 1_000_000) == pytest.approx(usd), model
    for provider, model, tokens in [
        *(("anthropic", "claude-haiku-9", 100), ("anthropic", "", 100), ("anthropic", "claude-haiku-4-5", 0)),
        *(("claude-cli", "claude-haiku-4-5", 100), ("openai", "claude-haiku-4-5", 100)),
    ]:
        assert cost_usd(provider, model, tokens, tokens) is None
