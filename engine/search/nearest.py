"""The words of a prompt that come closest to those of a memory that they do not find, and what would help.

Within one edit by Damerau's four: a letter too many, too few, another one, or two neighbours swapped ("A technique for
computer detection and correction of spelling errors", CACM 7(3), 1964).
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
"""Ways to be near, the nearest first: another form of the word, one edit away, a word that the prompt's one begins
with, a word that begins with the prompt's one, a part of an identifier."""

ORDER = (SAME_STEM, SPELLING, SHORTER, LONGER, PART)
MISTAKES = (SAME_STEM, SPELLING, SHORTER)
"""Those that are worth a mention beside words that were found."""

FIELDS = ("title", "tags", "body")
MOST = 5
MIN_SPELLED, MIN_SPELLED_UNICODE = 4, 3
"""Letters from which on one edit is likely to be a mistake and not another word."""

MIN_BEGUN = 2
"""Letters of a word of the prompt that is compared with longer ones, or as a part of an identifier."""
MAX_LOOKED_UP = 1000
"""Tokens of a prompt that are compared."""


class Near(Record):
    """A word of the prompt and a word of the memory that it does not find. `how` is one of ORDER.

    `term` is what the prompt's word is part of: itself, or an identifier. `field` is the first of FIELDS to hold it.
    """

    term: str
    prompt: str
    memory: str
    how: str
    field: str


def nearest(terms: Sequence[Term], fields: Fields) -> tuple[Near, ...]:
    """The nearest pairs, at most MOST and one for each word of the prompt, the nearest first."""
    vocabulary = Neighbours(fields)
    asked = dict.fromkeys((token, term) for term in terms for token in _tokens(term))
    found = [near for token, term in list(asked)[:MAX_LOOKED_UP] for near in vocabulary.of(token, term)]
    first: dict[str, Near] = {}
    for near in sorted(found, key=_order):
        first.setdefault(near.prompt, near)
    return tuple(first.values())[:MOST]


class Neighbours:
    """The words of a memory, to be found by what is near them."""

    def __init__(self, fields: Fields) -> None:
        placed = [(word, field) for tokens, field in zip(fields, FIELDS, strict=True) for word in tokens]
        self._fields = {word: field for word, field in reversed(placed) if word != GAP}
        self._stems = _grouped((stem(word), word) for word in self._fields)
        self._shortened = _grouped(
            (key, word) for word in self._fields if _is_spelled(word) for key in _shortened(word)
        )

    def of(self, token: str, term: Term) -> Iterator[Near]:
        """Those of a prompt's token, which is that of *term* or one of its tokens."""
        if token in self._fields:
            if (token,) not in term.phrases and len(token) >= MIN_BEGUN and not token.isdecimal():
                yield self._near(term, token, token, PART)
            return
        for word in self._stems.get(stem(token), ()):
            yield self._near(term, token, word, SAME_STEM)
        if _is_spelled(token):
            close = {word for key in _shortened(token) for word in self._shortened.get(key, ())}
            for word in sorted(close):
                if is_one_edit(token, word):
                    yield self._near(term, token, word, SPELLING)
        yield from self._beginnings(token, term)

    def _beginnings(self, token: str, term: Term) -> Iterator[Near]:
        for word in self._fields:
            if word.isdecimal() or word == token:
                continue
            if may_begin(word) and token.startswith(word):
                yield self._near(term, token, word, SHORTER)
            elif len(token) >= MIN_BEGUN and not token.isdecimal() and word.startswith(token):
                yield self._near(term, token, word, LONGER)

    def _near(self, term: Term, token: str, word: str, how: str) -> Near:
        return Near(term.text, token, word, how, self._fields[word])


def is_one_edit(one: str, other: str) -> bool:
    """Whether one edit makes one word of the other: exactly one."""
    short, long = sorted((one, other), key=len)
    i = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) != len(long):
        return short[i:] == long[i + 1 :]
    is_swapped = short[i : i + 2] == long[i : i + 2][::-1] and short[i + 2 :] == long[i + 2 :]
    return short != long and (is_swapped or short[i + 1 :] == long[i + 1 :])


def advice(near: Near | None, tag: str) -> str:
    """What would have made the memory match, in a sentence. *tag* is the word to add where nothing is near."""
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
    """The word that tells most: the rarest, of equally rare ones the longest. *counts*: word -> memories."""
    return min(counts, key=lambda text: (counts[text], -len(text)), default="")


def _tokens(term: Term) -> list[str]:
    """Those of its spelling in parts, where it is an identifier."""
    parts = [token for phrase in term.phrases if len(phrase) > 1 for token in phrase]
    return parts or [phrase[0] for phrase in term.phrases]


def _order(near: Near) -> tuple[int, int]:
    return ORDER.index(near.how), FIELDS.index(near.field)


def _is_spelled(word: str) -> bool:
    return word.isalpha() and len(word) >= (MIN_SPELLED if word.isascii() else MIN_SPELLED_UNICODE)


def _shortened(word: str) -> set[str]:
    """A word, and what is left of it without any one letter: words within one edit have one of these in common."""
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


def _grouped(pairs: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, word in pairs:
        found.setdefault(key, []).append(word)
    return found
