"""Finding memories for a prompt: lists of FTS5 choose candidates, and these are scored in full.

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
HOLDING = "(select group_concat(rowid) from {0} where {0} match value and rowid > ?)"
LISTED = {
    FULL_TEXT: f"select {HOLDING.format(FULL_TEXT)}, {HOLDING.format(HEADLINE)} from json_each(?)",
    HEADLINE: f"select {HOLDING.format(HEADLINE)}, null, ? from json_each(?)",
}
"""Table -> for each of some expressions of FTS5, the rows of the memories that match, and those that do so in the
headline, both behind a row."""

IN_HEADLINE, ANOTHER = 0.63, 0.2
"""How a memory's strength is guessed from its rows in these lists alone: the part of a word's weight that the headline
adds, and the part of the rarest word's weight that another word adds."""

ROUNDING = 1e-9

MOST_TIES = 400
"""Most memories that are scored for a prompt, if the weakest of them are guessed to be equally strong."""

SUMS = {
    FULL_TEXT: "select memories, tokens from about",
    HEADLINE: "select memories, headline_tokens from about",
}
"""Table -> the number of memories, and of the tokens in it."""

WORDS = "select rowid, words from memory where rowid in (select value from json_each(?))"

ALL_ROWS, ACTIVE_ROWS = -(1 << 62), 0
"""Row numbers before the first of all memories, and before the first active memory."""


