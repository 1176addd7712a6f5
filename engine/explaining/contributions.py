"""The contribution of each word of a prompt to the strength of one memory, for each `match_strategy`.

For words without a contribution: the closest words of the memory, and what would help. Close spellings are within one
edit: a letter too many, too few, another letter, or two neighbours swapped (F. J. Damerau, "A technique for computer
detection and correction of spelling errors", CACM 7(3), 1964).
"""

from __future__ import annotations

from engine.config import MEMSIFT, SEARCH
from engine.lean.record import Record
from engine.search.query import Term
from engine.search.stems import stem
from engine.search.strategies import fts5_bm25, title_tags
from engine.search.strategies.memsift import Strengths
from engine.search.tokens import GAP, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.memory import Memory
    from engine.prompt import Prompt
    from engine.roots import OpenIndex
    from engine.search.postings import Postings, Unit

    Fields = tuple[list[str], list[str], list[str]]
    """The tokens of title, tags and body."""

EXACT, STEM, BEGINNING, PHRASE = "exact", "stem", "beginning", "phrase"
"""Ways to find a word: as it is, in another form, as the beginning of a longer word, as neighbouring words."""

HOWS = (EXACT, PHRASE, STEM, BEGINNING)


class FoundWords(Record):
    """Words of a memory, the way they were found (one of HOWS), and the occurrences in title, tags and body."""

    words: str
    how: str
    occurrences: tuple[int, int, int]


class Contribution(Record):
    """A word of the prompt that a memory holds, and its part of the strength (with `title_tags`, of the points).

    `count` is the number of memories that hold the word, at most; `idf` its weight. Both are None for a strategy that
    does not use them. `share` is the score as a share of the sum, 0..1. `is_earlier`: the word stands only in the turns
    before the prompt.
    """

    text: str
    found: tuple[FoundWords, ...]
    count: int | None
    idf: float | None
    score: float
    share: float
    is_earlier: bool = False

    @property
    def how(self) -> str:
        """The best way in which the word was found."""
        return min((words.how for words in self.found), key=HOWS.index)


class Breakdown(Record):
    """The strength of a memory: the sum of the words' scores + bonus. All are positive, higher is better.

    `asked` are the words of the prompt, and `missing` those that the memory does not hold. Words of the memory that are
    too common to be looked at are in neither list. The `bonus` of `memsift` is for the number of words, of `fts5_bm25`
    for words of the body, and of `title_tags` for a recent memory. `phrase` is the phrase that fits the prompt best, or
    empty, and `gain` is what it adds to the strength.
    """

    asked: tuple[str, ...]
    contributions: tuple[Contribution, ...]
    missing: tuple[str, ...]
    bm25: float
    bonus: float
    strength: float
    phrase: str = ""
    gain: float = 0.0


