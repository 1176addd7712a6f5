"""Commands and the workspace work where no screen library is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
MODULES = [
    ".".join(file.relative_to(PROJECT).with_suffix("").parts)
    for folder in ("cli", "workspace")
    for file in (PROJECT / "tui" / folder).rglob("*.py")
]
LOADED = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)\nprint(*sys.modules)"


@pytest.mark.parametrize("imported", [["tui.cli"], ["tui.workspace"], MODULES])
def test_neither_commands_nor_workspace_load_a_screen_library(imported: list[str]) -> None:
    command = [sys.executable, "-c", LOADED, *(name.removesuffix(".__init__") for name in imported)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, timeout=60, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "tui" in loaded
    assert loaded & {"textual", "rich"} == set()


def test_a_command_is_imported_when_it_is_called() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "tui.cli"], capture_output=True, text=True, cwd=PROJECT, timeout=60, check=True
    )
    assert "tui.cli.options" in done.stdout.split()
    assert "tui.cli.search" not in done.stdout.split()
