"""The index on disk: equal to one built in memory, whatever happened to the root or to the file."""

import os
import shutil
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from engine import opening
from engine.config import FTS5_BM25, SEARCH, TITLE_TAGS
from engine.errors import RootNotFoundError
from engine.lean.sqlite import DatabaseError, for_reading, for_writing
from engine.memory import Memory
from engine.opening import hook_index, index_of, open_index, reread
from engine.search.index import Index
from engine.stores.files import make_private
from engine.stores.roots import read_corpus
from tests.engine.builders import fillers, memory, pool_of, write_memory, write_root
from tests.engine.indexed import IndexedRoot, everything
from tests.labels.samples import known


class Project(IndexedRoot):
    """A root of a few memories."""

    def __init__(self, folder: Path) -> None:
        write_root(folder / "root", [memory("cache rule", "cache", body="cold"), *fillers(3)])
        super().__init__(folder / "root", folder / "person")

    def write(self, one: Memory) -> None:
        write_memory(Path(self.root), one)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_what_is_on_disk_is_what_a_fresh_build_says_and_only_changed_files_are_read_again(project: Project) -> None:
    assert project.opened() == project.fresh()
    assert project.file.exists()
    assert project.opened() == project.fresh()
    project.settle()
    before = rowids(project)
    project.write(memory("cache rule", "cache", body="now warm"))
    assert project.opened() == project.fresh()
    assert before - rowids(project) == {(row, one) for row, one in before if one == "cache-rule"}


def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RootNotFoundError):
        open_index(str(tmp_path / "none"), {"HOME": str(tmp_path)})


def rowids(project: Project) -> set[tuple[int, str]]:
    with closing(for_reading(str(project.file))) as db:
        return set(db.execute("select rowid, id from memory"))


