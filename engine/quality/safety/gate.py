"""The first step of the safety scan: which parts of a memory are worth a closer look.

Most memories need none. The second step imports more and takes longer; the hook loads it only for these few memories.
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.quality.safety.folding import LEET, SUSPECT
from engine.quality.safety.lexicon import CONCEPTS, DANGER, HIDDEN_WORDS, OUTSIDE, PARTS, SECRET, STARTS
from engine.quality.safety.rules import possible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.memory import Memory
    from engine.quality.safety.scan import Scan

FORM_SIGNS = (
    *("<|", "[inst]", "<<", "</memory", "<system", "<admin", "<developer", "<user", "<assistant", "<function", "<tool"),
    *(
        "<hidden",
        "<important",
        "<secret",
        "<invoke",
        "<!--",
        "/*",
        "](http",
        '"role"',
        '"tool"',
        '"name"',
        '"function"',
    ),
    *("curl", "wget", "fetch", "base64", "netcat", "| nc", "~/.", ".env", "id_rsa", "/etc/", "netrc", "credentials"),
    *("[system", "[admin", "##system", "# system", "system", "admin", "end of", "begin ", "human:", "user:", "note"),
    *(
        " ai",
        "llm",
        "assistant",
        "copilot",
        "agent",
        "override",
        "urgent",
        "instruction",
        "prompt",
        "directive",
        "=<",
        "={",
    ),
)
"""Some of these is in every text in which a form of `forms` is."""

LONG_RUN = 20
"""Characters without a space from which an encoded text may come."""

LETTERS = 8
LEAST_LEET, LEAST_HYPHENS, SHORT = 2, 4, 4
BITS = frozenset("01")
DIGITS = frozenset("0123456789abcdefx")
ESCAPE_SIGNS = ("\\u", "\\x", "&#", "\\1")


class Looks(Record):
    """Which steps of the scan a text needs."""

    words: bool
    forms: bool
    hidden: bool

    def __bool__(self) -> bool:
        return self.words or self.forms or self.hidden


def risk(memory: Memory) -> float:
    """The risk of a memory, 0..1: see `scan`."""
    text = text_of(memory)
    looks = look(text)
    return scanned(text, looks).risk if looks else 0.0


def text_of(memory: Memory) -> str:
    """The text of a memory that is scanned: title, tags, headings and body."""
    one = memory.summary
    lines = [line for section in memory.sections for line in (section.heading, *section.lines) if line]
    return "\n".join((one.title, ", ".join(one.tags), *lines))


def scanned(text: str, looks: Looks) -> Scan:
    from engine.quality.safety.scan import scan

    return scan(text, looks)


def look(text: str) -> Looks:
    """The steps that can find something in *text*."""
    lower = text.lower()
    words = lower.translate(_SEPARATORS).split()
    known = set(words)
    return Looks(
        words=bool(possible(_concepts(lower, known))),
        forms=any(sign in lower for sign in FORM_SIGNS),
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
    if not lower.isascii():
        for part, concept in PARTS.items():
            if part in lower:
                found |= concept
    return found


def _may_be_encoded(text: str, words: list[str], known: set[str]) -> bool:
    if not SUSPECT.isdisjoint(text) or not HIDDEN_WORDS.isdisjoint(known):
        return True
    if any(sign in text for sign in ESCAPE_SIGNS) or text.count("%") >= 3:
        return True
    if text.count("-") >= LEAST_HYPHENS and _are_split(text, known):
        return True
    if any(len(run) >= LONG_RUN and run.count("/") < 3 and run != run.lower() for run in text.split()):
        return True
    if sum(map((1).__eq__, map(len, words))) >= LETTERS or any(map(_is_number, words)):
        return True
    return sum(word.translate(LEET) in CONCEPTS for word in known if not word.isalpha()) >= LEAST_LEET


def _are_split(text: str, known: set[str]) -> bool:
    """Whether more words have a concept if hyphens are left out."""
    whole = set(text.lower().replace("-", "").translate(_SEPARATORS).split()) - known
    return sum(len(word) > SHORT for word in whole & CONCEPTS.keys()) >= LEAST_LEET


def _is_number(word: str) -> bool:
    """Whether a run is so long a number that a text can be in it."""
    return (len(word) >= 8 and set(word) <= BITS) or (len(word) >= LONG_RUN and set(word) <= DIGITS)


class _Separators(dict[int, str]):
    """A translation table that keeps letters and digits, and turns other characters into spaces."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = character if character.isalnum() or character in "'+/=" else " "
        return self[code]


_SEPARATORS = _Separators()
