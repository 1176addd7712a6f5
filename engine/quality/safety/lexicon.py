"""What the safety scan looks for: the words of lexicon.txt, the rules of rules.txt, and characters that hide a text.

A word or a phrase stands for concepts; a concept is a bit. A rule names concepts that are dangerous together, and
seldom harmless together. No word alone is a danger. User, assistant, always, memory and session are words of ordinary
notes, so they count for nothing: a rule needs an order that goes against somebody. A rule must find attacks in the
tests that no other rule finds, and almost no harmless note of the corpus.
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.lean.sections import read_sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

OVERRIDE, CANCEL, RULES, SYSTEM, PRIOR, ALL, YOU, TOLD = (1 << bit for bit in range(8))
USER, NEW, OBEY, REVEAL, EXACT, ROLE, FREE = (1 << bit for bit in range(9, 16))
SECRET, SEND, OUTSIDE, NOT, TELL, THIS, CONSENT, ALWAYS = (1 << bit for bit in range(16, 24))
APPROVED, ACTIONS, RUN, DANGER, MEMORY, HIDE, REPORT = (1 << bit for bit in range(24, 31))
CHANGE, ADVISE, ASKED, DECODE, TASK, WITHOUT, SKIP, URGENT = (1 << bit for bit in range(32, 40))
COVER, STEAL, WISH, SAFETY, IF, UNASKED, FORBIDDEN = (1 << bit for bit in range(40, 47))
GUARD, SOURCE, LEAK, COPY, BIAS, POISON = (1 << bit for bit in range(48, 54))

BITS = {name: bit for name, bit in [*vars().items()] if name.isupper() and isinstance(bit, int)}
VOWELS, DOUBLED = "aeiou", "bdglmnprt"
MOST_SCANNED = 100_000
"""Characters of a memory that are scanned. The rest is never looked at, which is a sign of its own."""


def concept(names: str, separator: str = " ") -> int:
    """The concepts with these names as one number."""
    return sum(map(BITS.__getitem__, names.split(separator))) if names else 0


_SECTIONS = [(heading.partition(" "), lines) for heading, lines in read_sections(__file__, "lexicon.txt")]


def _entries(kind: str) -> Iterator[tuple[str, int]]:
    """The words of a kind, or its phrases, with their concepts."""
    for (name, _, concepts), lines in _SECTIONS:
        if name == kind:
            bits = concept(concepts)
            yield from [(entry, bits) for entry in (lines if kind == "phrases" else " ".join(lines).split())]


def marks() -> list[tuple[int, list[str]]]:
    """The concepts and the patterns of the signs that stand for them."""
    return [(concept(concepts), lines) for (name, _, concepts), lines in _SECTIONS if name == "marks"]


_IRREGULAR = {
    line.split()[0]: line.split()[1:] for (name, _, _), lines in _SECTIONS if name == "irregular" for line in lines
}


def _forms(verb: str) -> list[str]:
    """The other forms of an English verb: -s, -ed and -ing, also with a doubled letter; and irregular ones."""
    stem = verb[:-1] if verb.endswith("e") else verb
    past = f"{verb[:-1]}ied" if verb.endswith("y") else f"{stem}ed"
    is_short = verb[-1] in DOUBLED and verb[-2] in VOWELS and verb[-3] not in VOWELS
    doubled = [f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"] if is_short else []
    return [f"{verb}s", past, f"{stem}ing", *doubled, *_IRREGULAR.get(verb, ())]


CONCEPTS: dict[str, int] = {}
"""Word -> its concepts."""

STARTS: dict[str, list[tuple[tuple[str, ...], int]]] = {}
"""First word -> the phrases that begin with it and their concepts, the longest first."""

_ORDERS = [*_entries("orders")]
_FORMS = [(form, bits) for verb, bits in _ORDERS for form in _forms(verb)]
_PHRASES: dict[str, int] = {}
for entry, bits in (*_entries("words"), *_ORDERS, *_FORMS, *_entries("phrases")):
    listed = _PHRASES if " " in entry else CONCEPTS
    listed[entry] = listed.get(entry, 0) | bits
for phrase in sorted(_PHRASES, key=len, reverse=True):
    STARTS.setdefault(phrase.partition(" ")[0], []).append((tuple(phrase.split()), _PHRASES[phrase]))

MOODS = frozenset(form for form, _ in _FORMS) - {"leaked"}
"""Forms that tell, and do not order: "the parser ignores blanks"."""

PARTS = dict(_entries("parts"))
"""Word of a script without spaces -> its concepts."""

WITHOUT_SPACES = range(0x3040, 0x3100), range(0x3400, 0xA000), range(0xAC00, 0xD7B0), range(0x900, 0x980)
"""Kana, Han, Hangul and Devanagari: in these, only PARTS count as words."""

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


class Rule(Record):
    """Concepts in `needed` within `span` words. Each number in `needed` is one concept, or several that serve equally.

    `is_order`: the first concept is an order to the reader. What is told about somebody else is none. `is_next`: the
    others stand behind the first, as in "send the keys to".
    """

    category: str
    span: int
    reason: str
    needed: tuple[int, ...]
    is_order: bool = True
    is_next: bool = False


def _rule(category: str, line: str) -> Rule:
    """The rule in a line of rules.txt."""
    parts, _, reason = line.partition(" : ")
    kind, span, *needed = parts.split()
    concepts = tuple(concept(names, "|") for names in needed)
    return Rule(category, int(span), reason, concepts, is_order=kind != "told", is_next=kind == "next")


_BY_FIRST_TWO = tuple(
    (rule.needed[0], rule.needed[1], rule)
    for category, lines in read_sections(__file__, "rules.txt")
    for rule in (_rule(category, line) for line in lines)
)


def possible(concepts: int) -> list[Rule]:
    """The rules that can hold where these concepts are."""
    return [
        rule
        for first, second, rule in _BY_FIRST_TWO
        if concepts & first and concepts & second and all(concepts & needed for needed in rule.needed)
    ]
