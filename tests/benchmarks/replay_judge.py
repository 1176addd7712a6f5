"""A judged replay of many prompts against a slow API that fails now and then: is any time, or any verdict, lost?

    python -m tests.benchmarks.replay_judge [--prompts 1000] [--concurrency 16] [--samples 1] [--judge anthropic-http]

The server delays each answer by a random 50 to 500 ms, and answers 5 % of the requests with 429, 500 or 529. The ideal
time is the sum of its delays, divided by the number of calls at once. The replay is a process; its start, until the
first request arrives, is printed apart and does not count (budget: 1.3 times the ideal). A second run is answered from
the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from tests.benchmarks.hook import table
from tests.engine.builders import memory, write_root
from tests.engine.judge.api_server import KEY, ApiRequest, ApiServer, Reply, failed, kept_titles, late

BUDGET = 1.3
LEAST_S, MOST_S, FAILING = 0.05, 0.5, 0.05
RULES = [memory(f"cache rule {number}", "cache", body="the cache is cold") for number in range(10)]
MAIN = [sys.executable, "-c", "from tui.cli import main; main(prog_name='memsift')"]
PROJECT = Path(__file__).resolve().parent.parent.parent


@dataclass
class SlowApi:
    """Answers late and fails now and then; counts what it did."""

    random: random.Random = field(default_factory=lambda: random.Random(1))
    lock: Lock = field(default_factory=Lock)
    delay_s: float = 0.0
    first_at: float = 0.0
    failures: int = 0
    answered: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, request: ApiRequest) -> Reply:
        with self.lock:
            self.first_at = self.first_at or time.monotonic()
            delay_s = self.random.uniform(LEAST_S, MOST_S)
            self.delay_s += delay_s
            if self.random.random() < FAILING:
                self.failures += 1
                return late(delay_s, failed(self.random.choice([429, 500, 529])))
            self.answered[request.raw] += 1
        return late(delay_s, kept_titles("cache rule 1")(request))


def replay(arguments: list[str], environ: dict[str, str]) -> tuple[list[dict[str, object]], float]:
    """The rows, and when the process ended."""
    done = subprocess.run([*MAIN, *arguments], env=environ, cwd=PROJECT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()], time.monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--prompts", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--judge", default="anthropic-http")
    given = parser.parse_args()
    api = SlowApi()
    with tempfile.TemporaryDirectory() as temporary, ApiServer(api) as server:
        folder = Path(temporary)
        root = write_root(folder / "root", RULES)
        prompts = folder / "prompts.jsonl"
        ids = [f"p{number:04}" for number in range(given.prompts)]
        prompts.write_text("".join(f'{{"id": "{name}", "prompt": "the cache rule of {name}"}}\n' for name in ids))
        environ = {**os.environ, "HOME": temporary, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        arguments = [
            *("replay", "--root", str(root), "--prompts", str(prompts), "--systems", "memsift+judge"),
            *("--judge", given.judge, "--judge-samples", str(given.samples), "--concurrency", str(given.concurrency)),
        ]
        begun = time.monotonic()
        rows, ended = replay(arguments, environ)
        wall_s, ideal_s = ended - api.first_at, api.delay_s / given.concurrency
        asked = len(server.requests)
        again, over = replay(arguments, environ)
    verdict = "held" if wall_s <= BUDGET * ideal_s else "EXCEEDED"
    head = ["prompts", "requests", "failed", "start s", "wall s", "ideal s", "ratio", f"<= {BUDGET}", "from cache s"]
    times = [f"{value:.2f}" for value in (api.first_at - begun, wall_s, ideal_s, wall_s / ideal_s)]
    table(head, [[len(rows), asked, api.failures, *times, verdict, f"{over - ended:.2f}"]])
    in_order = [row["prompt_id"] for row in rows] == ids
    statuses = Counter(row["judgement"]["status"] for row in rows)  # type: ignore[index]
    print(f"rows in order, each once: {in_order}; statuses: {dict(statuses)}")
    print(f"answers that were asked for twice: {sum(count - 1 for count in api.answered.values())}")
    print(f"asked again in the second run: {len(server.requests) - asked} of {len(again)}")


if __name__ == "__main__":
    main()
