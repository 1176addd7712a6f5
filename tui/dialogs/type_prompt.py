"""The dialog in which a person types or pastes a prompt, of one line or of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import TextArea

from tui.bindings import bindings

if TYPE_CHECKING:
    from textual.app import ComposeResult

HINT = "ctrl+s replays, esc leaves"


class TypePrompt(ModalScreen[str | None]):
    """An editor of many lines. Gives its text without spaces and empty lines around it, or None if there is none."""

    DEFAULT_CSS = """
    TypePrompt {
        align: center middle;
        Vertical {
            width: 90%; max-width: 100; height: 60%; min-height: 8;
            background: $surface; border: round $primary; border-title-color: $text;
        }
        TextArea, TextArea:focus { background: $surface; border: none; padding: 0 1; height: 1fr; }
    }
    """
    AUTO_FOCUS = "TextArea"
    BINDINGS = bindings(hidden="type.send pick.leave")

    editor = query_one(TextArea)

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield TextArea(placeholder="Type or paste a prompt. Enter begins a new line.")
        box.border_title = "A prompt to replay"
        box.border_subtitle = HINT

    def on_mount(self) -> None:
        self.editor.cursor_blink = False

    def action_send(self) -> None:
        self.dismiss(self.editor.text.strip() or None)

    def action_leave(self) -> None:
        self.dismiss(None)
