"""The door of the safety scan: the risk of a memory, and whether its text is worth the whole scan.

Most memories need none: `is_suspect` says so from single words. The scan itself imports more and takes longer.
"""

from __future__ import annotations

from itertools import pairwise

from engine.lean.sections import read_sections
from engine.memory import UNSCANNED
from engine.quality.safety.lexicon import (
    CONCEPTS,
    CONSENT,
    COVER,
    DANGER,
    MOST_SCANNED,
    NOT,
    OUTSIDE,
    PARTS,
    SECRET,
    STARTS,
    SUSPECT,
    TELL,
    UNASKED,
    USER,
    WITHOUT_SPACES,
    possible,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.memory import Memory
    from engine.quality.safety.scan import Scan

_LOOKED_FOR = dict(read_sections(__file__, "forms.txt"))
FORM_SIGNS, FORM_WORDS = _LOOKED_FOR["signs"], frozenset(" ".join(_LOOKED_FOR["words"]).split())
LONG_TEXT = 600
"""Characters of a memory from which its scan takes longer than all else that an index needs of it."""

LONGEST_RUN = 2_000
"""Characters of a run such as an image in Base64 that are scanned, and that a model may get. The rest is cut."""

RUN_SIGNS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-")
LONG_RUN = 20
"""Characters of a run from which an encoded text may come."""

CARRIERS = frozenset("${[<")
"""Signs one of which stands in every address that carries something away."""

_AS_BASE64 = bytes(code if chr(code) in RUN_SIGNS - {"="} else 32 for code in range(256)).translate(
    bytes.maketrans(b"-_", b"+/")
)
"""A translation of bytes: the signs of Base64 in its usual alphabet, and a space for any other."""

SECRET_FILES = (".env", ".npmrc", ".pypirc", ".pgpass")
ESCAPE_SIGNS = ("\\u", "\\x", "&#", "&lt;", "&gt;", *(f"\\{digit}" for digit in range(8)))
SAME_LETTERS = str.maketrans("ſı", "si", "\u0307")
"""Letters that a regular expression takes for English ones if case does not matter. A capital İ becomes i with 0307."""


def early_risk(memory: Memory) -> float:
    """The risk of a short memory, for a new index; UNSCANNED for a long one, which is scanned before it is shown."""
    length = sum(len(line) for section in memory.sections for line in section.lines)
    return risk(memory) if length < LONG_TEXT else UNSCANNED


def risk(memory: Memory) -> float:
    """The risk of a memory, 0..1: see `scan`."""
    text = text_of(memory)
    return scan_text(text).risk if is_suspect(text) else 0.0


def scan_text(text: str) -> Scan:
    """What the whole scan finds in a text."""
    from engine.quality.safety.scan import scan

    return scan(text)


def text_of(memory: Memory) -> str:
    """The text of a memory that is scanned: title, tags, headings and body, each on lines of their own.

    A heading of a word or two is a name of a field, such as Rule; a line of one word is a value of a field. Long runs
    are cut, and one character more than MOST_SCANNED is kept: it says that there is more.
    """
    lines: list[str] = []
    left = MOST_SCANNED
    for section in memory.sections:
        for line in ([section.heading] if section.heading.count(" ") > 1 else []) + [*section.lines]:
            if line and left >= 0 and not (len(line) < LONG_RUN and line.isascii() and line.isalpha()):
                lines.append(cut_runs(line))
                left -= len(lines[-1])
    text = "\n".join((cut_runs(memory.summary.title), cut_runs(", ".join(memory.summary.tags)), *lines))
    return text[: MOST_SCANNED + 1]


def cut_runs(text: str) -> str:
    """*text* with at most LONGEST_RUN characters of each run of letters, digits and signs of Base64."""
    if len(text) <= LONGEST_RUN:
        return text
    kept: list[str] = []
    run = 0
    for character in text:
        run = run + 1 if character in RUN_SIGNS else 0
        if run <= LONGEST_RUN:
            kept.append(character)
    return "".join(kept)


def is_suspect(text: str) -> bool:
    """Whether the scan can find something in *text*: a rule's concepts, the sign of a form, or a hidden text.

    It may be wrong about a harmless text alone: no text is passed over in which the scan finds a sign.
    """
    if len(text) > MOST_SCANNED or not (text.isascii() or SUSPECT.isdisjoint(text)):
        return True
    lower = text.lower()
    if any(chr(letter) in lower for letter in SAME_LETTERS):
        lower = f"{lower} {lower.translate(SAME_LETTERS)}"
    known = {*lower.translate(_SEPARATORS).split()}
    for word in [word for word in known if "'" in word]:
        parts = word.split("'")
        known.update(parts, map("'".join, pairwise(parts)))
    return (
        not FORM_WORDS.isdisjoint(known)
        or any(sign in lower for sign in FORM_SIGNS)
        or any(sign in text for sign in ESCAPE_SIGNS)
        or ("://" in lower and not CARRIERS.isdisjoint(lower))
        or bool(possible(_concepts(lower, known)))
        or _hides_base64(text)
    )


def _concepts(lower: str, known: set[str]) -> int:
    found = 0
    for word in known & CONCEPTS.keys():
        found |= CONCEPTS[word]
    for word in known & STARTS.keys():
        for phrase, concept in STARTS[word]:
            if known.issuperset(phrase):
                found |= concept
    if "." in lower or "@" in lower or "://" in lower:
        found |= OUTSIDE
    if "|" in lower or "~/" in lower or "<(" in lower:
        found |= DANGER | SECRET
    if "$" in lower or any(name in lower for name in SECRET_FILES):
        found |= SECRET
    letters = set() if lower.isascii() else {*lower}
    for part, concept in PARTS.items() if letters else ():
        if part[0] in letters and part in lower:
            found |= concept
    if found & NOT and found & TELL and found & USER:
        found |= COVER
    if found & CONSENT:
        found |= UNASKED
    return found


def _hides_base64(text: str) -> bool:
    """Whether the first bytes of a long run are UTF-8, if it is Base64."""
    for run in text.encode("ascii", "replace").translate(_AS_BASE64).split():
        if len(run) >= LONG_RUN:
            from binascii import a2b_base64

            try:
                a2b_base64(run[:LONG_RUN]).decode()
            except UnicodeDecodeError as error:
                if error.reason != "unexpected end of data":
                    continue
            return True
    return False


class _Separators(dict[int, str]):
    """A translation table that keeps letters and digits of words with spaces, and turns other signs into spaces."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_kept = character.isalnum() and not any(code in block for block in WITHOUT_SPACES)
        self[code] = "'" if character in "'’" else character if is_kept else " "
        return self[code]


_SEPARATORS = _Separators()
