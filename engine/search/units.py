"""Terms of a prompt -> units: the words of the index that match each term.

- A plain word matches itself and all words of its stem, in full. Longer words match half (`authentication` for `auth`).
- A word of no memory, or a long word, matches two neighbours (`front end` for `frontend`).
- The last word of an identifier matches in any form (`user_ids` for `user_id`). A name such as Go has one form.
- Words of one stem in a prompt are one unit: `cache` and `caching` say the same thing twice.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.search.query import rarest
from engine.search.stems import HANGUL, stem
from engine.search.vocabulary import words_begun, words_of_stem, words_of_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.search.query import Term
    from engine.search.vocabulary import Word

    Phrase = tuple[str, ...]

MAX_TERMS = 80
"""Of a prompt with more terms, the rarest MAX_TERMS count. They match no longer words: these take long to look up."""

COMMON = 1000
"""A word of so many memories matches no longer words: half of its small weight changes no order."""

MIN_BEGINNING, MIN_BEGINNING_UNCASED, MIN_BEGINNING_HANGUL = 4, 3, 2
"""Least letters of a word that matches longer words: in scripts with capitals, without capitals, and in Korean."""

MAX_LONGER = 30
"""Most longer words that a word matches: the commonest."""

MIN_IN_TWO, MAX_IN_TWO = 5, 30
"""Letters of a word that may match two neighbours."""

MIN_KNOWN, MIN_HALF = 8, 3
"""Least letters of a word that may do so although a memory holds it, and then of each neighbour."""

STEM_OF = "select text, stem from json_each(?) join word on text = value"


class Unit(Record):
    """A term of the prompt, the `phrases` (token sequences) that match in full, and `longer` words that match half.

    `memories` is an upper bound of the number of memories with a match; 0 if there is none. `weight` is the term's.
    """

    text: str
    phrases: tuple[Phrase, ...]
    longer: tuple[str, ...]
    memories: int
    weight: float = 1.0


class Units(Record):
    """The units of a prompt in its order, and the codes of their words.

    `asked` has a single unit for each text: the units themselves, or a unit for all spellings of a term.
    """

    units: tuple[Unit, ...]
    codes: Mapping[str, str]
    asked: tuple[Unit, ...]


def units_of(db: Connection, terms: Sequence[Term]) -> Units:
    """The units of *terms*. A guess counts only if a memory holds it."""
    is_paste = sum(not term.is_guess for term in terms if term.weight == 1) > MAX_TERMS
    if is_paste:
        terms = _rarest(db, terms)
    lookup = Lookup(db, terms, is_paste=is_paste)
    found = list(map(lookup.unit, terms))
    units: dict[tuple[Phrase, ...], Unit] = {}
    for number, (term, unit) in enumerate(zip(terms, found, strict=True)):
        if unit.memories or not (term.is_guess or _is_torn(number, found)):
            units.setdefault(unit.phrases, unit)
    kept = tuple(units.values())
    return Units(kept, {text: word.code for text, word in lookup.words.items()}, kept)


def may_begin(word: str) -> bool:
    """Whether a word may match longer words: 404 is not 4040."""
    if word.islower():
        return len(word) >= MIN_BEGINNING
    is_korean = HANGUL[0] <= word[-1] <= HANGUL[1]
    return not word.isdecimal() and len(word) >= (MIN_BEGINNING_HANGUL if is_korean else MIN_BEGINNING_UNCASED)


def most_memories(phrases: Iterable[Phrase], words: Mapping[str, Word]) -> int:
    """An upper bound of the number of memories that hold any of *phrases*."""
    counted = [[words[token].memories if token in words else 0 for token in phrase] for phrase in phrases]
    return sum(map(min, counted))


class Lookup:
    """The words of the index that matter to a prompt, read with four statements."""

    def __init__(self, db: Connection, terms: Sequence[Term], *, is_paste: bool) -> None:
        self._db = db
        plain = [term.phrases[0][0] for term in terms if term.is_prefix]
        written = {token: term for term in terms if not term.is_prefix for phrase in term.phrases for token in phrase}
        inflected = {token for token, term in written.items() if not term.is_guess}
        self._stems = self._stems_of({*plain, *inflected}, is_paste=is_paste)
        self._forms = words_of_stem(db, self._stems.values())
        self._longer = words_begun(db, [] if is_paste else filter(self._may_begin, plain))
        self._pairs = {} if is_paste else {word: self._in_two(word) for word in plain}
        halves = {half for pairs in self._pairs.values() for pair in pairs for half in pair}
        exact = words_of_text(db, {*written, *halves})
        listed = (exact.values(), *self._forms.values(), *self._longer.values())
        self.words = {word.text: word for words in listed for word in words}

    def unit(self, term: Term) -> Unit:
        """The unit of a term."""
        if term.is_prefix:
            return self._plain(term.text, term.phrases[0][0], term.weight)
        phrases = term.phrases
        if term.is_guess:
            is_known = self.words.keys() >= {token for phrase in phrases for token in phrase}
            phrases = phrases if is_known else phrases[:1]
        elif len(phrases) > 1:  # an identifier; a name such as Go has one form only: it is not going
            phrases = tuple(dict.fromkeys(form for phrase in phrases for form in self._with_forms(phrase)))
        return Unit(term.text, phrases, (), most_memories(phrases, self.words), term.weight)

    def _plain(self, text: str, word: str, weight: float) -> Unit:
        forms = self._forms.get(self._stems.get(word, word), [])
        texts = dict.fromkeys(form.text for form in forms)
        longer = [form for form in self._longer.get(word, ()) if form.text not in texts]
        longer = sorted(longer, key=lambda form: (-form.memories, form.text))[:MAX_LONGER]
        pairs = [pair for pair in self._pairs.get(word, ()) if self.words.keys() >= {*pair}]
        phrases = (*((form,) for form in texts or (word,)), *pairs)
        memories = sum([form.memories for form in (*forms, *longer)]) + (
            most_memories(pairs, self.words) if pairs else 0
        )
        return Unit(text, phrases, tuple(form.text for form in longer), memories, weight)

    def _in_two(self, word: str) -> list[tuple[str, str]]:
        """The neighbours that a word may match."""
        if self._stems[word] not in self._forms:
            return _in_two(word)
        pairs = _in_two(word) if len(word) >= MIN_KNOWN else []
        return [pair for pair in pairs if min(map(len, pair)) >= MIN_HALF]

    def _with_forms(self, phrase: Phrase) -> list[Phrase]:
        """A phrase with its last word in each form."""
        *head, last = phrase
        return [phrase, *((*head, form.text) for form in self._forms.get(self._stems.get(last, last), ()))]

    def _may_begin(self, word: str) -> bool:
        return may_begin(word) and sum([form.memories for form in self._forms.get(self._stems[word], ())]) < COMMON

    def _stems_of(self, words: set[str], *, is_paste: bool) -> dict[str, str]:
        """Word -> stem. For a paste, only for words in the index, which holds their stems."""
        if not is_paste:
            return {word: stem(word) for word in words}
        return dict(self._db.execute(STEM_OF, (dumps(sorted(words), ascii_only=False),)))


def _rarest(db: Connection, terms: Sequence[Term]) -> list[Term]:
    """The MAX_TERMS rarest terms. Terms that no memory holds fill the places that are left."""
    known = words_of_text(db, (token for term in terms for phrase in term.phrases for token in phrase))
    phrases = [term.phrases[:1] if term.is_guess else term.phrases for term in terms]
    return rarest(terms, [most_memories(own, known) for own in phrases], MAX_TERMS)


def _is_torn(number: int, units: Sequence[Unit]) -> bool:
    """Whether an unknown pair of Han or Kana shares a character with a known pair beside it, and so is no word.

    With 登录 known, 用户登录失败 asks for 用户 and 失败 as well, but neither for 户登 nor for 录失.
    """
    if not _is_pair(units[number]):
        return False
    own = {*units[number].phrases[0]}
    beside = [unit for unit in (*units[max(0, number - 1) : number], *units[number + 1 : number + 2]) if unit.memories]
    return any(_is_pair(unit) and own & {*unit.phrases[0]} for unit in beside)


def _is_pair(unit: Unit) -> bool:
    """Whether a unit is a pair of characters of a script without spaces."""
    return not unit.text.isascii() and len(unit.phrases) == 1 and "".join(unit.phrases[0]) == unit.text


def _in_two(word: str) -> list[tuple[str, str]]:
    """The ways to take a word apart; a single character stands alone only where it is a digit at the end."""
    if not MIN_IN_TWO <= len(word) <= MAX_IN_TWO or word.isdecimal():
        return []
    end = len(word) - (0 if word[-1].isdecimal() else 1)
    return [(word[:place], word[place:]) for place in range(2, end)]
