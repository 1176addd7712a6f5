"""The pictures of the README are snapshots, so they stay true."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.apps import at_rest, starting_in, type_ahead, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, fresh_cutoff
from tests.tui.pictures import pressing, stopped_clock
from tests.tui.workspace.whatif.labelled import replay_and_label

README = Path(__file__).resolve().parents[2] / "README.md"
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]*)\)")
SIZE = (120, 32)


def test_every_picture_of_the_readme_is_a_snapshot_and_has_a_text_for_those_who_cannot_see_it() -> None:
    found = dict(PICTURE.findall(README.read_text("utf-8")))
    assert len(found) == 1
    for text, place in found.items():
        assert len(text.split()) >= 8, text
        assert "__snapshots__" in place
        assert (README.parent / place).is_file()


@pytest.mark.slow
def test_the_readme_shows_what_label_looks_like(snap_compare: Callable[..., bool], open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, annotator="ana", clock=stopped_clock, cutoff=fresh_cutoff())
    run = pressing(*"axa", "enter", *"xx")
    assert snap_compare(starting_in("label", workspace), terminal_size=SIZE, run_before=run)


@pytest.mark.slow
def test_the_readme_shows_what_what_if_looks_like(snap_compare: Callable[..., bool], open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, annotator="ana", prompts=demo_prompts(), cutoff=fresh_cutoff())
    replay_and_label(workspace)

    async def run(pilot: Pilot[Any]) -> None:
        await at_rest(pilot)
        screen: Any = pilot.app.screen
        await until(pilot, lambda: screen._effect and not screen._is_counting)
        for key in ["right"] * 10:
            type_ahead(pilot, key)
        await at_rest(pilot)
        await until(pilot, lambda: screen._effect.changed and not screen._is_counting)
        screen.knobs.border_title = "Settings of /library/.claude/memory"
        await until(pilot, lambda: screen._values and screen._values[0] is screen.knobs.current.knob)
        await at_rest(pilot)

    assert snap_compare(starting_in("whatif", workspace), terminal_size=SIZE, run_before=run)
