"""Dialogs about memories: the form that changes one, merging several, and picking any by its words."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING, Any

from textual import on
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static, TextArea

from engine.errors import MemsiftError
from engine.search.query import filter_terms
from engine.stores.writing import changes_of
from tui.dialogs.dialog import Dialog, Finder, Line
from tui.keys import bindings, keyed
from tui.plain import one_line, plain
from tui.widgets.lists.memories import MemoryList
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import MemoryPane, memory_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from engine.memory import Memory
    from engine.roots import OpenIndex
    from engine.stores.writing import Changes, FormField


UNCHANGED = "Nothing is changed yet. {pick.leave} leaves."
THROWN_AWAY = "Your changes are not saved. {pick.leave} again throws them away, {form.save} saves them."


class MemoryForm(Dialog["Changes | None"]):
    """Shows *form* under *title*. Gives the changes that *check* allows, or None.

    *check* raises MemsiftError for changes that would be refused. Its message is shown, and the form stays open.
    """

    BINDINGS = bindings(shown="form.save")

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
        box.border_title = plain(self._title)

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


KEEPS, RETIRES = "Kept", "Retired as superseded"
RULE = "The kept memory gets {tags} and the related files of the others. Their underlined words are not copied."
ONLY_KEPT, ONLY_OTHERS = "underline $text-success", "underline $text-error"
WORD, MOST_COMPARED = re.compile(r"\w+|[^\w\s]"), 6_000


class MergeMemories(Dialog[str | None]):
    """Shows *memories*, two or more. Gives the id of the memory to keep, or None."""

    BINDINGS = bindings(shown="merge.merge merge.swap")

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
        box.border_title = "Merge"

    def on_mount(self) -> None:
        self._show()

    def _show(self) -> None:
        kept, *others = self._memories
        self.kept.border_title = plain(f"{KEEPS}: {kept.summary.id}")
        self.others.border_title = plain(f"{RETIRES}: {', '.join(other.summary.id for other in others)}")
        texts = [memory_text(memory, has_links=False) for memory in self._memories]  # a link has a colour of its own
        left, right = told_apart(texts[0], Content("\n\n").join(texts[1:]))
        self.kept.show(left)
        self.others.show(right)
        new = dict.fromkeys(tag for other in others for tag in other.summary.tags if tag not in kept.summary.tags)
        tags = f"the tags {one_line('#' + ' #'.join(new))}" if new else "the tags"
        self.query_one("#rule", Static).update(plain(RULE.format(tags=tags)))

    def action_swap(self) -> None:
        """Keep the next memory in place of this one."""
        self._memories = [*self._memories[1:], self._memories[0]]
        self._show()

    def action_merge(self) -> None:
        self.dismiss(self._memories[0].summary.id)


def told_apart(kept: Content, others: Content) -> tuple[Content, Content]:
    """Both texts, with a mark on each run of words that the other does not have in this place.

    Of long texts, the first MOST_COMPARED words are compared: the time grows with the square of their number.
    """
    left, right = ([*islice(WORD.finditer(side.plain), MOST_COMPARED)] for side in (kept, others))
    matcher = SequenceMatcher(None, [word[0] for word in left], [word[0] for word in right])
    for _, *ends in (change for change in matcher.get_opcodes() if change[0] != "equal"):
        kept = _marked(kept, ONLY_KEPT, left[slice(*ends[:2])])
        others = _marked(others, ONLY_OTHERS, right[slice(*ends[2:])])
    return kept, others


def _marked(text: Content, style: str, words: Sequence[re.Match[str]]) -> Content:
    return text.stylize(style, words[0].start(), words[-1].end()) if words else text


NO_MATCH = "No memory has all of these words."


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
            yield Static(NO_MATCH, id="none")
        box.border_title = plain(self._question)

    def on_mount(self) -> None:
        self.show_matching()

    @on(Input.Changed)
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
