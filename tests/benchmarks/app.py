"""The app over a large root: the first screen, a key while the checks run, filter, sort and a page of rows.

    python -m tests.benchmarks.app [MEMORIES ...]

The index is built before. Each start of the app is a process of its own. Times are CPU milliseconds of the interface's
thread, from a key to the moment at which the app has nothing left to do. A frame is the drawing of a page of rows.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

from textual.pilot import Pilot

from engine.opening import open_index
from tests.benchmarks.corpus import write_root

SIZES = (5000, 50_000)
SCREEN = (160, 48)
STARTS, TURNS, PAGES = 3, 5, 20
WORDS = "bako"
ORDERS = {"title": 1, "age": 4, "tokens": 7, "findings": 8}
"""Orders and their places in the question of the key o."""


def main(sizes: tuple[int, ...]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            root = write_root(Path(folder) / "root", size).resolve()
            environ = {**os.environ, "HOME": str(Path(folder) / "home")}
            open_index(str(root), environ).close()
            print(f"{size:,} memories")
            for _ in range(STARTS):
                command = [sys.executable, "-m", __name__ if __name__ != "__main__" else "tests.benchmarks.app"]
                subprocess.run([*command, "--start", str(root)], env=environ, check=True)


async def start(root: str) -> None:
    """One start of the app, measured from the beginning of the process, and then the keys."""
    from tests.tui.demo import make_workspace
    from tui.app import MemsiftApp

    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder) / "labels.db", root=Path(root), prompts=(), judge=None)
        print(f"  memories opened: {process_time() * 1000:.0f} ms CPU since the start of the process")
        began, before = perf_counter(), thread_time()
        async with MemsiftApp(workspace).run_test(size=SCREEN) as pilot:
            table: Any = pilot.app.screen.query_one("MemoryList")
            while not table.count:
                await asyncio.sleep(0)
            print(
                f"  list filled: {process_time() * 1000:.0f} ms; {(thread_time() - before) * 1000:.0f} of it in the app"
            )
            print(f"  a key while the checks run: {await _keys(pilot, 'down', 20)}")
            screen: Any = pilot.app.screen
            while not screen._is_checked:
                await asyncio.sleep(0.1)
            print(f"  checks done after {_ms(began) / 1000:.1f} s; a key then: {await _keys(pilot, 'down', 20)}")
            print(f"  page of rows: {await _keys(pilot, 'pagedown', PAGES)}")
            print(f"  frame: {_frame(table):.1f}")
            await _sort_and_filter(pilot)
        workspace.close()


async def _sort_and_filter(pilot: Pilot[None]) -> None:
    for name, place in ORDERS.items():
        await _press(pilot, "o", "home", *["down"] * place)
        print(f"  sort by {name}: {await _keys(pilot, 'enter', 1)}")
    await _press(pilot, "o", "home", "enter", "slash")
    for letter in WORDS:
        print(f"  filter, +{letter}: {await _keys(pilot, letter, 1)}")


async def _press(pilot: Pilot[None], *keys: str) -> None:
    from tests.tui.apps import press

    await press(pilot, *keys)


async def _keys(pilot: Pilot[None], key: str, times: int) -> str:
    """From a key to a quiet app: CPU milliseconds of the interface's thread, and milliseconds of the clock."""
    took, waited = [], []
    for _ in range(times):
        began, clock = thread_time(), perf_counter()
        await _press(pilot, key)
        took.append((thread_time() - began) * 1000)
        waited.append(_ms(clock))
    return f"median {statistics.median(took):.0f}, most {max(took):.0f}; clock {statistics.median(waited):.0f}"


def _frame(table: Any) -> float:
    took = []
    for _ in range(TURNS):
        began = thread_time()
        for y in range(table.size.height):
            table.render_line(y)
        took.append((thread_time() - began) * 1000)
    return min(took)


def _ms(began: float) -> float:
    return (perf_counter() - began) * 1000


if __name__ == "__main__":
    if sys.argv[1:2] == ["--start"]:
        asyncio.run(start(sys.argv[2]))
    else:
        main(tuple(map(int, sys.argv[1:])) or SIZES)
