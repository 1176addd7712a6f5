"""The tables, charts and sentences of Report at a given width."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from labels.measure.intervals import Interval
from labels.measure.report import Report, ReportOptions, report_from_store
from labels.report.section import ReportRow, ReportSection, ReportTable
from labels.report.sections import sections
from labels.store import LabelStore
from tests.labels.samples import card, judged, record, retrieval
from tui.widgets.report import MIN_SCALE, interval_bar, part_text, table_rows
from tui.widgets.report_charts import curve_beside, drawn_chart, plot

TABLE = ReportTable(
    ("", "precision", "95 %\none look", "relevant"),
    (ReportRow(("memsift", "0.5", "0.2-0.8", "1 of 2")), ReportRow(("", "1.0", "-", ""))),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    with LabelStore.open(tmp_path / "labels.db") as opened:
        yield opened


@pytest.fixture
def report(store: LabelStore) -> Report:
    """Three memories of one prompt: the first is relevant, the judge keeps the first two."""
    record(store, retrieval(["m1", "m2", "m3"]), judged(["m1", "m2"], ["m3"]))
    for memory_id, verdict in {"m1": "relevant", "m2": "not", "m3": "not"}.items():
        store.label("me", "p1", card(memory_id), verdict, seed=1, blind=True, elapsed_ms=100, titles=0)
    return report_from_store(store, options=ReportOptions(curves=True))


def test_a_table_that_fits_is_whole_and_says_no_more_below() -> None:
    head, rows = table_rows(TABLE, 60)
    assert head == ["                        95 %", "         precision  one look  relevant"]
    assert [row.line for row in rows] == ["memsift        0.5   0.2-0.8    1 of 2", "               1.0         -"]
    assert [row.whole for row in rows] == ["", ""]


@pytest.mark.parametrize("width", [30, 20, 8])
def test_columns_without_room_are_left_out_and_stand_in_full_below(width: int) -> None:
    head, rows = table_rows(TABLE, width)
    assert max(map(cell_len, [*head, *(row.line for row in rows)])) <= width
    assert rows[0].whole == "memsift · precision 0.5 · 95 % one look 0.2-0.8 · relevant 1 of 2"
    assert rows[1].whole == "memsift · precision 1.0 · 95 % one look -"


def test_a_table_of_names_alone_is_cut_to_the_width() -> None:
    table = ReportTable(("memory", "prompt"), (ReportRow(("a long name of a memory", "what about it [/b]?")),), names=2)
    head, rows = table_rows(table, 30)
    assert head
    assert cell_len(rows[0].line) <= 30
    assert rows[0].whole == "memory a long name of a memory · prompt what about it [/b]?"


def test_the_row_in_full_stands_above_the_sentences() -> None:
    section = ReportSection("x", "X", "How to read it.", TABLE, ("A limit of these numbers.",))
    assert part_text(section, "memsift: 0.5", 40).plain == "memsift: 0.5\n- A limit of these numbers.\nHow to read it."


def test_a_row_about_a_share_has_the_range_for_a_bar(report: Report) -> None:
    tables = {section.name: section.table for section in sections(report) if section.table}
    found = {name: table for name, table in tables.items() if any(row.range for row in table.rows)}
    assert {"precision", "recall", "history"} <= set(found)
    assert all(row.range for table in found.values() for row in table.rows)
    _, rows = table_rows(found["precision"], 80)
    assert max(cell_len(row.line) for row in rows) <= 80 - MIN_SCALE, "there is room for the bar of every row"
    assert "95 % range" in "".join(table_rows(found["precision"], 80, has_bars=False)[0])
    first = report.systems[0].headline
    assert rows[0].row.range == (first.relevant.value, first.live, first.live)


def test_the_chart_of_the_judge_says_its_numbers_and_differs_by_signs(report: Report) -> None:
    drawn = drawn_chart("judge-bm25+judge", report, 80)
    assert drawn
    kept, dropped = drawn.plain.split("\n")[1:]
    assert kept.split() == ["the", "judge", "kept", "it", "░░░░", "1", "(33", "%)", "████", "1", "(33", "%)"]
    assert dropped.split() == ["the", "judge", "dropped", "it", "0", "(0", "%)", "░░░░", "1", "(33", "%)"]


def test_curves_are_drawn_from_the_report_and_name_every_system(report: Report) -> None:
    plotext = pytest.importorskip("textual_plotext.plot")
    assert [curve_beside(name, report) for name in ("recall", "worst-memories")] == [None, None]
    history = curve_beside("precision", report)
    assert history
    plt = plotext.Plot()
    plot(plt, history)
    plt.plotsize(80, 20)
    assert "Precision so far" in plt.build()


def test_a_report_without_labels_has_no_chart(store: LabelStore) -> None:
    record(store, retrieval(["m1"]))
    report = report_from_store(store)
    assert all(drawn_chart(one.name, report, 80) is None for one in sections(report))
    assert all(curve_beside(one.name, replace(report, systems=())) is None for one in sections(report))


@pytest.mark.parametrize(
    ("one", "point", "live", "drawn"),
    [
        ((0.3, 0.7), 0.5, (0.1, 0.9), "·──━━●━━──·"),
        ((0.3, 0.7), 0.5, (0.3, 0.7), "···━━●━━···"),
        ((0.0, 0.4), 0.0, (0.0, 0.6), "●━━━━──····"),
        ((0.6, 1.0), 1.0, (0.6, 1.0), "······━━━━●"),
        ((0.5, 0.5), 0.5, (0.5, 0.5), "·····●·····"),
    ],
)
def test_both_intervals_are_drawn_to_scale(
    one: tuple[float, float], point: float, live: tuple[float, float], drawn: str
) -> None:
    assert interval_bar(point, Interval(*one), Interval(*live), 11).plain == drawn
