"""`memsift replay` as a whole process: one process, two systems, two processes, and a Dask cluster with two workers.

    python -m tests.benchmarks.replay [--memories 500 5000 50000] [--prompts 2000] [--turns 3] [--folder FOLDER]

The commands take turns. Each runs with a few prompts (its start), then with all; the difference is the work. Printed
are medians and ranges: the start in seconds, the whole command as a ratio to one process, and prompts a second. A run
before them scans the memories that are shown. Dask is left out where it is not installed. --folder keeps the memories
for later.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from engine.opening import open_index
from tests.benchmarks.corpus import prompts, write_root

MAIN = [sys.executable, "-c", "from tui.cli import main; main(prog_name='memsift')"]
PROJECT = Path(__file__).resolve().parent.parent.parent
FEW = 40
ONE, TWO = "memsift+default", "memsift,memsift+default"
PORT = 18786


@dataclass
class Way:
    """A way to run the same prompts, and the seconds that it took, for each turn."""

    name: str
    systems: str
    executor: str = ""
    starts: list[float] = field(default_factory=list)
    works: list[float] = field(default_factory=list)


@dataclass
class Bench:
    root: str
    environ: dict[str, str]
    folder: Path

    def turn(self, way: Way, few: Path, many: Path) -> None:
        start = self._run(way, few)
        way.starts.append(start)
        way.works.append(self._run(way, many) - start)

    def _run(self, way: Way, file: Path) -> float:
        """The seconds that a command took."""
        wanted = ["replay", "--root", self.root, "--prompts", str(file), "--systems", way.systems]
        if way.executor:
            wanted += ["--executor", way.executor]
        began = time.perf_counter()
        with (self.folder / "out").open("wb") as out:
            done = subprocess.run([*MAIN, *wanted], env=self.environ, cwd=PROJECT, stdout=out, stderr=out, check=False)
        if done.returncode:
            raise SystemExit((self.folder / "out").read_text("utf-8")[-2000:])
        return time.perf_counter() - began


def start_cluster(stack: ExitStack, environ: dict[str, str], folder: Path) -> None:
    """Start a scheduler and two workers."""

    def start(*command: str) -> None:
        out = stack.enter_context((folder / "dask.log").open("ab"))
        running = subprocess.Popen(
            [sys.executable, "-m", "dask", *command], env=environ, cwd=PROJECT, stdout=out, stderr=out
        )
        stack.callback(running.wait)
        stack.callback(running.terminate)

    start("scheduler", "--host", "127.0.0.1", "--port", str(PORT), "--no-dashboard")
    one = ("worker", f"tcp://127.0.0.1:{PORT}", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    for number in range(2):
        start(*one, "--local-directory", str(folder / f"worker{number}"))


def spread(numbers: Iterable[float]) -> str:
    held = list(numbers)
    return f"{statistics.median(held):7,.2f} ({min(held):,.2f} to {max(held):,.2f})"


def report(ways: list[Way], count: int) -> None:
    first = ways[0]
    for way in ways:
        whole = [
            (start + work) / (own_start + own)
            for start, work, own_start, own in zip(way.starts, way.works, first.starts, first.works, strict=True)
        ]
        ratios = [own / work for work, own in zip(way.works, first.works, strict=True)]
        print(f"  {way.name}")
        print(f"    start {spread(way.starts)} s; whole command {spread(whole)} x the time of one process")
        print(f"    prompts/s {spread(count / work for work in way.works)}, {spread(ratios)} x one")


def written(path: Path, texts: list[str]) -> Path:
    rows = (json.dumps({"id": f"p{number}", "prompt": text}) for number, text in enumerate(texts))
    path.write_text("".join(f"{row}\n" for row in rows), "utf-8")
    return path


def measure(folder: Path, size: int, count: int, turns: int) -> None:
    root = folder / f"root{size}"
    if not root.exists():
        write_root(root, size)
    environ = {**os.environ, "HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home/.cache")}
    with closing(open_index(str(root.resolve()), environ)):
        few = written(folder / "few.jsonl", prompts(FEW, "ordinary"))
        many = written(folder / "many.jsonl", prompts(count + FEW, "ordinary"))
    ways = [Way("one process", ONE), Way("one process, two systems", TWO), Way("two processes", ONE, "processes:2")]
    with ExitStack() as stack:
        if find_spec("distributed"):
            start_cluster(stack, environ, folder)
            ways.append(Way("Dask, two workers", ONE, f"dask://127.0.0.1:{PORT}"))
            time.sleep(5)
        bench = Bench(str(root), environ, folder)
        bench.turn(Way("a warm cache", ONE), few, many)
        for _ in range(turns):
            for way in ways:
                bench.turn(way, few, many)
    print(f"{size:,} memories, {count:,} prompts, {turns} turns")
    report(ways, count)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--memories", type=int, nargs="+", default=[500, 5000, 50_000])
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for size in given.memories:
            measure(folder, size, given.prompts, given.turns)


if __name__ == "__main__":
    main()
