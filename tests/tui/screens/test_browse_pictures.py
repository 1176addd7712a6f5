"""Pictures of Browse: narrowed to findings, and with few memories in a large terminal.

Look at each picture before you accept a change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.curation.roots import document, write_documents
from tests.tui.apps import pressing
from tui.app import MemsiftApp

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Opener
    from tests.tui.test_snapshots import Compare, Size

HOSTILE = "closing [/b] \u202eRTL 漢字 🙂 [link=http://x]y"
STATES = {"findings": ("f", "down", "enter", "down", "space"), "few": ("down",)}
FAST = {("findings", (80, 24), "textual-dark"), ("few", (160, 48), "textual-light")}
PICTURES = [
    pytest.param(
        STATES[state],
        size,
        theme,
        id=f"{state}-{size[0]}x{size[1]}-{theme}",
        marks=() if (state, size, theme) in FAST else pytest.mark.slow,
    )
    for state in STATES
    for size in ((60, 20), (80, 24), (160, 48))
    for theme in ("textual-dark", "textual-light")
]


@pytest.mark.parametrize(("keys", "size", "theme"), PICTURES)
def test_browse_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path, keys: tuple[str, ...], size: Size, theme: str
) -> None:
    old = {"updated_at": "2020-01-01T00:00:00Z", "related_files": ["src/gone.py", HOSTILE]}
    root = write_documents(
        tmp_path / "project" / ".claude" / "memory",
        [
            document("alpha", title=f"Title of alpha {HOSTILE}", **old),
            document("beta", "runbook", record_status="retired"),
            document("gamma", "constraint", title="long title " * 12),
        ],
    )
    app = MemsiftApp(open_workspace(root=root, prompts=(), judge=None))
    assert snap_compare(app, terminal_size=size, run_before=pressing(theme, *keys))
