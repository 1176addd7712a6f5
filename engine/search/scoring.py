"""Finding memories for a prompt: FTS5 chooses candidates, and these are scored in full.

    bm25     = sum over the units in the memory of  quality x idf x f (K1 + 1) / (f + K1 (1 - B + B D / D_mean))
    strength = bm25 + FOCUS x (headline + passage) + rare x ln(1 + words)

f is the number of occurrences of the unit, weighted by field, and D the number of tokens in the memory. The quality is
1, or less if only longer words match. (S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond", 2009, section 3.4; SQLite computes the same in fts5_aux.c.)

`headline` is the sum of quality x idf of the units in title and tags. `passage` is the largest such sum in PASSAGE
tokens of the body, so that a long memory is judged by its best passage. `words` is the number of units that the memory
holds, where a word of an earlier turn counts by its weight, and `rare` is the weight of the rarest possible word. A
strategy without `rare` has its BM25 alone. The weights and rules are those of a `Strategy`.
"""

from __future__ import annotations

from math import log

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.search.database import summaries_of
from engine.search.query import any_of
from engine.search.ranking import CandidatePool, Scored, order
from engine.search.vocabulary import overlapping, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.prompt import Turn
    from engine.search.query import Term
    from engine.search.ranking import Searchable
    from engine.search.units import Unit, Units

K1, B = 1.2, 0.75

FOCUS, PASSAGE = 1.7, 70
"""The weight of headline and passage, and the tokens of a passage: the best on labelled real roots."""

MOST_PLACES = 20
"""Occurrences of a word in a body that are looked at for passages."""

HEADLINE, FULL_TEXT = "headline", "full_text"
RANKED = {
    FULL_TEXT: "select rowid from full_text where full_text match ? and rowid > ? "
    "order by bm25(full_text, 4, 2, 1) limit ?",
    HEADLINE: "select rowid from headline where headline match ? and rowid > ? order by bm25(headline) limit ?",
}
"""Table -> the best memories for an FTS5 expression. Without lengths, FTS5's BM25 hardly damps f."""

SUMS = {
    FULL_TEXT: "select memories, tokens from about",
    HEADLINE: "select memories, headline_tokens from about",
}
"""Table -> the number of memories, and of the tokens in it."""

SMALL = 400
"""In a root of so many memories, every match is a candidate."""

WORDS = "select rowid, words from memory where rowid in (select value from json_each(?))"

ALL_ROWS, ACTIVE_ROWS = -(1 << 62), 0
"""Row numbers before the first of all memories, and before the first active memory."""


class Strategy(Record):
    """How memories are found and scored: the weights and rules behind a `match_strategy`.

    `table` is HEADLINE (title and tags) or FULL_TEXT. `weights` are those of an occurrence in title, tags and body.
    `longer` is the quality of words that are longer than the prompt's word; with 1 they count as that word.
    `postings`: how many FTS5 may read for a prompt, in a small and in a large root.
    `candidates(units, size)`: how many memories are scored, by the number of units and the size of the pool.
    `searched(text)`: the part of a prompt that is searched. `terms(text, turns)`: its terms. `units(db, terms)`: their
    units. `idf(db, units, memories)`: the weight of each unit, in a root of so many memories.
    `rare(memories)`: the weight of a word of one memory, in which `min_strength` is measured; 0 if strengths of
    different prompts cannot be compared.
    `most_bonus`: the largest bonus, which is 1 for each term in the body. `counts_retired`: retired memories take
    places in the pool.
    """

    table: str
    weights: tuple[float, float, float]
    longer: float
    postings: tuple[int, int]
    candidates: Callable[[int, int], int]
    searched: Callable[[str], str]
    terms: Callable[[str, Sequence[Turn]], tuple[Term, ...]]
    units: Callable[[Connection, Sequence[Term]], Units]
    idf: Callable[[Connection, Sequence[Unit], int], list[float]]
    rare: Callable[[int], float]
    most_bonus: int = 0
    counts_retired: bool = False


class Match(Record):
    """How a memory answers a prompt.

    `parts`: the number of each unit that the memory holds -> its part of the strength, positive, in the order of the
    units. `in_body` are the numbers of the units in the body that count for the bonus. `length` is in tokens.
    """

    parts: Mapping[int, float]
    in_body: tuple[int, ...]
    bm25: float
    strength: float
    length: int