class Strategy(Record):
    """How memories are found and scored: the weights and rules behind a `match_strategy`.

    `table` is HEADLINE (title and tags) or FULL_TEXT. `weights` are those of an occurrence in title, tags and body.
    `longer` is the quality of words that are longer than the prompt's word; with 1 they count as that word.
    `postings`: how many FTS5 may read for a prompt, in a small and in a large root.
    `candidates(units, size)`: how many memories are scored, by the number of units and the size of the pool.
    `asked(text, turns)`: the part of a prompt that is searched, and its terms. `units(db, terms)`: their units.
    `idf(db, units, memories)`: the weight of each unit, in a root of so many memories.
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
    asked: Callable[[str, Sequence[Turn]], tuple[str, tuple[Term, ...]]]
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

    def matched(db: Connection) -> tuple[str, PromptMatcher, dict[object, CandidatePool]]:
        searched, terms = rules.asked(text, turns)
        return searched, PromptMatcher(db, terms, rules), {}

    def pool(db: Connection) -> CandidatePool:
        searched, matcher, pools = index.kept(db, (rules, text, turns), lambda: matched(db))
        if (size, counts_all) not in pools:
            found = matcher.best(index.root, size, counts_all=counts_all)
            pools[size, counts_all] = CandidatePool(found, matcher.found.asked, matcher.rare, matcher.unknown, searched)
        return pools[size, counts_all]

    return index.pool(pool)


class PromptMatcher:
    """Matches memories with one prompt, in one state of the index. It keeps what it found: another pool asks again.

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
        self._codes: list[tuple[str, tuple[int, float]]] = []
        for number, unit in enumerate(self.found.units):
            self._codes += [(code, (number, 1.0)) for code in self._exact[number]]
            self._codes += [(self.found.codes[word], (number, rules.longer)) for word in unit.longer]
        self._guessed: dict[str, float] | None = None
        self._encoded: dict[int, str] = {}
        self._known: dict[int, Match] = {}

    @property
    def unknown(self) -> float:
        """The part of the prompt's weight in words that no memory holds, 0..1. Earlier turns do not count."""
        weights = self.idf if self.rare else [1.0] * len(self.found.asked)
        own = [(weight, unit) for weight, unit in zip(weights, self.found.asked, strict=True) if unit.weight == 1]
        return sum([weight for weight, unit in own if not unit.memories]) / (sum([weight for weight, _ in own]) or 1.0)

    def match(self, encoded: str, least: float = 0.0) -> Match | None:
        """The match of a memory with these encoded tokens, see `vocabulary`.

        None if it holds no unit, or is weaker than *least*. The best passage of such a memory is not looked for.
        """
        title, tags, body = encoded.split("\n")
        whole = body
        if self._rules.table == HEADLINE:
            encoded, body = f"{title}\n{tags}", ""
        of_title, of_tags, of_body = self._rules.weights
        length, mean = len(title) + len(tags) + len(body), self._mean_length
        damping = K1 * (1 - B + B * length / mean) if mean else K1
        held: dict[tuple[int, float], float] = {}
        in_headline, in_text = set(), []
        for code, spelling in self._codes:
            if code in encoded:
                count = str.count if len(code) == 1 else overlapping
                above = of_title * count(title, code) + of_tags * count(tags, code)
                below = count(body, code)
                held[spelling] = held.get(spelling, 0.0) + above + of_body * below
                if above:
                    in_headline.add(spelling[0])
                if below:
                    in_text.append((spelling[0], code, below))
        values: dict[int, float] = {}
        parts: dict[int, float] = {}
        for (number, quality), f in held.items():
            if number not in values:
                values[number] = quality * self.idf[number]
                parts[number] = values[number] * f * (K1 + 1) / (f + damping)
        if not values:
            return None
        bm25 = sum(parts.values())
        in_body = self._in_body(whole) if self._rules.most_bonus else ()
        if not self.rare:
            return Match(parts, in_body, bm25, bm25, length)
        passage: Collection[int] = {number for number, *_ in in_text}
        words = self.rare * log(1 + sum([self._shares[number] for number in values]))
        for number in in_headline:
            parts[number] += FOCUS * values[number]
        strength = sum(parts.values()) + words
        if strength + FOCUS * sum([values[number] for number in passage]) < least - ROUNDING:
            return None
        if len(body) > PASSAGE and len(passage) > 1:
            passage = _best_passage(body, in_text, values)
        for number in passage:
            parts[number] += FOCUS * values[number]
        return Match(parts, in_body, bm25, sum(parts.values()) + words, length)

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
        return {row: match for row, encoded in self._words(rows).items() if (match := self.match(encoded))}

    def strongest(self, rows: Sequence[int], size: int, *, counts_all: bool) -> dict[int, Match]:
        """Row -> match, for the memories in *rows* that may be among the *size* strongest."""
        words, found = self._words(rows), {}
        counted: list[float] = []
        for row in rows:
            least = counted[-size] if len(counted) >= size else 0.0
            if match := self._known.get(row) or self.match(words[row], least):
                found[row] = self._known[row] = match
                if counts_all or row > ACTIVE_ROWS:
                    counted = sorted([*counted, match.strength])
        return found

    def _words(self, rows: Collection[int]) -> dict[int, str]:
        if new := [row for row in rows if row not in self._encoded]:
            self._encoded |= self._db.execute(WORDS, (dumps(new),)).fetchall()
        return {row: self._encoded[row] for row in sorted(rows) if row in self._encoded}

    def best(self, root: str, size: int, *, counts_all: bool) -> list[Scored]:
        """Memories up to the *size*th active one; with *counts_all*, up to the *size*th of all.

        The strength alone decides which memories these are. Then the bonus counts for their order.
        """
        rows = self._candidates(size, include_retired=counts_all)
        matches = self.strongest(rows, size, counts_all=counts_all)
        strengths = {row: match.strength for row, match in matches.items()}
        found = summaries_of(self._db, root, best_rows(strengths, size, include_retired=counts_all))
        ordered = sorted(found, key=lambda row: (-strengths[row], found[row].priority, found[row].path))
        counted = [place for place, row in enumerate(ordered, 1) if counts_all or row > ACTIVE_ROWS][:size]
        kept = ordered[: counted[-1]] if len(counted) == size else ordered
        scored = [self.scored(found[row], matches[row]) for row in kept]
        return sorted(scored, key=order) if self._rules.most_bonus else scored

    def _candidates(self, size: int, *, include_retired: bool) -> list[int]:
        """The rows that are scored for a pool of *size*. As many are active, unless *include_retired*."""
        if self._guessed is None:
            self._guessed = self._guesses()
        most = self._rules.candidates(len(self.found.units), size)
        kept = with_ties(self._guessed, most)
        if not include_retired and any(row[0] == "-" for row in kept):
            kept += with_ties({row: guess for row, guess in self._guessed.items() if row[0] != "-"}, most)
        return [*map(int, dict.fromkeys(kept))]

    def _guesses(self) -> dict[str, float]:
        rules = self._rules
        least, most = rules.postings
        wanted = [
            (
                unit.memories,
                expression(unit, has_prefixes=rules.longer == 1),
                (1 + FOCUS) * weight + ANOTHER * self.rare * unit.weight,
                (1 + FOCUS) * IN_HEADLINE * weight,
            )
            for unit, weight in zip(self.found.units, self.idf, strict=True)
        ]
        return holders(self._db, rules.table, wanted, postings=min(most, least + self._size // 10))


def _best_passage(body: str, in_text: Iterable[tuple[int, str, int]], values: Mapping[int, float]) -> set[int]:
    """The units in the passage of a body with the largest sum of *values*.

    *in_text*: units, codes of theirs that the body holds, and how often.
    """
    places = []
    for number, code, count in in_text:
        place = -1
        for _ in range(min(count, MOST_PLACES)):
            place = body.find(code, place + 1)
            places.append((place, number))
    places.sort()
    held, total, first = dict.fromkeys(values, 0), 0.0, 0
    most, best = -1.0, (0, 0)
    for last, (place, number) in enumerate(places):
        if not held[number]:
            total += values[number]
        held[number] += 1
        while place - places[first][0] >= PASSAGE:
            left = places[first][1]
            held[left] -= 1
            if not held[left]:
                total -= values[left]
            first += 1
        if total > most:
            most, best = total, (first, last + 1)
    return {number for _, number in places[slice(*best)]}


def expression(unit: Unit, *, has_prefixes: bool) -> str:
    """FTS5's expression for a unit. *has_prefixes*: FTS5 looks for longer words by itself, at a higher price."""
    if has_prefixes:
        return any_of([(phrase, bool(unit.longer)) for phrase in unit.phrases])
    return any_of([(phrase, False) for phrase in (*unit.phrases, *((word,) for word in unit.longer))])


def with_ties(guessed: Mapping[str, float], most: int) -> list[str]:
    """The *most* rows of the largest guesses, the largest first, and those like the last: a choice of these would
    depend on when they were written."""
    least = min(sorted(guessed.values(), reverse=True)[:most], default=0.0)
    kept = sorted([(guess, row) for row, guess in guessed.items() if guess >= least], reverse=True)
    return [row for _, row in kept[: max(most, MOST_TIES)]]


def holders(
    db: Connection, table: str, wanted: Iterable[tuple[int, str, float, float]], *, postings: int
) -> dict[str, float]:
    """Row -> guessed strength, of the memories that hold any of *wanted*. No more than *postings* are read.

    *wanted*: the number of memories with a match, at most, the expression of FTS5, its weight, and what the headline
    adds to it. The rarest are looked at. If the rarest is beyond *postings*, only the newest memories are looked at.
    """
    rarest = sorted(unit for unit in wanted if unit[0])
    if not rarest:
        return {}
    first, left = _first_row(db, rarest[0][0], postings), postings
    chosen = rarest[:1]
    for unit in rarest[1:]:
        left -= unit[0]
        if left < rarest[0][0]:
            break
        chosen.append(unit)
    sums: dict[str, float] = {}
    rows = db.execute(LISTED[table], (first, first, dumps([text for _, text, _, _ in chosen], ascii_only=False)))
    for (_, _, *gains), listed in zip(chosen, rows, strict=True):
        for gain, holding in zip(gains, listed, strict=False):
            for row in holding.split(",") if holding else ():
                sums[row] = sums.get(row, 0.0) + gain
    return sums


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
