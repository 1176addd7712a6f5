"""The benchmarks are not run with the tests, so nothing else tells that they still could be."""

from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = sorted(path.stem for path in Path(__file__).with_name("benchmarks").glob("[!_]*.py"))


@pytest.mark.slow
def test_a_benchmark_finds_its_modules() -> None:
    for name in BENCHMARKS:
        assert import_module(f"tests.benchmarks.{name}").__doc__, name
