"""Dialogs about memories: the form that changes or merges them, and picking any by its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import on
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Mount
from textual.getters import query_one
from textual.widgets import Input, Static, TextArea

from engine.errors import MemsiftError
from engine.search.query import filter_terms
from engine.stores.writing import changes_of
from tui.dialogs.dialog import Dialog, Finder, Line
from tui.keys import bindings, keyed
from tui.plain import plain
from tui.widgets.lists.memories import MemoryList
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import MUTED, MemoryPane

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.timer import Timer
    from textual.widget import Widget

    from engine.roots import OpenIndex
    from engine.stores.writing import Changes, FormField


THROWN_AWAY = "Your changes are not saved. {pick.leave} again throws them away, {form.save} saves them."


class MemoryForm(Dialog["Changes | None"]):
    """Shows *form* under *title*. Gives the changes that *check* allows, or None.

    *check* raises MemsiftError for changes that would be refused. Its message is shown, and the form stays open.
    *suggested*: the first text of some fields, by name, in place of the present text. *note* stands below the fields.
    """

    BINDINGS = bindings(shown="form.save")
    NEEDS_CHANGE = True

    told = query_one("#told", Static)

    def __init__(
        self,
        title: str,
        form: Sequence[FormField],
        check: Callable[[Changes], object],
        suggested: Mapping[str, str] | None = None,
        note: str = "",
    ) -> None:
        super().__init__()
        self._title, self._form, self._check, self._note = title, form, check, note
        self._first = {field.name: (suggested or {}).get(field.name, field.text) for field in form}
        self._is_warned = False

    def compose(self) -> ComposeResult:
        with Vertical(id="form") as box:
            with Container(id="sides"):
                with VerticalScroll(can_focus=False):
                    for place, field in enumerate(self._form):
                        yield Static(_heading(field), classes="name", markup=False)
                        first = self._first[field.name]
                        yield TextArea(first, id=f"field-{place}", compact=True, show_line_numbers=False)
                yield from self.compose_beside()
            yield Static(plain(self._note).stylize_before(MUTED), id="told")
        box.border_title = plain(self._title)

    def on_mount(self) -> None:
        for area in self.query(TextArea):
            if area.text.endswith("\n"):  # an empty last line: for a new phrase
                area.move_cursor(area.document.end)

    def compose_beside(self) -> ComposeResult:
        """What stands beside the fields."""
        yield from ()

    def scroll_to_center(self, widget: Widget, *_: Any, **options: Any) -> None:  # noqa: ARG002
        """Show a field with the focus from its name on."""
        names = zip(self.query(".name"), self.query(TextArea), strict=True)
        next((name for name, area in names if area is widget), widget).scroll_visible(animate=False, top=True)

    @property
    def texts(self) -> dict[str, str]:
        """The texts as they are now, by the field's name."""
        areas = zip(self._form, self.query(TextArea), strict=True)
        return {field.name: area.text if field.is_long else " ".join(area.text.split("\n")) for field, area in areas}

    @property
    def is_changed(self) -> bool:
        return self.texts != self._first

    @property
    def changes(self) -> Changes:
        return changes_of(self._form, self.texts)

    @on(TextArea.Changed)
    def forget_warning(self) -> None:
        self._is_warned = False

    def action_save(self) -> None:
        if self.NEEDS_CHANGE and not self.is_changed:
            self.told.update(plain(keyed(self.app, "Nothing is changed yet. {pick.leave} leaves.")))
            return
        changes = self.changes
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


REST_SECONDS = 0.15
"""The difference is made when nothing was typed for this time."""


class MergeMemories(MemoryForm):
    """The form of the merged memory, and the difference that saving makes in all files. It gives as a MemoryForm.

    *form*: the memory after a merge without changes. *suggested*: the first text of some fields. *difference* gives the
    difference of changes; it raises MemsiftError. *swap* asks again, with another memory to keep.
    """

    BINDINGS = bindings(shown="merge.swap")
    NEEDS_CHANGE = False

    shown = query_one("#difference", MemoryPane)

    def __init__(
        self,
        title: str,
        form: Sequence[FormField],
        suggested: Mapping[str, str],
        difference: Callable[[Changes], str],
        swap: Callable[[], object],
    ) -> None:
        super().__init__(title, form, difference, suggested)
        self._difference, self._swap = difference, swap
        self._resting: Timer | None = None

    def compose_beside(self) -> ComposeResult:
        yield MemoryPane("difference")

    def on_mount(self) -> None:
        self.shown.border_title = "What is written"
        self.show_difference()

    @on(TextArea.Changed)
    def show_soon(self) -> None:
        if self._resting:
            self._resting.stop()
        self._resting = self.set_timer(REST_SECONDS, self.show_difference)

    def show_difference(self) -> None:
        try:
            self.shown.show(coloured(self._difference(self.changes)), from_start=False)
        except MemsiftError as error:
            self.shown.show(plain(str(error)).stylize_before("$text-error"))

    def action_swap(self) -> None:
        """Keep the next memory in place of this one."""
        self.dismiss(None)
        self._swap()


def coloured(difference: str) -> Content:
    """A difference in the unified form, with the colours of added and removed lines."""
    tones = {"+": "$text-success", "-": "$text-error", "@": MUTED}
    lines = difference.replace("\n--- ", "\n\n--- ").splitlines()
    return Content("\n").join(
        plain(line).stylize_before(MUTED if line[:3] in ("+++", "---") else tones.get(line[:1], "")) for line in lines
    )


class PickMemory(Finder):
    """The memories of *index* that match the filter, as in Browse. Gives the chosen memory's id, or None."""

    found = query_one(MemoryList)
    none = query_one("#none", Static)

    def __init__(self, index: OpenIndex, question: str = "Why not this memory?") -> None:
        super().__init__()
        self._index, self._question = index, question

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Line(placeholder="Type words of title, tags or body")
            yield MemoryList()
            yield Static("No memory has all of these words.", id="none")
        box.border_title = plain(self._question)

    @on(Input.Changed)
    @on(Mount)
    def show_matching(self) -> None:
        found = self._index.matching(filter_terms(self.line.value))
        self.found.show(found)
        self.found.display, self.none.display = bool(found), not found

    @on(Input.Submitted)
    @on(RowList.Selected)
    def choose(self) -> None:
        current = self.found.current
        if current:
            self.dismiss(current.id)