def find(
    rules: Strategy,
    text: str,
    index: Searchable,
    size: int,
    *,
    include_retired: bool,
    turns: Sequence[Turn] = (),
) -> CandidatePool:
    """The *size* strongest active memories and the retired memories among them, best first.

    With *include_retired*, retired memories count like active memories. *turns* came before the prompt.
    """
    counts_all = include_retired or rules.counts_retired

    def pool(db: Connection) -> CandidatePool:
        asked = rules, text, turns
        matcher = index.kept(db, asked, lambda: PromptMatcher(db, rules.terms(text, turns), rules))
        found = matcher.best(index.root, size, counts_all=counts_all)
        return CandidatePool(found, matcher.found.asked, matcher.rare, matcher.unknown, rules.searched(text))

    return index.pool(pool)


class PromptMatcher:
    """Matches memories with one prompt, in one state of the index. It keeps what it found: another system asks again.

    `found` are the prompt's units, `idf` the weight of each, `rare` that of the rarest possible word.
    """

    def __init__(self, db: Connection, terms: Sequence[Term], rules: Strategy) -> None:
        self._db = db
        self._rules = rules
        self.found = rules.units(db, terms)
        self._size, tokens = db.execute(SUMS[rules.table]).fetchone()
        self._mean_length = tokens / max(1, self._size)
        self.idf = rules.idf(db, self.found.units, self._size)
        self.rare = rules.rare(self._size)
        self._shares = [unit.weight for unit in self.found.units]
        self._exact = [spelled(unit.phrases, self.found.codes) for unit in self.found.units]
        self._owners: dict[str, list[tuple[int, bool]]] = {}
        for number, unit in enumerate(self.found.units):
            for code in self._exact[number]:
                self._owners.setdefault(code, []).append((number, False))
            for word in unit.longer:
                self._owners.setdefault(self.found.codes[word], []).append((number, rules.longer < 1))
        self._texts: dict[int, str] = {}
        self._known: dict[tuple[int, bool], Match | None] = {}
        self._ranked: dict[tuple[str, int], tuple[int, list[int]]] = {}

    @property
    def unknown(self) -> float:
        """The part of the prompt's weight in words that no memory holds, 0..1. Earlier turns do not count."""
        weights = self.idf if self.rare else [1.0] * len(self.found.asked)
        own = [(weight, unit) for weight, unit in zip(weights, self.found.asked, strict=True) if unit.weight == 1]
        return sum([weight for weight, unit in own if not unit.memories]) / (sum([weight for weight, _ in own]) or 1.0)

    def match(self, encoded: str, *, is_exact: bool = True) -> Match | None:
        """The match of a memory with these encoded tokens, see `vocabulary`; None if it holds no unit.

        Unless *is_exact*, the whole body counts as the best passage: its strength is an upper bound, for less work.
        """
        fields = encoded.split("\n")
        if self._rules.table == HEADLINE:
            encoded = encoded[: -len(fields[2]) or None]
        title, tags, body = [*fields[:2], ""] if self._rules.table == HEADLINE else fields
        of_title, of_tags, of_body = self._rules.weights
        weighted: dict[tuple[int, bool], float] = {}
        in_headline, in_text = set(), {}
        for code, owners in self._owners.items():
            if code in encoded:
                count = str.count if len(code) == 1 else overlapping
                above = of_title * count(title, code) + of_tags * count(tags, code)
                below = count(body, code)
                for owner in owners:
                    weighted[owner] = weighted.get(owner, 0.0) + above + of_body * below
                    if above:
                        in_headline.add(owner[0])
                if below:
                    in_text[code] = owners
        if not weighted:
            return None
        length, mean = len(encoded) - 2, self._mean_length
        damping = K1 * (1 - B + B * length / mean) if mean else K1
        values, parts = {}, {}
        for (number, is_longer), f in sorted(weighted.items()):
            if not is_longer or (number, False) not in weighted:
                values[number] = (self._rules.longer if is_longer else 1.0) * self.idf[number]
                parts[number] = values[number] * f * (K1 + 1) / (f + damping)
        bm25 = sum(parts.values())
        in_body = self._in_body(fields[2]) if self._rules.most_bonus else ()
        if not self.rare:
            return Match(parts, in_body, bm25, bm25, length)
        passage = _best_passage(body if is_exact else "", in_text, values)
        for number, value in values.items():
            parts[number] += FOCUS * value * ((number in in_headline) + (number in passage))
        words = sum([self._shares[number] for number in values])
        return Match(parts, in_body, bm25, sum(parts.values()) + self.rare * log(1 + words), length)

    def _in_body(self, body: str) -> tuple[int, ...]:
        """The units that a body holds as they are: a long body holds longer words of any beginning by chance."""
        return tuple([number for number, codes in enumerate(self._exact) if any(code in body for code in codes)])

    def scored(self, memory: MemorySummary, match: Match) -> Scored:
        """A memory with its scores, and the texts of the units that it holds."""
        units = self.found.units
        in_body = {units[number].text for number in match.in_body} if match.in_body else ()
        bonus = min(self._rules.most_bonus, len(in_body))
        numbers = sorted({*match.parts, *match.in_body}) if bonus else match.parts
        matched = dict.fromkeys([units[number].text for number in numbers])
        return Scored(memory, -match.bm25, bonus, -match.strength - bonus, tuple(matched), match.length)

    def matches(self, rows: Collection[int]) -> dict[int, Match]:
        """Row -> match, for the memories in *rows* with a match."""
        return {row: match for row in self._held(rows) if (match := self._match(row))}

    def strongest(self, rows: Collection[int], size: int, *, counts_all: bool) -> dict[int, Match]:
        """Row -> match, for the memories in *rows* that may be among the *size* strongest. Others are not scored."""
        bounds = {row: match.strength for row in self._held(rows) if (match := self._match(row, is_exact=False))}
        found: dict[int, Match] = {}
        counted: list[float] = []
        for row in sorted(bounds, key=bounds.__getitem__, reverse=True):
            if len(counted) >= size and counted[-size] > bounds[row]:
                break
            if match := self._match(row):
                found[row] = match
                counted = sorted([*counted, match.strength]) if counts_all or row > ACTIVE_ROWS else counted
        return found

    def _match(self, row: int, *, is_exact: bool = True) -> Match | None:
        if (row, is_exact) not in self._known:
            self._known[row, is_exact] = self.match(self._texts[row], is_exact=is_exact)
        return self._known[row, is_exact]

    def _held(self, rows: Collection[int]) -> list[int]:
        """Those of *rows* that are memories, with their tokens read."""
        if new := [row for row in rows if row not in self._texts]:
            self._texts |= self._db.execute(WORDS, (dumps(new),)).fetchall()
        return sorted(row for row in rows if row in self._texts)

    def best(self, root: str, size: int, *, counts_all: bool) -> list[Scored]:
        """Memories up to the *size*th active one; with *counts_all*, up to the *size*th of all.

        The strength alone decides which memories these are. Then the bonus counts for their order.
        """
        rows = self._candidates(size, include_retired=counts_all)
        matches = self.strongest(rows, size, counts_all=counts_all) if self.rare else self.matches(rows)
        strengths = {row: match.strength for row, match in matches.items()}
        found = summaries_of(self._db, root, best_rows(strengths, size, include_retired=counts_all))
        ordered = sorted(found, key=lambda row: (-strengths[row], found[row].priority, found[row].path))
        counted = [place for place, row in enumerate(ordered, 1) if counts_all or row > ACTIVE_ROWS][:size]
        kept = ordered[: counted[-1]] if len(counted) == size else ordered
        scored = [self.scored(found[row], matches[row]) for row in kept]
        return sorted(scored, key=order) if self._rules.most_bonus else scored

    def _best_ranked(self, either: str, first: int, most: int) -> list[int]:
        """The *most* best rows after *first* for an FTS5 expression. Fewer are the first of more."""
        known, rows = self._ranked.get((either, first), (0, []))
        if known < most:
            rows = [row for (row,) in self._db.execute(RANKED[self._rules.table], (either, first, most))]
            self._ranked[either, first] = most, rows
        return rows[:most]

    def _candidates(self, size: int, *, include_retired: bool) -> list[int]:
        rules, units = self._rules, self.found.units
        least, most = rules.postings
        return candidates(
            self._db,
            self._best_ranked,
            [(unit.memories, expression(unit, has_prefixes=rules.longer == 1)) for unit in units],
            postings=min(most, least + self._size // 10),
            most=max(SMALL if self._size <= SMALL else 0, rules.candidates(len(units), size)),
            include_retired=include_retired,
        )


def _best_passage(
    body: str, in_text: Mapping[str, Sequence[tuple[int, bool]]], values: Mapping[int, float]
) -> Collection[int]:
    """The units in the passage of a body with the largest sum of *values*.

    *in_text*: code in the body -> its owners.
    """
    owned = {code: {number for number, _ in owners if number in values} for code, owners in in_text.items()}
    units = set().union(*owned.values())
    if len(body) <= PASSAGE or len(units) < 2:
        return units
    places = sorted([(place, number) for code in owned for place in _places(body, code) for number in owned[code]])
    held, total, first = dict.fromkeys(units, 0), 0.0, 0
    most, best = -1.0, (0, 0)
    for last, (place, number) in enumerate(places):
        total += 0.0 if held[number] else values[number]
        held[number] += 1
        while place - places[first][0] >= PASSAGE:
            left = places[first][1]
            held[left] -= 1
            total -= 0.0 if held[left] else values[left]
            first += 1
        if total > most:
            most, best = total, (first, last + 1)
    return {number for _, number in places[slice(*best)]}


def _places(body: str, code: str) -> list[int]:
    """The first MOST_PLACES places of a word or phrase in a body."""
    found: list[int] = []
    place = body.find(code)
    while place >= 0 and len(found) < MOST_PLACES:
        found.append(place)
        place = body.find(code, place + 1)
    return found


def expression(unit: Unit, *, has_prefixes: bool) -> str:
    """FTS5's expression for a unit. *has_prefixes*: FTS5 looks for longer words by itself, at a higher price."""
    if has_prefixes:
        return any_of([(phrase, bool(unit.longer)) for phrase in unit.phrases])
    return any_of([(phrase, False) for phrase in (*unit.phrases, *((word,) for word in unit.longer))])


def candidates(
    db: Connection,
    ranked: Callable[[str, int, int], list[int]],
    wanted: Iterable[tuple[int, str]],
    *,
    postings: int,
    most: int,
    include_retired: bool,
) -> list[int]:
    """The rows of the *most* memories that match the rarest of *wanted*, without reading more than *postings*.

    *wanted*: the number of memories with a match, at most, and the expression of FTS5. *ranked*: the best rows for an
    expression, after a row, up to a number. Enough of the rows are active, unless *include_retired*. If the rarest of
    *wanted* is beyond *postings*, only the newest memories are looked at.
    """
    rarest = sorted(term for term in wanted if term[0])
    if not rarest:
        return []
    chosen, left = [rarest[0][1]], postings - rarest[0][0]
    for memories, text in rarest[1:]:
        left -= memories
        if left < 0:
            break
        chosen.append(text)
    either = " OR ".join(chosen)
    rows = ranked(either, _first_row(db, rarest[0][0], postings), most)
    retired = [row for row in rows if row < ACTIVE_ROWS]
    if include_retired or len(rows) < most or 2 * len(retired) < len(rows):
        return rows
    return [*retired, *ranked(either, ACTIVE_ROWS, most)]


def _first_row(db: Connection, memories: int, postings: int) -> int:
    """The row before the newest memories, if a word has more *memories* than *postings*."""
    if memories <= postings:
        return ALL_ROWS
    (last,) = db.execute("select max(rowid) from memory").fetchone()
    return int(max(0, last) * (1 - postings / memories))


def best_rows(scores: Mapping[int, float], size: int, *, include_retired: bool) -> list[int]:
    """The rows of the *size* best active memories, with ties, and of retired memories with such scores.

    With *include_retired*, retired memories count like active memories.
    """
    counted = sorted([score for row, score in scores.items() if include_retired or row > ACTIVE_ROWS], reverse=True)
    least = counted[size - 1] if len(counted) >= size else 0.0
    return [row for row, score in scores.items() if score >= least]
