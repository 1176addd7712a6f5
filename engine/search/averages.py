"""How many memories a full-text table holds, and how long they are, from FTS5's own record of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.lean.sqlite import Connection


def averages_of(db: Connection, fields: str) -> tuple[int, float]:
    """Number of memories and mean tokens per memory in a table: row 1 of its data, which FTS5 keeps up to date."""
    row = db.execute(f"select block from {fields}_data where id = 1").fetchone()
    return averages(row[0]) if row else (0, 0.0)


def averages(block: bytes) -> tuple[int, float]:
    """The record: number of rows, then the tokens of all rows in each column."""
    rows, *totals = _varints(block) or (0,)
    return rows, sum(totals) / rows if rows else 0.0


def _varints(block: bytes) -> list[int]:
    """SQLite's variable-length integers: seven bits a byte, the highest first, a set top bit goes on."""
    found, value = [], 0
    for byte in block:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(value)
            value = 0
    return found
