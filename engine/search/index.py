"""The index of a root: FTS5 over title and tags (what the hook ranks) and over the whole text (explicit search).

It is built in memory when a root is opened. Callers see memories by id and hits by BM25, never the tables.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading

from engine.record import record
from engine.search.query import MAX_TERMS, Term, match_expression
from engine.search.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.memory import Corpus, Memory, MemorySummary, Skipped

HEADLINE, FULL_TEXT = "headline", "full_text"
"""What to search: title and tags, or title, tags and body."""

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
"""Every character that `tokens` leaves in a token, marks and the GAP included, and nothing else."""

WEIGHTS = {HEADLINE: "1.0, 1.0", FULL_TEXT: "4.0, 2.0, 1.0"}

SCHEMA = """
create virtual table headline using {module}(title, tags, content='', tokenize="{tokenizer}");
create virtual table full_text using {module}(title, tags, body, content='', tokenize="{tokenizer}");
create virtual table headline_terms using fts5vocab(headline, row);
create virtual table full_text_terms using fts5vocab(full_text, row);
"""


@record
class Hit:
    """A memory that matched: `bm25` is SQLite's value, negative, lower is better."""

    memory: Memory
    bm25: float


class Index:
    """A root's memories, searchable. Safe to use from several threads.

    `has_fts5` is False where this SQLite was built without FTS5: then `search` finds nothing and the pipeline scores by
    keywords. `module` is the full-text module to use.
    """

    def __init__(self, corpus: Corpus, module: str = "fts5") -> None:
        self.root = corpus.root
        self.skipped: tuple[Skipped, ...] = corpus.skipped
        self._memories = corpus.memories
        self._by_id = {memory.summary.id: memory for memory in corpus.memories}
        self._by_rowid = sorted(corpus.memories, key=lambda memory: (memory.summary.priority, memory.summary.path))
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self.has_fts5 = self._create_tables(module)
        if self.has_fts5:
            self._fill()

    def __len__(self) -> int:
        return len(self._memories)

    def close(self) -> None:
        self._db.close()

    @property
    def corpus_hash(self) -> str:
        """16 hex digits that name the contents of the root: any edit, addition or removal changes them."""
        pairs = sorted(f"{memory.summary.id}\0{memory.summary.digest}" for memory in self._memories)
        return hashlib.sha256("\n".join(pairs).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def summaries(self) -> list[MemorySummary]:
        """Every memory, ordered by path."""
        return [memory.summary for memory in self._memories]

    def memory(self, memory_id: str) -> Memory | None:
        return self._by_id.get(memory_id)

    def search(self, terms: tuple[Term, ...], fields: str, limit: int) -> list[Hit]:
        """The best *limit* memories that hold any of *terms* in *fields*, by BM25, then category, then path."""
        if not terms or not self.has_fts5:
            return []
        expression = match_expression(self.rarest(terms, fields))
        score = f"bm25({fields}, {WEIGHTS[fields]})"
        sql = f"select rowid, {score} from {fields} where {fields} match ? order by 2, rowid limit ?"
        with self._lock:
            rows = self._db.execute(sql, (expression, limit)).fetchall()
        return [Hit(self._by_rowid[rowid - 1], score) for rowid, score in rows]

    def matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        """Every memory whose whole text holds all of *terms*, best first; every memory, by path, without terms."""
        if not terms:
            return self.summaries()
        if not self.has_fts5:
            return [memory.summary for memory in self._memories if _holds_all(memory, terms)]
        sql = (
            f"select rowid from full_text where full_text match ? order by bm25(full_text, {WEIGHTS[FULL_TEXT]}), rowid"
        )
        with self._lock:
            rows = self._db.execute(sql, (match_expression(terms, "AND"),)).fetchall()
        return [self._by_rowid[rowid - 1].summary for (rowid,) in rows]

    def rarest(self, terms: tuple[Term, ...], fields: str) -> tuple[Term, ...]:
        """*terms*; of more than MAX_TERMS the rarest that occur: a paste must not cost more than a sentence."""
        if len(terms) <= MAX_TERMS or not self.has_fts5:
            return terms
        counted = ((self.frequency(term, fields), i) for i, term in enumerate(terms))
        rarest = sorted(pair for pair in counted if pair[0])[:MAX_TERMS]
        return tuple(terms[i] for _, i in rarest) or terms[:1]

    def frequency(self, term: Term, fields: str) -> int:
        """In how many memories a term may stand: alternatives and prefixes add up, a phrase is its rarest token."""
        return sum(self._phrase_frequency(phrase, term.is_prefix, fields) for phrase in term.phrases)

    def _phrase_frequency(self, phrase: tuple[str, ...], is_prefix: bool, fields: str) -> int:
        if is_prefix and len(phrase) == 1:
            sql = f"select coalesce(sum(doc), 0) from {fields}_terms where term >= ? and term < ?"
            return self._number(sql, (phrase[0], phrase[0] + "\U0010ffff"))
        sql = f"select coalesce(sum(doc), 0) from {fields}_terms where term = ?"
        return min(self._number(sql, (token,)) for token in phrase)

    def _number(self, sql: str, values: tuple[str, ...]) -> int:
        with self._lock:
            return int(self._db.execute(sql, values).fetchone()[0])

    def _create_tables(self, module: str) -> bool:
        try:
            self._db.executescript(SCHEMA.format(module=module, tokenizer=TOKENIZER))
        except sqlite3.OperationalError as error:
            if "no such module" in str(error):
                return False
            raise
        return True

    def _fill(self) -> None:
        self._db.executemany("insert into headline(rowid, title, tags) values (?, ?, ?)", self._rows(with_body=False))
        sql = "insert into full_text(rowid, title, tags, body) values (?, ?, ?, ?)"
        self._db.executemany(sql, self._rows(with_body=True))
        self._db.commit()

    def _rows(self, *, with_body: bool) -> Iterable[tuple[object, ...]]:
        for rowid, memory in enumerate(self._by_rowid, start=1):
            fields = [memory.summary.title, " ".join(memory.summary.tags), *([memory.body] if with_body else [])]
            yield (rowid, *(" ".join(tokens(field)) for field in fields))


def _holds_all(memory: Memory, terms: tuple[Term, ...]) -> bool:
    found = tuple(tokens(f"{memory.summary.title} {' '.join(memory.summary.tags)} {memory.body}"))
    return all(term.found_in(found) for term in terms)
