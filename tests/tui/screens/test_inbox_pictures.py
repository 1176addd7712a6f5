"""Pictures of Inbox, on the day of `tests.tui.demo`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.engine.curation.roots import document, write_documents
from tests.tui.apps import at_rest, starting_in, until
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO_ROOT
from tests.tui.pictures import EVERY_SIZE, USUAL, Compare, Size, pictures, pressing
from tests.tui.screens.test_inbox import ATTACK

CHANGES = (
    ("preferences/short-answers.json", "title", ATTACK),
    ("preferences/npm-ci-lockfile.json", "title", "Install with pnpm and the frozen lockfile only"),
)
"""Files of the example, with a changed field: a risky memory, and one that says almost the same as another."""


def showing(*keys: str) -> Callable[[Pilot[Any]], Any]:
    async def run(pilot: Pilot[Any]) -> None:
        await at_rest(pilot)
        screen: Any = pilot.app.screen
        await until(pilot, lambda: screen._checked is not None and not screen.listing.progress)
        await pressing(*keys)(pilot)

    return run


@pytest.mark.parametrize(("keys", "size"), pictures({"risky": ("down", "space", "down")}, *EVERY_SIZE))
def test_findings_look_as_they_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path, keys: tuple[str, ...], size: Size
) -> None:
    root = tmp_path / "project" / ".claude" / "memory"
    shutil.copytree(DEMO_ROOT, root)
    for name, key, text in CHANGES:
        file = root / name
        file.write_text(json.dumps({**json.loads(file.read_text()), key: text}))
    app = starting_in("inbox", open_workspace(root=root, prompts=(), judge=None))
    assert snap_compare(app, terminal_size=size, run_before=showing(*keys))


@pytest.mark.slow
def test_an_inbox_without_findings_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path
) -> None:
    title = "Token cache of the web client keeps each entry for one hour"
    root = write_documents(tmp_path / "root", [document("cache", title=title)])
    app = starting_in("inbox", open_workspace(root=root, prompts=(), judge=None))
    assert snap_compare(app, terminal_size=USUAL, run_before=showing())
