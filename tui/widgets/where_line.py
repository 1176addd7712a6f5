"""The line of plain mode that says where the cursor is: "Browse, memory 3 of 76: title, category, status"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.widgets import Input, OptionList, SelectionList, Static, TextArea

from tui.plain import ROW_CHARACTERS, one_line, plain
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import TextPane

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget

NOWHERE = "Nothing has the cursor."


class WhereLine(Static):
    """The first line of a screen. It is painted anew only if its text changes, so that nothing is read twice."""

    DEFAULT_CSS = "WhereLine { dock: top; height: auto; max-height: 3; background: $panel; color: $text; }"

    text = ""

    def say(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.update(plain(text))


def where(screen: Screen[Any], name: str) -> str:
    """The place of the cursor on *screen*, which is called *name* unless a dialog with a title lies over it."""
    focused = screen.focused
    if focused is None:
        return f"{name}: {NOWHERE}"
    return f"{_dialog(focused) if screen.is_modal else name}, {_place(focused)}"


def _place(widget: Widget) -> str:
    if isinstance(widget, RowList):
        if not widget.count:
            return f"{widget.NOUN}: none is listed."
        said = one_line(widget.said()[:ROW_CHARACTERS])
        return f"{widget.NOUN} {widget.cursor + 1:,} of {widget.count:,}: {said}"
    if isinstance(widget, OptionList):
        return _choice(widget)
    if isinstance(widget, Input):
        return f"input: {one_line(widget.value) or 'empty'}. {one_line(str(widget.placeholder))}"
    if isinstance(widget, TextArea):
        row, _ = widget.cursor_location
        line = one_line(widget.document.get_line(row)[:ROW_CHARACTERS])
        return f"input {_title(widget)}, line {row + 1:,} of {widget.document.line_count:,}: {line or 'empty'}"
    said = widget.text.lstrip().partition("\n")[0] if isinstance(widget, TextPane) else ""
    return f"text: {_title(widget)}. {one_line(said[:ROW_CHARACTERS])}".removesuffix(" ")


def _choice(options: OptionList) -> str:
    at = options.highlighted
    if at is None:
        return "choice: none."
    said = one_line(str(options.get_option_at_index(at).prompt))
    state = ""
    if isinstance(options, SelectionList):
        is_selected = options.get_option_at_index(at).value in options.selected
        state = ", selected" if is_selected else ", not selected"
    return f"choice {at + 1:,} of {options.option_count:,}: {said}{state}"


def _title(widget: Widget) -> str:
    return one_line(str(widget.border_title or widget.id or ""))


def _dialog(focused: Widget) -> str:
    """The title of the box around a widget, or of the widget."""
    titles = (getattr(widget, "border_title", None) for widget in focused.ancestors_with_self)
    return next((one_line(str(title)) for title in titles if title), "Dialog")
