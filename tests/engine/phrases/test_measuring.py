"""Prompts that are phrases now, or nearly."""

import pytest

from engine.phrases.measuring import LEAST_ALIKE, find_phrased
from engine.search.phrases import MOST_WORDS

FIVE = "customers charged twice checkout retries"
NEAR = {
    "the same": FIVE,
    "other forms of its words, in another order": "why was the customer charged twice: retry, checkout!",
    "four of five": "customers charged twice checkout",
    "one word more, five of six": f"{FIVE} refund",
}
FAR = {
    "three of four, and of five": "customers charged twice",
    "a long prompt that holds it, five of seven": f"{FIVE} despite idempotency",
    "the same number of words, three of five": "customers charged twice monthly invoice",
    "only stop words": "how do we do it",
}


@pytest.mark.parametrize("name", NEAR)
def test_a_prompt_with_four_fifths_of_the_stems_of_the_longer_one_is_a_phrase(name: str) -> None:
    assert LEAST_ALIKE == 4 / 5
    assert find_phrased({"p": NEAR[name]}, ["other words", FIVE]) == {"p"}
    assert find_phrased({"p": FIVE}, [NEAR[name]]) == {"p"}


@pytest.mark.parametrize("name", FAR)
def test_a_prompt_with_less_in_common_is_another_question(name: str) -> None:
    assert find_phrased({"p": FAR[name]}, ["other words", FIVE]) == set()
    assert find_phrased({"p": FIVE}, [FAR[name]]) == set()


def test_a_prompt_that_was_cut_to_the_length_of_a_phrase_is_this_phrase() -> None:
    words = [f"word{number}" for number in range(3 * MOST_WORDS)]
    assert find_phrased({"p": " ".join(words)}, [" ".join(words[:MOST_WORDS])]) == {"p"}


def test_without_phrases_no_prompt_is_one() -> None:
    assert find_phrased({"p": FIVE}, []) == set()
