"""Terms of a prompt -> the words of the corpus that stand for them.

A plain word stands for itself and for every word of the same stem, in full; and, half, for longer words that it begins
(`auth` for `authentication`). The last word of a compound identifier may take another form of its stem (`user_ids` for
`user_id`). Words of one stem in a prompt are one unit: `cache` and `caching` say the same thing twice.
"""

from __future__ import annotations

from engine.json_text import dumps
from engine.record import record
from engine.search.schema import FULL_TEXT
from engine.search.stems import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from engine.search.query import Term
    from engine.search.sqlite import Connection

    Counts = dict[str, int]
    """Word of the corpus -> in how many memories it stands."""

MAX_PRECISE = 200
"""Of a prompt with more terms, only words that the corpus holds are looked up: the others' stems and what they begin
take longer to find than the rest of a retrieval."""

MIN_BEGINNING, MIN_BEGINNING_UNICODE = 4, 2
"""Letters from which on a word stands for what it begins: English ones, and those of other scripts."""

MAX_LONGER = 30
"""Of the words that one begins, the commonest so many."""

OF_STEM = f"select t.key, f.term, f.count from json_each(?) t join {FULL_TEXT}_frequency f on f.stem = t.value"
STEM_OF = f"select t.key, f.stem from json_each(?) t join {FULL_TEXT}_frequency f on f.term = t.value"
LONGER = f"""select t.key, f.term, f.count from json_each(?) t
join {FULL_TEXT}_frequency f on f.term > t.value and f.term < t.value || char(1114111)"""


@record
class Unit:
    """One thing that a prompt asks for, as the corpus says it.

    `phrases` are token sequences that count in full, `longer` words that count half. `count` is in how many memories
    they stand at most; 0 for what the corpus does not hold.
    """

    text: str
    phrases: tuple[tuple[str, ...], ...]
    longer: tuple[str, ...]
    count: int


def expand(db: Connection, terms: Sequence[Term]) -> tuple[Unit, ...]:
    """The units of a prompt, in its order."""
    corpus = Vocabulary(db, terms)
    units: dict[tuple[tuple[str, ...], ...], Unit] = {}
    for term in terms:
        unit = corpus.unit(term)
        units.setdefault(unit.phrases, unit)
    return tuple(units.values())


class Vocabulary:
    """The words of the corpus that matter to a prompt, read with three statements."""

    def __init__(self, db: Connection, terms: Sequence[Term]) -> None:
        self._db = db
        is_precise = len(terms) <= MAX_PRECISE
        plain = [term.phrases[0][0] for term in terms if term.is_prefix]
        others = {token for term in terms if not term.is_prefix for phrase in term.phrases for token in phrase}
        self._stems = {word: found[0] for word, *found in self._asked(STEM_OF, {*plain, *others})}
        if is_precise:
            self._stems = {word: self._stems.get(word) or stem(word) for word in (*plain, *others)}
        self._words = self._by_key(OF_STEM, set(self._stems.values()))
        self._counts = {word: count for words in self._words.values() for word, count in words.items()}
        self._longer = self._by_key(LONGER, {word for word in plain if may_begin(word)} if is_precise else ())

    def unit(self, term: Term) -> Unit:
        if term.is_prefix:
            return self._word(term.text, term.phrases[0][0])
        phrases = tuple(dict.fromkeys(other for phrase in term.phrases for other in self._forms(phrase)))
        return Unit(term.text, phrases, (), sum(map(self._of_phrase, phrases)) or sum(map(self._of_forms, phrases)))

    def _word(self, text: str, word: str) -> Unit:
        words = self._words.get(self._stems.get(word, word), {})
        longer = {other: count for other, count in self._longer.get(word, {}).items() if other not in words}
        commonest = sorted(longer, key=lambda other: (-longer[other], other))[:MAX_LONGER]
        count = sum(words.values()) + sum(longer[other] for other in commonest)
        return Unit(text, tuple((other,) for other in words) or ((word,),), tuple(commonest), count)

    def _forms(self, phrase: tuple[str, ...]) -> list[tuple[str, ...]]:
        """A phrase with its last word in every form; a single token only as it is."""
        *head, last = phrase
        if not head:
            return [phrase]
        return [phrase, *((*head, other) for other in self._words.get(self._stems.get(last, last), {}))]

    def _of_phrase(self, phrase: tuple[str, ...]) -> int:
        return min(self._words.get(self._stems.get(token, token), {}).get(token, 0) for token in phrase)

    def _of_forms(self, phrase: tuple[str, ...]) -> int:
        """For an identifier that the corpus holds in another form only: user_ids for user_id."""
        return min(self._counts.get(token, 0) for token in phrase)

    def _by_key(self, sql: str, keys: Iterable[str]) -> dict[str, Counts]:
        found: dict[str, Counts] = {}
        for key, word, count in self._asked(sql, keys):
            found.setdefault(key, {})[word] = count
        return found

    def _asked(self, sql: str, keys: Iterable[str]) -> list[tuple[Any, ...]]:
        """Rows of *sql* for those of *keys* that it finds, with the key in place of its number."""
        listed = sorted(keys)
        rows = self._db.execute(sql, (dumps(listed, ascii_only=False),)) if listed else ()
        return [(listed[key], *found) for key, *found in rows]


def may_begin(word: str) -> bool:
    """Whether a word is long enough to stand for what it begins."""
    return len(word) >= (MIN_BEGINNING if word.isascii() else MIN_BEGINNING_UNICODE)
