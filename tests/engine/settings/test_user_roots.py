"""The roots that a user names in config.toml."""

from pathlib import Path

import pytest

from engine.settings.roots import MOST_ROOTS, UserRoots, user_roots


def read(home: Path, text: str) -> UserRoots:
    file = home / ".config/memsift/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return user_roots({"HOME": str(home)})


def test_folders_and_files_that_exist_are_roots_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "CLAUDE.md").touch()
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    found = read(tmp_path, f'roots = ["~/CLAUDE.md", "{tmp_path}/notes", "~/link"]\n[retrieval]\nmax_inject = 2\n')
    assert found.roots == (str(tmp_path / "CLAUDE.md"), str(tmp_path / "notes"))
    assert found.mistakes == ()


@pytest.mark.parametrize("value", ['"~/gone"', '"notes"', "3", '"a\\u0000b"', '"~someone/notes"', "[]"])
def test_a_path_that_is_none_is_named_and_the_others_count(tmp_path: Path, value: str) -> None:
    (tmp_path / "notes").mkdir()
    found = read(tmp_path, f'roots = [{value}, "~/notes"]')
    assert found.roots == (str(tmp_path / "notes"),)
    assert len(found.mistakes) == 1
    assert "which is not used" in found.mistakes[0]


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("", 0),
        ("[retrieval]\nmax_inject = 2", 0),
        ("[other]\nroots = 3", 0),
        ('roots = "~/notes"', 1),
        ("roots = {}", 1),
        ("roots = [", 1),
    ],
)
def test_without_a_list_there_are_no_roots(tmp_path: Path, text: str, mistakes: int) -> None:
    found = read(tmp_path, text)
    assert (found.roots, len(found.mistakes)) == ((), mistakes)


def test_without_a_file_there_are_no_roots(tmp_path: Path) -> None:
    assert user_roots({"HOME": str(tmp_path)}).roots == ()


def test_too_many_roots_are_cut_and_said(tmp_path: Path) -> None:
    for number in range(MOST_ROOTS + 5):
        (tmp_path / f"n{number}").mkdir()
    names = ", ".join(f'"~/n{number}"' for number in range(MOST_ROOTS + 5))
    found = read(tmp_path, f"roots = [{names}]")
    assert len(found.roots) == MOST_ROOTS
    assert "has 25 paths" in found.mistakes[0]
