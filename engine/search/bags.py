"""A memory as a bag of words: its distinct words and how much their occurrences count, ready to meet a prompt.

A bag is three lines of text: the number of tokens; the words, with a space before, between and behind; and for each
word a character whose code is its weight + OFFSET. A word's weight adds up WEIGHTS, once per occurrence. So a few words
of a prompt are looked for in the text as it is, in 0.5 us each, and many are met by a dictionary of all.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.search.rows import Words

WEIGHTS = (4, 2, 1)
"""What an occurrence in title, tags and body counts."""

OFFSET = 32
MAX_WEIGHT = 50_000
"""Under the codes that are no characters of their own."""

FEW = 80
"""Up to so many words it is quicker to look for each than to take the bag apart."""


def bag_of(words: Words) -> str:
    """The bag of a memory's words."""
    weights: dict[str, int] = {}
    for weight, text in zip(WEIGHTS, words, strict=True):
        for token in text.split():
            weights[token] = weights.get(token, 0) + weight
    length = sum(len(text.split()) for text in words)
    codes = "".join(chr(min(weight, MAX_WEIGHT) + OFFSET) for weight in weights.values())
    return f"{length}\n {' '.join(weights)} \n{codes}"


def lookup(wanted: Sequence[str]) -> Callable[[str, str], dict[str, int]]:
    """The function that finds those of *wanted* that a bag holds, with their weights, in its second and third line."""
    if len(wanted) > FEW:
        sought = frozenset(wanted)
        return lambda words, codes: _all(sought, words, codes)
    needles = [(word, f" {word} ") for word in wanted]
    return lambda words, codes: _each(needles, words, codes)


def _each(needles: Sequence[tuple[str, str]], words: str, codes: str) -> dict[str, int]:
    found = {}
    for word, needle in needles:
        place = words.find(needle)
        if place >= 0:
            found[word] = ord(codes[words.count(" ", 0, place)]) - OFFSET
    return found


def _all(sought: frozenset[str], words: str, codes: str) -> dict[str, int]:
    weights = dict(zip(words.split(), codes, strict=True))
    return {word: ord(weights[word]) - OFFSET for word in sought.intersection(weights)}