def test_auto_memory_is_indexed_alike_and_a_root_may_change_its_format(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.opened()
    shutil.rmtree(project.root)
    Path(project.root).mkdir()
    (Path(project.root) / "user_role.md").write_text("---\nname: role\ndescription: cache rule\n---\nBody\n", "utf-8")
    (Path(project.root) / "MEMORY.md").write_text("- list\n", "utf-8")
    assert project.opened() == project.fresh()
    assert project.hook() == ["cache rule"]
    (Path(project.root) / "second.md").write_text("cache rule two", "utf-8")
    assert sorted(project.hook() or []) == ["cache rule", "cache rule two"]
    write_root(Path(project.root), [memory("auth token")])
    assert project.opened() == project.fresh()


# The hook


def test_the_hook_builds_a_small_index_and_sees_what_comes_and_goes(project: Project) -> None:
    assert project.hook() == ["cache rule"]
    project.write(memory("cache rule two"))
    assert project.hook() == ["cache rule", "cache rule two"]
    (Path(project.root) / "decisions/cache-rule.json").unlink()
    assert project.hook() == ["cache rule two"]


def test_a_candidate_that_matches_no_more_or_cannot_be_read_is_left_out(project: Project) -> None:
    project.opened()
    project.settle()
    project.write(memory("something else", memory_id="cache-rule"))
    assert project.hook() == []
    (Path(project.root) / "decisions/cache-rule.json").write_text("{", "utf-8")
    assert project.hook() == []


@pytest.mark.parametrize("changed", [3, 7, 10])
def test_others_take_the_place_of_candidates_that_match_no_more(project: Project, changed: int) -> None:
    names = [f"cache rule {number:02}" for number in range(12)]
    for name in names:
        project.write(memory(name))
    project.opened()
    project.settle()
    for name in names[:changed]:
        project.write(memory("something else", memory_id=name.replace(" ", "-")))
    with closing(index_of(read_corpus(project.root))) as index:
        wanted = asked(index)
    assert [*map(len, wanted)] == [3, 3, 3, 3]
    with closing(hook_index(project.root, project.environ, 20.0)) as index:
        assert asked(index) == wanted


def test_an_index_that_nobody_uses_is_freed_at_once(project: Project) -> None:
    """One in a circle of references would keep its file open until the garbage collector finds it."""
    project.opened()
    index = known(hook_index(project.root, project.environ, 20.0))
    with closing(index):
        freed = weakref.ref(index)
    del index
    assert freed() is None


def asked(index: Index) -> list[list[str]]:
    """The best three memories by each way of searching."""
    pools = [
        pool_of(index, "cache rule", 3, FTS5_BM25),
        pool_of(index, "cache rule", 3, FTS5_BM25, mode=SEARCH, include_retired=True),
        pool_of(index, "cache rule", 3, include_retired=False),
        pool_of(index, "cache rule", 3, TITLE_TAGS),
    ]
    return [[one.memory.title for one in pool.memories] for pool in pools]


def test_without_time_the_hook_answers_from_what_it_has_and_shows_nothing_that_is_gone(project: Project) -> None:
    project.opened()
    (Path(project.root) / "decisions/cache-rule.json").unlink()
    project.write(memory("auth token"))
    assert project.hook(deadline_s=0.0) == []
    assert project.hook("auth", deadline_s=0.0) in (None, [], ["auth token"])  # None: it is just being written


def test_a_large_root_without_an_index_is_left_to_another_process(project: Project) -> None:
    assert project.hook(deadline_s=0.0) is None
    for _ in range(500):
        if project.hook(deadline_s=0.0) == ["cache rule"]:
            return
        time.sleep(0.02)
    pytest.fail("no process built the index")


# The file


@pytest.mark.parametrize(
    "content",
    [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 5000, b"\0" * 8192],
    ids=["empty", "text", "header", "zeros"],
)
def test_a_foreign_file_is_replaced(project: Project, content: bytes) -> None:
    project.file.parent.mkdir(parents=True)
    project.file.write_bytes(content)
    assert project.hook() == ["cache rule"]
    project.file.write_bytes(content)
    assert project.opened() == project.fresh()


@pytest.mark.parametrize(
    "statement",
    [
        *("update about set format = 'older'", "pragma journal_mode = wal; update about set format = 'older'"),
        *("update about set root = '00'", "update about set store = 'MEMORY.md'", "delete from about"),
        *("drop table memory", "drop table about", "drop table size", "drop table full_text_data"),
    ],
)
def test_another_format_or_a_missing_table_is_built_anew(project: Project, statement: str) -> None:
    project.opened()
    with closing(for_writing(str(project.file))) as db:
        db.executescript(statement)
    assert project.hook() in (["cache rule"], [])
    assert project.opened() == project.fresh()
    assert project.hook() == ["cache rule"]


def test_a_pipe_in_the_place_of_the_journal_is_removed_and_not_waited_for(project: Project) -> None:
    """SQLite would wait for ever on it."""
    project.opened()
    os.mkfifo(f"{project.file}-journal")
    found: list[object] = []
    hook = threading.Thread(target=lambda: found.append(project.hook()), daemon=True)
    hook.start()
    hook.join(timeout=30.0)
    assert found == [["cache rule"]]


@pytest.mark.parametrize(
    "statement",
    [
        *("delete from full_text_data", "update memory set stems = 0", "update memory set title = null"),
        *("update memory set path = null", "drop table size"),
    ],
)
def test_damage_that_a_search_finds_is_healed(project: Project, statement: str) -> None:
    project.settle()
    with closing(for_writing(str(project.file))) as db:
        db.execute(statement)
    with closing(open_index(project.root, project.environ)) as index:
        assert asked(index)[2] == ["cache rule"]
    assert project.opened() == project.fresh()


def test_a_reader_sees_changes_that_another_process_wrote_until_it_is_closed(project: Project) -> None:
    with closing(open_index(project.root, project.environ)) as old:
        before = everything(old)
        project.write(memory("cache rule three"))
        assert project.opened() == project.fresh() != before
        assert everything(old) == project.fresh()
    index = open_index(project.root, project.environ)
    index.close()
    with pytest.raises(DatabaseError):
        len(index)


@contextmanager
def another_builder(project: Project, seconds: float = 600.0) -> Iterator[None]:
    """Another process in the middle of writing the index: it holds SQLite's lock for so long, or to the end."""
    make_private(str(project.file))
    with closing(for_writing(str(project.file))) as db:
        db.execute("begin immediate")
        end = threading.Timer(seconds, db.execute, ["rollback"])
        end.start()
        try:
            yield
        finally:
            end.cancel()
            end.join()


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_another_builder_is_waited_for(project: Project, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "WAIT_SECONDS", seconds)
    with another_builder(project, 1.0):
        assert project.opened() == project.fresh()
        assert bool(project.file.stat().st_size) is bool(seconds)


def test_where_files_have_no_locks_the_app_waits_for_none(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite calls such an index locked, however long it waits."""
    project.opened()
    monkeypatch.setattr(opening, "has_locks", lambda _: False)
    with another_builder(project, 1.0):
        assert not reread(project.root, project.environ)


def test_a_hook_that_finds_another_builder_does_not_wait_and_answers_from_the_index_as_it_is(project: Project) -> None:
    with another_builder(project):
        started = time.monotonic()
        assert project.hook(deadline_s=600.0) is None
        assert time.monotonic() - started < 600.0 * opening.LOCK_SHARE / 2
    assert project.hook() == ["cache rule"]
    project.opened()
    project.settle()
    project.write(memory("cache rule two"))
    with another_builder(project):
        assert project.hook(deadline_s=0.5) == ["cache rule"]
    assert project.hook() == ["cache rule", "cache rule two"]


def test_a_first_build_of_many_files_is_left_to_another_process_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(opening, "start_update", lambda _, root: started.append(root))
    monkeypatch.setattr(opening, "SMALL_FIRST", 4)
    assert project.hook() is None
    monkeypatch.setattr(opening, "SMALL_FIRST", 300)
    for number in range(7):
        Path(project.root, "decisions", f"large-{number}.json").write_bytes(b" " * opening.SMALL_BYTES * 45)
    assert project.hook() is None
    assert started == [project.root] * 2


def test_a_large_index_that_is_behind_is_left_to_another_process_and_its_fresh_part_is_shown(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.opened()
    project.settle()
    project.write(memory("cache rule two"))
    started: list[str] = []
    monkeypatch.setattr(opening, "start_update", lambda _, root: started.append(root))
    monkeypatch.setattr(opening, "SMALL", 3)
    assert project.hook() == ["cache rule"]
    assert started == [project.root]


def test_segments_are_merged_where_no_prompt_waits(project: Project) -> None:
    for number in range(6):
        project.write(memory(f"cache rule {number}"))
        project.hook()
    project.write(memory("cache rule last"))
    project.opened()
    with closing(for_reading(str(project.file))) as db:
        (segments,) = db.execute("select count(distinct segid) from full_text_idx").fetchone()
    assert segments <= 5
