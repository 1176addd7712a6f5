"""What each word of a prompt adds to the strength of one memory: an account for each `match_strategy`."""

from __future__ import annotations

from engine.config import FTS5_BM25, SEARCH, TITLE_TAGS
from engine.lean.record import Record
from engine.search.averages import averages_of
from engine.search.bags import bag_of
from engine.search.expansion import expand
from engine.search.finder import Finder
from engine.search.hits import Hit
from engine.search.parts import PartMatcher
from engine.search.query import Term
from engine.search.rows import column_words, words_of
from engine.search.schema import FULL_TEXT, HEADLINE
from engine.search.scoring import Scorer
from engine.search.strategies import fts5_bm25, memsift, title_tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    from engine.lean.sqlite import Connection
    from engine.memory import Memory
    from engine.retrieval import Candidate
    from engine.search.expansion import Unit
    from engine.search.index import Index
    from engine.search.parts import Part
    from engine.search.query import Phrase
    from engine.search.rows import Words

    class Accounts(Protocol):
        """The accounts of one prompt.

        `counts`: in how many memories each of its words stands at most. `rare` is what a rarest word would weigh.
        """

        @property
        def terms(self) -> tuple[Term, ...]: ...

        @property
        def counts(self) -> Mapping[str, int]: ...

        @property
        def rare(self) -> float: ...

        def searched(self, memory: Memory) -> Words:
            """The words of a memory that count."""

        def of(self, memory: Memory, candidate: Candidate | None) -> Account | None:
            """The account of a memory, which may have been found; None for one that holds nothing of the prompt."""


EXACT, STEM, BEGINNING, PHRASE = "exact", "stem", "beginning", "phrase"
"""How a word was found: as it is, as another form, by what it begins, as words next to each other."""

HOWS = (EXACT, PHRASE, STEM, BEGINNING)


class Found(Record):
    """Words of the memory, how they were found (one of HOWS), and how often they stand in title, tags and body."""

    words: str
    how: str
    occurrences: tuple[int, int, int]


class Matched(Record):
    """A word of the prompt that the memory holds, and what it adds.

    `count` is in how many memories it stands at most, `idf` what that makes it weigh; None where the strategy does not
    use them. `score` is its part of the BM25 (of the points, with `title_tags`), and `share` that part, 0..1.
    """

    text: str
    found: tuple[Found, ...]
    count: int | None
    idf: float | None
    score: float
    share: float

    @property
    def how(self) -> str:
        """The best way in which it was found."""
        return min((one.how for one in self.found), key=HOWS.index)


class Account(Record):
    """The sum of a memory: strength = bm25 x coordination + bonus.

    All are positive, higher is better. `asked` are the words of the prompt, of which `coordination` counts how many
    are matched. The `bonus` is `fts5_bm25`'s for words of the body, and `title_tags`'s for a memory that is recent.
    """

    asked: tuple[str, ...]
    matched: tuple[Matched, ...]
    bm25: float
    coordination: float
    bonus: float
    strength: float

    @property
    def missing(self) -> tuple[str, ...]:
        """What the prompt asks for and the memory does not hold."""
        held = {one.text for one in self.matched}
        return tuple(text for text in self.asked if text not in held)


def accounts_of(text: str, index: Index, strategy: str, mode: str, now: float) -> Accounts:
    """The accounts of a prompt under a strategy. *now* is in seconds since 1970."""
    if strategy == TITLE_TAGS:
        return KeywordAccounts(text, now)
    if strategy == FTS5_BM25:
        return Bm25Accounts(text, index, in_bodies=mode == SEARCH)
    return StrengthAccounts(text, index)


class StrengthAccounts:
    """`memsift`: every unit's part of the BM25, times the coordination factor."""

    def __init__(self, text: str, index: Index) -> None:
        self.terms = memsift.asked(text)
        self._units, self._matcher = index.ask(self._prepared)
        self.counts = {unit.text: unit.count for unit in self._units}
        self.rare = self._matcher.rare
        self._asked = {" ".join(phrase) for term in self.terms for phrase in term.phrases}

    def _prepared(self, db: Connection) -> tuple[tuple[Unit, ...], PartMatcher]:
        units = expand(db, self.terms)
        return units, PartMatcher(units, *averages_of(db, FULL_TEXT))

    def searched(self, memory: Memory) -> Words:
        return words_of(memory)

    def of(self, memory: Memory, candidate: Candidate | None) -> Account | None:  # noqa: ARG002
        words = words_of(memory)
        match = self._matcher.match(bag_of(words), lambda: words)
        if match is None:
            return None
        matched = tuple(self._matched(part, words, match.bm25) for part in self._matcher.parts(words))
        asked = tuple(unit.text for unit in self._units)
        coordination = self._matcher.coordination(len(matched))
        return Account(asked, matched, match.bm25, coordination, 0.0, match.strength)

    def _matched(self, part: Part, words: Words, bm25: float) -> Matched:
        unit = self._units[part.unit]
        phrases = [(word,) for word in unit.longer] if part.is_longer else unit.phrases
        found = occurrences(phrases, words)
        named = tuple(Found(text, self._how(text, is_longer=part.is_longer), places) for text, places in found)
        weight = self._matcher.idf[part.unit]
        return Matched(unit.text, named, unit.count, weight, part.score, part.score / bm25 if bm25 else 0.0)

    def _how(self, text: str, *, is_longer: bool) -> str:
        if is_longer:
            return BEGINNING
        if text not in self._asked and text.replace(" ", "") not in self._asked:
            return STEM
        return PHRASE if " " in text else EXACT


