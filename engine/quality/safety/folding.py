"""Text as a reader sees it: look-alike letters, invisible characters and spellings that hide words are undone.

A folded text comes with the place of each of its characters in the original.
"""

from __future__ import annotations

import unicodedata

from engine.lean.record import Record

LOOK_ALIKES = dict(
    zip(
        "аеорсхуіјѕԁһӏкмтвнԛԝɡɑοανρτυικηωχеΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХІЈЅᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
        "aeopcxyijsdhlkmtbhqwgaoavptuiknwxeABEZHIKMNOPTYXABEKMHOPCTYXIJSabcdefghijklmnoprstuvwyz",
        strict=True,
    )
)
"""Cyrillic, Greek, phonetic and small capital letters -> the Latin letters that they look like."""

INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\u180e\u115f\u1160\u3164\uffa0")
BIDIRECTIONAL = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u202c\u2069")
OVERRIDES = frozenset("\u202d\u202e\u2066\u2067\u2068")
BLANK = "\u2800"
TAGS = range(0xE0000, 0xE0080)
STYLED = (*range(0x1D400, 0x1D800), *range(0xFF21, 0xFF5B), *range(0x24B6, 0x24EA))
"""Mathematical, full-width and circled letters."""

SUSPECT = frozenset(
    {*LOOK_ALIKES, *INVISIBLE, *BIDIRECTIONAL, BLANK, *map(chr, (*TAGS, *range(0x300, 0x370), *STYLED))}
    | set(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Characters that can hide something."""

LEET = str.maketrans("013457@$", "oieastas")


class Folded(Record):
    """`text`, and for each of its characters the `places` in the original; None if nothing was changed."""

    text: str
    places: tuple[int, ...] | None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of a place in the text."""
        if not self.places:
            return start, end
        last = len(self.places) - 1
        return self.places[min(start, last)], self.places[min(max(start, end - 1), last)] + 1


def folded(text: str) -> Folded:
    """*text* without invisible characters, in compatibility form, with Latin letters for look-alikes in mixed words."""
    if text.isascii() or SUSPECT.isdisjoint(text):
        return Folded(text, None)
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        code = ord(character)
        if character in INVISIBLE or character in BIDIRECTIONAL or code in TAGS or is_selector(code):
            continue
        if unicodedata.combining(character) and place and text[place - 1].isascii():
            continue
        plain = character if code < 128 else " " if character == BLANK else unicodedata.normalize("NFKC", character)
        characters += plain
        places += [place] * len(plain)
    return Folded(_latin("".join(characters)), tuple(places))


def is_selector(code: int) -> bool:
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF


def is_mixed(word: str) -> bool:
    """Whether a word mixes Latin letters with look-alikes of another script."""
    return any(letter in LOOK_ALIKES for letter in word) and any(
        letter.isascii() and letter.isalpha() for letter in word
    )


def latin(word: str) -> str:
    return "".join(LOOK_ALIKES.get(letter, letter) for letter in word)


def _latin(text: str) -> str:
    if text.isascii() or not any(letter in LOOK_ALIKES for letter in text):
        return text
    parts: list[str] = []
    word = ""
    for character in text:
        if character.isalpha():
            word += character
            continue
        parts += (_unmasked(word), character)
        word = ""
    return "".join((*parts, _unmasked(word)))


def _unmasked(word: str) -> str:
    """A word in Latin letters if it mixes scripts, or if it holds look-alikes only and becomes a known word."""
    from engine.quality.safety.lexicon import CONCEPTS

    if word.isascii():
        return word
    plain = latin(word)
    return plain if is_mixed(word) or (plain.isascii() and plain.lower() in CONCEPTS) else word
