"""The hook's price: wall time of whole processes, as a ratio to `python -c pass` of the same interpreter.

    python -m tests.benchmarks.hook [--sizes 500 5000 50000] [--large] [--cutoff] [--rounds 30] [--folder FOLDER]

A round starts each command once with the same prompt, one after the other. A ratio is taken within a round, so that a
slow moment of the machine slows both sides. The tables show the median over the rounds, with the 95th percentile in
brackets. The interpreter is a new virtual environment's, without packages. Cold means that the index, the log and the
compiled modules were put out of the page cache before; otherwise all prompts of a kind were asked once before. With
--cutoff each root has a tuned cutoff with every feature. With --folder the roots are kept for the next time.
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
from engine.cutoff import DIRECTIONS
from engine.paths import state_dir
from tests.benchmarks.corpus import LENGTHS, prompts, write_root
from tests.engine.models import content, write_model

PROJECT = Path(__file__).resolve().parent.parent.parent
LAUNCH = PROJECT / "engine/hook/launch.py"
SIZES, LARGE = [500, 5_000, 50_000], 500_000
FLOOR, LAUNCHER = "python -c pass", "install --print"
SCRIPT = "console script"
BARE, IMPORTS = "python -I -S -c pass", "imports alone"
FORMS = (LAUNCHER, SCRIPT)
WRAPPER = """#!{python}
import sys
from engine.hook.launch import main
if __name__ == '__main__':
    sys.exit(main())
"""
"""The console script as pip and uv write it."""

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
            SCRIPT: [str(console_script(folder / "venv/bin/memsift-hook"))],
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

    def evict(self) -> None:
        """Put the files that the hook reads out of the page cache."""
        for path in self.read():
            evict(path)

    def read(self) -> list[Path]:
        """The files that the hook reads."""
        compiled = (PROJECT / "engine").rglob("*.pyc")
        return [path for path in [*self.home.rglob("*"), *compiled] if path.is_file()]

    def rows(self) -> list[dict[str, dict[str, float]]]:
        """The lines of the hook's log."""
        return [json.loads(line) for log in self.home.rglob("activity.jsonl") for line in log.open(encoding="utf-8")]

    def tune(self, *, has_cutoff: bool) -> None:
        """Give the root a cutoff that drops nothing, or none."""
        state = Path(state_dir(str(self.root), {"HOME": str(self.home)}))
        made = content(weights=dict.fromkeys(DIRECTIONS, 0.0), intercept=0.0, threshold=0.0, doubt=0.0)
        path = write_model(state, made)
        if not has_cutoff:
            path.unlink()

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


def console_script(script: Path) -> Path:
    script.write_text(WRAPPER.format(python=script.with_name("python")), encoding="utf-8")
    script.chmod(0o755)
    return script


def evict(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


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


def measure_cold(bench: Bench, rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {FLOOR: [], LAUNCHER: []}
    for number, prompt in enumerate(prompts(rounds, "ordinary", seed=1)):
        bench.ask(prompt, number)
        for name in times:
            bench.evict()
            times[name].append(bench.run(bench.commands[name]))
    return times


def p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def ratio(values: list[float], floor: list[float]) -> str:
    ratios = [value / base for value, base in zip(values, floor, strict=True)]
    return f"{median(ratios):.2f} ({p95(ratios):.2f})"


def row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def table(header: list[str], rows: list[list[object]]) -> None:
    print("\n".join([row(header), row("---" for _ in header), *map(row, rows)]), end="\n\n", flush=True)


def report(bench: Bench, rounds: int, *, has_cutoff: bool) -> None:
    """Two tables for a size: ratios by form and kind of prompt, and milliseconds by stage."""
    seconds = bench.prepare()
    bench.tune(has_cutoff=has_cutoff)
    print(f"## {bench.size:,} memories (first answer after {seconds:.1f} s)\n")
    ratios: list[list[object]] = []
    stages: list[list[object]] = []
    for kind in LENGTHS:
        times, answered = measure(bench, kind, rounds)
        floor = times[FLOOR]
        ratios.append(
            [kind, f"{median(floor):.1f}", *(ratio(times[form], floor) for form in FORMS), f"{answered}/{rounds}"]
        )
        stages.append([kind, *stage_cells(bench, times)])
    cold = measure_cold(bench, max(5, rounds // 3))
    cells = [f"{median(cold[FLOOR]):.1f}", ratio(cold[LAUNCHER], cold[FLOOR]), *[""] * len(FORMS)]
    ratios.append(["ordinary, cold", *cells])
    table(["prompt", "floor ms", *(f"{form} p50 (p95)" for form in FORMS), "answered"], ratios)
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
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} memories too")
    parser.add_argument("--cutoff", action="store_true", help="with a tuned cutoff")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for size in [*given.sizes, *([LARGE] if given.large else [])]:
            report(Bench(folder, size), given.rounds, has_cutoff=given.cutoff)


if __name__ == "__main__":
    main()
