"""The turns before a prompt are part of every query, with little weight."""

import pytest

from engine.config import Config
from engine.explaining.explain import Explainer
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import Turn, typed_prompt
from engine.search.strategies.memsift import MOST_FROM_TURNS, TURN_CHARACTERS, TURN_WEIGHT, TURNS, pick_terms
from tests.engine.builders import fillers, memory, open_index

EXPIRY = memory("Holds expire on open days of the branch calendar", memory_id="expiry")
FUNCTION = memory("Every function has a docstring", memory_id="function")
TURNS_BEFORE = (Turn("user", "why do holds expire on sundays?"), Turn("assistant", "It ignores the branch calendar."))
LONG = "rename the column of the patron export in the county report"


def found(text: str, *turns: Turn) -> dict[str, float]:
    """Memory id -> strength."""
    with open_index(EXPIRY, FUNCTION, *fillers(40)) as index:
        retrieval = retrieve(
            Query(typed_prompt(text, turns)), index, OpenSystem(Config(min_strength=0.0, noise_floor=0.0))
        )
    return {one.memory.id: -one.score for one in retrieval.candidates}


def from_turns(*turns: Turn) -> list[str]:
    return [term.text for term in pick_terms("", turns)[1]]


def test_every_prompt_finds_what_was_spoken_about_before() -> None:
    for text in ["do the same for the other one", "option C", LONG]:
        assert found(text) == {}, text
        assert found(text, *TURNS_BEFORE).keys() == {"expiry"}, text


def test_a_word_of_the_prompt_outweighs_the_same_word_of_an_earlier_turn() -> None:
    own, earlier = found("calendar")["expiry"], found("option C", Turn("user", "calendar"))["expiry"]
    assert 0 < earlier < own / 2
    both = found("calendar", Turn("user", "the calendar fails"))
    assert both == found("calendar")
    weights = {term.text: term.weight for term in pick_terms("fix that function", TURNS_BEFORE)[1]}
    assert (weights["function"], weights["calendar"]) == (1.0, TURN_WEIGHT)


def test_only_the_end_of_the_last_turns_counts() -> None:
    older = Turn("user", "zanzibar"), *(Turn("user", f"quokka{number}") for number in range(TURNS))
    assert from_turns(*older) == [f"quokka{number}" for number in reversed(range(TURNS))]
    assert from_turns(Turn("assistant", f"zanzibar {'. ' * TURN_CHARACTERS} quokka")) == ["quokka"]


def test_of_many_words_the_rarest_count_and_the_latest_of_these_but_no_numbers_and_stop_words() -> None:
    rare = [" ".join(f"quokka{turn}{number}" for number in range(MOST_FROM_TURNS // 2)) for turn in "abc"]
    kept = from_turns(*(Turn("user", f"server time people {words}") for words in rare))
    assert kept == f"{rare[2]} {rare[1]}".split()
    assert from_turns(Turn("user", "time quokka"), Turn("user", "people")) == ["quokka", "people", "time"]
    assert from_turns(Turn("user", "in 2024 The `make` step of Go took 401 quokka")) == ["quokka", "step", "took"]


def test_the_explanation_adds_up_and_names_the_words_of_earlier_turns() -> None:
    prompt, config = typed_prompt("fix the branch function", TURNS_BEFORE), Config(min_strength=0.0, noise_floor=0.0)
    with open_index(EXPIRY, FUNCTION, *fillers(40)) as index:
        retrieval = retrieve(Query(prompt), index, OpenSystem(config))
        explained = Explainer(retrieval, index, config).of("expiry")
    (candidate,) = [one for one in retrieval.candidates if one.memory.id == "expiry"]
    assert explained.breakdown.strength == pytest.approx(-candidate.score)
    parts = {one.text: one.is_earlier for one in explained.breakdown.contributions}
    assert parts == {"branch": False, "holds": True, "expire": True, "calendar": True}
