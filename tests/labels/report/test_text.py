import json
from dataclasses import replace

import pytest

from engine.wording import cells
from labels.measure.comparison import Difference, SystemComparison
from labels.measure.evidence import Evidence
from labels.measure.intervals import Interval
from labels.measure.report import Captions, Report, build_report, report_from_store
from labels.records import NOT_RELEVANT, RELEVANT
from labels.report.forms import laid_out, report_json, report_markdown, report_text
from labels.report.section import ReportRow, ReportTable
from labels.report.sections import comparison_sections
from labels.store import LabelStore
from tests.labels.samples import ROOT, judged, known, outcome, record, retrieval, say

EXPECTED = """\
3 labels by ann on 2 of 2 prompts.
bm25 injected 2 memories on 1 prompt; 1 was relevant: 50 %.
The true share may be anything from 1 % to 99 %: these are too few labels.
1 of 1 prompt that needed a memory got one (1-100 %). Memories below the first
  ten were not looked at.
The judge would drop 1 useless memory and no useful ones (1 prompt: too few to
  be sure).

2 prompts replayed, 2 of them with labels. 3 labels by ann: 1 relevant, 2 not.
All were given blind, before ranks and verdicts were shown.

Precision: how much of what was injected helped
The relevant share of what was injected and has a label that counts, over the
prompts that are labelled in full. The true share is in the 95 % range 19 times
in 20, however often you look.

            precision  relevant  95 % range  no label
bm25             0.50    1 of 2   0.01-0.99         1
bm25+judge       1.00    1 of 1   0.01-1.00         0

Served: how much of what is needed was injected
Served: the prompts with a list card that need a memory and got one that they
need. A needed memory is relevant; if it has a grade, the grade is 2 or 3. In
the pool: the relevant memories that were injected, of those that any system
found. Lost per prompt: relevant memories that were found and not injected, over
the prompts with a list card.

                             95 %
                served   any time  in the pool  lost per prompt
bm25        1.00 (1/1)  0.01-1.00   1.00 (1/1)       0.00 (0/2)
bm25+judge  1.00 (1/1)  0.01-1.00   1.00 (1/1)       0.00 (0/2)

Noise: how often a system speaks, and how often for nothing
Fires: prompts that got a memory. False fires: the same, over the prompts with a
list card for which nothing is relevant. Irrelevant per prompt: irrelevant
memories, over the labelled prompts. For one word: labelled prompts that got an
irrelevant memory because of a single word.

                                     irrelevant     for one
                 fires  false fires  per prompt        word
bm25        1.00 (2/2)            -  1.00 (2/2)  1.00 (2/2)
bm25+judge  0.50 (1/2)            -  0.00 (0/2)  0.00 (0/2)

Systems compared: what one changes against another
Over the prompts labelled in full for both systems. Precision: the difference,
with its interval. Not relevant, relevant: how many more memories per prompt
(+), or fewer (-).

            instead             95 %  95 %       not
system      of       precision  from    to  relevant  relevant
bm25+judge  bm25         +0.50     -     -     -1.00     +0.00

- bm25+judge against bm25: 1 prompt. Both inject something on 1 of them. By
  chance alone, their precisions would differ as much with probability 1.000
  (sign-flip test).

The judge against people: bm25+judge
Memories that the judge was asked about and that have a label.

                      relevant  irrelevant
the judge kept it            1           0
the judge dropped it         0           2

- Of 1 relevant memory the judge kept 1: a sensitivity of 100 % (15 to 100 %).
- Of 2 irrelevant memories the judge dropped 2: a specificity of 100 % (28 to
  100 %).
- The judge and people agree on 100 % of them. Beyond chance (0 is chance, 1
  perfect): Cohen's kappa 1.00; Gwet's AC1, which one rare answer moves less,
  1.00.

Time and failures
Silent: prompts that got no memory. Judge failed: prompts without an answer of
the judge, of those on which it was asked; they are left out of all other
numbers. Median time: of one prompt, including the judge.

            prompts  silent  injected  judge failed  median time
bm25              2       0         4                     1.5 ms
bm25+judge        2       1         1        0 of 2     211.5 ms

Limits of these numbers
- Only 2 prompts have labels: below 20, a few odd ones weigh much.
- Nobody labelled anything twice: how sure the labels themselves are is not
  known.
- bm25: 1 of 4 injected memories have no label that counts: none yet, unsure,
  disputed or stale. Unless chance left them out, precision is only sure to be
  from 25 % (none relevant) to 50 % (all).
- Served, false fires and lost memories are of 2 prompts with a list card.
  Memories below its ten titles were not looked at. Recall in the pool is of
  what some system found.

Next: label the 1 injected memory that has no label yet: memsift, then L.
"""


@pytest.fixture
def small_report(store: LabelStore) -> Report:
    record(store, retrieval(["a", "b"]), judged(["a"], ["b"]))
    record(store, retrieval(["c", "d"], prompt_id="p2"), judged([], ["c", "d"], prompt_id="p2"))
    for said, verdict in (("p1 a", RELEVANT), ("p1 b", NOT_RELEVANT), ("p2 c", NOT_RELEVANT)):
        say(store, said, verdict, titles=0)
    return report_from_store(store, ROOT, {memory_id: f"digest-of-{memory_id}" for memory_id in "abcd"})


