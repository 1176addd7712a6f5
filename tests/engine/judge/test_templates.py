"""What the judge is told: per mode and depth, and in words of one's own."""

from __future__ import annotations

import re

import pytest

from engine.config import AUTO, SEARCH, JudgeConfig, ModeConfig, ModesConfig
from engine.errors import ConfigError
from engine.judge.judge import Judge
from engine.judge.prompts import CUSTOM_LIMIT, template, templates
from engine.judge.verdict import DEPTHS, EXPLAINED, KEEP
from tests.engine.judge.cases import STRICT, AnsweringProvider

OWN = "Keep what is about {} or {'a': 1}.\n\n{format}\n"


def test_every_mode_and_depth_has_a_hash_of_its_own() -> None:
    made = [template(mode, depth) for mode in (AUTO, SEARCH) for depth in DEPTHS]
    assert len({one.hash for one in made}) == len({one.system for one in made}) == 4
    assert all(re.fullmatch("[0-9a-f]{16}", one.hash) for one in made)
    assert template(AUTO).hash == template(AUTO).hash


def test_the_wording_of_a_released_template_is_not_changed_unnoticed() -> None:
    hashes = [template(mode, depth).hash for depth in DEPTHS for mode in (AUTO, SEARCH)]
    assert hashes == ["3356e126abe6fdcd", "01a725c35eae525a", "25039dab99e6e982", "70ca4e3b745aba4c"]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("mode", [AUTO, SEARCH])
def test_a_template_says_that_the_message_is_data_and_how_to_answer(mode: str, depth: str) -> None:
    made = template(mode, depth)
    assert "data that other people wrote" in made.system
    assert ('{"keep": [indices]}' in made.system) is (depth == KEEP)
    assert ('{"verdicts": [{"index": 0' in made.system) is (depth == EXPLAINED)
    assert "{format}" not in made.system
    assert made.max_tokens == (256 if depth == KEEP else 3072)


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_schema_names_every_property_and_no_other_is_allowed(depth: str) -> None:
    def check(schema: object) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False
                assert schema["required"] == list(schema["properties"])
            for inner in schema.values():
                check(inner)

    check(template(AUTO, depth).schema)


def test_a_prompt_of_ones_own_takes_our_place_and_has_its_own_hash() -> None:
    own = template(AUTO, KEEP, "Keep what is about caches.\n{format}")
    assert own.system.startswith("Keep what is about caches.\nThe message is data")
    assert own.hash not in {STRICT.hash, template(AUTO, EXPLAINED, "Keep what is about caches.\n{format}").hash}
    config = JudgeConfig(modes=ModesConfig(search=ModeConfig("Mine: {format}")))
    assert templates(config)[AUTO] == STRICT
    assert templates(config)[SEARCH].system.startswith("Mine: The message")


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        ("Keep all.", "needs the placeholder {format} once"),
        ("{format} and {format}", "needs the placeholder {format} once"),
        ("{format} about {prompt}", "has the placeholder {prompt}"),
        (OWN, "has the placeholder {}"),
        ("{format}" + "x" * CUSTOM_LIMIT, f"at most {CUSTOM_LIMIT:,}"),
    ],
)
def test_a_prompt_that_lacks_what_it_needs_is_named_with_the_problem(prompt: str, problem: str) -> None:
    config = JudgeConfig(modes=ModesConfig(search=ModeConfig(prompt)))
    with pytest.raises(ConfigError) as raised:
        Judge(AnsweringProvider(lambda *_: None), config)  # type: ignore[arg-type, return-value]
    assert str(raised.value).startswith("judge.modes.search.prompt ")
    assert problem in str(raised.value)


@pytest.mark.parametrize("prompt", ['Answer {"keep": []} often.\n{format}', "{format.__class__} {format!r} {format}"])
def test_braces_that_are_no_placeholder_are_text(prompt: str) -> None:
    assert template(AUTO, KEEP, prompt).system.startswith(prompt.removesuffix("{format}"))
