"""`memsift`: by strength over title, tags and body. Strengths of different prompts can be compared, unlike BM25.

    bm25     = sum over the units in the memory of  value x f (K1 + 1) / (f + K1 (1 - B + B D / D_mean))
    strength = bm25 + FOCUS x (headline + passage) + rare x ln(1 + words)

f is the number of occurrences of the unit, weighted by field, and D the number of tokens in the memory (S. Robertson
and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.4). `value` is the rarity of
the unit in the root x its rarity in general text (`commonness`). The rarity in the root is Lucene's (BM25Similarity),
which stays positive: idf = ln(1 + (N - n + 0.5) / (n + 0.5)) with N = memories + ELSEWHERE.

`headline` is the sum of the values of the units in title and tags. `passage` is the largest such sum in PASSAGE tokens
of the body, so that a long memory is judged by its best passage. `words` is the number of units that the memory holds,
and `rare` is the value of the rarest possible word.

Phrases by which a memory is asked for add to its strength: see `engine.search.phrases`.

The turns before a prompt are part of every query, with a small weight: more than half of what people type says little
without them ("option C", "still fails").
"""

from __future__ import annotations

from math import log

from engine.config import AUTO, SEARCH
from engine.lean.record import Record, replace
from engine.retrieval import Candidate
from engine.search.commonness import STOP_WORDS, idf, rarity_of
from engine.search.postings import WEIGHTS
from engine.search.query import query_terms, with_last_prefix
from engine.search.ranking import CandidatePool
from engine.search.tokens import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.prompt import Prompt, Turn
    from engine.search.phrases import Gain
    from engine.search.postings import Postings
    from engine.search.query import Term

K1, B = 1.2, 0.75

FOCUS, PASSAGE = 1.7, 70
"""The weight of headline and passage, and the tokens of a passage: the best on labelled real roots."""

BUDGET = 3000
"""Postings that are read for a prompt."""

BEST, MOST_TIES = 40, 200
"""Memories that are scored: the best by an estimate. If more look equally good, at most MOST_TIES."""

SHORT_WORDS, LEAST_TYPED = 60, 3
"""A prompt of at most SHORT_WORDS words, or with fewer than LEAST_TYPED typed terms, is searched as a whole."""

TURNS, TURN_CHARACTERS, TURN_WEIGHT = 4, 600, 0.3
"""The last turns before a prompt that count, the end of each that is read, and the weight of a word in them."""

MOST_FROM_TURNS = 40
"""Terms of the turns that count: first those of rarity 1 in general text, the latest of them first, then others."""

SMALL_POOL = 12
"""The least size of a pool in which a cutoff compares memories."""


class Match(Record):
    """How a memory answers a prompt.

    `parts`: the number of each unit that the memory holds -> its part of the strength, positive, in the order of the
    units. `length` is in tokens.
    """

    parts: Mapping[int, float]
    bm25: float
    strength: float
    length: int


def pick_terms(text: str, turns: Sequence[Turn] = (), mode: str = AUTO) -> tuple[str, tuple[Term, ...]]:
    """The part of a prompt that is searched, and its terms, with those of the *turns* before it.

    The part is the typed part if it has LEAST_TYPED terms, else all of it: "fix this" alone says nothing. In mode
    `search` somebody may still be typing the last word.
    """
    searched = text
    if len(text.split(None, SHORT_WORDS)) > SHORT_WORDS:
        from engine.search.typed_part import typed_part

        searched = typed_part(text)
    terms = query_terms(searched)
    if searched is not text and len(terms) < LEAST_TYPED:
        searched, terms = text, query_terms(text)
    terms = with_last_prefix(terms) if mode == SEARCH else terms
    return searched, (*terms, *(_from_turns(turns, terms) if turns else ()))