def hostile_report() -> Report:
    people = {"p\x1b[31m|": {"m_*": True}}
    rows = [outcome(["m_*"], prompt_id="p\x1b[31m|", system="s\n|", decisions={"m_*": "rejected"})]
    return build_report(Evidence(rows, people))


def test_the_text_says_everything_in_aligned_columns(small_report: Report) -> None:
    assert report_text(small_report, is_full=True) == EXPECTED


def test_an_unknown_number_is_shown_as_a_dash_and_a_report_of_nothing_is_still_a_text() -> None:
    text = report_text(build_report(Evidence([outcome(["a", "b"])], {})), is_full=True)
    assert next(line.split()[1:] for line in text.splitlines() if line.startswith("bm25")) == "- 0 of 0 - 2".split()
    lines = report_text(build_report(Evidence([], {})), is_full=True).splitlines()
    assert lines[0] == "Nothing is measured yet: no prompt was replayed."
    assert "- Nothing has been replayed yet: there is no outcome to measure." in lines


def test_four_systems_and_long_names_fit_the_width() -> None:
    names = ("bm25", "bm25+cutoff", "bm25+judge", "bm25+cutoff+judge of a very long name")
    rows = [
        outcome(["a", "b"], prompt_id=f"p{number}", system=name, decisions={"a": "approved", "b": "rejected"})
        for name in names
        for number in range(1200)
    ]
    people = {f"p{number}": {"a": True, "b": number % 2 == 0} for number in range(1200)}
    captions = Captions(
        kinds={f"p{number}": f"kind {number % 2}" for number in range(1200)}, memories={"b": "図書館 " * 50}
    )
    report = build_report(Evidence(rows, people), captions)
    for width in (80, 100):
        text = report_text(report, width, is_full=True)
        assert max(map(cells, text.splitlines())) <= width
        assert "bm25+judge" in text


def lines_of(table: ReportTable, width: int) -> list[str]:
    head, body = laid_out(table, width)
    return [*head, *body]


def test_a_table_that_is_too_wide_becomes_blocks() -> None:
    table = ReportTable(("", "precision", "lost\nper prompt"), (ReportRow(("bm25", "0.43 (60/138)", "0.56")),))
    assert lines_of(table, 20) == ["bm25", "  precision: 0.43 (60/138)", "  lost per prompt: 0.56"]
    assert lines_of(table, 40) == [
        "                           lost",
        "          precision  per prompt",
        "bm25  0.43 (60/138)        0.56",
    ]


def test_json_has_every_number_and_markdown_a_table_of_all_systems(small_report: Report) -> None:
    report = json.loads(report_json(small_report))
    bm25, judge = report["systems"]
    assert bm25["precision"] == {"value": 1 / 3, "part": 1, "whole": 3}
    assert bm25["false_fire_rate"] == {"value": None, "part": 0, "whole": 0}
    assert bm25["agreement"] is None
    assert judge["agreement"]["confusion"]["dropped_irrelevant"] == 2
    assert report["labels"] == {"relevant": 1, "not": 2, "unsure": 0, "unrateable": 0}
    assert report["annotators"] == ["ann"]
    assert len(report["notes"]) == 4
    assert {"captions", "limits"}.isdisjoint(report)
    lines = report_markdown(small_report).splitlines()
    assert lines[0] == "# memsift report"
    assert "|  | precision | relevant | 95 % range | no label |" in lines
    assert "| --- | ---: | ---: | ---: | ---: | ---: |" in lines
    assert "| bm25+judge | 1.00 | 1 of 1 | 0.01-1.00 | 0 |" in lines
    assert "## The judge against people: bm25+judge" in lines


def test_ids_from_files_are_harmless_in_a_terminal_and_a_table() -> None:
    text, markdown = report_text(hostile_report(), is_full=True), report_markdown(hostile_report())
    assert "\x1b" not in text + markdown
    assert "m_*     p�[31m|  dropped" in text
    assert "| m\\_\\* | p�\\[31m\\| | dropped |" in markdown
    assert "| s \\| | 1.00 |" in markdown


# The section on the differences of two systems


CHANGE = Difference(-0.12, Interval(-0.2, 0.05))


def table(second: str, first: str, width: int) -> list[str]:
    made = SystemComparison(first, second, 40, 30, CHANGE, 0.04, CHANGE, CHANGE, (1, 2), (3, 4), None, None)
    (section,) = comparison_sections(replace(build_report(Evidence([], {})), comparisons=(made,)))
    return lines_of(known(section.table), width)


def test_a_comparison_fits_one_line_of_80_columns_and_long_names_of_systems_are_not_cut() -> None:
    *_, row = table("memsift+judge", "memsift", 75)
    assert row.split() == ["memsift+judge", "memsift", "-0.12", "-0.20", "+0.05", "-0.12", "-0.12"]

    for width in (40, 60, 80):
        lines = table("memsift+cutoff+judge", "memsift+cutoff", width)
        assert lines[0].split() == ["memsift+cutoff+judge", "memsift+cutoff"]
        assert "  95 % from: -0.20" in lines
        assert max(map(len, lines)) <= width
