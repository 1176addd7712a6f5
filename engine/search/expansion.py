"""Terms of a prompt -> the words of the corpus that stand for them.

A plain word stands for itself and for every word of the same stem, in full; and, half, for longer words that it begins
(`auth` for `authentication`). One that the corpus does not hold stands for two neighbours (`frontend` for `front end`).
The last word of a compound identifier may take another form of its stem (`user_ids` for `user_id`). Words of one stem
in a prompt are one unit: `cache` and `caching` say the same thing twice.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.search.query import rarest
from engine.search.schema import FULL_TEXT
from engine.search.stems import HANGUL, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from engine.lean.sqlite import Connection
    from engine.search.query import Term

    Counts = dict[str, int]
    """Word of the corpus -> in how many memories it stands."""

MAX_TERMS = 80
"""Of a prompt with more terms, the rarest so many count, and of these only words that the corpus holds are looked up:
the others' stems and what they begin take longer to find than the rest of a retrieval."""

COMMON = 1000
"""A word that so many memories hold stands for no longer ones: half of the little that it weighs changes no order."""

MIN_BEGINNING, MIN_BEGINNING_UNCASED, MIN_BEGINNING_HANGUL = 4, 3, 2
"""Letters from which on a word stands for what it begins: in scripts with capitals, without them, and in Korean."""

MAX_LONGER = 30
"""Of the words that one begins, the commonest so many."""

MIN_IN_TWO, MAX_IN_TWO = 5, 30
"""Letters of a word that may be two."""

OF_STEM = f"select t.key, f.term, f.count from json_each(?) t join {FULL_TEXT}_frequency f on f.stem = t.value"
OF_TERM = f"select t.key, f.count from json_each(?) t join {FULL_TEXT}_frequency f on f.term = t.value"
STEM_OF = f"select t.key, f.stem from json_each(?) t join {FULL_TEXT}_frequency f on f.term = t.value"
LONGER = f"""select t.key, f.term, f.count from json_each(?) t
join {FULL_TEXT}_frequency f on f.term > t.value and f.term < t.value || char(1114111)"""


class Unit(Record):
    """One thing that a prompt asks for, as the corpus says it.

    `phrases` are token sequences that count in full, `longer` words that count half. `count` is in how many memories
    they stand at most, and `in_full` in how many the phrases do; 0 for what the corpus does not hold.
    """

    text: str
    phrases: tuple[tuple[str, ...], ...]
    longer: tuple[str, ...]
    count: int
    in_full: int

    @property
    def words(self) -> list[str]:
        """Every word of the corpus that matters to it."""
        return [*(word for phrase in self.phrases for word in phrase), *self.longer]


def expand(db: Connection, terms: Sequence[Term]) -> tuple[Unit, ...]:
    """The units of a prompt, in its order."""
    is_precise = sum(not term.is_guess for term in terms) <= MAX_TERMS
    if not is_precise:
        terms = _rarest(db, terms)
    corpus = Vocabulary(db, terms, is_precise=is_precise)
    found = list(map(corpus.unit, terms))
    units: dict[tuple[tuple[str, ...], ...], Unit] = {}
    for i, (term, unit) in enumerate(zip(terms, found, strict=True)):
        if unit.count or not (term.is_guess or _is_torn(i, found)):
            units.setdefault(unit.phrases, unit)
    return tuple(units.values())


def _rarest(db: Connection, terms: Sequence[Term]) -> list[Term]:
    """The MAX_TERMS rarest. Those that no memory holds count: what holds few words of a paste answers for all of it."""
    counts = dict(_asked(db, OF_TERM, {token for term in terms for phrase in term.phrases for token in phrase}))
    return rarest(terms, [_most(term.phrases, counts) for term in terms], MAX_TERMS)


def _most(phrases: Iterable[tuple[str, ...]], counts: Counts) -> int:
    """In how many memories any of *phrases* may stand at most."""
    return sum(min(counts.get(token, 0) for token in phrase) for phrase in phrases)


def _is_torn(i: int, units: Sequence[Unit]) -> bool:
    """Whether an unknown pair of Han or Kana shares a character with a known one beside it: it is no word then.

    登录 in 用户登录失败 leaves 用户 and 失败 to ask for, and neither 户登 nor 录失.
    """
    text = units[i].text
    if text.isascii() or units[i].phrases != (tuple(text),):
        return False
    beside = [unit for unit in (*units[max(0, i - 1) : i], *units[i + 1 : i + 2]) if unit.count]
    return any(unit.phrases == (tuple(unit.text),) and {*unit.text} & {*text} for unit in beside)


