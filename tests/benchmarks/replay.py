"""`memsift replay` as a whole process: one process, two systems, two processes, and a Dask cluster with two workers.

    python -m tests.benchmarks.replay [--memories 500 5000 50000] [--prompts 2000] [--turns 3] [--folder FOLDER]

The commands take turns. Each runs with a few prompts (its start), then with all; the difference is the work. Printed
are medians and ranges: the start in seconds, the whole command as a ratio to one process, prompts a second of wall time
and of the CPU time of all processes together, and the most memory that a process held. A run before them scans the
memories that are shown. The processes of Dask's workers count, its scheduler does not. Dask is left out where it is not
installed. --folder keeps the memories for later.
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
from contextlib import ExitStack, closing, suppress
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
TICKS = os.sysconf("SC_CLK_TCK")
LOOK_S = 0.05


@dataclass
class Way:
    """A way to run the same prompts, and what it took: seconds of wall and of CPU, for each turn."""

    name: str
    systems: str
    executor: str = ""
    starts: list[float] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)
    peak_mib: float = 0.0
    worker_mib: float = 0.0


@dataclass
class Bench:
    root: str
    environ: dict[str, str]
    folder: Path
    servants: tuple[int, ...]
    """The ids of the Dask workers."""

    def turn(self, way: Way, few: Path, many: Path) -> None:
        start, start_cpu = self._run(way, few)
        whole, cpu = self._run(way, many)
        way.starts.append(start)
        way.walls.append(whole - start)
        way.cpus.append(cpu - start_cpu)

    def _run(self, way: Way, file: Path) -> tuple[float, float]:
        """The seconds of wall and of CPU that a command took."""
        wanted = ["replay", "--root", self.root, "--prompts", str(file), "--systems", way.systems]
        if way.executor:
            wanted += ["--executor", way.executor]
        servants = self.servants if way.executor.startswith("dask") else ()
        before = sum(map(cpu_s, servants))
        used, began = os.times(), time.perf_counter()
        with (self.folder / "out").open("wb") as out:
            running = subprocess.Popen([*MAIN, *wanted], env=self.environ, cwd=PROJECT, stdout=out, stderr=out)
            while running.poll() is None:
                command, *workers = descendants(running.pid)
                way.peak_mib = max(way.peak_mib, peak_mib(command))
                way.worker_mib = max([way.worker_mib, *map(peak_mib, [*workers, *servants])])
                time.sleep(LOOK_S)
        took, now = time.perf_counter() - began, os.times()
        if running.returncode:
            raise SystemExit((self.folder / "out").read_text("utf-8")[-2000:])
        own = now.children_user + now.children_system - used.children_user - used.children_system
        return took, own + sum(map(cpu_s, servants)) - before


def cpu_s(process: int) -> float:
    """The CPU time of a process that runs."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mib(process: int) -> float:
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    return 0.0


def descendants(process: int) -> list[int]:
    found = [process]
    for parent in found:
        with suppress(OSError):
            found += map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text("utf-8").split())
    return found


def start_cluster(stack: ExitStack, environ: dict[str, str], folder: Path) -> tuple[int, ...]:
    """Start a scheduler and two workers. The ids of the workers."""

    def start(*command: str) -> int:
        out = stack.enter_context((folder / "dask.log").open("ab"))
        running = subprocess.Popen(
            [sys.executable, "-m", "dask", *command], env=environ, cwd=PROJECT, stdout=out, stderr=out
        )
        stack.callback(running.wait)
        stack.callback(running.terminate)
        return running.pid

    start("scheduler", "--host", "127.0.0.1", "--port", str(PORT), "--no-dashboard")
    one = ("worker", f"tcp://127.0.0.1:{PORT}", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    return tuple(start(*one, "--local-directory", str(folder / f"worker{number}")) for number in range(2))


def spread(numbers: Iterable[float]) -> str:
    held = list(numbers)
    return f"{statistics.median(held):7,.2f} ({min(held):,.2f} to {max(held):,.2f})"


def report(ways: list[Way], count: int) -> None:
    first = ways[0]
    for way in ways:
        base = zip(way.walls, way.cpus, first.walls, first.cpus, strict=True)
        ratios = [(wall / own, cpu / own_cpu) for own, own_cpu, wall, cpu in base]
        whole = [
            (start + wall) / (own_start + own)
            for start, wall, own_start, own in zip(way.starts, way.walls, first.starts, first.walls, strict=True)
        ]
        print(f"  {way.name}")
        print(f"    start {spread(way.starts)} s; whole command {spread(whole)} x the time of one process")
        print(f"    prompts/s {spread(count / s for s in way.walls)}, {spread(ratio for ratio, _ in ratios)} x one")
        print(
            f"    prompts/s of CPU {spread(count / s for s in way.cpus)}, {spread(ratio for _, ratio in ratios)} x one"
        )
        print(f"    most memory of the command {way.peak_mib:.0f} MiB, of a worker {way.worker_mib:.0f} MiB")


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
        servants: tuple[int, ...] = ()
        if find_spec("distributed"):
            servants = start_cluster(stack, environ, folder)
            ways.append(Way("Dask, two workers", ONE, f"dask://127.0.0.1:{PORT}"))
            time.sleep(5)
        bench = Bench(str(root), environ, folder, servants)
        bench.turn(Way("a warm cache", ONE), few, many)
        print(f"workers of Dask before their first part: {max(map(peak_mib, servants), default=0):.0f} MiB")
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
