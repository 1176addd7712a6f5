"""The section on the differences of two systems."""

import pytest

from labels.measure.comparison import Difference, SystemComparison
from labels.measure.intervals import Interval
from labels.report.sections import comparison_section
from labels.report.text import table_lines

CHANGE = Difference(-0.12, Interval(-0.2, 0.05))


def table(second: str, first: str, width: int) -> list[str]:
    made = SystemComparison(first, second, 40, 30, CHANGE, 0.04, CHANGE, CHANGE, (1, 2), (3, 4), None, None)
    found = comparison_section([made]).table
    assert found is not None
    return table_lines(found, width)


def test_a_comparison_fits_one_line_of_80_columns() -> None:
    *_, row = table("memsift+judge", "memsift", 75)
    assert row.split() == ["memsift+judge", "memsift", "-0.12", "-0.20", "+0.05", "-0.12", "-0.12"]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_long_names_of_systems_are_not_cut(width: int) -> None:
    lines = table("memsift+cutoff+judge", "memsift+cutoff", width)
    assert lines[0].split() == ["memsift+cutoff+judge", "memsift+cutoff"]
    assert "  95 % from: -0.20" in lines
    assert max(map(len, lines)) <= width
