"""A prompt as terms, and terms as an FTS5 expression.

A compound identifier becomes an exact phrase: `user_id` does not find "user identity". All stems are quoted, so that no
word of a prompt is an operator for FTS5's parser. Stop words are left out, unless they are names: see `commonness`.
"""

from __future__ import annotations

from engine.lean.record import Record, replace
from engine.search import tokens as tk
from engine.search.commonness import STOP_WORDS, names
from engine.search.stems import PARTICLES, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Phrase = tuple[str, ...]

MAX_CHARACTERS = 8_000
"""Half of these are read at the beginning and half at the end: a question stands before a pasted text, or after it."""

ENDINGS = tuple("ization ational ication ation ement ment ness able ible ance ence ing ity ful ive".split())
"""Endings of English words that a stem has lost. A word that is being typed may end within one of them."""

LEAST_WORD = 3
"""Least letters of a word in a file's name that is searched by itself."""

RECEIVERS = ("self", "this", "cls")
"""Words before an attribute that are no part of its name."""

EXTENSIONS = frozenset(tk.WORDS["extensions"])


class Term(Record):
    """A part of a prompt to be found: its `text` as the person wrote it, and `phrases`, alternative token sequences.

    `is_prefix`: it is a single token, and may be the beginning of a longer word. `weight`: 1, or less for a word of an
    earlier turn. `of_file`: it is a word of a file's name, which is a term of its own, too.
    """

    text: str
    phrases: tuple[Phrase, ...]
    is_prefix: bool = False
    weight: float = 1.0
    of_file: bool = False

    @property
    def stems(self) -> tuple[Phrase, ...]:
        """The phrases as the index holds them; of a single token that may go on, also the stems that it may get.

        With `deploym`, deployment has the stem deploy.
        """
        known = dict.fromkeys(tuple(map(stem, phrase)) for phrase in self.phrases)
        if self.is_prefix:
            known |= dict.fromkeys((stem(word),) for word in _completions(self.phrases[0][0]))
        return tuple(known)


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


def any_of(phrases: Iterable[Phrase]) -> str:
    """The FTS5 expression that finds any of *phrases* of stems."""
    return " OR ".join(map(_quote, phrases))


def all_of(terms: Iterable[Term]) -> str:
    """The FTS5 expression that finds all of *terms*."""
    return " AND ".join(
        f"({any_of(term.stems)}{f' OR {_quote(term.phrases[0])}*' if term.is_prefix else ''})" for term in terms
    )


def filter_terms(text: str) -> tuple[Term, ...]:
    """The terms of a filter that is being typed: the last word may be the beginning of a longer word."""
    found = (
        token
        for chunk in tk.chunks(text[:MAX_CHARACTERS])
        for word in tk.words(chunk)
        for token in tk.word_tokens(word)
    )
    return with_last_prefix(tuple(Term(token, ((token,),)) for token in dict.fromkeys(found)))


def with_last_prefix(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """*terms*, of which the last may be the beginning of a longer word, if it is a single token."""
    if not terms or terms[-1].phrases[1:] or terms[-1].phrases[0][1:]:
        return terms
    return (*terms[:-1], replace(terms[-1], is_prefix=True))


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
        return _compound(chunk)
    word = words[0] if words else ""
    if tk.is_camel(word):
        return [Term(word, ((tk.fold(word),), tk.word_tokens(word)))]
    term = _single(word, tk.fold(word), is_name=is_name)
    return [term] if term else []


def _single(word: str, token: str, *, is_name: bool = False) -> Term | None:
    """The term of a single token.

    None for a stop word, a Korean particle, and a single letter in a script that has spaces, unless it is a name.
    """
    is_empty = token in STOP_WORDS or token in PARTICLES or (len(token) < 2 and not (token and tk.is_unspaced(token)))
    return Term(word, ((token,),)) if token and (is_name or not is_empty) else None


def _compound(chunk: str) -> list[Term]:
    """user_id: an exact phrase of its words or parts, or these in one word (userid).

    A version is found with and without its v. A file is also found without its extension, and by the words of its name.
    """
    name, _, extension = chunk.rpartition(".")
    if extension.lower() not in EXTENSIONS:
        return [Term(chunk, tuple(dict.fromkeys(_spellings(chunk))))]
    is_whole = bool(tk.joined(name))
    phrases = [*_spellings(chunk), *(_spellings(name) if is_whole else ())]
    tokens = dict.fromkeys(token for word in tk.words(name) for token in tk.word_tokens(word))
    parts = [term for token in tokens if len(token) >= LEAST_WORD and (term := _single(token, token))]
    return [Term(chunk, tuple(dict.fromkeys(phrases))), *(replace(term, of_file=True) for term in parts)]


def _spellings(name: str) -> list[tuple[str, ...]]:
    words = tk.words(name)
    whole = tuple(filter(None, map(tk.fold, words)))
    parts = tuple(token for word in words for token in tk.word_tokens(word))
    joined = tuple(tk.joined(name).split())
    first, *rest = whole
    number = first.removeprefix("v")
    is_version = number.isdecimal() and all(word.isdecimal() for word in rest)
    other = [(number if first != number else f"v{number}", *rest)] if is_version else []
    return [whole, parts, *other, *([joined] if len(joined) == name.count(".") + 1 else ())]


def _unspaced_terms(word: str) -> list[Term]:
    """A run of Han, Kana or Thai, say: each pair of neighbours is a term, because nothing shows where a word ends.

    Pairs of Hiragana are mostly grammar, and are left out if the run has other pairs.
    """
    found: list[Term | None] = []
    for run in tk.runs(tk.fold(word)):
        parts = tk.clusters(run) if tk.is_unspaced(run[0]) else [run]
        pairs = [(parts[number], parts[number + 1]) for number in range(len(parts) - 1)]
        pairs = [pair for pair in pairs if not all("\u3041" <= sign <= "\u309f" for sign in pair)] or pairs
        found += [Term("".join(pair), (pair,)) for pair in pairs] or [_single(part, part) for part in parts]
    return [term for term in found if term]


def _completions(token: str) -> list[str]:
    """The words that a token may become, if its last letters begin one of ENDINGS."""
    return [
        token + ending[place:]
        for ending in ENDINGS
        for place in range(1, len(ending))
        if token.endswith(ending[:place])
    ]


def _quote(phrase: Phrase) -> str:
    text = " ".join(phrase).replace('"', '""')
    return f'"{text}"'
