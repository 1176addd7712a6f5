"""The best rows of a full-text table by FTS5's BM25, the same ones however the table came about."""

from __future__ import annotations

from engine.lean.json_text import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.lean.sqlite import Connection

ROOM = 4
"""Times the rows that are wanted are asked for, to see whether the last ones are equal."""


def best_rows(
    db: Connection, fields: str, weights: Iterable[float], expression: str, limit: int
) -> list[tuple[int, float]]:
    """Row and score of the best *limit* that match; of equal ones at the end, the first by category priority and path.

    FTS5 itself would go by row number, and so by the order in which the memories were read.
    """
    columns = ", ".join(map(str, weights))
    sql = f"select rowid, bm25({fields}, {columns}) from {fields} where {fields} match ? order by 2 limit ?"
    found = db.execute(sql, (expression, ROOM * limit)).fetchall()
    if len(found) == ROOM * limit and found[-1][1] == found[limit - 1][1]:
        found = db.execute(sql, (expression, -1)).fetchall()
    last = found[limit - 1][1] if len(found) > limit else 0.0
    kept = [pair for pair in found if pair[1] <= last]
    if len(kept) <= limit:
        return kept
    places = _places(db, [rowid for rowid, _ in kept])
    return sorted(kept, key=lambda pair: (pair[1], places[pair[0]]))[:limit]


def _places(db: Connection, rowids: list[int]) -> dict[int, tuple[int, str]]:
    sql = "select rowid, priority, path from memory where rowid in (select value from json_each(?))"
    return {rowid: (priority, path) for rowid, priority, path in db.execute(sql, (dumps(rowids),))}
