"""The time that a judge adds to the hook beyond the network, for whole processes against a server on loopback.

    python -m tests.benchmarks.judge [--sizes 500 50000] [--rounds 20] [--delays 0 400] [--folder FOLDER]

Each round starts the hook without a judge, and then with one, on the same prompt. The server's own delay is subtracted.
The result is the median of the differences (budget: 60 ms). The deadline is measured against a server that sends a byte
every 100 ms: how far from it the judge's clock stops, and how long the process goes on. Loopback needs no name lookup
and no TLS: the time to load the system's certificates is printed apart.
"""

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median
from subprocess import run

from tests.benchmarks.corpus import prompts
from tests.benchmarks.hook import FLOOR, LAUNCHER, Bench, p95, table
from tests.engine.judge.api_server import KEY, ApiServer, dripping, kept, late

BUDGET_MS, SPREAD_MS, TIMEOUT_S = 60, 100, 1.0
CERTIFICATES = """
import ssl, time
started = time.perf_counter()
ssl.create_default_context()
print(time.perf_counter() - started)
"""


class JudgedBench(Bench):
    """A root whose hook asks a judge at *url*."""

    def __init__(self, folder: Path, size: int, url: str) -> None:
        super().__init__(folder, size)
        asked = {"MEMSIFT_JUDGE_ENABLED": "1", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}
        words = [f"{name}={value}" for name, value in {**asked, "MEMSIFT_JUDGE_TIMEOUT": str(TIMEOUT_S)}.items()]
        self.judged = ["/usr/bin/env", *words, *self.commands[LAUNCHER]]
        self.plain = ["/usr/bin/env", "MEMSIFT_JUDGE_ENABLED=0", *self.commands[LAUNCHER]]
        os.environ.pop("MEMSIFT_JUDGE", None)

    def judge_ms(self) -> list[float]:
        """The times of all calls so far, by the judge's own clock."""
        return [float(row["judge"]["ms"]) for row in self.rows() if "judge" in row]


def compare(bench: JudgedBench, server: ApiServer, delay_ms: int, rounds: int) -> list[object]:
    """A row: the floor, the hook without and with the judge, and the judge's time beyond the server's delay."""
    server.answer = lambda _: late(delay_ms / 1000, kept(0))
    floor, plain, judged = [], [], []
    for number, prompt in enumerate(prompts(3 * rounds, "ordinary", seed=2)):
        bench.ask(prompt, number)
        without, asked = bench.run(bench.plain), len(server.requests)
        bench.ask(prompt, -number - 1)
        with_judge = bench.run(bench.judged)
        if len(server.requests) == asked:
            continue  # it brings nothing up, so there is nothing to judge
        floor.append(bench.run(bench.commands[FLOOR]))
        plain.append(without)
        judged.append(with_judge - delay_ms)
        if len(judged) == rounds:
            break
    added = [one - other for one, other in zip(judged, plain, strict=True)]
    times = [f"{median(values):.1f}" for values in (floor, plain, judged)]
    verdict = "held" if median(added) <= BUDGET_MS else "EXCEEDED"
    ratio = f"{median(judged) / median(plain):.2f}"
    return [f"{bench.size:,}", delay_ms, *times, f"{median(added):.1f} ({p95(added):.1f})", ratio, len(judged), verdict]


def deadline(bench: JudgedBench, server: ApiServer, rounds: int) -> list[object]:
    """A row: how the deadline holds against a server that drips."""
    server.answer = lambda _: dripping(0.1, kept(0))
    bench.forget()
    wall = []
    for number, prompt in enumerate(prompts(rounds, "ordinary", seed=3)):
        bench.ask(prompt, 10_000 + number)
        asked = len(server.requests)
        elapsed = bench.run(bench.judged)
        if len(server.requests) > asked:
            wall.append(elapsed - TIMEOUT_S * 1000)
    off = [ms - TIMEOUT_S * 1000 for ms in bench.judge_ms()]
    verdict = "held" if max(map(abs, off)) <= SPREAD_MS else "EXCEEDED"
    return [
        f"{bench.size:,}",
        f"{min(off):+.1f} to {max(off):+.1f}",
        f"{median(wall):+.1f} ({max(wall):+.1f})",
        verdict,
    ]


def certificates(bench: Bench) -> float:
    """Milliseconds that loading the system's certificates takes, once per process."""
    found = [run([bench.python, "-c", CERTIFICATES], capture_output=True, check=True).stdout for _ in range(5)]
    return median([float(each) * 1000 for each in found])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 50_000])
    parser.add_argument("--delays", type=int, nargs="+", default=[0, 400], metavar="MS")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ApiServer() as server:
        folder = (given.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        benches = [JudgedBench(folder, size, server.url) for size in given.sizes]
        for bench in benches:
            bench.prepare()
        head = ["memories", "server ms", "floor ms", "no judge", "judge - server", "added p50 (p95)", "ratio", "judged"]
        rows = [compare(bench, server, delay, given.rounds) for bench in benches for delay in given.delays]
        table([*head, f"<= {BUDGET_MS} ms"], rows)
        drips = [deadline(bench, server, max(5, given.rounds // 4)) for bench in benches]
        table(["memories", "judge's clock off by ms", "process beyond it ms (max)", f"<= {SPREAD_MS} ms"], drips)
        print(f"certificates for TLS: {certificates(benches[0]):.1f} ms, once per process")


if __name__ == "__main__":
    main()
