"""The judge: verdicts in the candidates' order, errors as statuses, nothing raised, and its price."""

from itertools import count

import pytest

from engine.config import JudgeConfig
from engine.judge.judge import Judge
from engine.judge.prices import cost_usd
from engine.judge.provider import Completion
from engine.judge.verdict import Judgement, Verdict
from engine.prompt import Turn, typed_prompt
from tests.engine.judge.cases import LENIENT, PROMPT, STRICT, AnsweringProvider, keeping, pool


def test_verdicts_are_mapped_back_through_the_shuffle_and_loading_is_not_the_judges_time() -> None:
    memories, clock = pool(8), count(10.0, 0.25).__next__
    provider = keeping(lambda _: ("Memory 1", "Memory 6"))
    provider.prepare = clock
    judgement = Judge(provider, JudgeConfig(), clock=clock).evaluate(PROMPT, memories, "auto")
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


def test_the_mode_chooses_the_instructions_and_without_candidates_nobody_is_asked() -> None:
    for mode, expected in (("auto", STRICT), ("search", LENIENT)):
        provider = keeping(lambda _: ())
        judge = Judge(provider, JudgeConfig(timeout_per_call=1.5))
        assert judge.evaluate(PROMPT, pool(2), mode).template_hash == expected.hash
        nobody = judge.evaluate(PROMPT, (), mode)
        assert (nobody.status, nobody.verdicts, provider.timeouts) == ("ok", (), [1.5])
        assert [asked for asked, _ in provider.asked] == [expected.system]


def test_the_last_turns_are_shown() -> None:
    turns = tuple(Turn("user", f"turn {number}") for number in range(8))
    for config, first in (
        (JudgeConfig(), 3),
        (JudgeConfig(context_turns=2), 6),
        (JudgeConfig(context_turns=0), 8),
        (JudgeConfig(include_conversation_context=False), 8),
    ):
        provider = keeping(lambda _: ())
        Judge(provider, config).evaluate(typed_prompt("fix that", turns), pool(2), "auto")
        assert [number for number in range(8) if f">turn {number}<" in provider.asked[0][1]] == [*range(first, 8)]


def test_a_bug_in_a_provider_flags_every_candidate_and_its_text_is_not_shown() -> None:
    def answer(*_: str) -> Completion:
        raise ZeroDivisionError("secret")

    judgement = Judge(AnsweringProvider(answer), JudgeConfig()).evaluate(PROMPT, pool(3), "auto")
    assert (judgement.status, judgement.detail) == ("http_error", "The judge failed: ZeroDivisionError.")
    found = [(one.memory_id, one.decision, one.status) for one in judgement.verdicts]
    assert found == [(candidate.id, "flagged", "http_error") for candidate in pool(3)]


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
