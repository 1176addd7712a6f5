"""The tables of an index: what a row of each means, and which version of them a file holds."""

from __future__ import annotations

import sys

from engine.lean.sqlite import DatabaseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.lean.sqlite import Connection

FORMAT = "14"
"""Raise it when the tables change, when `tokens` gives other tokens for any text, or a store reads files otherwise."""

HEADLINE, FULL_TEXT = "headline", "full_text"
"""What to search: title and tags, or title, tags and body."""

COLUMNS = {HEADLINE: 2, FULL_TEXT: 3}
"""How many of (title, tags, body) are in it."""

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
"""Every character that `tokens` leaves in a token, marks and the GAP included, and nothing else."""

LISTS = "create table posting(term text, segment int, rows int, content blob, primary key(term, segment))"
TABLES = f"""
create table meta(key text primary key, value text) without rowid;
create table place(name blob primary key, size int, mtime int, ctime int) without rowid;
create table skipped(number integer primary key, place text, reason text);
create table file(rowid integer primary key, name blob unique, size int, mtime int, ctime int, id text, reason text);
create index file_id on file(id);
create table memory(
    rowid integer primary key, id text, category text, title text, tags text, path text, file blob, status text,
    created_at text, updated_at text, digest text, priority int, check_sum blob
);
create index memory_id on memory(id);
create table words(rowid integer primary key, title text, tags text, body text, check_sum blob);
create table section(rowid integer primary key, content text);
{LISTS};
create table bitmap(term text primary key, held blob default x'', strong blob default x'');
create table weight(term text primary key, content blob default x'');
create table bag(rowid integer primary key, content text, check_sum blob);
create table length(segment integer primary key, content blob);
create table recent(rowid integer primary key, listed text, content text, check_sum blob, is_active int);
"""
"""`place`: folders and lists that were read. `file`: every file that was; a `reason` says why it is no memory.
`words`: the tokens of a memory's fields with spaces between, which FTS5 indexes. `posting`: the same by word; `bitmap`
and `weight`: by common word, for all rows; `bag`: common words by row; `length`: by row; `recent`: the memories that
these leave out, as bags of words, `listed` what they say of the row. See `engine.search.postings`."""

SEARCHABLE = """
create virtual table {fields} using {module}({columns}, content='words', tokenize="{tokenizer}");
create virtual table {fields}_vocabulary using fts5vocab({fields}, row);
create table {fields}_frequency(term text primary key, count int, before int, stem text) without rowid;
create index {fields}_stem on {fields}_frequency(stem, term, count);
"""
"""`frequency`: in how many memories a term stands, and the sum of the counts of all terms that sort before it, so that
the sum over a prefix is one subtraction. The counts are exact; the sums lag until the next count of all."""


META = "select key, value from meta"
"""Asked for one key as well: a statement that was prepared already costs nothing."""


def create(db: Connection, root: str, module: str = "fts5") -> bool:
    """Make the tables in an empty database; whether it can search, which an SQLite without FTS5 cannot."""
    for statement in TABLES.split(";\n"):
        db.execute(statement)
    db.executemany("insert into meta values (?, ?)", list(_identity(root).items()))
    try:
        for fields, columns in COLUMNS.items():
            names = ", ".join(("title", "tags", "body")[:columns])
            script = SEARCHABLE.format(fields=fields, columns=names, module=module, tokenizer=TOKENIZER)
            for statement in script.split(";\n"):
                db.execute(statement)
    except DatabaseError as error:
        if "no such module" in str(error):
            return False
        raise
    return True


def is_ours(db: Connection, root: str) -> bool:
    """Whether *db* holds these tables for *root*, whole. Raises DatabaseError for a file that is no database."""
    try:
        found = dict(db.execute(META))
    except DatabaseError as error:
        if "no such" in str(error):
            return False
        raise
    wanted = _identity(root)
    return all(found.get(key) == value for key, value in wanted.items())


def _identity(root: str) -> dict[str, str]:
    name = root.encode("utf-8", "surrogateescape").hex()
    return {"format": FORMAT, "python": f"{sys.version_info[0]}.{sys.version_info[1]}", "root": name}
