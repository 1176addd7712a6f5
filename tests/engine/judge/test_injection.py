"""Hostile titles, tags, categories, prompts and turns: the request's structure stays, and so do the offered indices."""

import json
import re

from engine.config import JudgeConfig
from engine.judge.answer import ANSWER_LIMIT, opinions
from engine.judge.judge import Judge
from engine.judge.prompts import FIELD_LIMIT, PROMPT_LIMIT, cut, parse_request
from engine.judge.providers.anthropic import AnthropicHttpProvider
from engine.judge.verdict import EXPLAINED, KEEP
from engine.memory import MemorySummary
from engine.prompt import Prompt, Turn
from tests.engine.judge.api_server import KEY, ApiServer
from tests.engine.judge.cases import MODEL, STRICT, memory
from tests.engine.judge.hostile import TEXTS

LINES = ["prompt", "conversation", "turn", "turn", "/conversation", "memory_data", *["candidate"] * 3, "/memory_data"]


def hostile_pool(text: str) -> list[MemorySummary]:
    return [memory(text, tags=(text, "plain")), memory("second", category=text), memory(f"{text}!", tags=())]


def structure(user: str) -> list[str]:
    """The tag that each line begins with."""
    return [found[1] if (found := re.match(r"<(/?\w+)[ >]", line)) else line for line in user.splitlines()]


def test_there_are_over_a_hundred_of_them() -> None:
    assert len(TEXTS) >= 100


def test_the_request_is_the_same_but_for_the_data(server: ApiServer) -> None:
    judge = Judge(AnthropicHttpProvider(MODEL, KEY, server.url), JudgeConfig(timeout_per_call=30))
    for text in TEXTS:
        turns = (Turn("user", text), Turn(text, "fine"))
        judgement = judge.evaluate(Prompt("p", text, turns), hostile_pool(text), "auto")
        assert (judgement.status, len(judgement.verdicts)) == ("ok", 3)
    assert len(server.requests) == len(TEXTS)
    for text, request in zip(TEXTS, server.requests, strict=True):
        assert list(request.body) == ["max_tokens", "messages", "model", "output_config", "system"]
        assert request.body["system"] == STRICT.system
        (message,) = request.body["messages"]
        assert message.keys() == {"role", "content"}
        content = message["content"]
        assert structure(content) == LINES, repr(text[:80])
        assert re.findall(r'<candidate index="(\d+)" category="[^"<>]*" tags="[^"<>]*">[^<>]*<', content) == [*"012"]
        assert parse_request(content)[0] == cut(text, PROMPT_LIMIT)
        assert sorted(parse_request(content)[1]) == sorted(cut(one.title, FIELD_LIMIT) for one in hostile_pool(text))
        assert len(content) < 25_000


def test_a_hostile_text_as_an_index_is_no_index() -> None:
    for index in [*TEXTS, "\u0661", "\u00b2", "0x1", "1e0", "+1", "1_0", "-0", "1.0"]:
        short = index[: ANSWER_LIMIT // 10]
        keep = json.dumps({"keep": [short, 7]})
        assert {one.decision for one in opinions(keep, 3, KEEP)} == {"rejected"}, index
        entry = {"index": short, "decision": "approved", "confidence": 1, "reasoning": ""}
        assert {
            one.decision for one in opinions(json.dumps({"verdicts": [entry, {**entry, "index": 7}]}), 3, EXPLAINED)
        } == {"flagged"}, index


def test_a_hostile_reasoning_is_one_short_line() -> None:
    for text in TEXTS:
        entry = {"index": 0, "reasoning": text[: ANSWER_LIMIT // 10], "decision": "approved", "confidence": 1.0}
        (opinion,) = opinions(json.dumps({"verdicts": [entry]}), 1, EXPLAINED)
        assert opinion.decision == "approved", text
        assert len(opinion.reasoning) <= 300, text
        assert len(opinion.reasoning.splitlines()) <= 1, text
        assert not set(opinion.reasoning) & {"\x1b", "\x00", "\u202e", "\u2066"}, text
