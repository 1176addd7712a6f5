"""The figures of the README and of its page of comparisons are those that the benchmark measured and wrote down."""

import json
import re
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
MEASURED = json.loads((PROJECT / "tests/benchmarks/served.json").read_text("utf-8"))


def rows(page: str) -> list[list[str]]:
    """The cells of the rows of the tables in a page."""
    lines = (PROJECT / page).read_text("utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def both(kind: str, name: str) -> list[dict[str, Any]]:
    return [MEASURED[way][kind][name] for way in ("without phrases", "with phrases")]


def test_the_readme_says_what_was_measured_by_kind_of_prompt() -> None:
    found = [row for row in rows("README.md") if row[-1].endswith(" %")]
    expected = [group for name in MEASURED["with phrases"]["groups"] for group in both("groups", name)]
    assert [[f"{group['served']} %", f"{group['useful']} %"] for group in expected] == [row[1:] for row in found]
    counts = [group["prompts"] for group in expected]
    assert [int(number) for row in found for number in re.findall(r"\((\d+)\)", row[0])] == counts[::2]
    said = " ".join((PROJECT / "README.md").read_text("utf-8").split())
    plain, asked = (MEASURED[way]["false fires"] for way in ("without phrases", "with phrases"))
    assert plain == asked
    assert f"Of {plain['prompts']} prompts that need nothing, {plain['percent']} % got something" in said
    assert f"with {sum(counts[::2])} prompts that need a memory" in said


def test_the_page_of_comparisons_says_what_was_measured_folder_by_folder() -> None:
    found = {
        name: (served, useful) for name, served, useful in (row for row in rows("docs/compared.md") if len(row) == 3)
    }
    for name in MEASURED["with phrases"]["roots"]:
        plain, asked = both("roots", name)
        cells = tuple(f"{plain[figure]} ({asked[figure]})" for figure in ("served", "useful"))
        assert found[name] == cells, name
