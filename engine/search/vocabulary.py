"""The words of an index, and their codes.

Each word of an index has a number, and so a code: a character. The tokens of a memory are stored as a string of codes.
So `str.count` counts the occurrences of a word, and a phrase is a substring.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from engine.lean.sqlite import Connection

    Fields = tuple[list[str], list[str], list[str]]
    """The tokens of title, tags and body."""

FIRST = 32
"""The character of number 0. The line break between two fields lies before it."""

SURROGATES, AFTER_SURROGATES = 0xD800, 0xE000
LEAD, TRAIL, END = 0xF0000, 0xF8000, 0x110000
"""Higher numbers have codes of two characters: the first in LEAD..TRAIL, the second in TRAIL..END."""

OF_TEXT = "select text, text, number, memories, headlines from json_each(?) join word on text = value"
OF_STEM = "select value, text, number, memories, headlines from json_each(?) join word on stem = value"
BEGUN = """select value, text, number, memories, headlines from json_each(?)
join word on text > value and text < value || char(1114111)"""
OF_NUMBER = "select number, text from json_each(?) join word on number = value"


class Word(Record):
    """A word of an index. `memories` is the number of memories that hold it, `headlines` only by title and tags."""

    text: str
    code: str
    memories: int
    headlines: int


def words_of_text(db: Connection, texts: Iterable[str]) -> dict[str, Word]:
    """Text -> word, for the texts that a memory holds."""
    return {key: word for key, words in _words(db, OF_TEXT, texts).items() for word in words}


def words_of_stem(db: Connection, stems: Iterable[str]) -> dict[str, list[Word]]:
    """Stem -> its words."""
    return _words(db, OF_STEM, stems)


def words_begun(db: Connection, beginnings: Iterable[str]) -> dict[str, list[Word]]:
    """Beginning -> longer words."""
    return _words(db, BEGUN, beginnings)


def _words(db: Connection, sql: str, keys: Iterable[str]) -> dict[str, list[Word]]:
    """Key -> the words that *sql* finds for it and a memory holds."""
    found: dict[str, list[Word]] = {}
    listed = sorted(set(keys))
    rows: Iterable[tuple[Any, ...]] = db.execute(sql, (dumps(listed, ascii_only=False),)) if listed else ()
    for key, text, number, memories, headlines in rows:
        if memories:
            found.setdefault(key, []).append(Word(text, character(number), memories, headlines))
    return found


def decode(db: Connection, encoded: str) -> Fields:
    """The tokens of a memory from its codes: title, tags and body on a line each.

    Raises DatabaseError or LookupError if the index is damaged.
    """
    title, tags, body = map(_numbers, encoded.split("\n"))
    text_of = dict(db.execute(OF_NUMBER, (dumps(sorted({*title, *tags, *body})),)))
    return [text_of[n] for n in title], [text_of[n] for n in tags], [text_of[n] for n in body]


def spelled(phrases: Iterable[tuple[str, ...]], code_of: Mapping[str, str]) -> list[str]:
    """The codes of phrases. A phrase with an unknown word has none."""
    known = [phrase for phrase in phrases if all(word in code_of for word in phrase)]
    return ["".join([code_of[word] for word in phrase]) for phrase in known]


def occurrences(fields: Sequence[str], code: str) -> tuple[int, int, int]:
    """The occurrences of a word or phrase in title, tags and body, the lines of its codes. Overlapping ones count."""
    count = str.count if len(code) == 1 else overlapping
    title, tags, body = fields
    return count(title, code), count(tags, code), count(body, code)


def overlapping(text: str, code: str) -> int:
    """The occurrences of a phrase in *text*. `str.count` would count no two that share a word."""
    number, place = 0, text.find(code)
    while place >= 0:
        number, place = number + 1, text.find(code, place + 1)
    return number


def character(number: int) -> str:
    """The code of the word with this number."""
    code = number + FIRST
    if code >= SURROGATES:
        code += AFTER_SURROGATES - SURROGATES
    if code < LEAD:
        return chr(code)
    high, low = divmod(code - LEAD, END - TRAIL)
    return chr(LEAD + high) + chr(TRAIL + low)


def _numbers(field: str) -> list[int]:
    """The numbers of the words in a line of encoded text."""
    found: list[int] = []
    for code in map(ord, field):
        if code >= TRAIL:
            found[-1] += code - TRAIL
        elif code >= LEAD:
            found.append((code - LEAD) * (END - TRAIL) + LEAD - AFTER_SURROGATES + SURROGATES - FIRST)
        else:
            found.append(code - FIRST - (AFTER_SURROGATES - SURROGATES if code >= AFTER_SURROGATES else 0))
    return found
