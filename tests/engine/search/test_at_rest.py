"""An index into which nobody writes is read without locks; one into which somebody begins to is read again."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.judge.providers.registry import NO_JUDGE
from engine.lean.sqlite import DatabaseError, for_reading, for_writing
from engine.search import opening, stamps
from engine.search.opening import catch_up, hook_index, index_file, open_index
from engine.search.query import query_terms
from engine.search.strongest import strongest
from tests.engine.builders import fillers, memory, write_memory, write_root
from tests.engine.hook.world import World

if TYPE_CHECKING:
    from engine.lean.sqlite import Connection
    from engine.search.index import Index

PATIENT_S = 20.0


class Project:
    """A root with an index that changed long ago."""

    def __init__(self, folder: Path) -> None:
        self.root = write_root(folder / "root", [memory("cache rule", "cache", body="cold"), *fillers(3)]).resolve()
        self.environ = {"HOME": str(folder / "person")}
        self.file = Path(index_file(str(self.root), self.environ))
        self.settle()
        self.locks = self.file.with_name(f"{self.file.name}-shm")
        self.locks.unlink(missing_ok=True)

    def settle(self) -> None:
        """Index the root when every time is old enough to be trusted, as it is a moment after any edit."""
        time.sleep(0.06)
        open_index(str(self.root), self.environ).close()

    def hook_index(self, *, is_brief: bool = True) -> Index:
        index = hook_index(str(self.root), self.environ, PATIENT_S, is_brief=is_brief)
        assert index is not None
        return index

    def catch_up(self, index: Index) -> Index:
        return catch_up(index, self.environ, PATIENT_S)


def found_in(index: Index) -> list[str]:
    return [one.summary.title for one in strongest(index, query_terms("cache rule"), 3).memories]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(stamps, "COARSE_TICK_NS", 0)
    return Project(tmp_path)


def test_an_index_at_rest_is_read_without_locks(project: Project) -> None:
    with closing(project.hook_index()) as index:
        assert found_in(index) == ["cache rule"]
        assert project.catch_up(index) is index
    assert not project.locks.exists()


def test_whoever_reads_for_long_takes_a_lock(project: Project) -> None:
    with closing(project.hook_index(is_brief=False)) as index:
        assert found_in(index) == ["cache rule"]
        assert project.locks.exists()


def test_the_hook_takes_a_lock_where_it_asks_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "COARSE_TICK_NS", 0)
    world = World(tmp_path)
    file = Path(index_file(str(world.root), world.environ))
    locks = file.with_name(f"{file.name}-shm")
    for enabled in (False, True):
        world.configure(judge={"enabled": enabled, "provider": NO_JUDGE})
        time.sleep(0.06)
        open_index(str(world.root), world.environ).close()
        locks.unlink(missing_ok=True)
        assert world.context(session_id=str(enabled))
        assert locks.exists() == enabled


def test_an_index_that_changed_just_now_is_read_with_locks(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "COARSE_TICK_NS", 10**15)
    with closing(project.hook_index()) as index:
        assert found_in(index) == ["cache rule"]
        assert project.locks.exists()


def test_what_only_the_log_holds_is_read(project: Project) -> None:
    db = for_writing(str(project.file))
    db.execute("delete from meta where key = 'nothing of this name'")
    db.execute("insert into meta values ('written', 'in the log')")
    log = project.file.with_name(f"{project.file.name}-wal")
    stamps.seal(str(project.file))
    stamps.seal(str(log))
    assert log.stat().st_size > 0
    with closing(project.hook_index()) as index:
        assert index.database.execute("select value from meta where key = 'written'").fetchone() == ("in the log",)
    db.close()


def test_an_index_that_is_written_while_it_is_read_is_read_again(project: Project) -> None:
    with closing(project.hook_index()) as index:
        assert found_in(index) == ["cache rule"]
        write_memory(project.root, memory("another cache rule", "cache", body="warm"))
        project.settle()
        with closing(project.catch_up(index)) as again:
            assert again is not index
            assert sorted(found_in(again)) == ["another cache rule", "cache rule"]
            assert project.locks.exists()
            assert project.catch_up(again) is again


def test_pages_that_are_half_written_are_no_damage(project: Project) -> None:
    whole = project.file.read_bytes()
    with closing(project.hook_index()) as index:
        with project.file.open("r+b") as file:
            file.seek(100)
            file.write(b"\xff" * (len(whole) - 100))
        assert found_in(index) == []
        with project.file.open("r+b") as file:
            file.write(whole)
        with closing(project.catch_up(index)) as again:
            assert found_in(again) == ["cache rule"]
    assert project.file.read_bytes() == whole


def test_pages_that_are_half_written_as_it_is_opened_are_no_damage(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(path: str, **options: bool) -> Connection:
        if options["immutable"]:
            raise DatabaseError("half of a page")
        return for_reading(path, **options)

    monkeypatch.setattr(opening, "for_reading", torn)
    monkeypatch.setattr(opening, "_updated", lambda index, *_: index)
    with closing(project.hook_index()) as index:
        assert found_in(index) == ["cache rule"]


def test_an_index_that_is_damaged_and_at_rest_is_discarded(project: Project) -> None:
    with project.file.open("r+b") as file:
        file.seek(2 * 8192)
        file.write(b"\xff" * (project.file.stat().st_size - 2 * 8192))
    stamps.seal(str(project.file))
    damaged = project.file.read_bytes()
    with closing(project.hook_index()) as index:
        found_in(index)
    assert not project.file.exists() or project.file.read_bytes() != damaged
