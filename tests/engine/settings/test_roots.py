"""Which folder is the root: how far the search goes, and whose folders it takes."""

import os
from pathlib import Path

import pytest

from engine.paths import transcripts_dir
from engine.settings.roots import MOST_ROOTS, RootSearch, find_roots, offered_roots, own_users, user_roots
from engine.stores.roots import read_corpus
from tests.engine.builders import memory, put, write_root
from tests.engine.faults.mounts import small_disk

STRANGER = 4242


def planted(folder: Path) -> Path:
    """A folder of memories in *folder*, as a client makes it."""
    (folder / ".claude/memory").mkdir(parents=True)
    return folder / ".claude/memory"


def folder_at(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def found(start: Path, home: Path) -> str | None:
    """The first root."""
    return next(iter(find_roots(str(start), {"HOME": str(home)}).roots), None)


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


def test_a_start_with_links_is_looked_for_where_it_lies_and_a_file_of_that_name_is_no_root(tmp_path: Path) -> None:
    planted(tmp_path)
    (tmp_path / "linked").symlink_to(folder_at(tmp_path / "elsewhere/repository/src"))
    (tmp_path / "elsewhere/repository/.git").mkdir()
    assert found(tmp_path / "linked", tmp_path / "home") is None
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/memory").write_text("", encoding="utf-8")
    assert found(tmp_path / "project", tmp_path) is None


def test_a_folder_of_another_user_is_never_taken(tmp_path: Path) -> None:
    """The seam for everyone: the numbers of the users are given. With all folders of a stranger, none is taken."""
    planted(tmp_path)
    inner = planted(tmp_path / "project")
    environ = {"HOME": str(tmp_path / "home")}
    beside = folder_at(Path(transcripts_dir(str(tmp_path / "project"), environ), "memory"))
    search = find_roots(str(tmp_path / "project"), environ, users={STRANGER})
    assert search.roots == ()
    assert [one.folder for one in search.refused] == [str(inner), str(tmp_path / ".claude/memory"), str(beside)]
    own = find_roots(str(tmp_path / "project"), environ, users={STRANGER, os.geteuid()})
    assert (own.roots, own.refused) == ((str(inner.resolve()), str(beside.resolve())), ())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
@pytest.mark.parametrize("foreign", [".", ".claude", ".claude/memory"])
def test_each_folder_on_the_way_must_be_ones_own(tmp_path: Path, foreign: str) -> None:
    outer, inner = planted(tmp_path / "p"), planted(tmp_path / "p/q")
    os.chown(tmp_path / "p/q" / foreign, STRANGER, -1)
    search = find_roots(str(tmp_path / "p/q"), {"HOME": str(tmp_path)})
    assert search.roots == (str(outer.resolve()),)
    place = tmp_path / "p/q" / foreign
    assert search.said == (f"{inner} is not used: {place} belongs to another user (number {STRANGER}).",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_link_counts_where_it_leads(tmp_path: Path) -> None:
    """Neither the link, nor the folder that it leads into, nor the folder around that may be a stranger's."""
    for name in ("own", "around/foreign", "foreign"):
        write_root(tmp_path / name, [memory("A")])
    os.chown(tmp_path / "foreign", STRANGER, -1)
    os.chown(tmp_path / "around", STRANGER, -1)
    link = folder_at(tmp_path / "project/.claude") / "memory"
    for target, taken in (("own", str((tmp_path / "own").resolve())), ("around/foreign", None), ("foreign", None)):
        link.symlink_to(tmp_path / target)
        assert found(tmp_path / "project", tmp_path) == taken, target
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
        assert find_roots(start, {"HOME": str(tmp_path)}, start).roots == ()


def test_the_auto_memory_is_a_root_beside_the_projects_own(tmp_path: Path) -> None:
    project, environ = folder_at(tmp_path / "project"), {"HOME": str(tmp_path / "home")}
    auto = folder_at(Path(transcripts_dir(str(project), environ)) / "memory")
    assert find_roots(str(project), environ).roots == (str(auto.resolve()),)
    own = planted(project)
    assert find_roots(str(project), environ).roots == (str(own.resolve()), str(auto.resolve()))
    auto.rmdir()
    auto.symlink_to(own)
    assert find_roots(str(project), environ).roots == (str(own.resolve()),), "it leads there, and counts once"


def test_a_monorepo_has_the_roots_of_all_folders_up_to_its_top(tmp_path: Path) -> None:
    """Without a repository nothing says where a project ends, so there the nearest counts alone."""
    planted(tmp_path)
    top, package = planted(tmp_path / "mono"), planted(tmp_path / "mono/packages/api")
    start = folder_at(tmp_path / "mono/packages/api/src")
    assert find_roots(str(start), {"HOME": str(tmp_path)}).roots == (str(package),)
    (tmp_path / "mono/.git").mkdir()
    assert find_roots(str(start), {"HOME": str(tmp_path)}).roots == (str(package), str(top))


def test_where_the_session_began_counts_behind_where_the_model_went(tmp_path: Path) -> None:
    """The model went into a submodule, a repository beside, an empty folder, or below without a repository."""
    environ = {"HOME": str(tmp_path / "home")}
    project, beside, plain = planted(tmp_path / "project"), planted(tmp_path / "beside"), planted(tmp_path / "plain")
    module, below = planted(tmp_path / "project/module"), planted(tmp_path / "plain/below")
    for repository in ("project", "project/module", "beside"):
        (tmp_path / repository / ".git").mkdir()
    empty = folder_at(tmp_path / "empty")
    for began, went, expected in (
        (project, module, (module, project)),
        (project, beside, (beside, project)),
        (module, project, (project, module)),
        (project, folder_at(tmp_path / "project/src"), (project,)),
        (project, empty, (project,)),
        (plain, below, (below, plain)),
        (empty, beside, (beside,)),
    ):
        start, session = (str(place).removesuffix("/.claude/memory") for place in (went, began))
        assert find_roots(start, environ, session).roots == tuple(map(str, expected)), (began, went)
    assert find_roots(str(tmp_path / "beside"), environ, "project").roots == (str(beside),)
    refused = find_roots(str(tmp_path / "project/src"), environ, str(tmp_path / "project"), users={STRANGER}).refused
    assert [one.folder for one in refused] == [str(project)]


def test_folders_of_other_tools_are_offered_and_not_used(tmp_path: Path) -> None:
    top = tmp_path / "repo"
    for name in (".git", "api/src", "node_modules/x/memory", ".hidden/memory", "empty/memory"):
        (top / name).mkdir(parents=True)
    places = ("api/memory-bank", "memory", ".serena/memories", ".claude/agent-memory/reviewer", ".claude/memory")
    for name in (*places, "node_modules/x/memory", ".hidden/memory"):
        (top / name).mkdir(parents=True, exist_ok=True)
        (top / name / "note.md").write_text("text", encoding="utf-8")
    environ = {"HOME": str(tmp_path / "home")}
    found = offered_roots(str(top / "api/src"), environ)
    assert {os.path.relpath(place, top.resolve()) for place in found} == {*places[:-1]}
    assert find_roots(str(top / "api/src"), environ).roots == (str((top / ".claude/memory").resolve()),)


# The roots that a user names in config.toml


def read(home: Path, text: str) -> RootSearch:
    put(home / ".config/memsift/config.toml", text)
    return user_roots({"HOME": str(home)})


def test_folders_and_files_that_exist_are_roots_in_their_order_and_any_other_path_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "CLAUDE.md").touch()
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    found = read(tmp_path, f'roots = ["~/CLAUDE.md", "{tmp_path}/notes", "~/link"]\n[retrieval]\nmax_inject = 2\n')
    assert found.roots == (str(tmp_path / "CLAUDE.md"), str(tmp_path / "notes"))
    assert found.mistakes == ()
    for value in ('"~/gone"', '"nowhere"', "3", '"a\\u0000b"', '"~someone/notes"', "[]"):
        found = read(tmp_path, f'roots = [{value}, "~/notes"]')
        assert found.roots == (str(tmp_path / "notes"),), value
        (mistake,) = found.mistakes
        assert "which is not used" in mistake, value


def test_without_a_list_there_are_no_roots_and_too_many_are_cut_and_said(tmp_path: Path) -> None:
    for text in ("", "[retrieval]\nmax_inject = 2", "[other]\nroots = 3"):
        assert read(tmp_path, text) == RootSearch(), text
    for text in ('roots = "~/notes"', "roots = {}", "roots = ["):
        found = read(tmp_path, text)
        assert (found.roots, len(found.mistakes)) == ((), 1), text
    for number in range(MOST_ROOTS + 5):
        (tmp_path / f"n{number}").mkdir()
    names = ", ".join(f'"~/n{number}"' for number in range(MOST_ROOTS + 5))
    found = read(tmp_path, f"roots = [{names}]")
    assert len(found.roots) == MOST_ROOTS
    assert "has 25 paths" in found.mistakes[0]
