"""The label store's schema, step by step: a file of SQL for each step.

A step that has been released is never edited: a store remembers the names of the steps that built it. A store that
names a step missing from STEPS was made by a newer memsift.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from functools import cache, partial
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

FOLDER = Path(__file__).parent

STEPS = tuple(sorted(path.stem for path in FOLDER.glob("m*.sql")))
"""All steps, oldest first."""


@cache
def migrations() -> Migrations:
    """The steps as sqlite-utils takes them. A command that opens no store does without sqlite-utils."""
    from sqlite_utils.migrations import Migrations

    made = Migrations("memsift.labels")
    for step in STEPS:
        made(name=step)(partial(take, step))  # type: ignore[type-var]
    return made


def take(step: str, db: Database) -> None:
    """Bring the schema of *db* from the step before to *step*."""
    db.conn.create_function("event_uid", -1, event_uid, deterministic=True)
    for statement in statements((FOLDER / f"{step}.sql").read_text(encoding="utf-8")):
        # SQLite keeps the text of a table, and the first stores have it with this indent
        db.execute(indent(statement, "    "))


def statements(text: str) -> Iterator[str]:
    """The statements of a file of SQL. A trigger is one, with the semicolons in it."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        lines.append(line)
        if sqlite3.complete_statement("".join(lines)):
            yield "".join(lines)
            lines = []


def event_uid(*columns: str | int | None) -> str:
    """The name of an event that had none. It is a hash of its columns, the same in every copy of its store."""
    return hashlib.sha256(json.dumps(columns).encode()).hexdigest()[:32]
