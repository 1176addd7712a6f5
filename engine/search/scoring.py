"""BM25 exactly as FTS5 computes it, for a few memories and all phrases of a query.

FTS5's bm25() (fts5_aux.c): -sum over phrases of IDF x f(k1 + 1) / (f + k1(1 - b + b D / D_mean)), where f is the sum of
the weights of the columns in which the phrase occurs, once per occurrence; D counts the tokens of all columns; and
IDF = ln((N - n + 0.5) / (n + 0.5)), raised to 1e-6 where it is not positive.
"""

from __future__ import annotations

from engine.search.schema import FULL_TEXT, HEADLINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.finder import Finder

K1, B = 1.2, 0.75
LEAST_IDF = 1e-6
WEIGHTS = {HEADLINE: (1.0, 1.0), FULL_TEXT: (4.0, 2.0, 1.0)}


class Scorer:
    """Scores texts for one query. `rows` and `mean_length` (tokens) are the corpus's, `counts` the phrases'."""

    def __init__(self, finder: Finder, counts: Sequence[int], rows: int, mean_length: float, fields: str) -> None:
        self._finder = finder
        self._idf = [idf(count, rows) for count in counts]
        self._mean_length = mean_length
        self._weights = WEIGHTS[fields]

    def score(self, columns: Sequence[str]) -> float:
        """The score of a memory with these words per column: negative, lower is better, 0 for no match."""
        weighted: dict[int, float] = {}
        for weight, words in zip(self._weights, columns, strict=True):
            for number, count in self._finder.count(words).items():
                weighted[number] = weighted.get(number, 0.0) + weight * count
        length = sum(words.count(" ") + 1 for words in columns if words)
        damping = K1 * (1 - B + B * length / self._mean_length) if self._mean_length else 0.0
        return -1.0 * sum([self._idf[number] * f * (K1 + 1) / (f + damping) for number, f in sorted(weighted.items())])


def idf(count: int, rows: int) -> float:
    """The weight of a phrase that stands in *count* of *rows* memories."""
    ratio = (rows - count + 0.5) / (count + 0.5)
    from math import log  # 0.2 ms of a cold process, and most prompts need no score of ours

    value = log(ratio) if ratio > 0 else 0.0
    return value if value > 0 else LEAST_IDF
