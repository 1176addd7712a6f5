"""A prompt as terms, and terms as an FTS5 expression.

A compound identifier becomes an exact phrase: as a prefix, "user_id" would find "user identity". Any other token may be
the beginning of a longer word. All tokens are quoted, so that no word of a prompt is an operator for FTS5's parser.
Stop words are left out, unless they are names: see `stopwords`.
"""

from __future__ import annotations

from engine.lean.record import Record
from engine.search import tokens as tk
from engine.search.stopwords import STOP_WORDS, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Phrase = tuple[tuple[str, ...], bool]
    """A token sequence, and whether its single token may be the beginning of a longer word."""

MAX_CHARACTERS = 8_000
"""Half of these are read at the beginning and half at the end: a question stands before a pasted text, or after it."""
MAX_GUESSED = 200
"""In a prompt with more words, no two neighbours are taken for one word."""

RECEIVERS = ("self", "this", "cls")
"""Words before an attribute that are no part of its name."""

EXTENSIONS = frozenset(
    """
    c cc cfg conf cpp cs css dart env ex exs go graphql h hpp html ini ipynb java js json jsx kt lock lua md mjs php
    proto ps1 py pyi rb rs scala scss sh sql svelte swift tf toml ts tsx txt vue xml yaml yml
    """.split()
)
"""Extensions of files: auth_service.py is also found without its extension."""


class Term(Record):
    """A part of a prompt to be found: its `text` as the person wrote it, and `phrases`, alternative token sequences.

    `is_prefix`: the phrase is a single token, and may be the beginning of a longer word. `is_guess`: the person may
    mean this; it counts only where a memory holds it. `weight`: 1, or less for a word of an earlier turn.
    """

    text: str
    phrases: tuple[tuple[str, ...], ...]
    is_prefix: bool
    is_guess: bool = False
    weight: float = 1.0

    @property
    def searched(self) -> list[Phrase]:
        """The phrases in the form that `any_of` takes."""
        return [(phrase, self.is_prefix) for phrase in self.phrases]


def query_terms(text: str) -> tuple[Term, ...]:
    """The distinct terms of a prompt, in the order in which they appear.

    Stop words and single letters are left out, unless they are names.
    """
    if len(text) > MAX_CHARACTERS:
        text = f"{text[: MAX_CHARACTERS // 2]}\n{text[-MAX_CHARACTERS // 2 :]}"
    named = names(text)
    found: dict[tuple[tuple[str, ...], ...], Term] = {}
    for chunk in dict.fromkeys(tk.chunks(text)):
        for term in _chunk_terms(chunk, is_name=chunk in named):
            found.setdefault(term.phrases, term)
    return tuple(found.values())


def rarest(terms: Sequence[Term], counts: Sequence[int], most: int) -> list[Term]:
    """The *most* rarest terms, in their order; terms of no memory come last. *counts*: memories that hold each term."""
    ordered = sorted(range(len(terms)), key=lambda number: (not counts[number], counts[number], number))
    return [terms[number] for number in sorted(ordered[:most])]


def joined_neighbours(text: str) -> tuple[Term, ...]:
    """Guesses: timeout for `time out`, frontend for `front end`, http2 for `HTTP/2`. None for a long text.

    Where a memory holds the one word, the two words as neighbours count as much.

    The first word of a pair is no stop word: `be low` is not below.
    """
    words = tk.chunks(text[:MAX_CHARACTERS])
    folded = [tk.fold(word) for word in words] if len(words) <= MAX_GUESSED else []
    pairs = [(i, i + 1) for i in range(len(folded) - 1) if _may_be_one(*folded[i : i + 2])]
    found = {folded[i] + folded[j]: f"{words[i]} {words[j]}" for i, j in pairs}
    halves = {folded[i] + folded[j]: (folded[i], folded[j]) for i, j in pairs}
    return tuple(Term(text, ((word,), halves[word]), False, True) for word, text in found.items())


def any_of(phrases: Iterable[Phrase]) -> str:
    """The FTS5 expression that finds any of *phrases*."""
    return " OR ".join(_quoted(phrase, is_prefix) for phrase, is_prefix in phrases)


def all_of(terms: tuple[Term, ...]) -> str:
    """The FTS5 expression that finds all of *terms*."""
    return " AND ".join(f"({any_of(term.searched)})" for term in terms)


