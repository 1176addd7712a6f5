"""A memory as a bag of words: its distinct words and how much their occurrences count, ready to meet a prompt.

A bag is three lines of text: the number of tokens; the words, with a space between; and for each word a character whose
code is its weight + OFFSET, see `engine.search.weights`. So a prompt meets a memory in one set operation: 20 us for 350
tokens, of which counting them would take 150.
"""

from __future__ import annotations

from engine.search.weights import STEPS, WEIGHTS, rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.search.rows import Words

OFFSET = 32
FEW = 20
"""Up to so many words it is quicker to look for the place of each than to make a dictionary of all."""


def weights_of(words: Words) -> dict[str, int]:
    """How much the occurrences of each word count."""
    weights: dict[str, int] = {}
    for weight, text in zip(WEIGHTS, words, strict=True):
        for token in text.split():
            weights[token] = weights.get(token, 0) + weight
    if max(weights.values(), default=0) > STEPS[0][0]:
        return {token: rounded(weight) for token, weight in weights.items()}
    return weights


def bag_of(words: Words) -> str:
    """The bag of a memory's words."""
    weights = weights_of(words)
    length = sum(len(text.split()) for text in words)
    codes = "".join([chr(weight + OFFSET) for weight in weights.values()])
    return f"{length}\n{' '.join(weights)}\n{codes}"


def weights_in(bag: str, wanted: frozenset[str] | None = None) -> tuple[int, dict[str, int]]:
    """How many tokens a bag's memory has, and the weights of those of *wanted*, or of all words, that it holds."""
    length, listed, codes = bag.split("\n")
    words = listed.split(" ") if listed else []
    found = words if wanted is None else wanted.intersection(words)
    if len(found) <= FEW:
        return int(length), {word: ord(codes[words.index(word)]) - OFFSET for word in found}
    all_codes = dict(zip(words, codes, strict=True))
    return int(length), {word: ord(all_codes[word]) - OFFSET for word in found}
