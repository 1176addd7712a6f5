"""Phrases that say nothing are found, and phrases that single out their memory are not."""

from engine.phrases.measuring import FIRST, MANY, find_vague
from engine.search.phrases import MOST_PHRASES
from tests.engine.builders import fillers, memory

USUAL = "do the usual before we merge"
NOTES = [memory(f"Note {name}", memory_id=name, body=f"All about {name}.") for name in "abcdefgh"]


def test_a_phrase_that_finds_many_memories_alike_says_nothing() -> None:
    phrases = {name: (USUAL, f"{name}one stops {name}two") for name in "abcdef"}
    found = list(find_vague([*NOTES, *fillers(20)], phrases))
    assert [(one.memory_id, one.phrase, one.others) for one in found] == [(name, USUAL, 5) for name in "abcdef"]
    assert list(find_vague([*NOTES, *fillers(20)], dict.fromkeys("abcdef"[:MANY], (USUAL,)))) == []


def test_a_phrase_whose_memory_is_not_among_the_first_says_nothing() -> None:
    deploys = [memory(f"Deploy {name}", "deploy", memory_id=name, body="deploy the site " * 9) for name in "wxyz"]
    quiet = memory("Calm", memory_id="calm")
    (found,) = find_vague([*deploys, quiet, *fillers(20)], {"calm": ("of the",)})
    assert (found.memory_id, found.rank) == ("calm", 0)
    (found,) = find_vague([*deploys, quiet, *fillers(20)], dict.fromkeys((*"wxyz", "calm"), ("deploy the site",)))
    assert (found.memory_id, found.rank, found.others) == ("calm", FIRST + 2, 4)


def test_memories_without_phrases_and_phrases_of_no_memory_are_nothing() -> None:
    assert list(find_vague(NOTES, {})) == list(find_vague(NOTES, {"gone": (USUAL,) * MOST_PHRASES})) == []
