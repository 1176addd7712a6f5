"""A root and its places, and what is said when it cannot be used."""

import os
from pathlib import Path

import pytest

from engine.errors import RootNotFoundError, RootUnreadableError
from engine.paths import root_key
from engine.stores.roots import read_corpus


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
    corpus = read_corpus(str(tmp_path))
    assert (corpus.root, corpus.memories, corpus.notices) == (str(tmp_path.resolve()), (), ())


def test_a_root_key_names_the_project_and_never_two_roots(tmp_path: Path) -> None:
    first, second = tmp_path / "My Proj/.claude/memory", tmp_path / "other/My Proj/.claude/memory"
    assert root_key(str(first)).startswith("My-Proj-")
    assert root_key(str(first)) != root_key(str(second))
    assert root_key("/").startswith("root-")
    assert "/" not in root_key(str(tmp_path / ("x" * 200)))
    assert len(root_key(str(tmp_path / ("x" * 200)))) == 53
