"""The newest rating of each memory text, of all roots: a private SQLite file in the user's data folder.

A rating is a suggestion. What the person decided is kept apart, in `engine.quality.decisions`.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from engine.errors import RatingsError
from engine.lean.record import Record
from engine.paths import ratings_file
from engine.quality.judging.answer import rating_text
from engine.quality.judging.rating import RULE
from engine.stores.files import make_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from engine.quality.judging.rating import Assessment

BUSY_SECONDS = 10.0
TABLE = """create table if not exists rating(
    root text not null, memory text not null, digest text not null, rubric text not null, category text not null,
    title text not null, words integer not null, decision text not null, overall real not null, answer text not null,
    provider text not null, model text not null, template_hash text not null, at text not null,
    primary key (root, memory, digest, rubric)) without rowid"""

NEWEST = """select memory, digest, category, title, words, decision, overall, provider, model from rating
    where root = :root and rubric = :rubric and (provider, model, template_hash) = (
        select provider, model, template_hash from rating
        where root = :root and rubric = :rubric and provider <> :rule order by at desc limit 1)
    order by memory"""


class Rated(Record):
    """A model's rating in the store. `decision` is accepted, rejected or undecided; `words` is the memory's length."""

    memory_id: str
    digest: str
    category: str
    title: str
    words: int
    decision: str
    overall: float
    provider: str
    model: str


class RatingStore:
    """The ratings at *path*. Every method raises RatingsError where the file cannot be read or written."""

    def __init__(self, path: str) -> None:
        self._path = path
        with self._explaining():
            make_private(path)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            try:
                self._db.execute(TABLE)
            except BaseException:
                self._db.close()
                raise

    @classmethod
    def open(cls, environ: Mapping[str, str]) -> Self:
        return cls(ratings_file(environ))

    def close(self) -> None:
        self._db.close()

    def keep(self, root: str, rubric: str, words: int, found: Assessment) -> None:
        """Keep an assessment that has a rating, in place of an earlier one of the same text by the same rubric."""
        if found.rating is None:
            return
        memory, asked = found.memory, found.judgement
        named = (root, memory.id, memory.digest, rubric, memory.category, memory.title, words)
        said = (found.decision, found.rating.overall, rating_text(found.rating))
        by = (asked.provider, asked.model, asked.template_hash, datetime.now(UTC).isoformat(timespec="milliseconds"))
        row = [_storable(value) for value in (*named, *said, *by)]
        with self._explaining():
            self._db.execute(f"insert or replace into rating values ({', '.join('?' * len(row))})", row)

    def ratings(self, root: str, rubric: str) -> list[Rated]:
        """The ratings of a root by a rubric and the model that rated last, in the order of ids.

        Ratings by another model or another wording are left out, because they cannot be compared. So are rejections by
        rule. Texts that have changed since are among them.
        """
        with self._explaining():
            return [Rated(*row) for row in self._db.execute(NEWEST, {"root": root, "rubric": rubric, "rule": RULE})]

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise RatingsError(
                f"The ratings in {self._path} cannot be read or written ({error}). Check the file and its folder, or "
                "delete the file: the judge's cache still has the answers."
            ) from error


def _storable(value: object) -> object:
    """*value* as SQLite can hold it: lone surrogates become question marks."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
