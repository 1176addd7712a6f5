"""A public class name has one meaning in the whole tree, so that a reader who meets it knows which one is meant."""

import re
from collections import defaultdict
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "labels", "tui")


def test_a_public_class_name_has_one_meaning() -> None:
    homes = defaultdict(list)
    for path in (path for room in ROOMS for path in (PROJECT / room).rglob("*.py")):
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text("utf-8"), re.MULTILINE):
            homes[name].append(str(path.relative_to(PROJECT)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