def _from_turns(turns: Sequence[Turn], terms: Sequence[Term]) -> list[Term]:
    """The MOST_FROM_TURNS terms of the last turns that are not among *terms*.

    Numbers and names that look like stop words are left out: they are rare, but say little about what came later.
    """
    known = {term.phrases for term in terms}
    latest = {
        term.phrases: replace(term, weight=TURN_WEIGHT)
        for turn in reversed(turns[-TURNS:])
        for term in query_terms(turn.text[-TURN_CHARACTERS:])
        if term.phrases not in known and not (term.text.isdecimal() or fold(term.text) in STOP_WORDS)
    }
    rare = sorted(latest.values(), key=lambda term: rarity_of(term) < 1)
    return rare[:MOST_FROM_TURNS]


def find(strengths: Strengths, size: int, *, include_retired: bool) -> CandidatePool:
    """The *size* strongest active memories and the retired memories among them, best first.

    With *include_retired*, retired memories count like active memories.
    """
    matches = strengths.best(max(BEST, 2 * size), include_retired=include_retired)
    gains = strengths.gains
    scores = {row: match.strength + (gains[row].found if row in gains else 0.0) for row, match in matches.items()}
    found = strengths.postings.strongest(scores, size, include_retired=include_retired)
    texts = [unit.text for unit in strengths.units]
    scored = []
    for row, memory in found.items():
        match, unsure = matches[row], gains[row].found - gains[row].sure if row in gains else 0.0
        matched = tuple([texts[number] for number in match.parts])
        scored.append(Candidate(memory, -match.bm25, 0, -scores[row], matched, length=match.length, unsure=unsure))
    pool = CandidatePool(scored, strengths.units, strengths.rare, strengths.unknown, strengths.searched)
    return replace(pool, root_size=strengths.postings.memories, has_phrases=strengths.has_phrases)


