"""Text that people do not see, or cannot read: invisible characters, look-alikes and encodings."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from itertools import pairwise
from urllib.parse import unquote

from engine.lean.record import Record
from engine.quality.safety.folding import (
    BIDIRECTIONAL,
    INVISIBLE,
    LEET,
    OVERRIDES,
    is_mixed,
    latin,
)
from engine.quality.safety.lexicon import CONCEPTS, HIDDEN_WORDS
from engine.quality.safety.rules import HOMOGLYPHS, Detection
from engine.quality.safety.rules import INVISIBLE as INVISIBLE_CHARACTERS

BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,}={0,2}(?![\w=])")
HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}[ :]?){12,})(?![0-9A-Za-z])")
ESCAPES = re.compile(
    r"(?:(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{2,6};|\\[0-7]{3})\s?){6,}|(?:&[lg]t;[^&]{3,}){2,}"
)
PERCENT = re.compile(r"\S*(?:%[0-9A-Fa-f]{2}\S*?){3,}\S*")
BINARY = re.compile(r"(?:[01]{8}\s?){6,}")
SPELLED = re.compile(r"(?<!\w)(?:\w[ .\-_*]{1,3}){7,}\w(?!\w)")
SPLIT = re.compile(r"(?<=[a-z])-(?=[a-z])")
LEET_WORD = re.compile(r"\b(?=\w*[a-z@$])(?=\w*\d)[\w@$]{3,}\b", re.IGNORECASE)
TAG, SELECTOR = re.compile("[\U000e0000-\U000e007f]"), re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
UNSEEN, TURNING = re.compile(f"[{''.join(INVISIBLE)}]"), re.compile(f"[{''.join(OVERRIDES)}]")
JOINING = "\u200c\u200d"
READABLE = 0.9
DEPTH = 3


class Decoded(Record):
    """A text that was encoded at a place of the original, and the name of the encoding."""

    text: str
    how: str
    start: int
    end: int


def signs(text: str) -> list[Detection]:
    """Invisible and bidirectional characters and look-alike letters."""
    if text.isascii():
        return []
    return [*_invisible(text), *_look_alikes(text)]


def decodings(text: str, depth: int = DEPTH) -> list[Decoded]:
    """The readable texts that *text* hides, also those that are encoded several times."""
    found = [*_hidden_characters(text), *_runs(text), *_spellings(text)]
    deeper = [
        Decoded(inner.text, f"{decoded.how}, {inner.how}", decoded.start, decoded.end)
        for decoded in found
        if depth > 1 and decoded.how not in ("ROT13", "written backwards")
        for inner in _runs(decoded.text)
    ]
    return found + [decoded for decoded in deeper if decoded.text != text]


def _invisible(text: str) -> list[Detection]:
    places = [match.start() for match in UNSEEN.finditer(text) if not _is_proper(text, match.start())]
    tags = [match.start() for match in TAG.finditer(text) if not _is_flag(text, match.start())]
    selectors = [match.start() for match in SELECTOR.finditer(text)]
    found = []
    inside = [place for place in places if _is_inside_word(text, place)]
    if len(inside) >= 2 or len(places) >= 4:
        found.append(Detection(INVISIBLE_CHARACTERS, places[0], places[-1] + 1, "invisible characters inside words"))
    if len(tags) >= 2:
        found.append(Detection(INVISIBLE_CHARACTERS, tags[0], tags[-1] + 1, "a text of invisible tag characters"))
    if len(selectors) >= 4 and any(b - a == 1 for a, b in pairwise(selectors)):
        found.append(Detection(INVISIBLE_CHARACTERS, selectors[0], selectors[-1] + 1, "a text of variation selectors"))
    turned = [match.start() for match in TURNING.finditer(text)]
    if turned and not any(unicodedata.bidirectional(character) in ("R", "AL") for character in text):
        reason = "characters that turn the direction of the text"
        found.append(Detection(INVISIBLE_CHARACTERS, turned[0], turned[-1] + 1, reason))
    return found


def _is_proper(text: str, place: int) -> bool:
    """Whether scripts or emojis need the character here, or it is a byte order mark or a soft hyphen."""
    if place == 0 or text[place] in ("\u00ad", "\u3164", "\u115f", "\u1160"):
        return True
    before = ord(text[place - 1])
    return text[place] in JOINING and before > 0x2FF


def _is_flag(text: str, place: int) -> bool:
    """Whether a tag character belongs to a flag, which begins with a black flag."""
    return "\U0001f3f4" in text[max(0, place - 8) : place]


def _is_inside_word(text: str, place: int) -> bool:
    around = text[max(0, place - 1) : place], text[place + 1 : place + 2]
    return all(character.isalnum() or character in INVISIBLE for character in around if character)


def _look_alikes(text: str) -> list[Detection]:
    """Words that mix Latin letters with look-alikes of another script. One such word may be a formula."""
    words = [match for match in re.finditer(r"[^\W\d_]{3,}", text) if is_mixed(match[0]) and latin(match[0]).isascii()]
    if len(words) < 2:
        return []
    return [Detection(HOMOGLYPHS, words[0].start(), words[-1].end(), "letters of another script in words")]


def _hidden_characters(text: str) -> list[Decoded]:
    if text.isascii():
        return []
    tags = [(match.start(), chr(ord(match[0]) - 0xE0000)) for match in TAG.finditer(text)]
    selectors = [(match.start(), ord(match[0]) - 0xFE00) for match in SELECTOR.finditer(text) if match[0] < "\uffff"]
    found = []
    if len(tags) > 3:
        found.append(
            Decoded("".join(character for _, character in tags), "tag characters", tags[0][0], tags[-1][0] + 1)
        )
    if len(selectors) > 7:
        pairs = zip(selectors[::2], selectors[1::2], strict=False)
        if plain := _readable(bytes(high * 16 + low for (_, high), (_, low) in pairs)):
            found.append(Decoded(plain, "variation selectors", selectors[0][0], selectors[-1][0] + 1))
    turned = "".join(character for character in text if character not in BIDIRECTIONAL)
    if len(turned) < len(text) and any(character in text for character in "\u202e\u202d"):
        found.append(Decoded(turned[::-1], "turned direction", 0, len(text)))
    return found


def _runs(text: str) -> list[Decoded]:
    """Encoded runs within *text*."""
    return [
        Decoded(plain, how, *match.span())
        for how, (pattern, read) in RUNS.items()
        for match in pattern.finditer(text)
        if (plain := read(match))
    ]


def _base64(match: re.Match[str]) -> str:
    raw = match[0].rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(raw + "=" * (-len(raw) % 4)))
    except (binascii.Error, ValueError):
        return ""


def _hexadecimal(match: re.Match[str]) -> str:
    plain = match[1].replace(" ", "").replace(":", "")
    return _readable(bytes.fromhex(plain[: len(plain) // 2 * 2]))


def _binary(match: re.Match[str]) -> str:
    bits = match[0].split() if " " in match[0] else re.findall(".{8}", match[0])
    return _readable(bytes(int(bit, 2) for bit in bits if len(bit) == 8))


def _readable(raw: bytes) -> str:
    """A decoded text; empty if it is not readable."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    readable = sum(character.isprintable() or character in "\n\t" for character in text)
    return text if readable >= READABLE * len(text) else ""