class MatchContributions:
    """The part of each unit in the strength, and the bonus.

    `terms`: those of the prompt. `memories`: the number of memories that hold each term at most. `rare`: the weight of
    the rarest possible word. `has_bodies`: whether bodies are searched. `KeywordContributions` has the same.
    """

    def __init__(self, prompt: Prompt, index: OpenIndex, strategy: str, mode: str, *, has_phrases: bool) -> None:
        self._prompt, self._index, self._strategy, self._mode = prompt, index, strategy, mode
        self._has_phrases = has_phrases
        self.has_bodies = strategy == MEMSIFT or mode == SEARCH

        def look(postings: Postings) -> tuple[Sequence[Term], Sequence[Unit], Sequence[float], float]:
            if strategy == MEMSIFT:
                strengths = Strengths.of(postings, prompt, mode, has_phrases=has_phrases)
                return strengths.terms, strengths.units, strengths.values, strengths.rare
            terms, units = fts5_bm25.find_units(postings, prompt.text, in_bodies=mode == SEARCH)
            return terms, units, (), 0.0

        self.terms, self._units, self._values, self.rare = index.look(look)
        self.memories = {unit.text: unit.memories for unit in self._units}
        self._asked = {term.text: {" ".join(phrase) for phrase in term.phrases} for term in self.terms}

    def tokens_of(self, memory: Memory) -> Fields:
        """The tokens that count."""
        title, tags, body = _fields(memory)
        return title, tags, body if self.has_bodies else []

    def of(self, memory: Memory) -> Breakdown | None:
        parts, bm25, bonus, phrase, gain = self._index.look(lambda postings: self._parts(postings, memory))
        fields, total = _fields(memory), sum(parts.values())
        stems = [[*map(stem, field)] for field in fields]
        found = [self._find(unit, fields, stems) for unit in self._units]
        if not parts:  # words that are too common to be looked at
            counted = 3 if self.has_bodies else 2
            held = [sum(sum(word.occurrences[:counted]) for word in words) for words in found]
            parts = {number: 0.0 for number, times in enumerate(held) if times}
        if not parts and not gain:
            return None
        contributions = [
            Contribution(
                unit.text,
                found[number],
                unit.memories,
                self._values[number] if self._values else None,
                parts[number],
                parts[number] / total if total else 0.0,
                unit.weight < 1,
            )
            for number, unit in enumerate(self._units)
            if number in parts
        ]
        missing = tuple(unit.text for unit, words in zip(self._units, found, strict=True) if not words)
        strength = total + bonus + gain
        return Breakdown(tuple(self.memories), tuple(contributions), missing, bm25, bonus, strength, phrase, gain)

    def _parts(self, postings: Postings, memory: Memory) -> tuple[Mapping[int, float], float, float, str, float]:
        """The part of each unit, the sum of their BM25, the bonus, and the phrase that fits best with its gain."""
        row = postings.row_of(memory.summary)
        if row is None:
            return {}, 0.0, 0.0, "", 0.0
        if self._strategy == MEMSIFT:
            strengths = Strengths.of(postings, self._prompt, self._mode, has_phrases=self._has_phrases)
            match, gain = strengths.matches([row]).get(row), strengths.gains.get(row)
            phrase = postings.phrase(row, gain.phrase) if gain else ""
            if match is None:
                return {}, 0.0, 0.0, "", 0.0
            bonus = match.strength - sum(match.parts.values())
            return match.parts, match.bm25, bonus, phrase, gain.found if gain else 0.0
        parts, points = fts5_bm25.parts_of(postings, self._units, row, in_bodies=self._mode == SEARCH)
        return parts, sum(parts.values()), float(points), "", 0.0

    def _find(self, unit: Unit, fields: Fields, stems: Sequence[list[str]]) -> tuple[FoundWords, ...]:
        """The words of a memory that match a unit. *stems*: those of *fields*."""
        counts: dict[str, list[int]] = {}
        for place, field in enumerate(stems):
            for start, first in enumerate(field):
                for phrase in unit.phrases:
                    if first == phrase[0] and tuple(field[start : start + len(phrase)]) == phrase:
                        words = " ".join(fields[place][start : start + len(phrase)])
                        counts.setdefault(words, [0, 0, 0])[place] += 1
        return tuple(
            FoundWords(words, self._how(words, unit), (title, tags, body))
            for words, (title, tags, body) in counts.items()
        )

    def _how(self, words: str, unit: Unit) -> str:
        asked = self._asked[unit.text]
        if words in asked or words.replace(" ", "") in asked:
            return PHRASE if " " in words else EXACT
        return STEM if any(stem(words) == stem(own) for own in asked) or " " in words else BEGINNING


class KeywordContributions:
    """`title_tags`: the points of each word. *now* is in seconds since 1970."""

    rare, has_bodies = 0.0, False

    def __init__(self, text: str, now: float) -> None:
        self._words = title_tags.keywords(text)
        self._since = title_tags.recent_since(now)
        self.terms = tuple(Term(word, ((word,),)) for word in self._words)
        self.memories = dict.fromkeys(self._words, 0)

    def tokens_of(self, memory: Memory) -> Fields:
        title, tags = memory.summary.title, " ".join(memory.summary.tags)
        return list(title_tags.keywords(title)), list(title_tags.keywords(tags)), []

    def of(self, memory: Memory) -> Breakdown | None:
        score, texts = title_tags.keyword_score(self._words, memory.summary, self._since)
        if not texts:
            return None
        points = title_tags.points(self._words, memory.summary)
        total = sum(points.values())
        contributions = tuple(
            Contribution(text, self._find(text, memory), None, None, float(points[text]), points[text] / total)
            for text in texts
        )
        missing = tuple(word for word in self._words if word not in texts)
        return Breakdown(tuple(self._words), contributions, missing, float(total), -score - total, -score)

    def _find(self, text: str, memory: Memory) -> tuple[FoundWords, ...]:
        title, tags, _ = self.tokens_of(memory)
        held = [word for word in dict.fromkeys((*title, *tags)) if word.startswith(text)]
        words, how = ([text], EXACT) if text in held else (held, BEGINNING)
        return tuple(FoundWords(word, how, (title.count(word), tags.count(word), 0)) for word in words)


def _fields(memory: Memory) -> Fields:
    return tokens(memory.summary.title), tokens(" ".join(memory.summary.tags)), tokens(memory.body)


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
    from rapidfuzz import distance  # a search without explanations does not need it

    own_stem, is_spelled = stem(token), _is_spelled(token)
    for word, its_stem in stems.items():
        if its_stem == own_stem:
            yield word, SAME_STEM
        if is_spelled and _is_spelled(word) and distance.OSA.distance(token, word, score_cutoff=1) == 1:
            yield word, SPELLING
        if word.isdecimal():
            continue
        if _is_spelled(word) and token.startswith(word):
            yield word, SHORTER
        elif is_long and word.startswith(token):
            yield word, LONGER


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
