"""Phrases by which memories are asked for: what they find, and how sure."""

from collections.abc import Mapping, Sequence

import pytest

from engine.config import DEFAULT, SYSTEMS, Config
from engine.cutoff import default_cutoff
from engine.default_model import THRESHOLDS, THRESHOLDS_WITH_PHRASES
from engine.explaining.explain import Explainer
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import Turn, typed_prompt
from engine.retrieval import Candidate, Retrieval
from engine.search.phrases import MOST_PHRASES, MOST_WORDS
from tests.engine.builders import fillers, memory, open_index

PAYMENTS = memory(
    "Idempotency keys of the ledger", memory_id="ledger", body="Every write carries a key of its own. " * 20
)
MEMORIES = (PAYMENTS, memory("Lunch in the canteen", memory_id="lunch", body="At noon."), *fillers(20))
ASKED = {"ledger": ("customers are charged twice", "double payment after a retry")}


def found(text: str, phrases: Mapping[str, Sequence[str]], config: Config | None = None, *turns: Turn) -> Retrieval:
    own = config or Config()
    with open_index(*MEMORIES, phrases=phrases) as index:
        return retrieve(Query(typed_prompt(text, turns)), index, OpenSystem(own, default_cutoff(own)))


def of(retrieval: Retrieval, name: str) -> Candidate | None:
    return next((one for one in retrieval.candidates if one.memory.id == name), None)


def test_a_prompt_without_a_word_of_the_memory_finds_it_by_two_words_of_a_phrase() -> None:
    prompt = "why was a customer charged two times"
    assert found(prompt, {}).candidates == ()
    assert [one.memory.id for one in found(prompt, ASKED).injected] == ["ledger"]
    assert found(prompt, ASKED, Config(phrases=False)).candidates == ()


def test_one_shared_word_counts_for_the_rank_alone_and_words_of_the_persons_last_turn_help() -> None:
    (one,) = found("the customer", ASKED).candidates
    assert (one.memory.id, one.injected, one.strength) == ("ledger", False, pytest.approx(0))
    assert one.score < 0
    assert one.unsure == -one.score
    turns = (Turn("user", "a customer was charged for both orders"), Turn("assistant", "Do you want a fix?"))
    after, alone = (of(found("yes, twice", ASKED, None, *before), "ledger") for before in (turns, ()))
    assert after.strength > alone.strength


def test_a_root_with_phrases_has_thresholds_of_its_own_and_without_every_number_is_as_before() -> None:
    prompt = "which key has the ledger of the canteen"
    assert found(prompt, {}).candidates == found(prompt, ASKED, Config(phrases=False)).candidates
    without, with_them = (of(found(prompt, phrases), "lunch") for phrases in ({}, ASKED))
    assert (without.score, without.probability) == (with_them.score, with_them.probability)
    configs = Config(), Config(cutoff_threshold="strict"), Config(cutoff_threshold=0.5)
    own = THRESHOLDS_WITH_PHRASES
    needs = [found(prompt, ASKED, config).candidates[0].needs for config in configs]
    assert needs == [own["balanced"], own["strict"], 0.5]
    assert found(prompt, {}).candidates[0].needs == THRESHOLDS["balanced"]


def test_phrases_beyond_the_bounds_do_not_count_and_the_system_without_has_a_name() -> None:
    many = [f"phrase number {number}" for number in range(MOST_PHRASES)]
    assert found("why was a customer charged twice", {"ledger": (*many, *ASKED["ledger"])}).candidates == ()
    long = " ".join([*(f"w{number}" for number in range(MOST_WORDS)), "customers are charged twice"])
    assert found("why was a customer charged twice", {"ledger": (long,)}).candidates == ()
    system = SYSTEMS["memsift+default-phrases"]
    assert (system.cutoff, system.has_phrases) == (DEFAULT, False)
    assert found("canteen", ASKED, system.of(Config())).system == "memsift+default-phrases"


def test_the_explanation_names_the_phrase_and_its_part_of_the_strength() -> None:
    config = Config()
    for text, phrase in (("a customer was charged", ASKED["ledger"][0]), ("no double payment", ASKED["ledger"][1])):
        with open_index(*MEMORIES, phrases=ASKED) as index:
            retrieval = retrieve(Query(typed_prompt(text)), index, OpenSystem(config, default_cutoff(config)))
            explanation = Explainer(retrieval, index, config).of("ledger")
        assert explanation.breakdown.phrase == phrase
        candidate = of(retrieval, "ledger")
        assert explanation.breakdown.strength == pytest.approx(-candidate.score)
        assert 0 < explanation.breakdown.gain <= explanation.breakdown.strength
