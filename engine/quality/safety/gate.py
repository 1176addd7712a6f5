"""The first step of the safety scan: which parts of a memory are worth a closer look.

Most memories need none. The second step imports more and takes longer; the hook loads it only for these few memories.
"""

from __future__ import annotations

from engine.lean.sections import read_sections
from engine.memory import UNSCANNED
from engine.quality.safety.folding import LEET, SUSPECT
from engine.quality.safety.lexicon import (
    CONCEPTS,
    CONSENT,
    COVER,
    DANGER,
    HIDDEN_WORDS,
    NOT,
    OUTSIDE,
    PARTS,
    SECRET,
    STARTS,
    TELL,
    UNASKED,
    USER,
)
from engine.quality.safety.rules import Looks, possible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.memory import Memory
    from engine.quality.safety.scan import Scan

_LOOKED_FOR = dict(read_sections(__file__, "forms.txt"))
FORM_SIGNS, FORM_WORDS = _LOOKED_FOR["signs"], frozenset(" ".join(_LOOKED_FOR["words"]).split())
LONG_TEXT = 600
"""Characters of a memory from which its scan takes longer than all else that an index needs of it."""

LONG_RUN = 20
"""Characters without a space from which an encoded text may come."""

LETTERS = 8
MOST_SLASHES = 3
DECIMALS = frozenset("0123456789=")
LEAST_LEET, LEAST_HYPHENS, SHORT = 2, 4, 4
BITS = frozenset("01")
DIGITS = frozenset("0123456789abcdefx")
RESERVED = ".example"
"""The end of a made-up address. It must not count as the word that begins an example."""

ESCAPE_SIGNS = ("\\u", "\\x", "&#", "\\1", "&lt;")


def early_risk(memory: Memory) -> float:
    """The risk of a short memory, for a new index; UNSCANNED for a long one, which is scanned before it is shown."""
    length = sum(len(line) for section in memory.sections for line in section.lines)
    return risk(memory) if length < LONG_TEXT else UNSCANNED


def risk(memory: Memory) -> float:
    """The risk of a memory, 0..1: see `scan`."""
    text = text_of(memory)
    looks = look(text)
    return scanned(text, looks).risk if looks else 0.0


def text_of(memory: Memory) -> str:
    """The text of a memory that is scanned: title, tags, headings and body, each on lines of their own.

    A heading of a word or two is a name of a field, such as Rule; a line of one word is a value of a field.
    """
    lines: list[str] = []
    for section in memory.sections:
        lines += [section.heading] if section.heading.count(" ") > 1 else []
        lines += [line for line in section.lines if line and not _is_value(line)]
    return "\n".join((memory.summary.title, ", ".join(memory.summary.tags), *lines))


def _is_value(line: str) -> bool:
    """Whether a line is a single plain word, such as "policy" or "high"."""
    return len(line) < LONG_RUN and line.isascii() and line.isalpha()


def scanned(text: str, looks: Looks | None = None) -> Scan:
    """What the scan finds. *looks*: the steps that are worth taking, by default those of `look`."""
    from engine.quality.safety.scan import scan

    return scan(text, looks or look(text))


def look(text: str) -> Looks:
    """The steps that can find something in *text*."""
    lower = text.lower()
    words = lower.replace(RESERVED, " ").translate(_SEPARATORS).split()
    known = {word.strip("'") for word in {*words}}
    return Looks(
        words=bool(possible(_concepts(lower, known))),
        forms=not FORM_WORDS.isdisjoint(known) or bool([sign for sign in FORM_SIGNS if sign in lower]),
        hidden=_may_be_encoded(text, words, known),
    )


def _concepts(lower: str, known: set[str]) -> int:
    found = 0
    for word in known & CONCEPTS.keys():
        found |= CONCEPTS[word]
    for word in known & STARTS.keys():
        for phrase, concept in STARTS[word]:
            if known.issuperset(phrase):
                found |= concept
    if "." in lower or "@" in lower:
        found |= OUTSIDE
    if "|" in lower or "~/" in lower or "<(" in lower:
        found |= DANGER | SECRET
    if ".env" in lower or "$" in lower:
        found |= SECRET
    letters = set("".join([word for word in known if not word.isascii()]))
    for part, concept in PARTS.items() if letters else ():
        if part[0] in letters and part in lower:
            found |= concept
    if found & NOT and found & TELL and found & USER:
        found |= COVER
    if found & CONSENT:
        found |= UNASKED
    return found


def _may_be_encoded(text: str, words: list[str], known: set[str]) -> bool:
    if not HIDDEN_WORDS.isdisjoint(known) or not (text.isascii() or SUSPECT.isdisjoint(text)):
        return True
    if any(sign in text for sign in ESCAPE_SIGNS) or text.count("%") >= 3:
        return True
    if text.count("-") >= LEAST_HYPHENS and _are_split(text, known):
        return True
    if any(_looks_random(run) for run in text.split() if len(run) >= LONG_RUN):
        return True
    mixed = [word for word in known if not word.isalpha()]
    if any(map(_is_number, mixed)) or sum([word.translate(LEET) in CONCEPTS for word in mixed]) >= LEAST_LEET:
        return True
    short = [word for word in words if len(word) < 3]
    return len(short) >= LETTERS and _is_spelled(short)


def _is_spelled(short: list[str]) -> bool:
    """Whether many words are single letters, or numbers of two hexadecimal digits."""
    letters = sum([len(word) == 1 and word.isalpha() for word in short])
    return letters >= LETTERS or sum([len(word) == 2 and DIGITS.issuperset(word) for word in short]) >= LETTERS


def _looks_random(run: str) -> bool:
    """Whether a run mixes capitals, small letters and digits as Base64 does. In a path there are more slashes."""
    has_case = run != run.lower() and run != run.upper()
    return has_case and run.count("/") < MOST_SLASHES and not DECIMALS.isdisjoint(run)


def _are_split(text: str, known: set[str]) -> bool:
    """Whether more words have a concept if hyphens are left out."""
    joined = " ".join([run.replace("-", "") for run in text.lower().split() if "-" in run])
    whole = set(joined.translate(_SEPARATORS).split()) - known
    return sum(len(word) > SHORT for word in whole & CONCEPTS.keys()) >= LEAST_LEET


def _is_number(word: str) -> bool:
    """Whether a run is so long a number that a text can be in it."""
    return (len(word) >= 8 and set(word) <= BITS) or (len(word) >= LONG_RUN and set(word) <= DIGITS)


class _Separators(dict[int, str]):
    """A translation table that keeps letters and digits, and turns other characters into spaces."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = character if character.isalnum() or character == "'" else " "
        return self[code]


_SEPARATORS = _Separators()
