"""Reading claude-mem: its tables in several versions, broken rows, and a database that is being written."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine import opening
from engine.config import FTS5_BM25
from engine.memory import Corpus
from engine.opening import hook_index, open_index
from engine.stores import claude_mem
from engine.stores.roots import read_corpus
from tests.engine.builders import pool_of

OBSERVATIONS = """create table observations(
    id integer primary key, memory_session_id text, project text, text text, type text, title text, subtitle text,
    facts text, narrative text, concepts text, files_read text, files_modified text, prompt_number int,
    discovery_tokens int, created_at text, created_at_epoch int, content_hash text, metadata text
)"""
SUMMARIES = """create table session_summaries(
    id integer primary key, memory_session_id text, project text, request text, investigated text, learned text,
    completed text, next_steps text, files_read text, files_edited text, notes text, created_at text
)"""
CACHE = {
    "project": "shop",
    "type": "Decision",
    "title": "Cache prices",
    "subtitle": "for five minutes",
    "facts": '["prices change rarely", "the cache is shared"]',
    "narrative": "We measured it.",
    "concepts": '["cache", "prices"]',
    "files_read": '["a.py"]',
    "files_modified": '["b.py", "a.py"]',
    "created_at": "2026-01-05T09:10:00.000Z",
}


def connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    db.execute("pragma journal_mode=wal")
    return db


def insert(db: sqlite3.Connection, table: str, *rows: dict[str, object]) -> None:
    for row in rows:
        marks = ", ".join("?" * len(row))
        db.execute(f"insert into {table}({', '.join(row)}) values ({marks})", tuple(row.values()))
    db.commit()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with both tables, closed as claude-mem leaves it."""
    path = tmp_path / "claude-mem.db"
    with closing(connect(path)) as db:
        db.execute(OBSERVATIONS)
        db.execute(SUMMARIES)
    return path


def read(path: Path) -> Corpus:
    return read_corpus(str(path))


def test_an_observation_is_a_memory_with_all_its_parts(path: Path) -> None:
    with closing(connect(path)) as db:
        insert(db, "observations", CACHE)
    before = {file: file.stat().st_mtime_ns for file in path.parent.iterdir()}
    (one,) = read(path).memories
    assert before == {file: file.stat().st_mtime_ns for file in path.parent.iterdir()}, "reading writes nothing"
    summary = one.summary
    assert (summary.id, summary.category, summary.title) == ("observation-1", "decision", "Cache prices")
    assert summary.tags == ("cache", "prices", "shop")
    assert (summary.path, summary.file) == (f"{path} observation 1", str(path))
    assert summary.created_at == summary.updated_at == "2026-01-05T09:10:00.000Z"
    assert {section.heading: section.lines for section in one.sections} == {
        "Subtitle": ("for five minutes",),
        "Narrative": ("We measured it.",),
        "Facts": ("prices change rarely", "the cache is shared"),
        "Files": ("a.py", "b.py"),
    }


def test_a_session_summary_is_a_memory_named_by_its_request(path: Path) -> None:
    with closing(connect(path)) as db:
        row = {"request": "make the tests fast", "learned": "the database was slow", "project": "shop"}
        insert(db, "session_summaries", row)
    (one,) = read(path.parent).memories
    assert (one.summary.id, one.summary.category) == ("summary-1", "session_summary")
    assert (one.summary.title, one.summary.tags) == ("make the tests fast", ("shop",))
    assert one.body == "make the tests fast\nthe database was slow"


def test_an_old_version_with_fewer_columns_and_one_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(connect(path)) as db:
        db.execute("create table observations(id integer primary key, text text, type text)")
        insert(db, "observations", {"text": "The build needs node 20", "type": "change"})
    (one,) = read(path).memories
    assert (one.summary.title, one.summary.category, one.summary.tags) == ("The build needs node 20", "change", ())
    assert one.summary.created_at == ""


@pytest.mark.parametrize(
    ("facts", "lines"),
    [
        ("[broken", ("[broken",)),
        ("[1, null, {}]", ()),
        ('["  a\\n b "]', ("a b",)),
        (None, ()),
        ("plain\ntext", ("plain", "text")),
        (b"\xff\x00", ()),
        ("[" * 50_000, ("[" * 50_000,)),
    ],
)
def test_lists_that_are_no_json_lists_do_no_harm(path: Path, facts: object, lines: tuple[str, ...]) -> None:
    with closing(connect(path)) as db:
        insert(db, "observations", {"title": "T", "facts": facts})
    (one,) = read(path).memories
    assert tuple(line for section in one.sections for line in section.lines) == lines