class Vocabulary:
    """The words of the corpus that matter to a prompt, read with four statements."""

    def __init__(self, db: Connection, terms: Sequence[Term], *, is_precise: bool) -> None:
        self._db = db
        plain = [term.phrases[0][0] for term in terms if term.is_prefix]
        guesses = [term.phrases[0][0] for term in terms if term.is_guess]
        exact = [term for term in terms if not (term.is_prefix or term.is_guess)]
        others = {token for term in exact for phrase in term.phrases for token in phrase}
        self._stems = self._stems_of({*plain, *others}, is_precise=is_precise)
        self._words = self._by_key(OF_STEM, set(self._stems.values()))
        self._longer = self._by_key(LONGER, filter(self._stands_for_longer, {*plain}) if is_precise else ())
        unknown = [word for word in plain if is_precise and self._stems[word] not in self._words]
        halves = {half for word in unknown for pair in _in_two(word) for half in pair}
        self._counts = {word: count for words in self._words.values() for word, count in words.items()}
        self._counts |= dict(_asked(self._db, OF_TERM, {*guesses, *halves}))

    def unit(self, term: Term) -> Unit:
        if term.is_prefix:
            return self._word(term.text, term.phrases[0][0])
        if term.is_guess:
            count = self._counts.get(term.phrases[0][0], 0)
            return Unit(term.text, term.phrases, (), count, count)
        forms = self._forms if len(term.phrases) > 1 else _as_it_is
        phrases = tuple(dict.fromkeys(other for phrase in term.phrases for other in forms(phrase)))
        count = _most(phrases, self._counts)
        return Unit(term.text, phrases, (), count, count)

    def _stands_for_longer(self, word: str) -> bool:
        return may_begin(word) and sum(self._words.get(self._stems[word], {}).values()) < COMMON

    def _word(self, text: str, word: str) -> Unit:
        words = self._words.get(self._stems.get(word, word), {})
        longer = {other: count for other, count in self._longer.get(word, {}).items() if other not in words}
        commonest = sorted(longer, key=lambda other: (-longer[other], other))[:MAX_LONGER]
        pairs = {} if words else self._pairs(word)
        in_full = sum(words.values()) + sum(pairs.values())
        count = in_full + sum(longer[other] for other in commonest)
        return Unit(text, (*((other,) for other in words or (word,)), *pairs), tuple(commonest), count, in_full)

    def _pairs(self, word: str) -> dict[tuple[str, str], int]:
        """The neighbours that an unknown word may be, and in how many memories they may stand."""
        counts = self._counts
        pairs = [(first, last) for first, last in _in_two(word) if first in counts and last in counts]
        return {(first, last): min(counts[first], counts[last]) for first, last in pairs}

    def _forms(self, phrase: tuple[str, ...]) -> list[tuple[str, ...]]:
        """A phrase with its last word in every form."""
        *head, last = phrase
        return [phrase, *((*head, other) for other in self._words.get(self._stems.get(last, last), {}))]

    def _stems_of(self, words: set[str], *, is_precise: bool) -> dict[str, str]:
        if is_precise:
            return {word: stem(word) for word in words}
        return {word: found[0] for word, *found in _asked(self._db, STEM_OF, words)}

    def _by_key(self, sql: str, keys: Iterable[str]) -> dict[str, Counts]:
        found: dict[str, Counts] = {}
        for key, word, count in _asked(self._db, sql, keys):
            found.setdefault(key, {})[word] = count
        return found


def _asked(db: Connection, sql: str, keys: Iterable[str]) -> list[tuple[Any, ...]]:
    """Rows of *sql* for those of *keys* that it finds, with the key in place of its number."""
    listed = sorted(keys)
    rows = db.execute(sql, (dumps(listed, ascii_only=False),)) if listed else ()
    return [(listed[key], *found) for key, *found in rows]


def _as_it_is(phrase: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The one form of a name such as Go, which is not going."""
    return [phrase]


def _in_two(word: str) -> list[tuple[str, str]]:
    """The ways to take a word apart; a single character alone only where it is a digit at the end."""
    if not MIN_IN_TWO <= len(word) <= MAX_IN_TWO or word.isdecimal():
        return []
    end = len(word) - (0 if word[-1].isdecimal() else 1)
    return [(word[:i], word[i:]) for i in range(2, end)]


def may_begin(word: str) -> bool:
    """Whether a word stands for longer ones: 404 is not 4040."""
    if word.islower():
        return len(word) >= MIN_BEGINNING
    is_korean = HANGUL[0] <= word[-1] <= HANGUL[1]
    return not word.isdecimal() and len(word) >= (MIN_BEGINNING_HANGUL if is_korean else MIN_BEGINNING_UNCASED)