class Bm25Accounts:
    """`fts5_bm25`: FTS5's BM25 over the fields that are searched, and the bonus for words of the body.

    In how many memories a beginning stands, FTS5 counts and we estimate (see `Index.frequency`): so the shares of the
    terms are estimates, but their sum is FTS5's.
    """

    rare = 0.0

    def __init__(self, text: str, index: Index, *, in_bodies: bool) -> None:
        self._index = index
        self._in_bodies = in_bodies
        self._fields = FULL_TEXT if in_bodies else HEADLINE
        self.terms = fts5_bm25.asked(text, index, self._fields)
        self._rows, self._mean_length = index.ask(lambda db: averages_of(db, self._fields))
        self.counts = {term.text: index.frequency(term, self._fields) for term in self.terms}

    def searched(self, memory: Memory) -> Words:
        title, tags, body = words_of(memory)
        return title, tags, body if self._in_bodies else ""

    def of(self, memory: Memory, candidate: Candidate | None) -> Account | None:
        words = words_of(memory)
        scores = {term: self._score(term, words) for term in self.terms if self._found(term, words)}
        total = sum(scores.values())
        if not total:
            return None
        bm25 = -candidate.bm25 if candidate else total
        hit = Hit(memory.summary, -bm25, words)
        (scored,) = fts5_bm25.score_hits([hit], self.terms, with_bonus=not self._in_bodies)
        shares = {term: score / total for term, score in scores.items()}
        matched = tuple(self._matched(term, words, share, bm25) for term, share in shares.items())
        asked = tuple(term.text for term in self.terms)
        return Account(asked, matched, bm25, 1.0, float(scored.body_bonus), -scored.score)

    def _matched(self, term: Term, words: Words, share: float, bm25: float) -> Matched:
        return Matched(term.text, self._found(term, words), self.counts[term.text], None, share * bm25, share)

    def _score(self, term: Term, words: Words) -> float:
        """What the term adds: the alternatives of an identifier are scored one by one."""
        alone = [Term(term.text, (phrase,), term.is_prefix) for phrase in term.phrases]
        counts = [self._index.frequency(one, self._fields) for one in alone]
        scorer = Scorer(Finder(term.searched), counts, self._rows, self._mean_length, self._fields)
        return -scorer.score(column_words(words, self._fields))

    def _found(self, term: Term, words: Words) -> tuple[Found, ...]:
        """Words that the term begins count in the title and in the tags, and in the body where it is searched."""
        begun = begun_by(term.searched, words if self._in_bodies else (words[0], words[1], ""))
        whole = occurrences(term.phrases, words)
        longer = [(text, places) for text, places in begun if text not in dict(whole)]
        if not self._in_bodies:
            longer = [(text, (title, tags, 0)) for text, (title, tags, _) in longer]
        exact = tuple(Found(text, PHRASE if " " in text else EXACT, places) for text, places in whole)
        return (*exact, *(Found(text, BEGINNING, places) for text, places in longer))


class KeywordAccounts:
    """`title_tags`: the points of each word."""

    rare = 0.0

    def __init__(self, text: str, now: float) -> None:
        self._words = title_tags.keywords(text)
        self._since = title_tags.recent_since(now)
        self.terms = tuple(Term(word, ((word,),), is_prefix=True) for word in self._words)
        self.counts = dict.fromkeys(self._words, 0)

    def searched(self, memory: Memory) -> Words:
        tags = title_tags.keywords(" ".join(memory.summary.tags))
        return " ".join(title_tags.keywords(memory.summary.title)), " ".join(tags), ""

    def of(self, memory: Memory, candidate: Candidate | None) -> Account | None:
        score, texts = title_tags.keyword_score(self._words, memory.summary, self._since)
        if not texts:
            return None
        points = title_tags.points(self._words, memory.summary)
        total, strength = sum(points.values()), -(candidate.score if candidate else score)
        matched = tuple(self._matched(text, points[text], total, memory) for text in texts)
        return Account(tuple(self._words), matched, float(total), 1.0, strength - total, strength)

    def _matched(self, text: str, points: int, total: int, memory: Memory) -> Matched:
        words = self.searched(memory)
        whole = occurrences([(text,)], words)
        found = whole or begun_by([((text,), True)], words)
        named = tuple(Found(word, EXACT if whole else BEGINNING, places) for word, places in found)
        return Matched(text, named, None, None, float(points), points / total)


def occurrences(phrases: Iterable[tuple[str, ...]], words: Words) -> list[tuple[str, tuple[int, int, int]]]:
    """Those of *phrases* that stand in *words*, each with how often in title, tags and body."""
    distinct = list(dict.fromkeys(phrases))
    finder = Finder([(phrase, False) for phrase in distinct])
    title, tags, body = (finder.count(text) for text in words)
    counted = [(title.get(i, 0), tags.get(i, 0), body.get(i, 0)) for i in range(len(distinct))]
    return [(" ".join(phrase), places) for phrase, places in zip(distinct, counted, strict=True) if any(places)]


def begun_by(phrases: Iterable[Phrase], words: Words) -> list[tuple[str, tuple[int, int, int]]]:
    """The words of a memory that a phrase which may go on begins, with how often each stands where."""
    starts = tuple(phrase[0] for phrase, is_prefix in phrases if is_prefix)
    held = dict.fromkeys(word for text in words for word in text.split() if word.startswith(starts)) if starts else {}
    return occurrences([(word,) for word in held], words)
