"""Prompts that are phrases now, or nearly, and phrases that say nothing."""

from engine.phrases.measuring import FIRST, MANY, find_phrased, find_vague
from engine.search.phrases import MOST_PHRASES, MOST_WORDS
from tests.engine.builders import fillers, memory

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


def test_a_prompt_with_four_fifths_of_the_stems_of_the_longer_one_is_a_phrase_and_no_other() -> None:
    for texts, expected in ((NEAR, {"p"}), (FAR, set())):
        for name, text in texts.items():
            assert find_phrased({"p": text}, ["other words", FIVE]) == expected, name
            assert find_phrased({"p": FIVE}, [text]) == expected, name
    words = [f"word{number}" for number in range(3 * MOST_WORDS)]
    assert find_phrased({"p": " ".join(words)}, [" ".join(words[:MOST_WORDS])]) == {"p"}
    assert find_phrased({"p": FIVE}, []) == set()


USUAL = "do the usual before we merge"
NOTES = [memory(f"Note {name}", memory_id=name, body=f"All about {name}.") for name in "abcdefgh"]


def test_a_phrase_that_finds_many_memories_alike_or_not_its_own_says_nothing() -> None:
    phrases = {name: (USUAL, f"{name}one stops {name}two") for name in "abcdef"}
    found = list(find_vague([*NOTES, *fillers(20)], phrases))
    assert [(one.memory_id, one.phrase, one.others) for one in found] == [(name, USUAL, 5) for name in "abcdef"]
    assert list(find_vague([*NOTES, *fillers(20)], dict.fromkeys("abcdef"[:MANY], (USUAL,)))) == []
    deploys = [memory(f"Deploy {name}", "deploy", memory_id=name, body="deploy the site " * 9) for name in "wxyz"]
    quiet = memory("Calm", memory_id="calm")
    (found,) = find_vague([*deploys, quiet, *fillers(20)], {"calm": ("of the",)})
    assert (found.memory_id, found.rank) == ("calm", 0)
    (found,) = find_vague([*deploys, quiet, *fillers(20)], dict.fromkeys((*"wxyz", "calm"), ("deploy the site",)))
    assert (found.memory_id, found.rank, found.others) == ("calm", FIRST + 2, 4)
    assert list(find_vague(NOTES, {})) == list(find_vague(NOTES, {"gone": (USUAL,) * MOST_PHRASES})) == []
