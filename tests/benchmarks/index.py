"""The index on disk: building it, one changed file, its size, and what a query costs.

    python -m tests.benchmarks.index [MEMORIES ...]

Prints milliseconds and, for queries, the ratio of a bounded search to an exhaustive one, run in turns, and how many of
the top three they share: for the default strategy (`memsift`), and for FTS5's BM25 over title and tags (`headline`) and
over the whole text (`full_text`). A full sync looks at every file; what a change costs is beyond that. Where a
file is renamed into place its folder changes, and all files are listed anew; the hook does a full sync then.
"""

from __future__ import annotations

import gc
import resource
import statistics
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from engine.search.schema import FULL_TEXT, HEADLINE
from engine.search.strongest import EXHAUSTIVE, strongest

from engine.lean.sqlite import for_reading
from engine.search.index import Index
from engine.search.opening import hook_index, index_file, open_index
from engine.search.query import query_terms
from engine.search.stamps import TICK_NS
from engine.search.strategies.fts5_bm25 import asked
from tests.benchmarks.corpus import LENGTHS, prompts, write_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.search.strongest import Effort

    Search = Callable[[str, int], set[str]]
    """Prompt and limit -> the ids of the best memories."""

SIZES = (500, 5000, 50_000)
TURNS = 7
SETTLED = 3 * TICK_NS / 1e9
"""Seconds after which a change is read once: earlier it is read again, lest it changed within the same tick."""

MANY, ALONE = 20, 25
"""Changes that are measured together, and turns with one alone: a full sync takes now more, now less."""
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
    full_sync, alone = _with_changes(root, lambda: open_index(root, environ).close(), _write_in_place, 1, turns=ALONE)
    _, each = _with_changes(root, lambda: open_index(root, environ).close(), _write_in_place, MANY)
    _, listing = _with_changes(root, lambda: open_index(root, environ).close(), _rename_into_place, 1)
    print(
        f"  full sync {full_sync:.1f} ms; for a file written in place {alone:.1f} more, each of {MANY} {each:.1f}, "
        f"renamed into place {listing:.1f}"
    )
    hook, behind = _with_changes(root, lambda: _hooked(root, environ), _rename_into_place, 1)
    print(f"  hook_index {hook:.2f} ms; for a file renamed into place {behind:.1f} more")
    _queries(root, environ)


def _queries(root: str, environ: dict[str, str]) -> None:
    path = index_file(root, environ)
    with (
        closing(Index.over(for_reading(path), root)) as bounded,
        closing(Index.over(for_reading(path), root, budget=NO_BUDGET)) as full,
    ):
        for name, pair in {
            "memsift": (_strongest(bounded, None), _strongest(bounded, EXHAUSTIVE)),
            HEADLINE: (_hits(bounded, HEADLINE), _hits(full, HEADLINE)),
            FULL_TEXT: (_hits(bounded, FULL_TEXT), _hits(full, FULL_TEXT)),
        }.items():
            for kind in LENGTHS:
                _compare(name, *pair, kind)


def _strongest(index: Index, effort: Effort | None) -> Search:
    def search(prompt: str, limit: int) -> set[str]:
        found = strongest(index, query_terms(prompt), limit, include_retired=True, effort=effort)
        return {one.summary.id for one in found.memories}

    return search


def _hits(index: Index, fields: str) -> Search:
    return lambda prompt, limit: {hit.summary.id for hit in index.search(asked(prompt, index, fields), fields, limit)}


def _compare(name: str, bounded: Search, full: Search, kind: str) -> None:
    times, ratios, same, total = [], [], 0, 0
    for prompt in prompts(PROMPTS if kind != "paste" else 4, kind):
        first = _ms(lambda: bounded(prompt, 15))  # noqa: B023 - called at once
        second = _ms(lambda: full(prompt, 15))  # noqa: B023
        times.append(first)
        ratios.append(first / second)
        found, wanted = bounded(prompt, 3), full(prompt, 3)
        same, total = same + len(found & wanted), total + len(wanted)
    print(
        f"  {name:<9} {kind:<8} {statistics.median(times):6.1f} ms, most {max(times):6.1f}; "
        f"{statistics.median(ratios):.2f} x the exhaustive one; same of the top three {same}/{total}"
    )


def _hooked(root: str, environ: dict[str, str]) -> None:
    index = hook_index(root, environ, 60.0)
    assert index is not None
    index.close()


def _with_changes(
    root: str, action: Callable[[], object], change: Callable[[Path, str], object], count: int, turns: int = TURNS
) -> tuple[float, float]:
    """Milliseconds of an action where nothing changed, and how much longer it takes for each of *count* changes."""
    paths = sorted(Path(root, "decisions").glob("*.json"))[:count]
    unchanged, more = [], []
    for turn in range(turns):
        unchanged.append(_ms(action))
        for path in paths:
            change(path, path.read_text("utf-8").replace('"title": "', f'"title": "New{turn} '))
        sleep(SETTLED)
        more.append((_ms(action) - unchanged[-1]) / len(paths))
    return statistics.median(unchanged), statistics.median(more)


def _write_in_place(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


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
