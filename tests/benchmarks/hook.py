"""The hook's price: wall time of whole processes, as a ratio to `python -c pass` of the same interpreter.

    python -m tests.benchmarks.hook [--sizes 500 5000 50000] [--rounds 30] [--folder FOLDER]

A round starts each command once with the same prompt, one after the other. A ratio is taken within a round, so that a
slow moment of the machine slows both sides. The tables show the median over the rounds, with the 95th percentile in
brackets. The interpreter is a new virtual environment's, without packages. All prompts of a kind are asked once before.
With --folder the roots are kept for the next time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median, quantiles

from engine.agents.hook_entry import bare_interpreter
from tests.benchmarks.corpus import LENGTHS, prompts, write_root

PROJECT = Path(__file__).resolve().parent.parent.parent
LAUNCH = PROJECT / "engine/hook/launch.py"
SIZES = [500, 5_000, 50_000]
FLOOR, LAUNCHER = "python -c pass", "install --print"
BARE, IMPORTS = "python -I -S -c pass", "imports alone"
IMPORT = f"import os, sys; sys.path.append({str(PROJECT)!r}); import engine.hook.process; os._exit(0)"


class Bench:
    """A clean interpreter, a project of *size* memories, and the command lines to compare."""

    def __init__(self, folder: Path, size: int) -> None:
        self.size = size
        self.python = clean_interpreter(folder / "venv")
        self.project = folder / f"project-{size}"
        self.root = self.project / ".claude/memory"
        if not self.root.exists():
            write_root(self.root, size)
        self.home = folder / f"home-{size}"
        self.home.mkdir(exist_ok=True)
        self.stdin, self.stdout = folder / "stdin", folder / "stdout"
        bare = [bare_interpreter(), "-I", "-S"]
        self.commands = {
            FLOOR: [self.python, "-c", "pass"],
            BARE: [*bare, "-c", "pass"],
            IMPORTS: [*bare, "-c", IMPORT],
            LAUNCHER: [*bare, str(LAUNCH)],
        }

    def ask(self, prompt: str, number: int) -> None:
        """Make *prompt* the next request, in a new session, so that no memory counts as given."""
        request = {"prompt": prompt, "cwd": str(self.project), "session_id": f"{os.getpid()}-{time.time_ns()}-{number}"}
        self.stdin.write_text(json.dumps(request), encoding="utf-8")

    def run(self, command: list[str]) -> float:
        """Milliseconds of one process on the current request."""
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(self.stdin), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(self.stdout), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ]
        environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        started = time.perf_counter()
        process = os.posix_spawn(command[0], command, environ, file_actions=actions)
        _, status = os.waitpid(process, 0)
        elapsed = (time.perf_counter() - started) * 1000
        assert status == 0, command
        return elapsed

    def answered(self) -> bool:
        return self.stdout.stat().st_size > 0

    def prepare(self) -> float:
        """Wait until the index exists, in seconds: the first run builds it, or starts a process that does."""
        started = time.perf_counter()
        self.ask(prompts(1, "ordinary")[0], 0)
        for _ in range(600):
            self.run(self.commands[LAUNCHER])
            if self.answered():
                break
            time.sleep(0.5)
        return time.perf_counter() - started

    def rows(self) -> list[dict[str, dict[str, float]]]:
        """The lines of the hook's log."""
        return [json.loads(line) for log in self.home.rglob("activity.jsonl") for line in log.open(encoding="utf-8")]

    def forget(self) -> None:
        for log in self.home.rglob("activity.jsonl"):
            log.unlink()


def clean_interpreter(folder: Path) -> str:
    """The python of a virtual environment that holds a link to the engine and no packages."""
    python = folder / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        (packages / "engine").symlink_to(PROJECT / "engine")
    return str(python)


def measure(bench: Bench, kind: str, rounds: int) -> tuple[dict[str, list[float]], int]:
    """Milliseconds of each command, a list over the rounds, and the number of rounds that the launcher answered."""
    times: dict[str, list[float]] = {name: [] for name in bench.commands}
    answered = 0
    asked = prompts(rounds, kind, seed=1)
    for number, prompt in enumerate(asked):
        bench.ask(prompt, number)
        bench.run(bench.commands[LAUNCHER])
    bench.forget()
    for number, prompt in enumerate(asked):
        for name, command in bench.commands.items():
            bench.ask(prompt, number)
            times[name].append(bench.run(command))
            answered += name == LAUNCHER and bench.answered()
    return times, answered


def ratio(values: list[float], floor: list[float]) -> str:
    ratios = [value / base for value, base in zip(values, floor, strict=True)]
    return f"{median(ratios):.2f} ({quantiles(ratios, n=20)[-1]:.2f})"


def row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def table(header: list[str], rows: list[list[object]]) -> None:
    print("\n".join([row(header), row("---" for _ in header), *map(row, rows)]), end="\n\n", flush=True)


def report(bench: Bench, rounds: int) -> None:
    """Two tables for a size: ratios by kind of prompt, and milliseconds by stage."""
    seconds = bench.prepare()
    print(f"## {bench.size:,} memories (first answer after {seconds:.1f} s)\n")
    ratios: list[list[object]] = []
    stages: list[list[object]] = []
    for kind in LENGTHS:
        times, answered = measure(bench, kind, rounds)
        floor = times[FLOOR]
        ratios.append([kind, f"{median(floor):.1f}", ratio(times[LAUNCHER], floor), f"{answered}/{rounds}"])
        stages.append([kind, *stage_cells(bench, times)])
    table(["prompt", "floor ms", f"{LAUNCHER} p50 (p95)", "answered"], ratios)
    table(["ms, median", BARE, "imports", *STAGES, "rest", "launcher"], stages)


STAGES = ["read", "parse", "root", "config", "session", "index", "retrieve", "inject", "save"]


def stage_cells(bench: Bench, times: dict[str, list[float]]) -> list[str]:
    """The parts of the launcher's time: start and imports as differences of processes, stages by the hook's log."""
    rows = bench.rows()
    start = median(times[BARE])
    imports = median(times[IMPORTS]) - start
    within = [median([one["stages_ms"].get(stage, 0.0) for one in rows]) for stage in STAGES]
    whole = median(times[LAUNCHER])
    return [f"{value:.1f}" for value in (start, imports, *within, whole - start - imports - sum(within), whole)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for size in given.sizes:
            report(Bench(folder, size), given.rounds)


if __name__ == "__main__":
    main()
