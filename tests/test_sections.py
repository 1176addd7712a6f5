"""The text files with lines under headings in brackets: a heading twice would hide what stands under the first."""

from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).parent.parent
FILES = [
    file
    for room in ("engine", "labels", "tui")
    for kind in ("txt", "sql")
    for file in (PROJECT / room).rglob(f"*.{kind}")
]


def test_every_heading_is_whole_and_stands_once() -> None:
    read = 0
    for file in FILES:
        headings = [line for line in file.read_text("utf-8").splitlines() if line.startswith(("[", "-- ["))]
        read += bool(headings)
        assert [line for line in headings if not line.endswith("]")] == [], file
        assert [line for line, times in Counter(headings).items() if times > 1] == [], file
    assert read >= 10
