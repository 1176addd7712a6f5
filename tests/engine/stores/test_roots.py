"""Which folder is the root, and what is said when it cannot be used."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.errors import RootNotFoundError, RootUnreadableError
from engine.memory import Corpus
from engine.paths import cache_dir, find_root, labels_file, root_key, state_dir, transcripts_dir
from engine.stores.roots import read_corpus
from tests.engine.builders import memory, write_root


def test_the_nearest_memory_folder_upwards_is_the_root(tmp_path: Path) -> None:
    outer, inner = tmp_path / ".claude/memory", tmp_path / "project/.claude/memory"
    outer.mkdir(parents=True)
    inner.mkdir(parents=True)
    deep = tmp_path / "project/src/deep"
    deep.mkdir(parents=True)
    assert find_root(str(deep), {}) == str(inner.resolve())
    assert find_root(str(tmp_path), {}) == str(outer.resolve())


def test_a_file_of_that_name_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/memory").write_text("", encoding="utf-8")
    assert find_root(str(tmp_path / "project"), {"HOME": str(tmp_path)}) is None


def test_auto_memory_beside_the_transcript_comes_second(tmp_path: Path) -> None:
    transcript = tmp_path / "projects/slug/session.jsonl"
    (tmp_path / "projects/slug/memory").mkdir(parents=True)
    project = tmp_path / "project"
    project.mkdir()
    assert find_root(str(project), {}, str(transcript)) == str((tmp_path / "projects/slug/memory").resolve())
    (project / ".claude/memory").mkdir(parents=True)
    assert find_root(str(project), {}, str(transcript)) == str((project / ".claude/memory").resolve())


def test_without_a_transcript_its_folder_follows_from_the_project(tmp_path: Path) -> None:
    project, environ = tmp_path / "project", {"HOME": str(tmp_path)}
    project.mkdir()
    beside = Path(transcripts_dir(str(project), environ), "memory")
    assert find_root(str(project), environ) is None
    beside.mkdir(parents=True)
    assert find_root(str(project), environ) == str(beside.resolve())


def test_a_start_that_makes_no_sense_finds_nothing(tmp_path: Path) -> None:
    for start in ("/nowhere/at/all", "/a\0b", "\ud800", "/" + "x" * 5000):
        assert find_root(start, {"HOME": str(tmp_path)}, str(tmp_path / "a\0b.jsonl")) is None


def test_a_link_to_the_root_names_the_folder_itself(tmp_path: Path) -> None:
    write_root(tmp_path / "store", [memory("A")])
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/memory").symlink_to(tmp_path / "store")
    root = find_root(str(tmp_path / "project"), {})
    assert root == str((tmp_path / "store").resolve())
    assert len(read_corpus(str(tmp_path / "project/.claude/memory")).memories) == 1


def test_a_root_that_does_not_exist_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RootNotFoundError, match=f"no folder {tmp_path}/gone. Name one with --root"):
        read_corpus(str(tmp_path / "gone"))
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    with pytest.raises(RootNotFoundError):
        read_corpus(str(tmp_path / "dangling"))


def test_a_file_in_place_of_a_root_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RootUnreadableError, match="file is not a folder"):
        read_corpus(str(tmp_path / "file"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_root_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir(mode=0o000)
    with pytest.raises(RootUnreadableError, match="cannot be read"):
        read_corpus(str(tmp_path / "root"))


def test_an_empty_root_is_a_corpus_without_memories(tmp_path: Path) -> None:
    assert read_corpus(str(tmp_path)) == Corpus(str(tmp_path.resolve()), (), ())


def test_the_format_is_recognised_by_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "auto").mkdir()
    (tmp_path / "auto/note.md").write_text("text", encoding="utf-8")
    auto = read_corpus(str(tmp_path / "auto"))
    assert [one.summary.path for one in auto.memories] == [str(tmp_path / "auto/note.md")]
    write_root(tmp_path / "claude", [memory("A")])
    (tmp_path / "claude/README.md").write_text("text", encoding="utf-8")
    assert [one.summary.id for one in read_corpus(str(tmp_path / "claude")).memories] == ["A"]


def test_folders_follow_the_xdg_rules(tmp_path: Path) -> None:
    environ = {"HOME": "/home/me", "XDG_STATE_HOME": "/state", "XDG_CACHE_HOME": "relative"}
    assert state_dir(str(tmp_path), environ) == f"/state/memsift/{root_key(str(tmp_path))}"
    assert cache_dir(environ) == "/home/me/.cache/memsift"
    assert labels_file(environ) == "/home/me/.local/share/memsift/labels.db"
    assert labels_file({**environ, "MEMSIFT_DB": "x.db"}) == "x.db"


def test_a_root_key_names_the_project_and_never_two_roots(tmp_path: Path) -> None:
    first, second = tmp_path / "My Proj/.claude/memory", tmp_path / "other/My Proj/.claude/memory"
    assert root_key(str(first)).startswith("My-Proj-")
    assert root_key(str(first)) != root_key(str(second))
    assert root_key("/").startswith("root-")
    assert "/" not in root_key(str(tmp_path / ("x" * 200)))
    assert len(root_key(str(tmp_path / ("x" * 200)))) == 53


def test_locomo_roots_can_be_read(shared_data: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "locomo/memories.jsonl").read_text("utf-8").splitlines()[:200]]
    write_root(tmp_path, [memory(row["fact"][:120], memory_id=row["id"], category="session_summary") for row in rows])
    corpus = read_corpus(str(tmp_path))
    assert len(corpus.memories) == len({row["id"] for row in rows})
    assert corpus.skipped == ()
