from __future__ import annotations

import json
from typing import TYPE_CHECKING

from labels.measure.report import Report, build_report, labelled_basis, report_from_store
from labels.measure.text import format_json, format_markdown, format_text
from labels.records import NOT_RELEVANT, RELEVANT
from labels.store import LabelStore
from tests.labels.samples import ROOT, card, judged, outcome, record, retrieval

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = """\
2 prompts replayed, 2 of them with judgements.
3 labels by ann: 1 relevant, 2 not, 0 unsure, 0 unrateable; 0 more are stale. 100 % were given blind.

bm25        precision 0.33 (95 % interval 0.05-0.82): 1 of 3 injected were relevant, 1 more unjudged
bm25+judge  precision 1.00 (95 % interval 0.15-1.00): 1 of 1 injected were relevant

                                                bm25   bm25+judge
prompts                                            2            2
precision (relevant / judged injected)    0.33 (1/3)   1.00 (1/1)
  95 % interval                            0.05-0.82    0.15-1.00
  lowest - highest by what is unjudged     0.25-0.50    1.00-1.00
injected memories unjudged                0.25 (1/4)   0.00 (0/1)
fire rate: prompts that got a memory      1.00 (2/2)   0.50 (1/2)
false-fire rate: if nothing is relevant            -            -
silent prompts: got no memory                      0            1
irrelevant memories per judged prompt     1.00 (2/2)   0.00 (0/2)
relevant lost per judged prompt           0.00 (0/2)   0.00 (0/2)
recall in the pool of all systems         1.00 (1/1)   1.00 (1/1)
recall of all known to be relevant        1.00 (1/1)   1.00 (1/1)
prompts on which the judge failed         0.00 (0/2)   0.00 (0/2)
median time                                   1.5 ms     211.5 ms

Judge of bm25+judge, against people
kept        1 relevant,     0 irrelevant
dropped     0 relevant,     2 irrelevant
sensitivity 1.00 (1/1): relevant ones it kept, 95 % interval 0.15-1.00
specificity 1.00 (2/2): irrelevant ones it dropped, 95 % interval 0.28-1.00
agreement 1.00 (3/3), Cohen's kappa 1.00 +- 0.00 (0 is chance, 1 is perfect)

What these numbers cannot say
- Only 2 prompts have judgements: below 20 the true precision is outside its interval more often.
- bm25: 1 of 4 injected memories are unjudged. Unless the judged prompts are a random draw, precision is only sure \
within its lowest and highest.
- What no system returned was never looked at: recall and losses are within the pool.
"""


def small_report(tmp_path: Path) -> Report:
    with LabelStore.open(tmp_path / "labels.db") as store:
        record(store, retrieval(["a", "b"]), judged(["a"], ["b"]))
        record(store, retrieval(["c", "d"], prompt_id="p2"), judged([], ["c", "d"], prompt_id="p2"))
        for prompt_id, memory_id, verdict in (
            ("p1", "a", RELEVANT),
            ("p1", "b", NOT_RELEVANT),
            ("p2", "c", NOT_RELEVANT),
        ):
            store.label("ann", prompt_id, card(memory_id), verdict, seed=1, blind=True, elapsed_ms=1)
        return report_from_store(store, ROOT, {memory_id: f"digest-of-{memory_id}" for memory_id in "abcd"})


def hostile_report() -> Report:
    people = {"p\x1b[31m|": {"m_*": True}}
    rows = [outcome(["m_*"], prompt_id="p\x1b[31m|", system="s\n|", decisions={"m_*": "rejected"})]
    return build_report(rows, labelled_basis(rows, people))


def test_the_text_says_everything_in_aligned_columns(tmp_path: Path) -> None:
    assert format_text(small_report(tmp_path)) == EXPECTED


def test_what_is_unknown_is_not_shown_as_a_number() -> None:
    rows = [outcome(["a", "b"])]
    text = format_text(build_report(rows, labelled_basis(rows, {})))
    assert "bm25  precision unknown: none of 2 injected memories is judged" in text
    assert [line.split()[-1] for line in text.splitlines() if "interval" in line or "lost" in line] == ["-", "-"]


def test_a_report_of_nothing_is_still_a_text() -> None:
    assert format_text(build_report([], labelled_basis([], {}))) == "0 prompts replayed, 0 of them with judgements.\n"


def test_json_has_every_number_and_null_for_the_unknown(tmp_path: Path) -> None:
    report = json.loads(format_json(small_report(tmp_path)))
    bm25, judge = report["systems"]
    assert bm25["precision"] == {"value": 1 / 3, "part": 1, "whole": 3}
    assert bm25["false_fire_rate"] == {"value": None, "part": 0, "whole": 0}
    assert bm25["agreement"] is None
    assert judge["agreement"]["confusion"]["dropped_irrelevant"] == 2
    assert report["labels"] == {"relevant": 1, "not": 2, "unsure": 0, "unrateable": 0}
    assert report["annotators"] == ["ann"]
    assert len(report["notes"]) == 3


def test_markdown_has_a_table_of_all_systems(tmp_path: Path) -> None:
    lines = format_markdown(small_report(tmp_path)).splitlines()
    assert lines[0] == "# memsift report"
    assert "|  | bm25 | bm25+judge |" in lines
    assert "| --- | ---: | ---: |" in lines
    assert "| precision (relevant / judged injected) | 0.33 (1/3) | 1.00 (1/1) |" in lines
    assert "## Judge of bm25+judge, against people" in lines


def test_ids_from_files_cannot_command_a_terminal_or_break_a_table() -> None:
    text, markdown = format_text(hostile_report()), format_markdown(hostile_report())
    assert "\x1b" not in text + markdown
    assert "prompt p�[31m|, memory m_*: people say relevant, the judge dropped it" in text
    assert "memory m\\_\\*" in markdown
    assert "|  | s�\\| |" in markdown.splitlines()
