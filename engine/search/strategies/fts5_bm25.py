"""`fts5_bm25`: FTS5's own BM25 over title and tags, with a bonus for words of the prompt in the body.

An explicit search looks into bodies instead. A word of the prompt matches itself and longer words, in full. Each
spelling of an identifier is a unit, scored by itself. The weight of a unit is FTS5's (fts5_aux.c):
idf = ln((N - n + 0.5) / (n + 0.5)), and LEAST_IDF instead of values that are not positive.
"""

from __future__ import annotations

from math import log

from engine.lean.json_text import dumps
from engine.search.query import query_terms, rarest
from engine.search.scoring import FULL_TEXT, HEADLINE, Strategy, expression
from engine.search.units import Unit, Units
from engine.search.vocabulary import words_begun, words_of_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.search.query import Term
    from engine.search.vocabulary import Word

MAX_BODY_BONUS = 3
MAX_TERMS = 60
"""Of a prompt with more terms, the rarest MAX_TERMS count."""

LEAST_IDF = 1e-6
POSTINGS = {HEADLINE: 2500, FULL_TEXT: 8000}
"""Table -> postings that FTS5 may read for a prompt."""

CANDIDATES = 120
COLUMNS = {HEADLINE: "headlines", FULL_TEXT: "memories"}
"""Table -> the number of its memories that hold a word, as a column of `word`."""

EXACT_COUNT = "select value, (select count(*) from {table} where {table} match value) from json_each(?)"
COUNT = """select value, (
    select coalesce(sum({column}), 0) from word where text >= value and text < value || char(1114111)
) from json_each(?)"""


def _units(db: Connection, terms: Sequence[Term], table: str) -> Units:
    terms = _rarest(db, terms, COLUMNS[table]) if len(terms) > MAX_TERMS else terms
    known = words_of_text(db, (token for term in terms for phrase in term.phrases for token in phrase))
    begun = words_begun(db, (term.phrases[0][0] for term in terms if term.is_prefix))
    words = {word.text: word for words in (known.values(), *begun.values()) for word in words}
    counts = {text: count for text, word in words.items() if (count := getattr(word, COLUMNS[table]))}
    units, asked = [], []
    for term in terms:
        own = [_unit(term, phrase, counts, begun) for phrase in term.phrases]
        units += own
        asked.append(Unit(term.text, term.phrases, (), sum(unit.memories for unit in own)))
    return Units(tuple(units), {text: word.code for text, word in words.items()}, tuple(asked))


def _unit(term: Term, phrase: tuple[str, ...], counts: Mapping[str, int], begun: Mapping[str, list[Word]]) -> Unit:
    """The unit of a spelling. Longer words count only for a plain word."""
    longer = [word.text for word in begun.get(phrase[0], ()) if word.text in counts] if term.is_prefix else []
    memories = min(counts.get(token, 0) for token in phrase) + sum(counts[word] for word in longer)
    return Unit(term.text, (phrase,), tuple(longer), memories)


def _rarest(db: Connection, terms: Sequence[Term], column: str) -> Sequence[Term]:
    phrases = [phrase for term in terms for phrase in term.searched]
    begun = _ask(db, COUNT.format(column=column), (phrase[0] for phrase, is_prefix in phrases if is_prefix))
    known = words_of_text(db, (token for phrase, is_prefix in phrases if not is_prefix for token in phrase))
    exact = {text: getattr(word, column) for text, word in known.items()}
    counts = [
        sum(begun[p[0]] if is_prefix else min(exact.get(token, 0) for token in p) for p, is_prefix in term.searched)
        for term in terms
    ]
    return rarest(terms, counts, MAX_TERMS)


def _weights(db: Connection, units: Sequence[Unit], memories: int, table: str) -> list[float]:
    """The weights by exact counts: FTS5 counts a unit of several words, if the sum over its words may be too large."""
    texts = [expression(unit, has_prefixes=True) for unit in units]
    unsure = [
        text
        for text, unit in zip(texts, units, strict=True)
        if (unit.longer or len(unit.phrases[0]) > 1) and 0 < unit.memories <= POSTINGS[table]
    ]
    counted = _ask(db, EXACT_COUNT.format(table=table), unsure)
    return [idf(counted.get(text, unit.memories), memories) for text, unit in zip(texts, units, strict=True)]


def idf(holding: int, memories: int) -> float:
    """The weight of a unit that *holding* of the memories hold."""
    ratio = (memories - holding + 0.5) / (holding + 0.5)
    return max(LEAST_IDF, log(ratio)) if ratio > 0 else LEAST_IDF


def _ask(db: Connection, sql: str, values: Iterable[str]) -> dict[str, int]:
    listed = sorted(set(values))
    return dict(db.execute(sql, (dumps(listed, ascii_only=False),))) if listed else {}


def _strategy(table: str, weights: tuple[float, float, float], most_bonus: int) -> Strategy:
    return Strategy(
        table=table,
        weights=weights,
        longer=1,
        postings=(POSTINGS[table], POSTINGS[table]),
        candidates=lambda _, size: max(2 * size, CANDIDATES),
        asked=lambda text, _: (text, query_terms(text)),
        units=lambda db, terms: _units(db, terms, table),
        idf=lambda db, units, memories: _weights(db, units, memories, table),
        rare=lambda _: 0.0,
        most_bonus=most_bonus,
        counts_retired=table == HEADLINE,
    )


HEADLINES = _strategy(HEADLINE, (1, 1, 0), MAX_BODY_BONUS)
BODIES = _strategy(FULL_TEXT, (4, 2, 1), 0)
"""By title and tags with the bonus, as the hook searches; by the whole text."""
