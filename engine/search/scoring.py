"""BM25 of a memory, and the choice of the memories that are worth scoring.

    bm25 = sum over the units in the memory of  quality x idf x f (K1 + 1) / (f + K1 (1 - B + B D / D_mean))

f is the number of occurrences of the unit, each times the weight of its field; D is the number of tokens in the memory.
The quality is 1, and less where only longer words are in the memory. (Robertson and Zaragoza 2009, "The Probabilistic
Relevance Framework: BM25 and Beyond", with its simple weights of fields; FTS5 computes the same, fts5_aux.c.)
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.search.query import any_of
from engine.search.vocabulary import occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.search.query import Phrase
    from engine.search.units import Unit, Units

K1, B = 1.2, 0.75

RANKED = {
    "full_text": "select rowid from full_text where full_text match ? and rowid > ? "
    "order by bm25(full_text, 4, 2, 1) limit ?",
    "headline": "select rowid from headline where headline match ? and rowid > ? order by bm25(headline) limit ?",
}
"""The best memories for an FTS5 expression, by table. Without lengths FTS5's BM25 hardly damps f."""

WORDS = "select rowid, words from memory where rowid in (select value from json_each(?))"

ALL_ROWS, ACTIVE_ROWS = -(1 << 62), 0
"""The rows after these are those of all memories, and those of active memories."""


class Wanted(Record):
    """Phrases of a unit as FTS5 is asked for them, and an upper bound of the number of memories that hold any."""

    phrases: Sequence[Phrase]
    memories: int


class Effort(Record):
    """How much a choice of candidates may cost: the postings that FTS5 may score, and the number of candidates."""

    postings: int
    candidates: int


class Scorer:
    """Scores memories for one prompt. `idf` is the weight of each unit, `weights` of title, tags and body."""

    def __init__(
        self,
        found: Units,
        idf: Sequence[float],
        mean_length: float,
        *,
        weights: tuple[float, float, float],
        longer: float = 1.0,
    ) -> None:
        self._units = found.units
        self._idf = idf
        self._mean_length = mean_length
        self._weights = weights
        self._quality_of_longer = longer
        self._full: dict[str, list[int]] = {}
        self._longer: dict[str, list[int]] = {}
        for number, unit in enumerate(found.units):
            self._note(unit, number, found.codes)
        codes = {*self._full, *self._longer}
        self._words = {code for code in codes if len(code) == 1}
        self._phrases = codes - self._words

    def contributions(self, encoded: str) -> dict[int, float]:
        """The number of each unit that a memory holds -> its part of the BM25, positive, in the order of the units.

        *encoded*: the words of the memory, see `vocabulary`.
        """
        full: dict[int, float] = {}
        longer: dict[int, float] = {}
        for code in (*self._words.intersection(encoded), *(code for code in self._phrases if code in encoded)):
            f = sum([weight * count for weight, count in zip(self._weights, occurrences(encoded, code), strict=True)])
            for number in self._full.get(code, ()):
                full[number] = full.get(number, 0.0) + f
            for number in self._longer.get(code, ()):
                longer[number] = longer.get(number, 0.0) + f
        damping = self._damping(len(encoded) - 2)
        return {
            number: self._part(number, full[number], damping)
            if number in full
            else self._quality_of_longer * self._part(number, longer[number], damping)
            for number in sorted({**full, **longer})
        }

    def _note(self, unit: Unit, number: int, codes: Mapping[str, str]) -> None:
        for phrase in unit.phrases:
            if all(token in codes for token in phrase):
                self._full.setdefault("".join([codes[token] for token in phrase]), []).append(number)
        for word in unit.longer:
            self._longer.setdefault(codes[word], []).append(number)

    def _part(self, number: int, f: float, damping: float) -> float:
        return self._idf[number] * f * (K1 + 1) / (f + damping)

    def _damping(self, length: int) -> float:
        return K1 * (1 - B + B * length / self._mean_length) if self._mean_length else K1


def candidates(
    db: Connection, table: str, wanted: Sequence[Wanted], effort: Effort, *, include_retired: bool
) -> list[int]:
    """The rows of the memories that hold most of the rarest of *wanted*, as many of these as the effort allows.

    Without *include_retired*, enough of them are active. Where the rarest of *wanted* alone costs too much, only the
    newest memories are looked at.
    """
    rarest = sorted((one for one in wanted if one.memories), key=lambda one: one.memories)
    if not rarest:
        return []
    chosen: list[Wanted] = []
    postings = 0
    for one in rarest:
        postings += one.memories
        if chosen and postings > effort.postings:
            break
        chosen.append(one)
    expression = any_of([phrase for one in chosen for phrase in one.phrases])
    first = _first_row(db, chosen[0].memories, effort.postings)
    rows = _ranked(db, table, expression, first, effort.candidates)
    retired = [row for row in rows if row < ACTIVE_ROWS]
    if include_retired or len(rows) < effort.candidates or 2 * len(retired) < len(rows):
        return rows
    return [*retired, *_ranked(db, table, expression, ACTIVE_ROWS, effort.candidates)]


def _first_row(db: Connection, memories: int, postings: int) -> int:
    """The row after which the newest memories are, where a word of *memories* has more *postings* than it may have."""
    if memories <= postings:
        return ALL_ROWS
    (last,) = db.execute("select max(rowid) from memory").fetchone()
    return int(max(0, last) * (1 - postings / memories))


def _ranked(db: Connection, table: str, expression: str, first: int, most: int) -> list[int]:
    return [row for (row,) in db.execute(RANKED[table], (expression, first, most))]


def encoded_words(db: Connection, rows: Collection[int]) -> list[tuple[int, str]]:
    """The number of each row, and the words of its memory."""
    return db.execute(WORDS, (dumps([*rows]),)).fetchall()


def best_rows(scores: Mapping[int, float], size: int, *, include_retired: bool) -> list[int]:
    """The rows with the *size* best scores of active memories, ties included, and as good retired memories.

    With *include_retired*, retired memories count as active ones do.
    """
    counted = sorted([score for row, score in scores.items() if include_retired or row > ACTIVE_ROWS], reverse=True)
    least = counted[size - 1] if len(counted) >= size else 0.0
    return [row for row, score in scores.items() if score >= least]
