"""CPU time of the report over many labels: the numbers alone, and all of it from the store.

    python -m tests.benchmarks.report [PROMPTS]

Prints seconds of CPU after imports, and the size of the store, for PROMPTS (10,000) through two systems with a pool of
fifteen and five labels for each. The labels are made up: nothing is said about quality.
"""

import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import TypeVar

import ir_measures

from engine.judge.verdict import APPROVED, REJECTED
from labels.measure.evidence import Evidence
from labels.measure.report import Report, ReportOptions, build_report, report_from_store
from labels.records import Outcome
from labels.report.forms import report_html, report_json, report_markdown
from labels.report.text import report_text
from labels.store import LabelStore
from tests.labels.samples import ROOT, card, judged, record, retrieval
from tui.cli.labels.report import paused_gc

T = TypeVar("T")
PROMPTS, POOL, LABELLED, MEMORIES = 10_000, 15, 5, 3000
OPTIONS = {
    "text": ReportOptions(),
    "with ranking": ReportOptions(ranking=True),
    "with curves": ReportOptions(curves=True),
}


FORMS = {"text": report_text, "json": report_json, "markdown": report_markdown, "html": report_html}


def main(prompts: int) -> None:
    assert ir_measures  # it is loaded before the clock runs
    rows, people = outcomes(prompts)
    print(f"{prompts:,} prompts, {len(rows):,} outcomes, {sum(map(len, people.values())):,} labels")
    moments = {prompt_id: dict.fromkeys(judged, at) for at, (prompt_id, judged) in enumerate(people.items())}
    for name, options in OPTIONS.items():
        seconds, report = timed(lambda: build_report(Evidence(rows, people, moments), options=options))  # noqa: B023 - called at once
        print(f"  numbers, {name:<16} {seconds:5.2f} s")
    print(f"  as text                   {timed(lambda: report_text(report))[0]:5.2f} s")
    print(f"  as a page                 {timed(lambda: report_html(report))[0]:5.2f} s")
    from_store(prompts)


def from_store(prompts: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.db"
        with LabelStore.open(path) as store:
            filled, _ = timed(lambda: fill(store, prompts))
            digests = {f"m{number}": f"digest-of-m{number}" for number in range(MEMORIES)}
            with paused_gc():
                for name, form in FORMS.items():
                    seconds, _ = timed(lambda: whole_report(store, digests, form))  # noqa: B023 - called at once
                    print(f"  from the store, {name:<10}{seconds:5.2f} s")
            reading, _ = timed(lambda: store.outcomes(ROOT))
            labels, _ = timed(lambda: store.labels(root=ROOT))
        size = path.stat().st_size / 1e6
    print(f"  store: {size:.0f} MB, filled in {filled:.0f} s")
    print(f"    of which its outcomes {reading:.2f} s, its labels {labels:.2f} s")


def whole_report(store: LabelStore, digests: dict[str, str], form: Callable[[Report], str]) -> str:
    """All that the command does once its modules are there."""
    options = ReportOptions(curves=form in (report_json, report_html))
    return form(report_from_store(store, ROOT, digests, options=options))


def outcomes(prompts: int) -> tuple[list[Outcome], dict[str, dict[str, bool]]]:
    """Two systems, the second with a judge, and labels of what they inject."""
    made = random.Random(1)
    rows, people = [], {}
    for number in range(prompts):
        prompt_id = f"p{number}"
        pool = made.sample(range(MEMORIES), POOL)
        probabilities = {f"m{one}": 0.9 - at / POOL for at, one in enumerate(pool)}
        people[prompt_id] = {f"m{one}": made.random() < 0.5 for one in pool[:LABELLED]}
        ids = [f"m{one}" for one in pool]
        kept = [one for one in ids[:LABELLED] if made.random() < 0.5]
        plain = (None,) * POOL
        decided = tuple(APPROVED if one in kept else REJECTED for one in ids)
        kind = f"kind {number % 5}"
        for system, run, injected, decisions in (("bm25", "r1", ids, plain), ("bm25+judge", "r2", kept, decided)):
            places = [ids.index(one) for one in injected[:3]]
            rows.append(
                Outcome(
                    prompt_id,
                    system,
                    tuple(injected[:3]),
                    tuple(ids),
                    decisions,
                    "",
                    2.0,
                    run,
                    kind,
                    is_asked=system == "bm25+judge",
                    confidences=tuple("high" if at < 2 else "medium" for at in places),
                    matched=tuple(1 + at % 4 for at in places),
                    scores=tuple(-10.0 + at for at in places),
                    probabilities=probabilities,
                )
            )
    return rows, people


def fill(store: LabelStore, prompts: int) -> None:
    made = random.Random(2)
    for number in range(prompts):
        prompt_id = f"p{number}"
        ids = [f"m{one}" for one in made.sample(range(MEMORIES), POOL)]
        dropped = dict.fromkeys(ids[3:], "cap")
        record(store, retrieval(ids[:3], dropped, prompt_id=prompt_id), judged(ids[:2], ids[2:], prompt_id=prompt_id))
        for memory_id in ids[:LABELLED]:
            verdict = "relevant" if made.random() < 0.5 else "not"
            store.label("ann", prompt_id, card(memory_id), verdict, seed=1, blind=True, elapsed_ms=1000)


def timed(work: Callable[[], T]) -> tuple[float, T]:
    began = process_time()
    made = work()
    return process_time() - began, made


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else PROMPTS)
