"""How much a word says about a memory: stop words, names that look like stop words, and how rare a word is.

English words without a topic are stop words. Other languages have none here: to guess the language costs more than the
stop words would save. A stop word may be a name nevertheless: Go, `make`, C, R. It is shown by backticks around it, a
capital inside a sentence, an option or a bracket behind it, or C's ++ or #.

A common word says less about a memory than one of the project. In a root of few memories, the rarity of a word in the
root alone is noise: "slow" may be in one memory by chance. The table common_words.txt lists the commonest words of
several languages with their Zipf frequency (log10 of occurrences in a billion words), a line for each first letter. It
is read once in a process.
"""

from __future__ import annotations

import os
import unicodedata
from math import log

from engine.search.tokens import WORDS, fold, has_unspaced

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


STOP_WORDS = frozenset(WORDS["stop words"])
ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？")
QUOTES = "\"'()[]{}<>*_,.;:!?…«»“”‘’-#>"
CLOSING = "*_\"')]»”’"
"""Signs that may follow the end of a sentence, as in `**Why:** The reason`."""

MOST_CAPITALS = 0.5
"""In a text with a larger share of capitals, such as a title, a capital does not show a name. Without abbreviations."""

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


def names(text: str) -> set[str]:
    """The words of *text* that are shown to be names, in their own case.

    Three backticks open code as one does. A word before an option is a command, as in `make -j4`.
    """
    words = text.split()
    in_code = {word.strip(QUOTES) for piece in text.split("`")[1::2] for word in piece.split()}
    commands = {
        words[place - 1]
        for place in range(1, len(words))
        if words[place][:1] == "-" and words[place].removeprefix("-").removeprefix("-")[:1].isalnum()
    }
    called = {word.partition("(")[0] for word in words if "(" in word[1:]}
    with_sign = {word[0] for raw in words if (word := raw.strip("\"'().,;:!?"))[1:] in ("++", "#")}
    return in_code | _with_capital(text) | commands | called | with_sign


def _with_capital(text: str) -> set[str]:
    """Words whose only capital is their first letter, and that begin no sentence."""
    if text.islower():
        return set()
    found, capitals, count = set(), 0, 0
    for line in text.splitlines():
        begins = True
        for raw in line.split():
            word = raw.strip(QUOTES)
            if word and not begins and (len(word) == 1 or not word.isupper()):
                count += 1
                capitals += word[0].isupper()
                if word[0].isupper() and word not in ("I", "A") and (len(word) == 1 or word[1:].islower()):
                    found.add(word)
            is_sign = any(unicodedata.category(character) == "So" for character in raw if not character.isascii())
            begins = (is_sign or raw.rstrip(CLOSING).endswith(ENDS)) if word or is_sign else begins
    return found if capitals <= MOST_CAPITALS * count else set()


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
