"""Words of a memory that are close to words of a prompt and are not found by them, and what would help.

Close spellings are within one edit: a letter too many, too few, another letter, or two neighbours swapped (F. J.
Damerau, "A technique for computer detection and correction of spelling errors", CACM 7(3), 1964).
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.search.stems import stem
from engine.search.tokens import GAP
from engine.search.units import may_begin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.search.query import Term
    from engine.search.vocabulary import Fields

SAME_STEM, SPELLING, SHORTER, LONGER, PART = "same stem", "spelling", "shorter", "longer", "part"
"""Kinds of closeness, the closest first: another form of the prompt's word, one edit away, a beginning of it, a longer
word that it begins, a part of an identifier."""

ORDER = (SAME_STEM, SPELLING, SHORTER, LONGER, PART)
MISTAKES = (SAME_STEM, SPELLING, SHORTER)
"""Kinds that are mentioned even where other words of the prompt are found."""

FIELDS = ("title", "tags", "body")
MOST = 5
MIN_SPELLED, MIN_SPELLED_UNICODE = 4, 3
"""In a word with fewer letters, one edit makes another word rather than a mistake."""

MIN_BEGUN = 2
"""Letters of a prompt's word that is compared with longer words, or as a part of an identifier."""
MAX_TOKENS = 1000
"""Tokens of a prompt that are compared."""


class Near(Record):
    """A word of the prompt and a close word of the memory. `how` is one of ORDER.

    `term` is the whole term of the prompt's word, such as an identifier. `field` is the first of FIELDS with the word.
    """

    term: str
    prompt: str
    memory: str
    how: str
    field: str


def nearest(terms: Sequence[Term], fields: Fields) -> tuple[Near, ...]:
    """The closest pairs, at most MOST, and one for each word of the prompt; the closest first."""
    placed = [(word, field) for tokens, field in zip(fields, FIELDS, strict=True) for word in tokens]
    field_of = {word: field for word, field in reversed(placed) if word != GAP}
    stems = {word: stem(word) for word in field_of}
    asked = dict.fromkeys((token, term) for term in terms for token in _tokens(term))
    found = [
        Near(term.text, token, word, how, field_of[word])
        for token, term in list(asked)[:MAX_TOKENS]
        for word, how in _close(token, term, stems)
    ]
    first: dict[str, Near] = {}
    for near in sorted(found, key=lambda near: (ORDER.index(near.how), FIELDS.index(near.field))):
        first.setdefault(near.prompt, near)
    return tuple(first.values())[:MOST]


def _close(token: str, term: Term, stems: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The words of a memory that are close to a token of *term*, and how. *stems*: word of the memory -> its stem."""
    is_long = len(token) >= MIN_BEGUN and not token.isdecimal()
    if token in stems:
        if (token,) not in term.phrases and is_long:
            yield token, PART
        return
    own_stem, is_spelled = stem(token), _is_spelled(token)
    for word, its_stem in stems.items():
        if its_stem == own_stem:
            yield word, SAME_STEM
        if is_spelled and _is_spelled(word) and is_one_edit(token, word):
            yield word, SPELLING
        if word.isdecimal():
            continue
        if may_begin(word) and token.startswith(word):
            yield word, SHORTER
        elif is_long and word.startswith(token):
            yield word, LONGER


def is_one_edit(one: str, other: str) -> bool:
    """Whether exactly one edit makes one word of the other."""
    if abs(len(one) - len(other)) > 1:
        return False
    short, long = sorted((one, other), key=len)
    i = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) != len(long):
        return short[i:] == long[i + 1 :]
    is_swapped = short[i : i + 2] == long[i : i + 2][::-1] and short[i + 2 :] == long[i + 2 :]
    return short != long and (is_swapped or short[i + 1 :] == long[i + 1 :])


def advice(near: Near | None, tag: str) -> str:
    """A sentence on what would make the memory match. *tag* is the word to add where no word is close."""
    if near is None:
        return f"No word comes close. The tag '{tag}' would make it match." if tag else NOTHING_ASKED
    return SENTENCES[near.how].format(term=near.term, prompt=near.prompt, memory=near.memory)


NOTHING_ASKED = "The prompt has no word to search for."
SENTENCES: Mapping[str, str] = {
    SAME_STEM: "The prompt says '{prompt}', the memory '{memory}': the tag '{term}' would make it match.",
    SPELLING: "The prompt says '{prompt}', the memory '{memory}'.",
    SHORTER: "The prompt says '{prompt}', the memory only '{memory}': the tag '{term}' would make it match.",
    LONGER: "The prompt says '{prompt}', which is not taken for '{memory}': the tag '{term}' would make it match.",
    PART: "The memory holds '{memory}', but not '{term}' in one: the tag '{term}' would make it match.",
}


def suggested_tag(counts: Mapping[str, int]) -> str:
    """The most useful word: the rarest, and of equally rare words the longest. *counts*: word -> memories."""
    return min(counts, key=lambda text: (counts[text], -len(text)), default="")


def _tokens(term: Term) -> list[str]:
    """The tokens of a term; the parts of an identifier."""
    parts = [token for phrase in term.phrases if len(phrase) > 1 for token in phrase]
    return parts or [phrase[0] for phrase in term.phrases]


def _is_spelled(word: str) -> bool:
    return word.isalpha() and len(word) >= (MIN_SPELLED if word.isascii() else MIN_SPELLED_UNICODE)
