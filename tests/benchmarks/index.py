"""The index on disk: building it, one changed file, its size, and what a query costs.

    python -m tests.benchmarks.index [MEMORIES ...]

Prints milliseconds and, for queries, the ratio of two stages to one full query of FTS5, run in turns. A full sync looks
at every file; "work" is what it takes beyond that.
"""

from __future__ import annotations

import gc
import resource
import statistics
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from engine.search.index import Index
from engine.search.opening import hook_index, index_file, open_index
from engine.search.query import query_terms
from engine.search.schema import FULL_TEXT, HEADLINE
from engine.search.sqlite import for_reading
from tests.benchmarks.corpus import LENGTHS, prompts, write_root

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (500, 5000, 50_000)
TURNS = 7
PROMPTS = 15
NO_BUDGET = 10**12


def main(sizes: tuple[int, ...]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            root = str(write_root(Path(folder) / "root", size).resolve())
            _measure(root, {"HOME": str(Path(folder) / "home")}, size)


def _measure(root: str, environ: dict[str, str], size: int) -> None:
    build = _ms(lambda: open_index(root, environ).close())
    megabytes = Path(index_file(root, environ)).stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{size:,} memories: build {build / size * 1000:.0f} ms per 1,000, {megabytes:.0f} MB, peak {peak:.0f} MiB")
    unchanged = _median(lambda: open_index(root, environ).close())
    changed = _median(lambda: _changed_and_opened(root, environ))
    print(f"  full sync {unchanged:.1f} ms, with one changed file {changed:.1f}: {changed - unchanged:.1f} ms of work")
    hook = _median(lambda: _hooked(root, environ))
    stale = _median(lambda: _changed_and_hooked(root, environ))
    print(f"  hook_index {hook:.2f} ms, behind by one file {stale:.1f} ms")
    _queries(root, environ)


def _queries(root: str, environ: dict[str, str]) -> None:
    path = index_file(root, environ)
    with (
        closing(Index.over(for_reading(path), root)) as bounded,
        closing(Index.over(for_reading(path), root, budget=NO_BUDGET)) as full,
    ):
        for fields in (HEADLINE, FULL_TEXT):
            for kind in LENGTHS:
                _compare(bounded, full, fields, kind)


def _compare(bounded: Index, full: Index, fields: str, kind: str) -> None:
    times, ratios, same, total = [], [], 0, 0
    for prompt in prompts(PROMPTS if kind != "paste" else 4, kind):
        terms = query_terms(prompt)
        first = _ms(lambda: bounded.search(terms, fields, 15))  # noqa: B023 - called at once
        second = _ms(lambda: full.search(terms, fields, 15))  # noqa: B023
        times.append(first)
        ratios.append(first / second)
        found = {hit.summary.id for hit in bounded.search(terms, fields, 3)}
        wanted = {hit.summary.id for hit in full.search(terms, fields, 3)}
        same, total = same + len(found & wanted), total + len(wanted)
    print(
        f"  {fields:<9} {kind:<8} {statistics.median(times):6.1f} ms, most {max(times):6.1f}; "
        f"{statistics.median(ratios):.2f} x the full query; same of the top three {same}/{total}"
    )


def _changed_and_opened(root: str, environ: dict[str, str]) -> None:
    _change(root)
    open_index(root, environ).close()


def _changed_and_hooked(root: str, environ: dict[str, str]) -> None:
    _change(root)
    _hooked(root, environ)


def _hooked(root: str, environ: dict[str, str]) -> None:
    index = hook_index(root, environ, 60.0)
    assert index is not None
    index.close()


def _change(root: str) -> None:
    """Write one memory anew, as programs do: aside, and renamed into place."""
    path = min(Path(root, "decisions").glob("*.json"))
    new = path.with_suffix(".new")
    new.write_text(path.read_text("utf-8").replace('"title": "', '"title": "New '), "utf-8")
    new.replace(path)


def _median(action: Callable[[], object]) -> float:
    return statistics.median(_ms(action) for _ in range(TURNS))


def _ms(action: Callable[[], object]) -> float:
    gc.collect()
    began = perf_counter()
    action()
    return (perf_counter() - began) * 1000


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
