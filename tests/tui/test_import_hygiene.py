"""Commands and the workspace work where no screen library is loaded, and each command loads only what it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_command_reference import COMMANDS
from tests.tui.cli.every_command import IN_A_TERMINAL, PLAIN, loaded_by, plain, prepare

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


STORE = {"labels", "sqlite_utils"}
CHECKS = {*STORE, "detect_secrets", "rapidfuzz"}
NUMBERS = {"labels"}
SECRETS = {"detect_secrets"}
NEEDS = {
    "config set": {"tomlkit"},
    "config unset": {"tomlkit"},
    **dict.fromkeys(("diff", "doctor", "export", "import", "label", "merge-labels"), STORE),
    **dict.fromkeys(("quality check", "quality fix"), CHECKS),
    "search": {"rapidfuzz"},  # for the explanations alone
    **dict.fromkeys(("phrases missing", "phrases write"), SECRETS),
    **dict.fromkeys(("gate", "judge", "replay", "report"), NUMBERS),
    "tune": {*NUMBERS, "numpy", "scipy", "sklearn"},
}
"""The packages that a command may load, beside click. A package that is missing here is loaded by no command."""

BRINGS = {
    "detect_secrets": {"certifi", "charset_normalizer", "idna", "requests", "urllib3", "yaml"},
    "sklearn": set("charset_normalizer cloudpickle dateutil joblib narwhals pandas psutil rich threadpoolctl".split()),
    "sqlite_utils": {"dateutil", "pluggy", "six", "sqlite_fts4", "tabulate"},
}
"""The packages that another package loads in turn, as far as they are installed."""


def loaded_by_a_plain_run(commands: list[str], folder: Path) -> dict[str, set[str]]:
    """Command -> the packages that its plain run loads and does not need, or how it failed."""
    prepare(folder)
    wrong = {}
    for name, run in zip(commands, loaded_by([[plain(name)] for name in commands], folder), strict=True):
        needed = {"click"} | NEEDS.get(name, set())
        needed |= set().union(*(BRINGS.get(one, set()) for one in needed))
        if not set(run.codes) <= {0, 1} or "Traceback" in run.stderr:
            wrong[name] = {*map(str, run.codes), run.stderr}
        elif run.packages - needed:
            wrong[name] = run.packages - needed
    return wrong


def test_every_command_has_a_plain_run() -> None:
    assert {f"memsift {name}" for name in (*PLAIN, *IN_A_TERMINAL)} | {"memsift"} == set(COMMANDS)


def test_help_loads_no_package_but_click(tmp_path: Path) -> None:
    lines = [["--version"], *([*name.split()[1:], "--help"] for name in COMMANDS)]
    (found,) = loaded_by([lines], tmp_path)
    assert (found.codes, found.packages - {"labels"}) == ((0,) * len(lines), {"click"})


@pytest.mark.slow
def test_a_command_loads_only_the_packages_that_it_needs(tmp_path: Path) -> None:
    assert loaded_by_a_plain_run([*PLAIN], tmp_path) == {}
