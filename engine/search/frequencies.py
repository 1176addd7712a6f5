"""In how many memories terms stand, for any number of terms with two statements."""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.search.schema import COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from engine.lean.sqlite import Connection
    from engine.search.query import Phrase

EXACT = "select t.key, f.count from json_each(?) t join {fields}_frequency f on f.term = t.value"
PREFIX = """
select t.key, max(f.count, coalesce(
    (select before from {fields}_frequency where term >= t.value || char(1114111) order by term limit 1), ?
) - f.before), f.term, (select min(term) from {fields}_frequency where term > f.term)
from json_each(?) t join {fields}_frequency f
    on f.term = (select min(term) from {fields}_frequency where term >= t.value)
where substr(f.term, 1, length(t.value)) = t.value
"""
TOTAL = "select before + count from {fields}_frequency order by term desc limit 1"
REFRESH = """
insert into {fields}_frequency
select term, doc,
    coalesce(sum(doc) over (order by term rows between unbounded preceding and 1 preceding), 0), stem(term)
from {fields}_vocabulary
"""
COUNT = "update {fields}_frequency set count = count + ? where term in (select value from json_each(?))"
FORGET = "delete from {fields}_frequency where count < 1 and term in (select value from json_each(?))"
ADD = """
insert into {fields}_frequency select value, 0, coalesce(
    (select before from {fields}_frequency where term > value order by term limit 1),
    (select before + count from {fields}_frequency order by term desc limit 1), 0
), stem(value) from json_each(?) where value not in (select term from {fields}_frequency)
"""
CHANGES = "changes since the frequencies were counted"
MIN_CHANGES, CHANGED_SHARE = 100, 0.05


class Standing(Record):
    """In how many memories a phrase may stand: 0 only for one that stands in none.

    A prefix counts a memory once for each word that it begins, a phrase of several tokens as its rarest. Where a prefix
    begins one word of the corpus alone, `phrase` is that word, whole: FTS5 scores both alike, and a prefix costs it
    seven times as much.
    """

    phrase: Phrase
    count: int


def standings(db: Connection, phrases: Sequence[Phrase], fields: str) -> list[Standing]:
    """The standing of each phrase."""
    tokens = {token for phrase, is_prefix in phrases if not is_prefix for token in phrase}
    exact = dict(_asked(db, EXACT.format(fields=fields), tokens))
    starts = {phrase[0] for phrase, is_prefix in phrases if is_prefix}
    total = db.execute(TOTAL.format(fields=fields)).fetchone() if starts else None
    rows = _asked(db, PREFIX.format(fields=fields), starts, *(total or (0,)))
    prefixed = {start: _of_prefix(start, *found) for start, *found in rows}
    return [
        prefixed.get(phrase[0], Standing((phrase, True), 0))
        if is_prefix
        else Standing((phrase, False), min(exact.get(token, 0) for token in phrase))
        for phrase, is_prefix in phrases
    ]


def _of_prefix(start: str, count: int, first: str, following: str | None) -> Standing:
    is_alone = following is None or not following.startswith(start)
    return Standing(((first,), False), count) if is_alone else Standing(((start,), True), count)


def add_counts(db: Connection, fields: str, counts: Mapping[str, int]) -> None:
    """Add to the counts of terms; a term that was not there comes, one that no memory holds any more goes."""
    for change in sorted({*counts.values()} - {0}):
        terms = dumps(sorted(term for term, count in counts.items() if count == change), ascii_only=False)
        if change > 0:
            db.execute(ADD.format(fields=fields), (terms,))
        db.execute(COUNT.format(fields=fields), (change, terms))
        if change < 0:
            db.execute(FORGET.format(fields=fields), (terms,))


def refresh(db: Connection) -> None:
    """Count all anew: 0.5 s for the titles and tags of 50,000 memories."""
    for fields in COLUMNS:
        db.execute(f"insert into {fields}({fields}) values ('optimize')")
        db.execute(f"delete from {fields}_frequency")
        db.execute(REFRESH.format(fields=fields))
    db.execute("insert or replace into meta values (?, '0')", (CHANGES,))


def note_changes(db: Connection, changed: int, *, may_count: bool) -> None:
    """Count all anew when, with *changed* more, enough memories changed for the sums before a term to be misleading."""
    row = db.execute("select value from meta where key = ?", (CHANGES,)).fetchone()
    changes = changed + int(row[0] if row else 0)
    stored = db.execute("select count(*) from memory").fetchone()[0]
    if may_count and changes > max(MIN_CHANGES, CHANGED_SHARE * stored):
        refresh(db)
    else:
        db.execute("insert or replace into meta values (?, ?)", (CHANGES, str(changes)))


def _asked(db: Connection, sql: str, tokens: Iterable[str], *values: int) -> list[tuple[Any, ...]]:
    """Rows of *sql* for those of *tokens* that it finds, with the token in place of its number."""
    listed = sorted(tokens)
    if not listed:
        return []
    rows = db.execute(sql, (*values, dumps(listed, ascii_only=False)))
    return [(listed[key], *found) for key, *found in rows]
