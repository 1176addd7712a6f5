"""The words and phrases of lexicon.txt, and the concept that each of them stands for. A concept is a bit."""

from __future__ import annotations

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

HIDDEN_WORDS = frozenset(
    form
    for word, _ in _entries("hidden")
    for form in (word[::-1], "".join(chr((ord(letter) - 97 + 13) % 26 + 97) for letter in word))
)
"""Words backwards and in ROT13. A text that is written so as a whole holds one of them."""
