"""Each format registers in one place, and only the format of the root is loaded."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from engine.stores.claude_memory import FOLDERS, INDEX_FILE
from engine.stores.registry import FORMATS, format_of, store_of

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = [
    (["index.md"], "claude_memory"),
    (["decisions", "README.md"], "claude_memory"),
    (["note.md"], "markdown"),
    (["MEMORY.md", "memory-config.json"], "auto_memory"),
    (["MEMORY.md", "raw_memories.md"], "markdown"),
    (["rows.jsonl"], "jsonl"),
    ([".hidden.md"], "claude_memory"),
    (["notes.txt"], "claude_memory"),
    ([], "claude_memory"),
]
"""Names in a root, and the format that they show."""

BY_PATH = [
    ("p/.claude/memory", "claude_memory"),
    ("projects/-home-me-app/memory", "auto_memory"),
    (".claude/agent-memory/reviewer", "auto_memory"),
    ("projects/memory", "markdown"),
    (".codex/memories", "markdown"),
    ("vault/daily", "markdown"),
]
"""The end of a root's path, and the format of a folder there that holds a note."""


@pytest.mark.parametrize(("names", "expected"), SHOWN)
def test_the_names_in_a_root_show_its_format(tmp_path: Path, names: list[str], expected: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    assert format_of(str(tmp_path)) == expected


def test_a_folder_that_cannot_be_listed_is_of_the_first_format(tmp_path: Path) -> None:
    assert format_of(str(tmp_path / "gone")) == "claude_memory"


@pytest.mark.parametrize(("path", "expected"), BY_PATH)
def test_the_path_of_a_root_shows_its_format(tmp_path: Path, path: str, expected: str) -> None:
    (tmp_path / path).mkdir(parents=True)
    (tmp_path / path / "note.md").write_text("text", encoding="utf-8")
    assert format_of(str(tmp_path / path)) == expected


@pytest.mark.parametrize("name", ["CLAUDE.md", "a.markdown", "rows.jsonl"])
def test_a_file_can_be_a_root(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert format_of(str(tmp_path / name)) in ("markdown", "jsonl")


@pytest.mark.parametrize("name", ["index.txt", "decisions", "settings.json"])
def test_other_files_are_of_no_format(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert format_of(str(tmp_path / name)) == ""


@pytest.mark.parametrize(("folder", "file"), [("decisions", "a.md"), ("preferences", "b.md"), ("", "a.md")])
def test_a_vault_with_the_names_of_claude_memory_is_a_vault(tmp_path: Path, folder: str, file: str) -> None:
    (tmp_path / "index.md").write_text("# Welcome\n\n- [home](a.md)\n", encoding="utf-8")
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / file).touch()
    assert format_of(str(tmp_path)) == "markdown"
    (tmp_path / "index.md").write_text("- [DECISION] A -> notes/a.json #tags:a\n", encoding="utf-8")
    assert format_of(str(tmp_path)) == "claude_memory"


def test_a_folder_of_folders_with_notes_is_a_vault(tmp_path: Path) -> None:
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics/a.md").touch()
    assert format_of(str(tmp_path)) == "markdown"


def test_claude_memory_is_known_by_its_index_and_its_folders() -> None:
    assert dict(FORMATS[:1]) == {"claude_memory": (".claude/memory", INDEX_FILE, *FOLDERS)}


@pytest.mark.parametrize(("name", "signs"), FORMATS)
def test_every_format_reads_a_root_of_its_own(tmp_path: Path, name: str, signs: tuple[str, ...]) -> None:
    for number, sign in enumerate(sign for sign in signs if "/" not in sign):
        shown = tmp_path / str(number) / sign.replace("*", "memory")
        root = shown.parent
        root.mkdir()
        shown.touch() if shown.suffix else shown.mkdir()
        store = store_of(str(root))
        assert getattr(store, "__name__") == f"engine.stores.{name}"  # noqa: B009 - a Protocol has no name
        assert store.listing(str(root)).skipped == ()
        assert store.listing(str(root)).places


def test_a_root_loads_no_other_format(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").touch()
    code = "import sys; from engine.stores.registry import store_of; store_of(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("engine.stores.")}
    expected = ("registry", "files", "doubles", "markdown_text", "auto_memory")
    assert loaded == {f"engine.stores.{name}" for name in expected}
