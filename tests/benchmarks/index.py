"""The index file of a root: building it, opening it again, one changed file, its size, and the cost of a query.

    python -m tests.benchmarks.index [MEMORIES ...]

Prints milliseconds. A build is compared with a plain FTS5 table of title, tags and body from the same files, for short
memories and for long ones: medians and ranges of seconds of CPU, because other programs may run, and of the clock.
Queries are of `memsift`, and of `fts5_bm25` over title and tags (`headline`) and over the whole text (`full_text`). A
full sync looks at every file; the cost of a change comes on top. Where a file is renamed into place, its folder
changes: the hook does a full sync then.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sqlite3
import statistics
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from engine.config import AUTO, FTS5_BM25, MEMSIFT, SEARCH
from engine.opening import hook_index, index_file, open_index
from engine.search.database import TICK_NS
from tests.benchmarks.corpus import LENGTHS, MOST_WORDS, SHORT_WORDS, prompts, write_root
from tests.engine.builders import pool_of
from tests.labels.samples import known

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.search.index import Index

    Search = Callable[[str, int], set[str]]
    """Prompt and limit -> the ids of the best memories."""

SIZES = (500, 5000, 50_000)
TURNS, BUILDS = 7, 3
SETTLED = 3 * TICK_NS / 1e9
"""Seconds after which a change is read once. Earlier it is read again, because its time may hide another change."""

MANY, ALONE = 20, 25
"""Changes that are measured together, and turns with a single change: the time of a full sync varies."""

PROMPTS, PASTES = 15, 4


def main(sizes: tuple[int, ...]) -> None:
    for size in sizes:
        for words in (SHORT_WORDS, MOST_WORDS):
            _compare_builds(size, words)
        with tempfile.TemporaryDirectory() as folder:
            root = str(write_root(Path(folder) / "root", size).resolve())
            _measure(root, {"HOME": str(Path(folder) / "home")}, size)


def _compare_builds(size: int, words: int) -> None:
    """First index and opening again, as ratios to a plain FTS5 table. The three take turns."""
    took: dict[str, list[float]] = {"first index": [], "by the clock": [], "opened again": [], "plain FTS5": []}
    with tempfile.TemporaryDirectory() as folder:
        root = write_root(Path(folder) / "root", size, words=words).resolve()
        for turn in range(BUILDS):
            environ = {"HOME": f"{folder}/home{turn}"}
            for name in ("first index", "opened again"):
                began = perf_counter()
                took[name].append(_cpu(lambda: open_index(str(root), environ).close()))  # noqa: B023 - called at once
                took["by the clock"] += [perf_counter() - began] if name == "first index" else []
            took["plain FTS5"].append(_cpu(lambda: _plain_fts5(root, Path(folder) / f"{turn}.db")))  # noqa: B023
    plain = statistics.median(took["plain FTS5"])
    print(f"{size:,} memories of {words} words, CPU seconds, and as a ratio to plain FTS5")
    for name, times in took.items():
        middle = statistics.median(times)
        print(f"  {name:<13} {middle:6.2f} ({min(times):.2f} to {max(times):.2f}), {middle / plain:.2f}")


def _plain_fts5(root: Path, file: Path) -> None:
    """What a short script would do: each file into a table of its title, tags and texts."""
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("create virtual table memory using fts5(title, tags, body)")
        for path in root.glob("*/*.json"):
            found = json.loads(path.read_bytes())
            db.execute(
                "insert into memory values (?, ?, ?)", (found["title"], str(found["tags"]), str(found["content"]))
            )


def _cpu(action: Callable[[], object]) -> float:
    gc.collect()
    began = sum(os.times()[:4])
    action()
    return sum(os.times()[:4]) - began


def _measure(root: str, environ: dict[str, str], size: int) -> None:
    build = _ms(lambda: open_index(root, environ).close())
    megabytes = Path(index_file(root, environ)).stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{size:,} memories: build {build / size:.2f} ms and {megabytes / size * 1000:.1f} kB a memory, "
        f"{megabytes:.0f} MB, peak {peak:.0f} MiB"
    )
    full_sync, alone = _with_changes(root, lambda: open_index(root, environ).close(), Path.write_text, 1, turns=ALONE)
    _, each = _with_changes(root, lambda: open_index(root, environ).close(), Path.write_text, MANY)
    _, listing = _with_changes(root, lambda: open_index(root, environ).close(), _rename_into_place, 1)
    print(
        f"  full sync {full_sync:.1f} ms; for a file written in place {alone:.1f} more, each of {MANY} {each:.1f}, "
        f"renamed into place {listing:.1f}"
    )
    hook, behind = _with_changes(root, lambda: known(hook_index(root, environ, 60.0)).close(), _rename_into_place, 1)
    print(f"  hook_index {hook:.2f} ms; for a file renamed into place {behind:.1f} more")
    with closing(open_index(root, environ)) as index:
        for name, search in _searches(index).items():
            for kind in LENGTHS:
                _measure_query(name, search, kind)


def _searches(index: Index) -> dict[str, Search]:
    def best(prompt: str, limit: int, strategy: str, mode: str) -> set[str]:
        return {one.memory.id for one in pool_of(index, prompt, limit, strategy, mode=mode).memories}

    return {
        "memsift": lambda prompt, limit: best(prompt, limit, MEMSIFT, AUTO),
        "headline": lambda prompt, limit: best(prompt, limit, FTS5_BM25, AUTO),
        "full_text": lambda prompt, limit: best(prompt, limit, FTS5_BM25, SEARCH),
    }


def _measure_query(name: str, search: Search, kind: str) -> None:
    asked = prompts(PASTES if kind == "paste" else PROMPTS, kind)
    times = [_ms(lambda: search(prompt, 15)) for prompt in asked]  # noqa: B023 - called at once
    print(f"  {name:<9} {kind:<8} {statistics.median(times):6.1f} ms, most {max(times):6.1f}")


def _with_changes(
    root: str, action: Callable[[], object], change: Callable[[Path, str], object], count: int, turns: int = TURNS
) -> tuple[float, float]:
    """Milliseconds of an action where nothing changed, and in addition for each of *count* changes."""
    paths = sorted(Path(root, "decisions").glob("*.json"))[:count]
    unchanged, more = [], []
    for turn in range(turns):
        unchanged.append(_ms(action))
        for path in paths:
            change(path, path.read_text("utf-8").replace('"title": "', f'"title": "New{turn} '))
        sleep(SETTLED)
        more.append((_ms(action) - unchanged[-1]) / len(paths))
    return statistics.median(unchanged), statistics.median(more)


def _rename_into_place(path: Path, text: str) -> None:
    """As careful programs do. The folder changes, so that all files are listed anew."""
    new = path.with_suffix(".new")
    new.write_text(text, "utf-8")
    new.replace(path)


def _ms(action: Callable[[], object]) -> float:
    gc.collect()
    began = perf_counter()
    action()
    return (perf_counter() - began) * 1000


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
