"""How rare a word is in a root, and in general text: a common word says less about a memory than one of the project.

In a root of few memories, the rarity of a word in the root alone is noise: "slow" may be in one memory by chance. The
table common_words.txt lists the commonest words of several languages with their Zipf frequency (log10 of occurrences in
a billion words), a line for each first letter. It is read once in a process.
"""

from __future__ import annotations

import os
from math import log

from engine.search.stopwords import STOP_WORDS
from engine.search.tokens import fold, has_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Named(Protocol):
        """A term or a unit: its text as the person wrote it, and its sequences of tokens or stems."""

        @property
        def text(self) -> str: ...

        @property
        def phrases(self) -> Sequence[Sequence[str]]: ...


FILE = os.path.join(os.path.dirname(__file__), "common_words.txt")

LEAST_ZIPF, MOST_ZIPF = 3.5, 6.0
"""Zipf frequencies of a rare word, and of a word that says nothing."""

LEAST_RARITY = 0.05

OTHERS = "*"
"""The line of words that begin with no letter a-z."""

ELSEWHERE = 10
"""Memories about other things that are added to the number of memories: else a word of all memories in a small root
would weigh nothing."""

_LINES: dict[str, str] = {}
"""The table, read when a word is first asked for: first letter -> " word:zipf word:zipf ... "."""


def idf(holding: int, memories: int) -> float:
    """The weight of a word that *holding* of the memories hold."""
    return log(1 + (memories + ELSEWHERE - holding + 0.5) / (holding + 0.5))


def rarity_of(unit: Named) -> float:
    """The rarity of a term or unit in general text, LEAST_RARITY..1.

    An identifier of several words is rare, and so is a name that looks like a stop word or letter: Go, `make`, C.
    """
    word = fold(unit.text)
    is_name = word in STOP_WORDS or (len(word) == 1 and not has_unspaced(word))
    if is_name or (len(unit.phrases[0]) > 1 and not has_unspaced(word)):
        return 1.0
    return rarity(word)


def rarity(word: str) -> float:
    """The rarity of a folded word, LEAST_RARITY..1: 1 for a word that is not in the table."""
    if not _LINES:
        with open(FILE, encoding="utf-8") as file:
            _LINES.update((line[0], line[1:]) for line in file)
    line = _LINES.get(word[:1] if "a" <= word[:1] <= "z" else OTHERS, "")
    place = line.find(f" {word}:")
    if place < 0:
        return 1.0
    zipf = float(line[place + len(word) + 2 : place + len(word) + 6])
    return min(1.0, max(LEAST_RARITY, (MOST_ZIPF - zipf) / (MOST_ZIPF - LEAST_ZIPF)))