def filter_terms(text: str) -> tuple[Term, ...]:
    """The terms of a filter that is being typed: each word may be the beginning of a longer word."""
    found = (token for word in tk.words(text[:MAX_CHARACTERS]) for token in tk.word_tokens(word))
    return tuple(Term(token, ((token,),), is_prefix=True) for token in dict.fromkeys(found))


def _chunk_terms(chunk: str, *, is_name: bool) -> list[Term]:
    if tk.is_plain(chunk):
        term = _single(chunk, chunk.lower(), is_name=is_name)
        return [term] if term else []
    receiver, _, attribute = chunk.partition(".")
    chunk = attribute if receiver in RECEIVERS and attribute else chunk
    words = [word for word in tk.words(chunk) if tk.fold(word)]
    if not chunk.isascii() and any(tk.has_unspaced(tk.fold(word)) for word in words):
        return [term for word in words for term in _unspaced_terms(word)]
    if len(words) > 1:
        return [_compound(chunk)]
    word = words[0] if words else ""
    if tk.is_camel(word):
        return [_camel(word)]
    term = _single(word, tk.fold(word), is_name=is_name)
    return [term] if term else []


def _single(word: str, token: str, *, is_name: bool = False) -> Term | None:
    """The term of a single token. None for a stop word, and for a single letter in a script that has spaces.

    A name that looks like either is an exact term.
    """
    if token in STOP_WORDS or (len(token) < 2 and not (token and tk.is_unspaced(token))):
        return Term(word, ((token,),), False, False) if is_name and token else None
    return Term(word, ((token,),), True, False)


def _compound(chunk: str) -> Term:
    """user_id: an exact phrase of its words or parts, or these in one word (userid).

    A version is found with and without its v; a file also without its extension, if its name is a compound.
    """
    name, _, extension = chunk.rpartition(".")
    is_file = extension.lower() in EXTENSIONS and bool(tk.joined(name))
    phrases = [*_spellings(chunk), *(_spellings(name) if is_file else ())]
    return Term(chunk, tuple(dict.fromkeys(phrases)), is_prefix=False)


def _spellings(name: str) -> list[tuple[str, ...]]:
    words = tk.words(name)
    whole = tuple(filter(None, map(tk.fold, words)))
    parts = tuple(token for word in words for token in tk.word_tokens(word))
    joined = tuple(tk.joined(name).split())
    return [whole, parts, *_other_version(whole), *([joined] if len(joined) == name.count(".") + 1 else ())]


def _other_version(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """v2.0 for 2.0, and 2.0 for v2.0."""
    first, *rest = words
    number = first.removeprefix("v")
    if not (number.isdecimal() and all(word.isdecimal() for word in rest)):
        return []
    return [(number if first != number else f"v{number}", *rest)]


def _camel(word: str) -> Term:
    """getUserName: the whole word, or its parts as neighbours (get_user_name)."""
    return Term(word, ((tk.fold(word),), tk.word_tokens(word)), is_prefix=False)


def _unspaced_terms(word: str) -> list[Term]:
    """A run of Han, Kana or Thai, say: each pair of neighbours is a term, because nothing shows where a word ends.

    Pairs of Hiragana are mostly grammar, and are left out if the run has other pairs.
    """
    found: list[Term | None] = []
    for run in tk.runs(tk.fold(word)):
        parts = tk.clusters(run) if tk.is_unspaced(run[0]) else [run]
        pairs = [(parts[number], parts[number + 1]) for number in range(len(parts) - 1)]
        pairs = [pair for pair in pairs if not all(map(_is_hiragana, pair))] or pairs
        found += [Term("".join(pair), (pair,), is_prefix=False) for pair in pairs] or [
            _single(part, part) for part in parts
        ]
    return [term for term in found if term]


def _is_hiragana(character: str) -> bool:
    return "\u3041" <= character <= "\u309f"


def _may_be_one(first: str, second: str) -> bool:
    """Whether two folded words may be one word that was taken apart."""
    if len(first) < 2 or first in STOP_WORDS or (len(second) < 2 and not second.isdecimal()):
        return False
    both = first + second
    return both.isascii() and both.isalnum() and not both.isdecimal()


def _quoted(phrase: tuple[str, ...], is_prefix: bool) -> str:
    text = " ".join(phrase).replace('"', '""')
    return f'"{text}"*' if is_prefix else f'"{text}"'
