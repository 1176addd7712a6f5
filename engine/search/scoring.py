"""The two stages of a search: FTS5 chooses candidates, and these are scored in full.

    bm25 = sum over the units in the memory of  quality x idf x f (K1 + 1) / (f + K1 (1 - B + B D / D_mean))

f is the number of occurrences of the unit, weighted by field, and D the number of tokens in the memory. The quality is
1, or less if only longer words match. (S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond", 2009, section 3.4; SQLite computes the same in fts5_aux.c.)
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.search.vocabulary import occurrences, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.search.units import Units

K1, B = 1.2, 0.75

RANKED = {
    "full_text": "select rowid from full_text where full_text match ? and rowid > ? "
    "order by bm25(full_text, 4, 2, 1) limit ?",
    "headline": "select rowid from headline where headline match ? and rowid > ? order by bm25(headline) limit ?",
}
"""Table -> the best memories for an FTS5 expression. Without lengths, FTS5's BM25 hardly damps f."""

SMALL = 400
"""In a root of so many memories, every match is a candidate."""

WORDS = "select rowid, words from memory where rowid in (select value from json_each(?))"

ALL_ROWS, ACTIVE_ROWS = -(1 << 62), 0
"""Row numbers before the first of all memories, and before the first active memory."""


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
        self._idf = idf
        self._mean_length = mean_length
        self._weights = weights
        self._quality_of_longer = longer
        self._owners: dict[str, list[tuple[int, bool]]] = {}
        for number, unit in enumerate(found.units):
            for code in spelled(unit.phrases, found.codes):
                self._owners.setdefault(code, []).append((number, False))
            for code in spelled([(word,) for word in unit.longer], found.codes):
                self._owners.setdefault(code, []).append((number, True))

    def contributions(self, encoded: str) -> dict[int, float]:
        """The number of each unit that a memory holds -> its part of the BM25, positive, in the order of the units.

        *encoded*: the tokens of the memory, see `vocabulary`.
        """
        weighted: dict[tuple[int, bool], float] = {}
        fields = encoded.split("\n")
        of_title, of_tags, of_body = self._weights
        for code, owners in self._owners.items():
            if code in encoded:
                title, tags, body = occurrences(fields, code)
                f = of_title * title + of_tags * tags + of_body * body
                for owner in owners:
                    weighted[owner] = weighted.get(owner, 0.0) + f
        damping = self._damping(len(encoded) - 2)
        return {
            number: (self._quality_of_longer if is_longer else 1.0) * self._idf[number] * f * (K1 + 1) / (f + damping)
            for (number, is_longer), f in sorted(weighted.items())
            if not is_longer or (number, False) not in weighted
        }

    def _damping(self, length: int) -> float:
        return K1 * (1 - B + B * length / self._mean_length) if self._mean_length else K1


def candidates(
    db: Connection,
    table: str,
    wanted: Sequence[tuple[int, str]],
    *,
    postings: int,
    most: int,
    include_retired: bool,
) -> list[int]:
    """The rows of the *most* memories that match the rarest of *wanted*, without reading more than *postings*.

    *wanted*: the number of memories with a match, at most, and the expression of FTS5. Enough of the rows are active,
    unless *include_retired*. If the rarest of *wanted* is beyond *postings*, only the newest memories are looked at.
    """
    rarest = sorted(term for term in wanted if term[0])
    if not rarest:
        return []
    chosen, left = [rarest[0][1]], postings - rarest[0][0]
    for memories, expression in rarest[1:]:
        left -= memories
        if left < 0:
            break
        chosen.append(expression)
    either = " OR ".join(chosen)
    rows = _ranked(db, table, either, _first_row(db, rarest[0][0], postings), most)
    retired = [row for row in rows if row < ACTIVE_ROWS]
    if include_retired or len(rows) < most or 2 * len(retired) < len(rows):
        return rows
    return [*retired, *_ranked(db, table, either, ACTIVE_ROWS, most)]


def _first_row(db: Connection, memories: int, postings: int) -> int:
    """The row before the newest memories, if a word has more *memories* than *postings*."""
    if memories <= postings:
        return ALL_ROWS
    (last,) = db.execute("select max(rowid) from memory").fetchone()
    return int(max(0, last) * (1 - postings / memories))


def _ranked(db: Connection, table: str, expression: str, first: int, most: int) -> list[int]:
    return [row for (row,) in db.execute(RANKED[table], (expression, first, most))]


def encoded_words(db: Connection, rows: Collection[int]) -> list[tuple[int, str]]:
    """The number of each row, and the encoded tokens of its memory."""
    return db.execute(WORDS, (dumps([*rows]),)).fetchall()


def best_rows(scores: Mapping[int, float], size: int, *, include_retired: bool) -> list[int]:
    """The rows of the *size* best active memories, with ties, and of retired memories with such scores.

    With *include_retired*, retired memories count like active memories.
    """
    counted = sorted([score for row, score in scores.items() if include_retired or row > ACTIVE_ROWS], reverse=True)
    least = counted[size - 1] if len(counted) >= size else 0.0
    return [row for row, score in scores.items() if score >= least]
