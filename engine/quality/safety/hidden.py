"""Text that people do not see, or cannot read: look-alike letters, invisible characters, Base64 and escapes.

Only ways of hiding that a model undoes by itself while it reads a note are looked for.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from itertools import pairwise

from engine.lean.record import Record
from engine.quality.safety.lexicon import (
    BIDIRECTIONAL,
    BLANK,
    CONCEPTS,
    INVISIBLE,
    LOOK_ALIKES,
    OVERRIDES,
    SUSPECT,
    TAGS,
)

BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,2000}={0,2}(?![\w=])")
ESCAPES = re.compile(
    r"(?:(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{2,6};|\\[0-7]{3})\s?){6,}|(?:&[lg]t;[^&]{3,300}){2,}"
)
ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-7]{3}))")
TAG, SELECTOR = re.compile("[\U000e0000-\U000e007f]"), re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
UNSEEN, TURNING = re.compile(f"[{''.join(INVISIBLE)}]"), re.compile(f"[{''.join(OVERRIDES)}]")
LETTERS = re.compile(r"[^\W\d_]+")
JOINING = "\u200c\u200d"
READABLE = 0.9

Sign = tuple[int, int, str]
"""Start and end of a sign in the text, and its reason."""


class Folded(Record):
    """`text`, and for each of its characters the `places` in the original; None if nothing was changed."""

    text: str
    places: tuple[int, ...] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of a place in the text."""
        if not self.places:
            return start, end
        last = len(self.places) - 1
        return self.places[min(start, last)], self.places[min(max(start, end - 1), last)] + 1


class Decoded(Record):
    """A text that was encoded at a place of the original, and the name of the encoding."""

    text: str
    how: str
    start: int
    end: int


def fold(text: str) -> Folded:
    """*text* as a reader sees it: without invisible characters, in compatibility form, look-alikes as Latin letters."""
    if text.isascii() or SUSPECT.isdisjoint(text):
        return Folded(text)
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        code = ord(character)
        if character in INVISIBLE or character in BIDIRECTIONAL or code in TAGS or SELECTOR.match(character):
            continue
        if unicodedata.combining(character) and place and text[place - 1].isascii():
            continue
        plain = character if code < 128 else " " if character == BLANK else unicodedata.normalize("NFKC", character)
        characters += plain
        places += [place] * len(plain)
    return Folded(LETTERS.sub(_unmasked, "".join(characters)), tuple(places))


def _unmasked(match: re.Match[str]) -> str:
    """A word in Latin letters if it mixes scripts, or if it holds look-alikes only and becomes a known word."""
    word = match[0]
    if word.isascii():
        return word
    plain = _latin(word)
    return plain if _is_mixed(word) or (plain.isascii() and plain.lower() in CONCEPTS) else word


def _is_mixed(word: str) -> bool:
    """Whether a word mixes Latin letters with look-alikes of another script."""
    return any(letter in LOOK_ALIKES for letter in word) and any(letter.isascii() for letter in word)


def _latin(word: str) -> str:
    return "".join(LOOK_ALIKES.get(letter, letter) for letter in word)


def look_alikes(text: str) -> list[Sign]:
    """Words that mix Latin letters with look-alikes of another script. One such word may be a formula."""
    words = [
        match
        for match in (() if text.isascii() else LETTERS.finditer(text))
        if len(match[0]) > 2 and _is_mixed(match[0]) and _latin(match[0]).isascii()
    ]
    return [(words[0].start(), words[-1].end(), "letters of another script in words")] if len(words) > 1 else []


def invisible_signs(text: str) -> list[Sign]:
    """Characters that show nothing inside of words, and characters that turn the text."""
    if text.isascii():
        return []
    unseen = [match.start() for match in UNSEEN.finditer(text) if not _is_proper(text, match.start())]
    # a flag of an emoji begins with a black flag
    tags = [place for tag in TAG.finditer(text) if "\U0001f3f4" not in text[max(0, (place := tag.start()) - 8) : place]]
    selectors = [match.start() for match in SELECTOR.finditer(text)]
    turned = [match.start() for match in TURNING.finditer(text)]
    is_leftwards = any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    inside = [place for place in unseen if _is_inside_word(text, place)]
    found = [
        (len(inside) >= 2 or len(unseen) >= 4, unseen, "invisible characters inside words"),
        (len(tags) >= 2, tags, "a text of invisible tag characters"),
        (
            len(selectors) >= 4 and any(b - a == 1 for a, b in pairwise(selectors)),
            selectors,
            "a text of variation selectors",
        ),
        (bool(turned) and not is_leftwards, turned, "characters that turn the direction of the text"),
    ]
    return [(places[0], places[-1] + 1, reason) for is_sign, places, reason in found if is_sign]


def _is_proper(text: str, place: int) -> bool:
    """Whether scripts or emojis need the character here, or it is a byte order mark or a soft hyphen."""
    if place == 0 or text[place] in ("\u00ad", "\u3164", "\u115f", "\u1160"):
        return True
    return text[place] in JOINING and ord(text[place - 1]) > 0x2FF


def _is_inside_word(text: str, place: int) -> bool:
    around = text[max(0, place - 1) : place], text[place + 1 : place + 2]
    return all(character.isalnum() or character in INVISIBLE for character in around if character)


def decode(text: str) -> list[Decoded]:
    """The readable texts that *text* hides, also those that are encoded twice."""
    found = [*_invisible_texts(text), *_encoded_runs(text)]
    deeper = [
        Decoded(inner.text, f"{decoded.how}, {inner.how}", decoded.start, decoded.end)
        for decoded in found
        for inner in _encoded_runs(decoded.text)
    ]
    return found + deeper


def _invisible_texts(text: str) -> list[Decoded]:
    if text.isascii():
        return []
    tags = [*TAG.finditer(text)]
    selectors = [match for match in SELECTOR.finditer(text) if match[0] < "\uffff"]
    found = []
    if len(tags) > 3:
        plain = "".join(chr(ord(match[0]) - 0xE0000) for match in tags)
        found.append(Decoded(plain, "tag characters", tags[0].start(), tags[-1].end()))
    if len(selectors) > 7:
        halves = [ord(match[0]) - 0xFE00 for match in selectors]
        raw = bytes(high * 16 + low for high, low in zip(halves[::2], halves[1::2], strict=False))
        found.append(Decoded(_readable(raw), "variation selectors", selectors[0].start(), selectors[-1].end()))
    turned = "".join(character for character in text if character not in BIDIRECTIONAL)
    if "\u202e" in text or "\u202d" in text:
        found.append(Decoded(turned[::-1], "turned direction", 0, len(text)))
    return found


def _encoded_runs(text: str) -> list[Decoded]:
    """The runs of Base64 and of escapes within *text* that can be read."""
    found = [Decoded(_from_base64(match[0]), "Base64", *match.span()) for match in BASE64.finditer(text)]
    for match in ESCAPES.finditer(text):
        plain = ESCAPED.sub(
            lambda one: chr(int(one[3], 8) if one[3] else int(one[1] or one[2], 16)), html.unescape(match[0])
        )
        found.append(Decoded(plain, "escapes", *match.span()))
    return [decoded for decoded in found if decoded.text]


def _from_base64(run: str) -> str:
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(plain + "=" * (-len(plain) % 4)))
    except (binascii.Error, ValueError):
        return ""


def _readable(raw: bytes) -> str:
    """A decoded text; empty if it is not readable."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    readable = sum(character.isprintable() or character in "\n\t" for character in text)
    return text if readable >= READABLE * len(text) else ""
