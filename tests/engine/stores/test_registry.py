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
    (["note.md"], "auto_memory"),
    (["MEMORY.md", "memory-config.json"], "auto_memory"),
    (["notes.txt"], "claude_memory"),
    ([], "claude_memory"),
]


@pytest.mark.parametrize(("names", "expected"), SHOWN)
def test_the_names_in_a_root_show_its_format(tmp_path: Path, names: list[str], expected: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    assert format_of(str(tmp_path)) == expected


def test_a_folder_that_cannot_be_listed_is_of_the_first_format(tmp_path: Path) -> None:
    assert format_of(str(tmp_path / "gone")) == "claude_memory"


def test_claude_memory_is_known_by_its_index_and_its_folders() -> None:
    assert FORMATS["claude_memory"] == (INDEX_FILE, *FOLDERS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_reads_a_root_of_its_own(tmp_path: Path, name: str) -> None:
    (tmp_path / FORMATS[name][0].replace("*", "memory")).touch()
    store = store_of(str(tmp_path))
    assert store.__name__ == f"engine.stores.{name}"
    assert store.listing(str(tmp_path))[1] == []
    assert set(store.places(["folder/name"])) & {"", store.INDEX_FILE}


def test_a_root_loads_no_other_format(tmp_path: Path) -> None:
    (tmp_path / "note.md").touch()
    code = "import sys; from engine.stores.registry import store_of; store_of(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("engine.stores.")}
    assert loaded == {"engine.stores.registry", "engine.stores.files", "engine.stores.auto_memory"}
