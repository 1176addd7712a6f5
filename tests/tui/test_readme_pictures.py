"""The pictures of the README are snapshots, so they stay true."""

import os
import re
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.tui.apps import starting_in
from tests.tui.pictures import Compare, pressing
from tui.demo import open_demo

README = Path(__file__).resolve().parents[2] / "README.md"
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]*)\)")
SIZE = (120, 26)
NOW = datetime(2026, 12, 3, 18, tzinfo=UTC)


def test_every_picture_of_the_readme_is_a_snapshot_and_has_a_text_for_those_who_cannot_see_it() -> None:
    found = dict(PICTURE.findall(README.read_text("utf-8")))
    assert len(found) == 1
    for text, place in found.items():
        assert len(text.split()) >= 8, text
        assert "__snapshots__" in place
        assert (README.parent / place).is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("private_home")
def test_the_readme_shows_the_demo_and_says_its_numbers(snap_compare: Compare) -> None:
    open_demo(dict(os.environ), fresh=True, now=NOW).close()  # the second start has the judge's answers in the cache
    with closing(open_demo(dict(os.environ), fresh=False, now=NOW)) as workspace:
        shares = [found.precision.value for found in workspace.report().systems]
        without, default, judge = (f"{100 * (share or 0):.0f} %" for share in shares)
        said = " ".join(README.read_text("utf-8").split())
        assert f"{without} of the injected notes help without a cutoff, {default} with it, {judge} with a judge" in said
        assert snap_compare(starting_in("live", workspace), terminal_size=SIZE, run_before=pressing())
