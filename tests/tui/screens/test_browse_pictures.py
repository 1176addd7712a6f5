"""Pictures of Browse: narrowed to findings, and with few memories in a large terminal."""

from pathlib import Path

import pytest

from tests.engine.curation.roots import document, write_documents
from tests.tui.conftest import Opener
from tests.tui.pictures import NARROW, USUAL, WIDE, Compare, Size, pictures, pressing
from tui.app import MemsiftApp

HOSTILE = "closing [/b] \u202eRTL 漢字 🙂 [link=http://x]y"
FINDINGS, FEW = ("f", "down", "enter", "down", "space"), ("down",)


@pytest.mark.parametrize(
    ("keys", "size"), [*pictures({"findings": FINDINGS}, NARROW, USUAL), *pictures({"few": FEW}, WIDE)]
)
def test_browse_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, tmp_path: Path, keys: tuple[str, ...], size: Size
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
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))
