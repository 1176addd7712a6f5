"""The benchmarks are not run with the tests, so nothing else tells that they still could be."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.benchmarks.hook import imports_alone

BENCHMARKS = sorted(path.stem for path in Path(__file__).with_name("benchmarks").glob("[!_]*.py"))


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_finds_what_it_measures(name: str) -> None:
    assert import_module(f"tests.benchmarks.{name}").__doc__


def test_a_start_of_the_hook_can_be_ended_where_its_modules_are_there(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-I", "-S", imports_alone(tmp_path / "imports.py")],
        input="no JSON",
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ended.stdout, ended.stderr) == ("", "")
