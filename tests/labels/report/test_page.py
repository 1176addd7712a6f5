"""The HTML page: it loads nothing, has no scripts, and can be read without seeing it."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labels.measure.evidence import Evidence
from labels.measure.metrics import Worst
from labels.measure.report import Captions, Report, ReportOptions, build_report, report_from_store
from labels.records import NOT_RELEVANT, RELEVANT
from labels.report.charts import WorstChart
from labels.report.forms import report_html
from labels.report.svg_charts import drawn
from labels.store import LabelStore
from tests.labels.samples import ROOT, Found, judged, outcome, record, retrieval, say

EVERYTHING = ReportOptions(ranking=True, curves=True)
HOSTILE = "</text></svg><script>alert(1)</script> \x00\x1b[31m \u202egnp.exe \ud800 \"'&<b onload=x> ]]> שלום"
VOID = {"meta", "br"}


class Reader(HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def hostile_report(text: str, options: ReportOptions = EVERYTHING) -> Report:
    """A report in which every name is *text*."""
    people = {f"p{number}{text}": {f"m{text}": number % 2 == 0, f"n{text}": False} for number in range(12)}
    found = (Found(-2.0, text, 1, 0.7), Found(-1.0, text, 2, 0.2))
    decisions = {f"m{text}": "approved", f"n{text}": "rejected"}
    rows = [
        outcome([f"m{text}", f"n{text}"], prompt_id=prompt_id, system=system, decisions=decisions, found=found)
        for prompt_id in people
        for system in (text, f"{text}+judge")
    ]
    captions = Captions(dict.fromkeys(people, text), dict.fromkeys(people, text), {f"m{text}": text})
    return build_report(Evidence(rows, people), captions, options)


@pytest.fixture
def report(store: LabelStore) -> Report:
    """Twelve labelled prompts through two systems, one of them with a judge."""
    for number in range(12):
        name = f"p{number}"
        record(store, retrieval(["a", "b"], prompt_id=name), judged(["a"], ["b"], prompt_id=name))
        say(store, f"{name} a", RELEVANT if number % 3 else NOT_RELEVANT)
        say(store, f"{name} b", NOT_RELEVANT)
    return report_from_store(store, ROOT, options=EVERYTHING)


def test_the_page_has_no_scripts_loads_nothing_and_fits_light_dark_and_a_telephone(report: Report) -> None:
    for page in (report_html(report), report_html(hostile_report(HOSTILE))):
        found = read(page)
        ids = [value for name, value in found.attributes if name == "id"]
        assert len(ids) == len(set(ids)) > 10
        assert "prefers-color-scheme: dark" in page
        assert 'name="viewport" content="width=device-width, initial-scale=1"' in page
        assert {"script", "iframe", "object", "embed", "link", "img", "image", "use", "style"} & set(found.names) == {
            "style"
        }
        assert found.names.count("style") == 1
        assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "style")]
        assert {value[:6] for name, value in found.attributes if "href" in name} == {"#part-"}
        assert "url(" not in page
        assert "@import" not in page
        assert "default-src 'none'" in page


def test_texts_from_files_are_shown_as_text() -> None:
    page = report_html(hostile_report(HOSTILE))
    text = " ".join(read(page).text)
    assert "<script>alert(1)</script>" in text
    assert not any(character in page for character in "\x00\x1b\u202e\ud800")
    page.encode("utf-8")


@settings(max_examples=30)
@given(text=st.text(alphabet=st.characters(), min_size=1, max_size=40))
def test_names_never_change_the_elements_of_the_page(text: str) -> None:
    plain, hostile = (
        [name for name in read(report_html(hostile_report(each, ReportOptions(curves=True)))).names if name != "bdi"]
        for each in ("x", text)
    )
    assert hostile == plain


def test_every_chart_has_a_title_and_a_description(report: Report) -> None:
    page = report_html(report)
    charts = [ElementTree.fromstring(f"<svg{part.split('</svg>')[0]}</svg>") for part in page.split("<svg")[1:]]
    names = [next(iter(chart)).get("id", "") for chart in charts]
    assert [name.removesuffix("-title") for name in names] == [
        *("precision-chart", "worst-memories-chart", "worst-prompts-chart", "confusion-1"),
        *("coverage-recall", "coverage-fires", "history-0", "history-1"),
    ]
    for chart in charts:
        title, description, *_ = chart
        assert chart.get("role") == "img"
        assert chart.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert title.text
        assert description.text


def test_reliability_is_drawn_where_there_are_probabilities() -> None:
    page = report_html(hostile_report("memsift"))
    assert 'id="reliability-0-title"' in page
    assert "Brier score" in page


def test_a_report_of_nothing_is_still_a_page() -> None:
    page = report_html(build_report(Evidence([], {}), options=EVERYTHING))
    assert "0 prompts replayed" in "".join(read(page).text)


def test_a_name_beside_a_bar_ends_before_the_chart_does() -> None:
    chart = drawn(WorstChart("worst", "Worst memories", [Worst("m", "word " * 20, 3, 0)]))
    (shown,) = re.findall(r'class="name">([^<]*)<', chart)
    assert len(shown) <= 52
    assert shown.endswith("…")
