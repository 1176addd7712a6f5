"""Which memories are open, in a few words for the top line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.workspace import Workspace


def where_text(workspace: Workspace) -> str:
    """The project's folder name, and how much was skipped."""
    skipped = len(workspace.skipped)
    return f"{root_name(workspace.root)}{f' · {skipped:,} skipped (s)' if skipped else ''}"


def root_name(root: str) -> str:
    """The folder that a person knows: the project's, not `.claude/memory` inside it."""
    named = [part for part in Path(root).resolve().parts[1:] if part not in (".claude", "memory")]
    return named[-1] if named else root