def test_broken_rows_are_skipped_with_their_numbers_and_the_others_are_read(path: Path) -> None:
    with closing(connect(path)) as db:
        insert(db, "observations", {"title": None, "facts": "[]"}, {"title": "good"})
        db.execute("insert into observations(title) values (cast(x'ff616263' as text))")
        insert(db, "observations", {"title": "huge", "narrative": "x" * 300_000})
    corpus = read(path)
    assert [one.summary.title for one in corpus.memories] == ["good", "\ufffdabc", "huge"]
    assert len(corpus.memories[2].body) == claude_mem.MOST_CHARACTERS
    assert [(one.where, one.reason) for one in corpus.skipped] == [
        ("claude-mem.db observation 1", "has no title and no text")
    ]


def test_many_broken_rows_are_counted_and_too_many_rows_are_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(connect(path)) as db:
        insert(db, "observations", *[{"title": ""}] * 150, *[{"title": f"t{number}"} for number in range(3)])
    assert read(path).skipped[-1].reason == "has 50 more rows of observations that are no memories"
    monkeypatch.setattr(claude_mem, "MOST_ROWS", 2)
    corpus = read(path)
    assert [one.summary.title for one in corpus.memories] == ["t1", "t2"]
    assert corpus.skipped[0].reason == "holds more than 2 observations; the 151 oldest are not read"


def test_a_file_that_is_no_database_is_skipped(tmp_path: Path) -> None:
    no_database = "cannot be read as a database (file is not a database)"
    for content, reason in (
        (b"", "has none of claude-mem's tables: observations and session_summaries"),
        (b"SQLite format 3\0" + b"x" * 5000, no_database),
        (b"plain text", no_database),
    ):
        (tmp_path / "claude-mem.db").write_bytes(content)
        corpus = read(tmp_path / "claude-mem.db")
        assert [(one.where, one.reason) for one in corpus.skipped] == [("claude-mem.db", reason)], content[:16]


@pytest.mark.parametrize(
    "made",
    [
        "create view observations as select 1 as id, 'computed' as title",
        "create virtual table observations using fts5(id, title)",
        "create table notes(id integer)",
    ],
    ids=["view", "virtual table", "another program"],
)
def test_nothing_is_computed_that_a_hostile_database_defines(tmp_path: Path, made: str) -> None:
    with closing(connect(tmp_path / "claude-mem.db")) as db:
        db.execute(made)
        if "virtual" in made:
            insert(db, "observations", {"id": 1, "title": "computed"})
    corpus = read(tmp_path / "claude-mem.db")
    assert corpus.memories == ()
    assert [one.reason for one in corpus.skipped] == [
        "has none of claude-mem's tables: observations and session_summaries"
    ]


def test_rows_in_the_log_of_a_process_that_writes_or_died_are_read(path: Path) -> None:
    with closing(connect(path)) as db:
        insert(db, "observations", CACHE)
        assert len(read(path).memories) == 1
    code = f"""import sqlite3, os; db = sqlite3.connect({str(path)!r}); db.execute("pragma wal_autocheckpoint=0")
db.execute("insert into observations(title) values ('last words')"); db.commit(); os._exit(0)"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [one.summary.title for one in read(path).memories] == ["Cache prices", "last words"]


def test_the_index_sees_a_change_that_is_only_in_the_log(path: Path, tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    with closing(connect(path)) as db:
        insert(db, "observations", CACHE)
        with closing(open_index(str(path), environ)) as index:
            assert len(index) == 1
        size = path.stat().st_size
        insert(db, "observations", {"title": "Queue orders"})
        assert path.stat().st_size == size
        with closing(open_index(str(path), environ)) as index:
            assert [one.title for one in index.summaries()] == ["Cache prices", "Queue orders"]


def test_of_a_large_database_that_is_written_all_the_time_the_hook_shows_true_rows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    asked: list[str] = []
    monkeypatch.setattr(opening, "start_update", lambda _, root: asked.append(root))
    monkeypatch.setattr(opening, "MOST_PARTS", 3)
    with closing(connect(path)) as db:
        insert(db, "observations", *[{"title": f"zz{number}"} for number in range(5)])
        insert(db, "observations", *[{"title": f"{name} cache rule"} for name in ("kept", "edited", "deleted")])
        with closing(open_index(str(path), environ)):
            pass
        db.execute("update observations set title = 'now a queue' where title like 'edited%'")
        db.execute("delete from observations where title like 'deleted%'")
        insert(db, "observations", {"title": "new cache rule"})
        index = hook_index(str(path), environ, 2.0)
        assert index is not None
        with closing(index):
            found = pool_of(index, "cache rule", 15, FTS5_BM25)
    assert [one.memory.title for one in found.memories] == ["kept cache rule"]
    assert set(asked) == {str(path)}
