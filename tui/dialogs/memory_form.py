"""The form that changes a memory field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical, VerticalScroll
from textual.getters import query_one
from textual.widgets import Static, TextArea

from engine.errors import MemsiftError
from engine.stores.writing import changes_of
from tui.bindings import bindings
from tui.dialogs.dialog import Dialog
from tui.key_names import keyed
from tui.plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from engine.stores.writing import Changes, FormField

UNCHANGED = "Nothing is changed yet. {form.leave} leaves."
THROWN_AWAY = "Your changes are not saved. {form.leave} again throws them away, {form.save} saves them."


class MemoryForm(Dialog["Changes | None"]):
    """Shows *form* under *title*. Gives the changes that *check* allows, or None.

    *check* raises MemsiftError for changes that would be refused. Its message is shown, and the form stays open.
    """

    DEFAULT_CSS = """
    MemoryForm {
        #form { width: 95%; max-width: 100; height: 95%; padding: 0 1; }
        VerticalScroll { height: 1fr; }
        .name { color: $text-primary; height: auto; }
        TextArea { height: auto; min-height: 1; max-height: 12; border: none; padding: 0; background: $boost; }
        TextArea:focus { border: none; background: $surface-lighten-2; }
        #told { height: auto; max-height: 5; color: $text-error; }
    }
    """
    BINDINGS = bindings(hidden="form.save form.leave")

    told = query_one("#told", Static)

    def __init__(self, title: str, form: Sequence[FormField], check: Callable[[Changes], None]) -> None:
        super().__init__()
        self._title, self._form, self._check = title, form, check
        self._is_warned = False

    def compose(self) -> ComposeResult:
        with Vertical(id="form") as box:
            with VerticalScroll(can_focus=False):
                for place, field in enumerate(self._form):
                    yield Static(_heading(field), classes="name", markup=False)
                    yield TextArea(field.text, id=f"field-{place}", compact=True, show_line_numbers=False)
            yield Static(id="told")
        self.head(box, self._title, "tab goes on, {form.save} saves, {form.leave} leaves")

    def on_mount(self) -> None:
        for area in self.query(TextArea):
            area.cursor_blink = False

    @property
    def texts(self) -> dict[str, str]:
        """The texts as they are now, by the field's name."""
        areas = zip(self._form, self.query(TextArea), strict=True)
        return {field.name: area.text if field.is_long else " ".join(area.text.split("\n")) for field, area in areas}

    @property
    def is_changed(self) -> bool:
        return any(self.texts[field.name] != field.text for field in self._form)

    @on(TextArea.Changed)
    def forget_warning(self) -> None:
        self._is_warned = False

    def action_save(self) -> None:
        if not self.is_changed:
            self.told.update(plain(keyed(self.app, UNCHANGED)))
            return
        changes = changes_of(self._form, self.texts)
        try:
            self._check(changes)
        except MemsiftError as error:
            self.told.update(plain(str(error)))
        else:
            self.dismiss(changes)

    def action_leave(self) -> None:
        """Leave; with changes, only when the key is pressed a second time."""
        if self.is_changed and not self._is_warned:
            self._is_warned = True
            self.told.update(plain(keyed(self.app, THROWN_AWAY)))
        else:
            self.dismiss(None)


def _heading(field: FormField) -> str:
    return f"{field.name.replace('_', ' ').capitalize()}  ({field.hint})" if field.hint else field.name
