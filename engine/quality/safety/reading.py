"""Text -> sentences of concepts, with their places."""

from __future__ import annotations

import re

from engine.lean.record import Record, replace
from engine.quality.safety.lexicon import (
    CONCEPTS,
    CONSENT,
    COVER,
    FORBIDDEN,
    MOODS,
    NOT,
    OUTSIDE,
    PARTS,
    SKIP,
    STARTS,
    TELL,
    UNASKED,
    USER,
    WITHOUT,
    WITHOUT_SPACES,
    marks,
)

LETTERS_WITHOUT_SPACES = "".join(f"{chr(block[0])}-{chr(block[-1])}" for block in WITHOUT_SPACES)
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[.!?](?=\s|$|[\"'`)*])|\n+|[。！？]")
WORD_OR_PART = re.compile(
    rf"(?P<part>{'|'.join(sorted(map(re.escape, PARTS), key=len, reverse=True))})"
    rf"|(?:(?![{LETTERS_WITHOUT_SPACES}])[^\W_])+(?:['’][^\W_]+)?|[.!?](?=\s|$|[\"'`)*])|\n+|[。！？]"
)
ADDRESS = re.compile(
    r"[a-z]{2,10}://(?!localhost|127\.)[^\s)\]>\"'`]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2,}|\b(?!127\.)\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|(?<![.\w-])[\w-]+(?:\.[\w-]+)*\.(?:example|com|net|xyz|info)\b",
    re.IGNORECASE,
)
SPECIAL = {bits: re.compile("|".join(lines)) for bits, lines in marks()}

ITEMS = ("- ", "* ", "+ ")
ENDS = ".!?\n。！？"
Word = tuple[str, int, int, int]
"""Lower-case text, concepts, start and end."""

REQUEST = re.compile(
    r"\bPOST\b(?!\s+(?:the|all|any|each|every|it|them)\b)|(?i:\bauthorization: *(?:bearer|basic|token) +\S+)"
)
"""The method of a request, which orders nothing, and its sign-in, which is sent to whom it is for."""

ORDERING = frozenset("be by start begin keep".split())
"""Words before a form that is an order all the same: "must be ignored", "start by listing"."""

TELLING = frozenset("does did is are was were has have had could would can".split())
TOLD_NOT = frozenset("doesn't didn't isn't aren't wasn't weren't hasn't".split())
"""A "not" of a text that tells: "the client does not show", where an order has "do not"."""

NAME = re.compile(r"`[A-Za-z]+_[A-Za-z]+(?:\(\))?`")
"""A name in code, of two words that say nothing by themselves."""

MOST_WORDS = 300
"""Words of a sentence. A longer one, such as a line of JSON, is read in parts."""

NEAR, FAR = 3, 10
"""Words from a "not" to the action that it forbids, and to the "without asking" that it forbids."""


class Hit(Record):
    """A word or phrase with concepts. `place` counts words, `start` and `end` count characters.

    `is_told`: its form tells about an action, and does not order it.
    """

    concepts: int
    place: int
    start: int
    end: int
    is_told: bool = False


class Sentence(Record):
    """The hits of a sentence in their order, and the union of their concepts.

    `is_item`: it begins an item of a list, which says nothing about the sentence before.
    """

    hits: tuple[Hit, ...]
    concepts: int
    is_item: bool = False


def sentences(text: str) -> list[Sentence]:
    """The sentences of a folded text that hold a concept."""
    text = REQUEST.sub(_mask, text)
    addresses = [(match.start(), OUTSIDE) for match in ADDRESS.finditer(text)]
    text = NAME.sub(_mask, ADDRESS.sub(_mask, text))
    marks = [(match.start(), concept) for concept, form in SPECIAL.items() for match in form.finditer(text)]
    special = sorted(marks + addresses, reverse=True)
    found: list[Sentence] = []
    words: list[Word] = []
    is_item = text.startswith(ITEMS)
    for match in (WORD if text.isascii() else WORD_OR_PART).finditer(text):
        word = match[0]
        if word[0] in ENDS or len(words) == MOST_WORDS:
            _add(found, words, is_item=is_item)
            words, is_item = [], word[0] == "\n" and text.startswith(ITEMS, match.end())
        if word[0] in ENDS:
            continue
        concepts = PARTS.get(word, 0)
        while special and special[-1][0] < match.end():
            concepts |= special.pop()[1]
        words.append((word.lower().replace("’", "'"), concepts, match.start(), match.end()))
    _add(found, words, is_item=is_item)
    return found


def join_sentences(first: Sentence, second: Sentence) -> Sentence:
    """Two neighbours as one sentence."""
    shift = (first.hits[-1].place if first.hits else 0) + NEAR
    later = tuple(replace(hit, place=hit.place + shift) for hit in second.hits)
    return Sentence(first.hits + later, first.concepts | second.concepts)


def _mask(match: re.Match[str]) -> str:
    """A single word of the same length: the parts of a name or an address say nothing about the sentence."""
    return "q" * len(match[0])


def _add(found: list[Sentence], words: list[Word], *, is_item: bool) -> None:
    hits: list[Hit] = []
    place, union, count = 0, 0, len(words)
    while place < count:
        word, concepts, start, end = words[place]
        length = 1
        if word in STARTS:
            length, more = _phrase(words, place, count)
            concepts |= more
            end = words[place + length - 1][3]
        elif word in CONCEPTS:
            concepts |= CONCEPTS[word]
        if concepts:
            is_asked = place > 0 and words[place - 1][0] in ORDERING
            is_told = (word in MOODS and length == 1 and not is_asked) or any(
                _tells_not(words, at) for at in (place, place - 1)
            )
            hits.append(_in_context(Hit(concepts, place, start, end, is_told), hits))
            union |= hits[-1].concepts
        place += length
    if hits:
        found.append(Sentence(tuple(hits), union, is_item))


def _in_context(hit: Hit, before: list[Hit]) -> Hit:
    """*hit* as the words before it change it: a "not" forbids an action, lifts a question, or keeps a secret."""
    near = [other for other in before if hit.place - other.place <= NEAR]
    close = 0
    for other in near:
        close |= other.concepts & (NOT | WITHOUT | SKIP)
    if hit.concepts & CONSENT and close:
        is_forbidden = close & WITHOUT and any(
            other.concepts & NOT and NEAR < hit.place - other.place <= FAR for other in before
        )
        return replace(hit, concepts=FORBIDDEN if is_forbidden else UNASKED)
    if hit.concepts & USER and any(
        other.concepts & TELL and any(no.concepts & NOT and 0 < other.place - no.place <= NEAR for no in before)
        for other in near
    ):
        return replace(hit, concepts=hit.concepts | COVER)
    if close & NOT and not hit.concepts & (NOT | COVER | TELL | CONSENT | USER):
        return replace(hit, concepts=FORBIDDEN)
    return hit


def _tells_not(words: list[Word], place: int) -> bool:
    word = words[place][0] if place >= 0 else ""
    return word in TOLD_NOT or (word == "not" and place > 0 and words[place - 1][0] in TELLING)


def _phrase(words: list[Word], place: int, count: int) -> tuple[int, int]:
    """The number of words of the longest phrase that begins at *place*, and its concept; else the single word."""
    word = words[place][0]
    following = words[place + 1][0] if place + 1 < count else ""
    for phrase, concept in STARTS[word]:
        length = len(phrase)
        if phrase[1] != following or place + length > count:
            continue
        if all(words[place + n][0] == phrase[n] for n in range(2, length)):
            return length, concept
    return 1, CONCEPTS.get(word, 0)
