"""Cold start of every command: the CPU time of a whole process, as a ratio to `python -c pass`, and its modules.

    python -m tests.benchmarks.commands [--rounds 5] [COMMAND ...]

A round starts `python -c pass`, `memsift COMMAND --help` and a plain run of the command on the example data, one after
the other. A ratio is taken within a round; the table shows the median over the rounds. CPU time is user and system
time of the process and of its children. Indexes and compiled modules are there before the first round. The app, `demo`
and `serve` have no plain run here: they wait for keys or for a browser.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from tests.test_command_reference import COMMANDS
from tests.tui.cli.every_command import PLAIN, loaded_by, plain, prepare

PROJECT = Path(__file__).resolve().parent.parent.parent
START = "from tui.cli import main; main(prog_name='memsift')"
FLOOR = [sys.executable, "-c", "pass"]


def cpu_ms(command: Sequence[str], folder: Path) -> float:
    """The CPU time of a process with all its children, in milliseconds. Its output is thrown away."""
    environ = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(PROJECT), "HOME": str(folder)}
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        command,
        cwd=folder,
        env={**environ, "ANTHROPIC_API_KEY": "none"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = getrusage(RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measured(command: list[str], folder: Path, rounds: int) -> tuple[float, float]:
    """The median CPU time in milliseconds, and the median of its ratio to an empty process."""
    cpu_ms(command, folder)
    pairs = [(cpu_ms(FLOOR, folder), cpu_ms(command, folder)) for _ in range(rounds)]
    return median(own for _, own in pairs), median(own / floor for floor, own in pairs)


def row(name: str, folder: Path, rounds: int) -> str:
    """A line of the table: of `--help`, then of a plain run, the modules, milliseconds and ratio."""
    words = name.split()[1:]
    lines = [[*words, "--help"], *([plain(" ".join(words))] if " ".join(words) in PLAIN else [])]
    loaded = loaded_by([[line] for line in lines], folder)
    cells = []
    for line, found in zip(lines, loaded, strict=True):
        own, ratio = measured([sys.executable, "-c", START, *line], folder, rounds)
        cells.append(f"{len(found.modules):>7}{own:>8.0f}{ratio:>7.1f}")
    packages = ", ".join(sorted(loaded[-1].packages - {"click", "labels"}))
    return f"{name:<24}{cells[0]}  {cells[1] if len(cells) > 1 else '':<22}  {packages}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="such as report, or 'quality check'")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    wanted = [f"memsift {name}" for name in given.commands] or list(COMMANDS)
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        floor = median(cpu_ms(FLOOR, Path(folder)) for _ in range(5))
        print(f"{'':<24}{'--help':>22}  {'plain run':>22}")
        print(f"{'python -c pass':<24}{'modules':>7}{floor:>5.0f} ms{'ratio':>7}  {'modules':>7}{'ms':>8}{'ratio':>7}")
        for name in wanted:
            print(row(name, Path(folder), given.rounds), flush=True)


if __name__ == "__main__":
    main()