class Strengths:
    """The strengths of memories for one prompt, in one state of the index.

    `searched` is the part of the prompt that is searched, `units` are its units and `values` the value of each; `rare`
    is that of the rarest possible word.
    """

    def __init__(
        self, postings: Postings, text: str, turns: Sequence[Turn], mode: str, has_phrases: bool = True
    ) -> None:
        self.postings = postings
        self.searched, self.terms = pick_terms(text, turns, mode)
        self.units = postings.units(self.terms)
        self._rarities = [rarity_of(unit) for unit in self.units]
        size = postings.memories
        self.values = [
            unit.weight * rarity * idf(min(unit.memories, size), size)
            for unit, rarity in zip(self.units, self._rarities, strict=True)
        ]
        self.rare = idf(1, max(1, size))
        self._least_damping = K1 * (1 - B)
        self._damping = K1 * B * size / max(1, postings.tokens)
        numbers, self._after = postings.affordable(self.units, BUDGET)
        self._read = {number: self.units[number] for number in numbers}
        self._estimates: dict[int, float] | None = None
        self.gains: Mapping[int, Gain] = {}
        self.has_phrases = postings.has_phrases and has_phrases
        if self.has_phrases:
            from engine.search import phrases

            said = next((turn.text for turn in reversed(turns) if turn.role == "user"), "")
            self.gains = phrases.gains(postings, self.searched, said, self.rare)

    @classmethod
    def of(cls, postings: Postings, prompt: Prompt, mode: str, *, has_phrases: bool) -> Strengths:
        """The strengths for a prompt, with or without the phrases of the memories."""
        key = prompt.text, prompt.turns, mode, has_phrases
        return postings.keep(key, lambda: cls(postings, *key))

    @property
    def unknown(self) -> float:
        """The part of the prompt's weight in words that no memory holds, 0..1. Earlier turns do not count."""
        own = [(value, unit.memories) for value, unit in zip(self.values, self.units, strict=True) if unit.weight == 1]
        return sum([value for value, memories in own if not memories]) / (sum([value for value, _ in own]) or 1.0)

    def best(self, most: int, *, include_retired: bool) -> dict[int, Match]:
        """Row -> match of about *most* memories that may be the strongest.

        The estimate assumes that a memory holds each of its units once, and has the mean length.
        """
        if self._estimates is None:
            self._estimates = self._estimate()
        retired = frozenset() if include_retired else self.postings.retired
        counted = sorted([one for row, one in self._estimates.items() if row not in retired], reverse=True)
        least = counted[most - 1] if len(counted) >= most else 0.0
        likely = [row for _, row in sorted([(-one, row) for row, one in self._estimates.items() if one >= least])]
        active = [row for row in likely if row not in retired][: max(most, MOST_TIES)]
        return self.matches([*active, *[row for row in likely if row in retired][:MOST_TIES]])

    def _estimate(self) -> dict[int, float]:
        in_body, in_headline = (f * (K1 + 1) / (f + K1) for f in (WEIGHTS[2], WEIGHTS[0]))
        sums: dict[str, float] = {}
        words: dict[str, float] = {}
        for number, (held, headed) in zip(
            self._read, self.postings.holders(self._read.values(), self._after), strict=True
        ):
            value, weight = self.values[number], self.units[number].weight
            gain = (in_body + FOCUS) * value
            for row in held:
                sums[row] = sums.get(row, 0.0) + gain
                words[row] = words.get(row, 0.0) + weight
            gain = (in_headline - in_body + FOCUS) * value
            for row in headed:
                sums[row] += gain
        for_words = {number: self.rare * log(1 + number) for number in {*words.values()}}
        found = {int(row): one + for_words[words[row]] for row, one in sums.items()}
        for number, more in self.gains.items():
            found[number] = found.get(number, 0.0) + more.found
        return found

    def matches(self, rows: Collection[int]) -> dict[int, Match]:
        """Row -> match, of those of *rows* that hold a unit, or have a phrase that fits."""
        counts: dict[int, dict[int, list[float]]] = {row: {} for row in rows if row in self.gains}
        in_body: dict[int, list[tuple[int, int]]] = {}
        numbers = [*self._read]
        for place, row, field, position in self.postings.places([*self._read.values()], rows):
            number = numbers[place]
            own = counts.setdefault(row, {}).setdefault(number, [0.0, 0.0])
            if field == "body":
                own[0] += WEIGHTS[2]
                in_body.setdefault(row, []).append((position, number))
            else:
                own[0] += WEIGHTS[0] if field == "title" else WEIGHTS[1]
                own[1] = FOCUS
        lengths = self.postings.lengths(counts)
        return {row: self._match(own, in_body.get(row, []), lengths[row]) for row, own in counts.items()}

    def _match(self, counts: Mapping[int, list[float]], in_body: list[tuple[int, int]], length: int) -> Match:
        damping = self._least_damping + self._damping * length
        parts = {number: self.values[number] * f * (K1 + 1) / (f + damping) for number, (f, _) in counts.items()}
        bm25 = sum(parts.values())
        for number, (_, headline) in counts.items():
            parts[number] += headline * self.values[number]
        for number in _best_passage(sorted(in_body), self.values):
            parts[number] += FOCUS * self.values[number]
        words = self.rare * log(1 + sum([self.units[number].weight for number in counts]))
        return Match(parts, bm25, sum(parts.values()) + words, length)


def _best_passage(places: Sequence[tuple[int, int]], values: Sequence[float]) -> Iterable[int]:
    """The units in the passage with the largest sum of *values*. *places*: position and unit, sorted."""
    held: dict[int, int] = {}
    total, first, most, best = 0.0, 0, -1.0, (0, 0)
    for last, (position, number) in enumerate(places):
        if not held.get(number):
            total += values[number]
        held[number] = held.get(number, 0) + 1
        while position - places[first][0] >= PASSAGE:
            left = places[first][1]
            held[left] -= 1
            if not held[left]:
                total -= values[left]
            first += 1
        if total > most:
            most, best = total, (first, last + 1)
    return {number for _, number in places[slice(*best)]}
