"""Which folder is the root: how far the search goes, and whose folders it takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.paths import find_root, own_users, transcripts_dir
from engine.stores.roots import read_corpus
from tests.engine.builders import memory, write_root
from tests.engine.faults.mounts import small_disk

STRANGER = 4242


def planted(folder: Path) -> Path:
    """A folder of memories in *folder*, as a client makes it."""
    (folder / ".claude/memory").mkdir(parents=True)
    return folder / ".claude/memory"


def folder_at(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def found(start: Path, home: Path, **given: str) -> str | None:
    return find_root(str(start), {"HOME": str(home)}, **given).root


def test_the_nearest_memory_folder_upwards_is_the_root(tmp_path: Path) -> None:
    outer, inner = planted(tmp_path), planted(tmp_path / "project")
    deep = folder_at(tmp_path / "project/src/deep")
    assert found(deep, tmp_path / "home") == str(inner.resolve())
    assert found(tmp_path, tmp_path / "home") == str(outer.resolve())


@pytest.mark.parametrize("is_file", [False, True], ids=["repository", "worktree or submodule"])
def test_the_search_ends_at_the_top_of_the_repository(tmp_path: Path, is_file: bool) -> None:
    """The top itself is looked at. Of nested repositories the inner one counts."""
    planted(tmp_path)
    inner = folder_at(tmp_path / "outer/vendor/inner/src")
    if is_file:
        (inner.parent / ".git").write_text("gitdir: ../../.git/modules/inner\n", encoding="utf-8")
    else:
        (inner.parent / ".git").mkdir()
    (tmp_path / "outer/.git").mkdir()
    outer = planted(tmp_path / "outer")
    assert found(inner, tmp_path / "home") is None
    assert found(inner.parent.parent, tmp_path / "home") == str(outer.resolve())
    top = planted(inner.parent)
    assert found(inner, tmp_path / "home") == str(top.resolve())


def test_the_search_ends_below_the_home_folder(tmp_path: Path) -> None:
    """Memories of the home folder count in the home folder alone, whatever links lead there."""
    planted(tmp_path)
    home = tmp_path / "home"
    own, project = planted(home), folder_at(home / "notes/2025")
    (tmp_path / "link").symlink_to(home)
    for start, named in ((project, home), (tmp_path / "link/notes", home), (project, tmp_path / "link")):
        assert found(start, named) is None
    assert found(home, home) == found(home, tmp_path / "link") == str(own.resolve())
    assert found(home / "gone", home) is None


def test_the_search_ends_where_another_file_system_begins(tmp_path: Path) -> None:
    planted(tmp_path)
    with small_disk(tmp_path / "disk") as disk:
        project = folder_at(disk / "project")
        assert found(project, tmp_path / "home") is None
        own = planted(disk)
        assert found(project, tmp_path / "home") == str(own.resolve())


def test_a_start_with_links_is_looked_for_where_it_lies(tmp_path: Path) -> None:
    planted(tmp_path)
    (tmp_path / "linked").symlink_to(folder_at(tmp_path / "elsewhere/repository/src"))
    (tmp_path / "elsewhere/repository/.git").mkdir()
    assert found(tmp_path / "linked", tmp_path / "home") is None


def test_a_file_of_that_name_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/memory").write_text("", encoding="utf-8")
    assert found(tmp_path / "project", tmp_path) is None


def test_auto_memory_beside_the_transcript_comes_second(tmp_path: Path) -> None:
    transcript = tmp_path / ".claude/projects/slug/session.jsonl"
    auto = folder_at(transcript.with_name("memory"))
    project = folder_at(tmp_path / "project")
    assert found(project, tmp_path, transcript_path=str(transcript)) == str(auto.resolve())
    own = planted(project)
    assert found(project, tmp_path, transcript_path=str(transcript)) == str(own.resolve())


def test_without_a_transcript_its_folder_follows_from_the_project(tmp_path: Path) -> None:
    project = folder_at(tmp_path / "project")
    beside = Path(transcripts_dir(str(project), {"HOME": str(tmp_path)}), "memory")
    assert found(project, tmp_path) is None
    beside.mkdir(parents=True)
    assert found(project, tmp_path) == str(beside.resolve())


def test_a_transcript_out_of_its_place_names_no_root(tmp_path: Path) -> None:
    """A link is followed first, so it counts where it leads."""
    planted_here = folder_at(tmp_path / "anywhere/memory")
    real = tmp_path / ".claude/projects/slug/session.jsonl"
    auto = folder_at(real.with_name("memory"))
    real.write_text("", encoding="utf-8")
    (tmp_path / "anywhere/link.jsonl").symlink_to(real)
    project, environ = str(folder_at(tmp_path / "project")), {"HOME": str(tmp_path)}
    search = find_root(project, environ, str(tmp_path / "anywhere/session.jsonl"))
    assert search.root is None
    (reason,) = search.refused
    assert reason == f"{planted_here} is not used: the transcript beside it is not in {tmp_path}/.claude/projects."
    assert found(Path(project), tmp_path, transcript_path=str(tmp_path / "anywhere/link.jsonl")) == str(auto.resolve())
    assert find_root(project, environ, str(tmp_path / "nothing/session.jsonl")).refused == ()


def test_a_folder_of_another_user_is_never_taken(tmp_path: Path) -> None:
    """The seam for everyone: the numbers of the users are given. With all folders of a stranger, none is taken."""
    planted(tmp_path)
    inner = planted(tmp_path / "project")
    environ = {"HOME": str(tmp_path / "home")}
    beside = folder_at(Path(transcripts_dir(str(tmp_path / "project"), environ), "memory"))
    search = find_root(str(tmp_path / "project"), environ, users={STRANGER})
    assert search.root is None
    assert [reason.split(" is not used: ")[0] for reason in search.refused] == [
        str(inner),
        str(tmp_path / ".claude/memory"),
        str(beside),
    ]
    own = find_root(str(tmp_path / "project"), environ, users={STRANGER, os.geteuid()})
    assert (own.root, own.refused) == (str(inner.resolve()), ())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
@pytest.mark.parametrize("foreign", [".", ".claude", ".claude/memory"])
def test_each_folder_on_the_way_must_be_ones_own(tmp_path: Path, foreign: str) -> None:
    outer, inner = planted(tmp_path / "p"), planted(tmp_path / "p/q")
    os.chown(tmp_path / "p/q" / foreign, STRANGER, -1)
    search = find_root(str(tmp_path / "p/q"), {"HOME": str(tmp_path)})
    assert search.root == str(outer.resolve())
    place = tmp_path / "p/q" / foreign
    assert search.refused == (f"{inner} is not used: {place} belongs to another user (number {STRANGER}).",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_link_counts_where_it_leads(tmp_path: Path) -> None:
    """Neither the link, nor the folder that it leads into, nor the folder around that may be a stranger's."""
    for name in ("own", "around/foreign", "foreign"):
        write_root(tmp_path / name, [memory("A")])
    os.chown(tmp_path / "foreign", STRANGER, -1)
    os.chown(tmp_path / "around", STRANGER, -1)
    link = folder_at(tmp_path / "project/.claude") / "memory"
    for target, is_taken in (("own", True), ("around/foreign", False), ("foreign", False)):
        link.symlink_to(tmp_path / target)
        assert (found(tmp_path / "project", tmp_path) == str((tmp_path / target).resolve())) is is_taken
        assert (found(tmp_path / "project", tmp_path) is None) is not is_taken
        link.unlink()
    link.symlink_to(tmp_path / "own")
    assert len(read_corpus(str(link)).memories) == 1
    os.lchown(link, STRANGER, -1)
    assert found(tmp_path / "project", tmp_path) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root takes the folders of the user who called sudo")
