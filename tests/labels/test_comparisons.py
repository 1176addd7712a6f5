from __future__ import annotations

from labels.measure.basis import labelled_basis
from labels.measure.comparison import compare
from labels.measure.comparisons import compared, comparisons
from labels.measure.extras import Extras
from labels.measure.report import build_report
from labels.report.sections import sections
from tests.labels.samples import outcome

PEOPLE = {f"p{number}": {"a": True, "b": number % 2 == 0} for number in range(30)}
ROWS = [
    outcome(found, prompt_id=prompt_id, system=system)
    for prompt_id in PEOPLE
    for system, found in {"bm25": ["a", "b"], "bm25+judge": ["a"], "memsift": ["a", "b"]}.items()
]


def test_a_system_is_compared_with_what_it_builds_on() -> None:
    systems = ["bm25", "bm25+cutoff", "bm25+cutoff+judge", "bm25+judge", "memsift", "memsift+judge"]
    assert list(compared(systems)) == [
        ("bm25", "bm25+cutoff"),
        ("bm25+cutoff", "bm25+cutoff+judge"),
        ("bm25", "bm25+judge"),
        ("bm25", "memsift"),
        ("memsift", "memsift+judge"),
    ]


def test_the_report_says_what_a_system_changes() -> None:
    basis = labelled_basis(ROWS, PEOPLE)
    judge, memsift = comparisons(ROWS, basis)
    assert judge == compare(ROWS, PEOPLE, ("bm25", "bm25+judge"), set(PEOPLE))
    assert memsift.precision is not None
    assert memsift.precision.value == 0
    report = build_report(ROWS, basis, extras=Extras(comparing=True))
    (section,) = (each for each in sections(report) if each.name == "comparison")
    assert "On the 30 prompts labelled in full for both." in section.about
    assert section.table is not None
    assert section.table.rows[0] == ("bm25+judge", "bm25", "+0.25", "+0.16", "+0.34", "<0.001", "-0.50", "-0.50")


def test_a_report_compares_only_when_asked_to() -> None:
    assert build_report(ROWS, labelled_basis(ROWS, PEOPLE)).comparisons == ()
