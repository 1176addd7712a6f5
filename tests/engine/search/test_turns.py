"""A prompt that says little is about the turns before it: their words count, with less weight."""

from __future__ import annotations

import pytest

from engine.config import Config
from engine.explaining.explain import Explainer
from engine.pipeline import retrieve
from engine.prompt import Turn, typed_prompt
from engine.search.strategies.memsift import FEW_TERMS, TURN_WEIGHT, TURNS, asked, says_little
from tests.engine.builders import fillers, memory, open_index

EXPIRY = memory("Holds expire on open days of the branch calendar", memory_id="expiry")
FUNCTION = memory("Every function has a docstring", memory_id="function")
TURNS_BEFORE = (Turn("user", "why do holds expire on sundays?"), Turn("assistant", "It ignores the branch calendar."))


def found(text: str, *turns: Turn) -> dict[str, float]:
    """Memory id -> strength."""
    with open_index(EXPIRY, FUNCTION, *fillers(40)) as index:
        retrieval = retrieve(typed_prompt(text, turns), index, Config(min_strength=0.0, noise_floor=0.0))
    return {one.memory.id: -one.score for one in retrieval.candidates}


def test_a_prompt_that_says_little_finds_what_was_spoken_about_before() -> None:
    assert found("fix that function").keys() == {"function"}
    assert found("fix that function", *TURNS_BEFORE).keys() == {"function", "expiry"}
    assert found("do the same for the other one", *TURNS_BEFORE).keys() == {"expiry"}


def test_a_prompt_that_says_enough_is_searched_alone() -> None:
    text = "rename the column of the patron export in the county report"
    assert not says_little(text)
    assert found(text, *TURNS_BEFORE) == found(text)


def test_the_words_of_earlier_turns_weigh_less_and_only_the_last_turns_count() -> None:
    own = {term.text: term.weight for term in asked("fix that function", TURNS_BEFORE)}
    assert own["function"] == 1.0
    assert own["calendar"] == TURN_WEIGHT
    older = (Turn("user", "zanzibar"), *TURNS_BEFORE)
    assert len(older) > TURNS
    assert asked("fix that function", older) == asked("fix that function", TURNS_BEFORE)


def test_a_word_of_the_prompt_keeps_its_full_weight_if_a_turn_repeats_it() -> None:
    terms = asked("fix that function", (Turn("user", "the function fails"),))
    assert [term.weight for term in terms if term.text == "function"] == [1.0]


@pytest.mark.parametrize(("text", "is_little"), [("fix that function", True), ("ok, go on", True), ("a " * 300, False)])
def test_what_says_little(text: str, is_little: bool) -> None:
    assert says_little(text) is is_little
    assert FEW_TERMS == 4


def test_the_explanation_adds_up_with_words_of_earlier_turns() -> None:
    prompt = typed_prompt("fix that function", TURNS_BEFORE)
    config = Config(min_strength=0.0, noise_floor=0.0)
    with open_index(EXPIRY, FUNCTION, *fillers(40)) as index:
        retrieval = retrieve(prompt, index, config)
        explained = Explainer(retrieval, index, config).of("expiry")
    (candidate,) = [one for one in retrieval.candidates if one.memory.id == "expiry"]
    assert explained is not None
    assert explained.breakdown is not None
    assert explained.breakdown.strength == pytest.approx(-candidate.score)
    assert "calendar" in [one.text for one in explained.breakdown.contributions]