def test_root_takes_the_folders_of_the_user_who_called_sudo() -> None:
    assert own_users({"SUDO_UID": "1001"}) == {0, 1001}
    for odd in ("", "-1", "x", "1 2"):
        assert own_users({"SUDO_UID": odd}) == {0}


def test_a_start_that_makes_no_sense_finds_nothing(tmp_path: Path) -> None:
    for start in ("/nowhere/at/all", "/a\0b", "\ud800", "/" + "x" * 5000):
        assert find_root(start, {"HOME": str(tmp_path)}, str(tmp_path / "a\0b.jsonl")).root is None


def test_the_auto_memory_is_a_root_beside_the_projects_own(tmp_path: Path) -> None:
    project, environ = folder_at(tmp_path / "project"), {"HOME": str(tmp_path / "home")}
    auto = folder_at(Path(transcripts_dir(str(project), environ)) / "memory")
    alone = find_root(str(project), environ)
    assert (alone.root, alone.auto_memory, alone.roots) == (str(auto.resolve()), "", (str(auto.resolve()),))
    own = planted(project)
    both = find_root(str(project), environ)
    assert (both.root, both.auto_memory) == (str(own.resolve()), str(auto.resolve()))
    assert both.roots == (both.root, both.auto_memory)
    by_transcript = find_root(str(project), environ, str(auto.parent / "session.jsonl"))
    assert by_transcript == both


def test_an_auto_memory_that_leads_to_the_projects_own_root_counts_once(tmp_path: Path) -> None:
    project, environ = tmp_path / "project", {"HOME": str(tmp_path / "home")}
    own = planted(project)
    folder_at(Path(transcripts_dir(str(project), environ))).joinpath("memory").symlink_to(own)
    assert find_root(str(project), environ).roots == (str(own.resolve()),)
