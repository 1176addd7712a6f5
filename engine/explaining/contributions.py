"""The contribution of each word of a prompt to the strength of one memory, for each `match_strategy`."""

from __future__ import annotations

from engine.config import FTS5_BM25, SEARCH, TITLE_TAGS
from engine.lean.record import Record
from engine.search.query import Term, query_terms
from engine.search.strategies import fts5_bm25, memsift, title_tags
from engine.search.vocabulary import occurrences, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.prompt import Prompt
    from engine.search.index import Index, IndexedMemory
    from engine.search.vocabulary import Fields

EXACT, STEM, BEGINNING, PHRASE = "exact", "stem", "beginning", "phrase"
"""Ways to find a word: as it is, in another form, as the beginning of a longer word, as neighbouring words."""

HOWS = (EXACT, PHRASE, STEM, BEGINNING)


class FoundWords(Record):
    """Words of a memory, the way they were found (one of HOWS), and the occurrences in title, tags and body."""

    words: str
    how: str
    occurrences: tuple[int, int, int]


class Contribution(Record):
    """A word of the prompt that a memory holds, and the part of the BM25 (with `title_tags`, of the points) from it.

    `count` is the number of memories that hold the word, at most; `idf` its weight. Both are None for a strategy that
    does not use them. `share` is the score as a share of the sum, 0..1.
    """

    text: str
    found: tuple[FoundWords, ...]
    count: int | None
    idf: float | None
    score: float
    share: float

    @property
    def how(self) -> str:
        """The best way in which the word was found."""
        return min((words.how for words in self.found), key=HOWS.index)


class Breakdown(Record):
    """The strength of a memory: strength = bm25 x coordination + bonus. All are positive, higher is better.

    `asked` are the words of the prompt, the denominator of the `coordination`. The `bonus` is `fts5_bm25`'s for words
    of the body, and `title_tags`'s for a recent memory.
    """

    asked: tuple[str, ...]
    contributions: tuple[Contribution, ...]
    bm25: float
    coordination: float
    bonus: float
    strength: float

    @property
    def missing(self) -> tuple[str, ...]:
        """The words of the prompt that the memory does not hold."""
        held = {contribution.text for contribution in self.contributions}
        return tuple(text for text in self.asked if text not in held)


def contributions_of(
    prompt: Prompt, index: Index, strategy: str, mode: str, now: float
) -> StrengthContributions | Bm25Contributions | KeywordContributions:
    """The contributions of a prompt under a strategy. *now* is in seconds since 1970.

    Each kind has `terms`, the terms of the prompt; `memories`, the number of memories that hold each term at most;
    `rare`, the weight of the rarest possible word; `searched(memory)`, the tokens that count; and `of(memory)`.
    """
    if strategy == TITLE_TAGS:
        return KeywordContributions(prompt.text, now)
    if strategy == FTS5_BM25:
        return Bm25Contributions(prompt.text, index, in_bodies=mode == SEARCH)
    return StrengthContributions(prompt, index)


class StrengthContributions:
    """`memsift`: the part of each unit in the BM25, times the coordination factor."""

    def __init__(self, prompt: Prompt, index: Index) -> None:
        self.terms = memsift.asked(prompt.text, prompt.turns)
        self._matcher = index.ask(lambda db: memsift.PromptMatcher(db, self.terms))
        self._codes = self._matcher.found.codes
        self.memories = {unit.text: unit.memories for unit in self._matcher.found.units}
        self.rare = self._matcher.rare
        self._asked = {" ".join(phrase) for term in self.terms for phrase in term.phrases}

    def searched(self, memory: IndexedMemory) -> Fields:
        return memory.tokens

    def of(self, memory: IndexedMemory) -> Breakdown | None:
        match = self._matcher.match(memory.encoded)
        if match is None:
            return None
        units = self._matcher.found.units
        parts = match.parts.items()
        return Breakdown(
            asked=tuple(unit.text for unit in units),
            contributions=tuple(self._contribution(number, score, memory, match.bm25) for number, score in parts),
            bm25=match.bm25,
            coordination=self._matcher.coordination(match.parts),
            bonus=0.0,
            strength=match.strength,
        )

    def _contribution(self, number: int, score: float, memory: IndexedMemory, bm25: float) -> Contribution:
        unit = self._matcher.found.units[number]
        found = _found_in(memory, unit.phrases, self._codes)
        longer = () if found else _found_in(memory, [(word,) for word in unit.longer], self._codes)
        named = (
            *(FoundWords(text, self._how(text), places) for text, places in found),
            *(FoundWords(text, BEGINNING, places) for text, places in longer),
        )
        return Contribution(unit.text, named, unit.memories, self._matcher.idf[number], score, score / bm25)

    def _how(self, text: str) -> str:
        if text not in self._asked and text.replace(" ", "") not in self._asked:
            return STEM
        return PHRASE if " " in text else EXACT


