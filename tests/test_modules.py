"""Rules for all files: names, headings, the imports of benchmarks, libraries that several threads load at once."""

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from importlib import import_module
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
FILES = [path for room in ("engine", "labels", "tui") for path in (PROJECT / room).rglob("*.*")]
MODULES = [path for path in FILES if path.suffix == ".py"]
OURS = {"engine", "labels", "tui", "memsift", "dask", "distributed", "textual_serve", *sys.stdlib_module_names}
ONE_PLACE = {"detect_secrets", "textual"}
"""Loaded by one function, one module after the other, or by the app's own thread."""

AT_ONCE = """
import sys, threading
sys.setswitchinterval(1e-6)
failed = []
def load(code):
    try:
        exec(code)
    except ModuleNotFoundError:
        pass  # an extra
    except ImportError as error:
        failed.append(f"{code}: {error}")
threads = [threading.Thread(target=load, args=(code,)) for code in sys.argv[1:]]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit("\\n".join(failed) or 0)
"""


def imports() -> dict[str, dict[Path, list[str]]]:
    """Package of another project -> file of memsift -> its statements that load something of the package."""
    found: dict[str, dict[Path, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                package = node.module.partition(".")[0]
                if package not in OURS | ONE_PLACE and not package.startswith("_"):
                    found[package][file].append(ast.unparse(node))
    return found


@pytest.mark.slow
def test_a_library_is_loaded_by_several_threads_at_once() -> None:
    every = imports()
    assert "rapidfuzz" in every
    for package, files in every.items():
        command = [sys.executable, "-c", AT_ONCE, *sorted({"; ".join(statements) for statements in files.values()})]
        done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, timeout=60, check=False)
        assert done.returncode == 0, (package, done.stderr)


@pytest.mark.slow
def test_a_benchmark_finds_its_modules() -> None:
    for path in (PROJECT / "tests/benchmarks").glob("[!_]*.py"):
        assert import_module(f"tests.benchmarks.{path.stem}").__doc__, path


def test_a_public_class_name_has_one_meaning_in_the_whole_tree() -> None:
    homes = defaultdict(list)
    for path in MODULES:
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text("utf-8"), re.MULTILINE):
            homes[name].append(str(path.relative_to(PROJECT)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_every_heading_in_brackets_is_whole_and_stands_once() -> None:
    """A heading twice would hide what stands under the first."""
    read = 0
    for file in (path for path in FILES if path.suffix in (".txt", ".sql")):
        headings = [line for line in file.read_text("utf-8").splitlines() if line.startswith(("[", "-- ["))]
        read += bool(headings)
        assert [line for line in headings if not line.endswith("]")] == [], file
        assert [line for line, times in Counter(headings).items() if times > 1] == [], file
    assert read >= 10
