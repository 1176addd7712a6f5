"""The dialog that merges memories: the memory to keep on one side, the others on the other side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from tui.bindings import bindings
from tui.dialogs.dialog import Dialog
from tui.plain import one_line, plain
from tui.widgets.memory_pane import MemoryPane, memory_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from engine.memory import Memory

HINT = "{merge.merge} merges, {merge.swap} keeps another, {pick.leave} leaves"
KEEPS, RETIRES = "Kept", "Retired as superseded"
RULE = "The kept memory gets {tags} and the related files of the others. Their text is not copied."


class MergeMemories(Dialog[str | None]):
    """Shows *memories*, two or more. Gives the id of the memory to keep, or None."""

    DEFAULT_CSS = """
    MergeMemories {
        #merge { width: 95%; height: 95%; }
        #sides { layout: horizontal; height: 1fr; }
        MemoryPane { width: 1fr; padding: 0 1; }
        MemoryPane Static { height: auto; }
        #rule { height: auto; max-height: 3; padding: 0 1; color: $foreground-muted; }
    }
    MergeMemories.-narrow #sides { layout: vertical; }
    MergeMemories.-narrow MemoryPane { height: 1fr; width: 100%; }
    """
    BINDINGS = bindings(hidden="merge.merge merge.swap pick.leave")

    kept = query_one("#kept", MemoryPane)
    others = query_one("#others", MemoryPane)

    def __init__(self, memories: Sequence[Memory]) -> None:
        super().__init__()
        self._memories = list(memories)

    def compose(self) -> ComposeResult:
        with Vertical(id="merge") as box:
            with Container(id="sides"):
                yield MemoryPane("kept")
                yield MemoryPane("others")
            yield Static(id="rule")
        self.head(box, "Merge", HINT)

    def on_mount(self) -> None:
        self._show()

    def _show(self) -> None:
        kept, *others = self._memories
        self.kept.border_title = plain(f"{KEEPS}: {kept.summary.id}")
        self.others.border_title = plain(f"{RETIRES}: {', '.join(other.summary.id for other in others)}")
        self.kept.show(memory_text(kept))
        self.others.show(Content("\n\n").join(map(memory_text, others)))
        new = dict.fromkeys(tag for other in others for tag in other.summary.tags if tag not in kept.summary.tags)
        tags = f"the tags {one_line('#' + ' #'.join(new))}" if new else "the tags"
        self.query_one("#rule", Static).update(plain(RULE.format(tags=tags)))

    def action_swap(self) -> None:
        """Keep the next memory in place of this one."""
        self._memories = [*self._memories[1:], self._memories[0]]
        self._show()

    def action_merge(self) -> None:
        self.dismiss(self._memories[0].summary.id)