class Bm25Contributions:
    """`fts5_bm25`: the part of each term in FTS5's BM25, and the bonus for words of the body."""

    rare = 0.0

    def __init__(self, text: str, index: Index, *, in_bodies: bool) -> None:
        self._in_bodies = in_bodies
        self._query = index.ask(lambda db: fts5_bm25.Query(db, query_terms(text), in_bodies=in_bodies))
        self.terms = self._query.terms
        self.memories = self._query.memories

    def searched(self, memory: IndexedMemory) -> Fields:
        title, tags, body = memory.tokens
        return title, tags, body if self._in_bodies else []

    def of(self, memory: IndexedMemory) -> Breakdown | None:
        parts = self._query.contributions(memory.encoded)
        total = sum(parts.values())
        if not total:
            return None
        scored = self._query.scored(memory.summary, memory.encoded, -total)
        scores = dict.fromkeys(scored.matched, 0.0)
        for number, score in parts.items():
            scores[self.terms[self._query.owners[number]].text] += score
        return Breakdown(
            asked=tuple(term.text for term in self.terms),
            contributions=tuple(
                Contribution(text, self._found(text, memory), self.memories[text], None, score, score / total)
                for text, score in scores.items()
            ),
            bm25=total,
            coordination=1.0,
            bonus=float(scored.body_bonus),
            strength=-scored.score,
        )

    def _found(self, text: str, memory: IndexedMemory) -> tuple[FoundWords, ...]:
        """Longer words count in title and tags, and in the body where it is searched."""
        units = [unit for unit in self._query.found.units if unit.text == text]
        codes = self._query.found.codes
        exact = _found_in(memory, [unit.phrases[0] for unit in units], codes)
        longer = _found_in(memory, [phrase for unit in units for phrase in unit.phrases[1:]], codes)
        if not self._in_bodies:
            longer = [(word, (title, tags, 0)) for word, (title, tags, _) in longer if title or tags]
        return (
            *(FoundWords(words, PHRASE if " " in words else EXACT, places) for words, places in exact),
            *(FoundWords(words, BEGINNING, places) for words, places in longer),
        )


class KeywordContributions:
    """`title_tags`: the points of each word."""

    rare = 0.0

    def __init__(self, text: str, now: float) -> None:
        self._words = title_tags.keywords(text)
        self._since = title_tags.recent_since(now)
        self.terms = tuple(Term(word, ((word,),), is_prefix=True) for word in self._words)
        self.memories = dict.fromkeys(self._words, 0)

    def searched(self, memory: IndexedMemory) -> Fields:
        title, tags = memory.summary.title, " ".join(memory.summary.tags)
        return list(title_tags.keywords(title)), list(title_tags.keywords(tags)), []

    def of(self, memory: IndexedMemory) -> Breakdown | None:
        score, texts = title_tags.keyword_score(self._words, memory.summary, self._since)
        if not texts:
            return None
        points = title_tags.points(self._words, memory.summary)
        total = sum(points.values())
        contributions = tuple(
            Contribution(text, self._found(text, memory), None, None, float(points[text]), points[text] / total)
            for text in texts
        )
        return Breakdown(tuple(self._words), contributions, float(total), 1.0, -score - total, -score)

    def _found(self, text: str, memory: IndexedMemory) -> tuple[FoundWords, ...]:
        title, tags, _ = self.searched(memory)
        held = [word for word in dict.fromkeys((*title, *tags)) if word.startswith(text)]
        words, how = ([text], EXACT) if text in held else (held, BEGINNING)
        return tuple(FoundWords(word, how, (title.count(word), tags.count(word), 0)) for word in words)


def _found_in(
    memory: IndexedMemory, phrases: Iterable[tuple[str, ...]], codes: Mapping[str, str]
) -> list[tuple[str, tuple[int, int, int]]]:
    """The phrases that a memory holds, with their occurrences in title, tags and body."""
    fields = memory.encoded.split("\n")
    distinct = dict.fromkeys(phrases)
    counted = {" ".join(phrase): occurrences(fields, code) for phrase in distinct for code in spelled([phrase], codes)}
    return [(text, places) for text, places in counted.items() if any(places)]