def _unescaped(match: re.Match[str]) -> str:
    plain = html.unescape(match[0])
    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-7]{3}))", _character, plain)


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1] or match[2], 16) if match[1] or match[2] else int(match[3], 8))


RUNS = {
    "Base64": (BASE64, _base64),
    "hexadecimal": (HEX, _hexadecimal),
    "escapes": (ESCAPES, _unescaped),
    "URL encoding": (PERCENT, lambda match: unquote(match[0])),
    "binary numbers": (BINARY, _binary),
}
"""Encoding -> its pattern, and the function that decodes a match."""


def _spellings(text: str) -> list[Decoded]:
    """Words that are spelled in another way: letter by letter, with digits for letters, ROT13, backwards."""
    found = []
    for match in SPELLED.finditer(text):
        words = re.split(r"\s{2,}", match[0]) if re.search(r"\s{2,}", match[0]) else [match[0]]
        if re.search(r"[.\-_*]", match[0]):
            words = match[0].split()
        plain = " ".join("".join(filter(str.isalnum, word)) for word in words)
        found.append(Decoded(plain, "single letters", *match.span()))
    letters = LEET_WORD.sub(lambda match: match[0].lower().translate(LEET), text)
    ways = [("digits in place of letters", letters, 3), ("split words", SPLIT.sub("", text), 2)]
    if not HIDDEN_WORDS.isdisjoint(re.findall(r"\w+", text.lower())):
        ways += [("ROT13", codecs.encode(text, "rot13"), 3), ("written backwards", text[::-1], 3)]
    for how, changed, least in ways:
        if text != changed and _known(changed) >= _known(text) + least:
            found.append(Decoded(changed, how, 0, len(text)))
    return found


def _known(text: str) -> int:
    """The number of longer words with a concept."""
    return sum(word in CONCEPTS and len(word) > 4 for word in re.findall(r"\w+", text.lower()))
