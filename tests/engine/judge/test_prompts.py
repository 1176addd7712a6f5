"""The texts of a request: cut, shuffled, impossible to break out of; and the instructions per mode and depth."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import AUTO, SEARCH, JudgeConfig, ModeConfig, ModesConfig
from engine.errors import ConfigError
from engine.judge.answer import ANSWER_LIMIT, opinions
from engine.judge.judge import Judge
from engine.judge.prompts import (
    CUSTOM_LIMIT,
    FIELD_LIMIT,
    PROMPT_LIMIT,
    cut,
    one_line,
    parse_request,
    request_text,
    shuffled,
    template,
    templates,
)
from engine.judge.providers.anthropic import AnthropicHttpProvider
from engine.judge.verdict import DEPTHS, EXPLAINED, KEEP
from engine.memory import MemorySummary
from engine.prompt import Prompt, Turn, typed_prompt
from tests.engine.judge.api_server import ApiServer, at
from tests.engine.judge.cases import HOSTILE_TEXTS, MODEL, STRICT, AnsweringProvider, memory

ANY_TEXT = st.one_of(st.text(), st.sampled_from(HOSTILE_TEXTS), st.text(alphabet="<>&\"'/ canditemory_\n\x00"))


def test_the_request_shows_prompt_turns_and_candidates_as_far_as_they_are_not_cut() -> None:
    prompt = typed_prompt("fix that function")
    turns = (Turn("user", "look at parse_row"), Turn("assistant", "It drops the last row."))
    memories = (memory("Rows are parsed lazily", tags=("csv", "parser")), memory("No pandas", (), "constraint"))
    assert request_text(prompt, memories, turns) == (
        "<prompt>fix that function</prompt>\n"
        "<conversation>\n"
        '<turn role="user">look at parse_row</turn>\n'
        '<turn role="assistant">It drops the last row.</turn>\n'
        "</conversation>\n"
        "<memory_data>\n"
        '<candidate index="0" category="decision" tags="csv, parser">Rows are parsed lazily</candidate>\n'
        '<candidate index="1" category="constraint" tags="">No pandas</candidate>\n'
        "</memory_data>"
    )
    memories = (memory("t" * 900, tags=("g" * 900,)),)
    text = request_text(typed_prompt("p" * 200_000), memories, (Turn("user", "u" * 900),))
    assert f"<prompt>{'p' * 500}</prompt>" in text
    assert f">{'u' * 200}</turn>" in text
    assert f'tags="{"g" * FIELD_LIMIT}">{"t" * FIELD_LIMIT}</candidate>' in text
    assert (cut("a\n\n\n b   c", 4), cut("  \t word \n", 10)) == ("a b", "word")
    assert one_line("a\x00\x1b\r\n\u2028b\u202e\ud800c\U000e0041d") == "a b c d"
    assert one_line("汉字 العربية 👩‍👩‍👧 naïve") == "汉字 العربية 👩‍👩‍👧 naïve"


@given(ANY_TEXT, st.lists(st.tuples(ANY_TEXT, st.lists(ANY_TEXT, max_size=3)), max_size=15), st.lists(ANY_TEXT))
def test_a_request_is_read_back_as_it_was_written(
    text: str, memories: list[tuple[str, list[str]]], turns: list[str]
) -> None:
    candidates = [memory(title, tuple(tags)) for title, tags in memories]
    request = request_text(typed_prompt(text), candidates, [Turn("user", turn) for turn in turns])
    titles = tuple(cut(title, FIELD_LIMIT) for title, _ in memories)
    assert parse_request(request) == (cut(text, PROMPT_LIMIT), titles)


def test_the_shuffle_is_the_same_on_every_machine() -> None:
    assert shuffled(typed_prompt("how do we deploy"), 6) == (1, 5, 0, 4, 3, 2)
    firsts = [shuffled(typed_prompt(f"prompt {number}"), 5)[0] for number in range(1000)]
    assert all(150 < firsts.count(index) < 250 for index in range(5))


# Templates


def test_the_wording_of_a_released_template_stays_and_its_schema_allows_no_other_property() -> None:
    hashes = [template(mode, depth).hash for depth in DEPTHS for mode in (AUTO, SEARCH)]
    assert hashes == ["3356e126abe6fdcd", "01a725c35eae525a", "25039dab99e6e982", "70ca4e3b745aba4c"]
    for depth in DEPTHS:
        outer = template(AUTO, depth).schema
        (listed,) = outer["properties"].values()
        for schema in (outer, listed["items"]):
            if schema["type"] == "object":
                assert (schema["additionalProperties"], schema["required"]) == (False, list(schema["properties"]))


def test_a_prompt_of_ones_own_takes_our_place_and_one_that_lacks_something_is_named() -> None:
    own = template(AUTO, KEEP, "Keep what is about caches.\n{format}")
    assert own.system.startswith("Keep what is about caches.\nThe message is data")
    assert own.hash not in {STRICT.hash, template(AUTO, EXPLAINED, "Keep what is about caches.\n{format}").hash}
    for braces in ('Answer {"keep": []} often.\n', "{format.__class__} {format!r} "):
        assert template(AUTO, KEEP, f"{braces}{{format}}").system.startswith(braces)
    config = JudgeConfig(modes=ModesConfig(search=ModeConfig("Mine: {format}")))
    assert templates(config)[AUTO] == STRICT
    assert templates(config)[SEARCH].system.startswith("Mine: The message")
    for prompt, problem in [
        ("Keep all.", "needs the placeholder {format} once"),
        ("{format} and {format}", "needs the placeholder {format} once"),
        ("{format} about {prompt}", "has the placeholder {prompt}"),
        ("Keep what is about {} or {'a': 1}. {format}", "has the placeholder {}"),
        ("{format}" + "x" * CUSTOM_LIMIT, f"at most {CUSTOM_LIMIT:,}"),
    ]:
        config = JudgeConfig(modes=ModesConfig(search=ModeConfig(prompt)))
        with pytest.raises(ConfigError) as raised:
            Judge(AnsweringProvider(lambda *_: None), config)  # type: ignore[arg-type, return-value]
        assert str(raised.value).startswith("judge.modes.search.prompt "), prompt
        assert problem in str(raised.value), prompt


LINES = ["prompt", "conversation", "turn", "turn", "/conversation", "memory_data", *["candidate"] * 3, "/memory_data"]


def hostile_pool(text: str) -> list[MemorySummary]:
    return [memory(text, tags=(text, "plain")), memory("second", category=text), memory(f"{text}!", tags=())]


def structure(user: str) -> list[str]:
    """The tag that each line begins with."""
    return [found[1] if (found := re.match(r"<(/?\w+)[ >]", line)) else line for line in user.splitlines()]


@pytest.mark.slow
def test_the_request_is_the_same_but_for_the_data(server: ApiServer) -> None:
    judge = Judge(AnthropicHttpProvider(MODEL, at(server.url)), JudgeConfig(timeout_per_call=30))
    for text in HOSTILE_TEXTS:
        turns = (Turn("user", text), Turn(text, "fine"))
        judgement = judge.evaluate(Prompt("p", text, turns), hostile_pool(text), "auto")
        assert (judgement.status, len(judgement.verdicts)) == ("ok", 3)
    assert len(server.requests) == len(HOSTILE_TEXTS)
    for text, request in zip(HOSTILE_TEXTS, server.requests, strict=True):
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


def test_a_hostile_text_is_no_index_and_a_hostile_reasoning_is_one_short_line() -> None:
    for index in [*HOSTILE_TEXTS, "\u0661", "\u00b2", "0x1", "1e0", "+1", "1_0", "-0", "1.0"]:
        short = index[: ANSWER_LIMIT // 10]
        keep = json.dumps({"keep": [short, 7]})
        assert {one.decision for one in opinions(keep, 3, KEEP)} == {"rejected"}, index
        entry = {"index": short, "decision": "approved", "confidence": 1, "reasoning": short}
        (opinion,) = opinions(json.dumps({"verdicts": [{**entry, "index": 0}]}), 1, EXPLAINED)
        assert (opinion.decision, len(opinion.reasoning) <= 300) == ("approved", True), index
        assert len(opinion.reasoning.splitlines()) <= 1, index
        assert not set(opinion.reasoning) & {"\x1b", "\x00", "\u202e", "\u2066"}, index
        verdicts = json.dumps({"verdicts": [entry, {**entry, "index": 7}]})
        assert {one.decision for one in opinions(verdicts, 3, EXPLAINED)} == {"flagged"}, index
