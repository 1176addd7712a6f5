"""What was skipped when the root and the prompts were read, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import Skipped


def skipped_text(skipped: Sequence[Skipped]) -> Content:
    """A line for each file or row: where it is, and why it is not shown."""
    if not skipped:
        return Content("Everything was read: nothing was skipped.")
    lines = [plain(one.where).stylize_before("bold") + plain(f" {one.reason}") for one in skipped]
    return Content("\n").join(lines)
