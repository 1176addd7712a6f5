"""Browse: the memories, filtered as you type and sorted by any column, and the one under the cursor in full."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Container, Vertical
from textual.getters import query_one
from textual.widgets import Footer, Input

from engine.search.highlight import Marker
from engine.search.query import filter_terms
from tui.bindings import bindings
from tui.dialogs.choices import ChooseOne
from tui.messages import FactsRead
from tui.plain import plain
from tui.screens.curating_screen import CuratingScreen
from tui.widgets.browse_columns import ColumnHeads, MemoryTable, category_name
from tui.widgets.memory_detail import detail_text, prompt_line
from tui.widgets.memory_pane import MemoryPane
from tui.widgets.row_list import RowList
from tui.widgets.top_bar import TopBar
from tui.workspace.empty_states import no_memories
from tui.workspace.memory_facts import narrowed, ordered, read_facts, related_files, stamps

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from engine.memory import MemorySummary
    from engine.search.query import Term

TYPING, NOT_LISTED = "Leave the filter with enter first.", "No memory is listed."
NO_MATCH = "No memory fits the filter. Press esc to clear it."
ORDERS = {
    "": "Path, or the best match first",
    "title": "Title",
    "category": "Category",
    "status": "Status",
    "updated": "Updated, the newest first",
    "injected": "Injected by the hook, the most first",
    "precision": "Relevant of labelled, the best first",
    "tokens": "Tokens, the longest first",
}
ALL = ""
MOST_CHOICES = 200
ON_MEMORIES = (
    *("copy", "open", "retire", "archive", "restore", "retag", "edit", "edit_file"),
    *("select", "select_all", "prompts", "merge", "move"),
)
"""Actions that need a memory in the list."""

CHOOSING = ("filter", "undo", "order", "turn", "category", "status")
"""Actions that are off while the filter is typed, as those in ON_MEMORIES are."""


class BrowseScreen(CuratingScreen):
    """A list of memories, and a memory beside it, or below it where the terminal is narrow."""

    CSS_PATH = "browse.tcss"
    AUTO_FOCUS = "MemoryTable"
    BINDINGS = bindings(
        shown="browse.filter browse.select change.retire change.edit change.undo",
        hidden="browse.clear browse.order browse.copy browse.open change.archive change.restore change.tags "
        "change.file change.merge change.move browse.all browse.turn browse.category browse.status browse.prompts",
    )
    HELP = (
        "The memories of this root. Type / and some words to filter by title, tags and body. Keys that change "
        "memories act on the selected ones, else on the one under the cursor. Every change can be taken back with u, "
        "also tomorrow."
    )

    filter_line = query_one(Input)
    memories = query_one(MemoryTable)
    list_pane = query_one("#list", Vertical)
    detail = query_one(MemoryPane)

    def __init__(self) -> None:
        super().__init__()
        self._reading = 0
        self._order, self._is_turned = "", False
        self._category = self._status = ALL
        self._progress = ""
        self._stamps: tuple[tuple[str, int, int], ...] = ()

    def compose(self) -> ComposeResult:
        yield TopBar("browse")
        yield Input(placeholder="Press / and type: words of title, tags or body", compact=True)
        with Container(id="panes"):
            with Vertical(id="list", classes="pane"):
                yield ColumnHeads()
                yield MemoryTable()
            yield MemoryPane("detail")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.filter_line.cursor_blink = False

    def begin(self) -> None:
        """Fill the list again if the memories changed, and read the facts again if their files changed."""
        if self._reading != self.app.workspace.reading:
            self.show_matching()
        workspace = self.app.workspace
        if workspace.wanted_memory:
            self._go_to_wanted(workspace.wanted_memory)
        if self._stamps != stamps(workspace.index, workspace.store.path, os.environ):
            self.read_facts()

    def _go_to_wanted(self, memory_id: str) -> None:
        """Put the cursor on a memory that another screen names, and show all memories if it is not listed."""
        self.app.workspace.wanted_memory = ""
        if all(one.id != memory_id for one in self.memories.records):
            self._category = self._status = ALL
            self.filter_line.value = ""
            self.show_matching()
        self.memories.go_to(memory_id)
        self.memories.focus()

    # The list

    @on(Input.Changed)
    def show_matching(self) -> None:
        """List the memories that fit the filter: the best match first, or sorted. The others are not selected."""
        index, terms = self.app.workspace.index, self.terms
        self._reading = self.app.workspace.reading
        found = narrowed(index.matching(terms), self._category, self._status)
        if self.memories.selected:
            self.memories.selected &= {one.id for one in found}
        self.memories.marker = self.marker
        self.memories.show(ordered(found, self._order, self.memories.facts, is_turned=self._is_turned))
        self.query_one(ColumnHeads).show(self._order, is_turned=self._is_turned)
        self.show_title()
        if not found:
            self.detail.show(plain(no_memories(self.app.workspace) or NO_MATCH))

    def show_title(self) -> None:
        """Say how many memories are listed, of how many, and which filters hold; or how far a change is."""
        count, total = self.memories.count, len(self.app.workspace.index)
        selected = len(self.memories.selected)
        parts = [
            f"{count:,} of {total:,} memories" if count < total else f"{total:,} memories",
            *filter(None, (category_name(self._category), self._status)),
            f"{selected:,} selected" if selected else "o sorts",
        ]
        self.list_pane.border_title = plain(self._progress or " · ".join(parts))

    @on(RowList.Highlighted)
    def show_highlighted(self) -> None:
        self.show_current()

    def show_current(self, *, from_start: bool = True) -> None:
        current = self.memories.current
        memory = self.app.workspace.memory(current.id) if current else None
        if memory:
            text = self.note_seen(memory.summary)
            related = related_files(self.home(memory.summary)[0], text)
            shown = detail_text(memory, self.memories.facts, related, self.marker)
            self.detail.show(shown, from_start=from_start)

    @work(thread=True, exclusive=True, group="facts", exit_on_error=False)
    def read_facts(self) -> None:
        workspace = self.app.workspace
        read = stamps(workspace.index, workspace.store.path, os.environ)
        facts = read_facts(workspace.index, workspace.store.path, workspace.annotator, os.environ)
        self.post_message(FactsRead(facts, read))

    @on(FactsRead)
    def show_facts(self, message: FactsRead) -> None:
        """Show new facts; the list is only sorted again if its order rests on them."""
        self._stamps = message.stamps
        self.memories.facts = message.facts
        if self._order:
            self.show_matching()
        else:
            self.memories.refresh()
            self.show_current(from_start=False)

    @property
    def terms(self) -> tuple[Term, ...]:
        return filter_terms(self.filter_line.value)

    @property
    def marker(self) -> Marker:
        return Marker(self.terms, by_stem=False)

    # Keys

    @on(Input.Submitted)
    def leave_filter(self) -> None:
        self.memories.focus()

    def key_down(self) -> None:
        if self.filter_line.has_focus:
            self.memories.focus()

    @on(RowList.Selected)
    def action_open(self) -> None:
        if current := self.memories.current:
            self.read_memory(current.id, current.id, self.marker)

    def action_filter(self) -> None:
        self.set_focus(self.filter_line)

    def action_clear(self) -> None:
        """Stop changes under way; else select nothing; else show all; else leave the filter."""
        if self.is_changing:
            self.stop_changing()
        elif self.memories.selected and not self.filter_line.has_focus:
            self._select(set())
        elif self.filter_line.value or self._category or self._status:
            self._category = self._status = ALL
            if self.filter_line.value:
                self.filter_line.value = ""
            else:
                self.show_matching()
        else:
            self.memories.focus()

    def action_copy(self) -> None:
        if current := self.memories.current:
            self.app.copy_to_clipboard(current.path)
            self.app.tell(f"Copied {current.path}")

    def action_order(self) -> None:
        def sort(order: str | None) -> None:
            if order is not None:
                self._order, self._is_turned = order, False
                self.show_matching()

        self.app.push_screen(ChooseOne("Sort by", ORDERS, self._order), sort)

    def action_turn(self) -> None:
        self._is_turned = not self._is_turned
        self.show_matching()

    def action_category(self) -> None:
        def narrow(category: str | None) -> None:
            if category is not None:
                self._category = category
                self.show_matching()

        self._choose_one("Show which category?", self._category, lambda one: one.category, narrow)

    def action_status(self) -> None:
        def narrow(status: str | None) -> None:
            if status is not None:
                self._status = status
                self.show_matching()

        self._choose_one("Show which status?", self._status, lambda one: one.status, narrow)

    def _choose_one(
        self, question: str, current: str, part: Callable[[MemorySummary], str], narrow: Callable[[str | None], None]
    ) -> None:
        """Ask for one of the values that *part* gives, with the number of memories of each."""
        counts = Counter(map(part, self.app.workspace.index.summaries()))
        options = {ALL: f"All  {sum(counts.values()):,}"}
        options |= {name: f"{category_name(name)}  {count:,}" for name, count in sorted(counts.items())[:MOST_CHOICES]}
        self.app.push_screen(ChooseOne(question, options, current), narrow)

    def action_prompts(self) -> None:
        """Ask for a prompt that pulled the memory in, and show it in Replay."""
        current, facts = self.memories.current, self.memories.facts
        found = facts.prompts.get(current.id, ()) if current else ()
        if not found:
            self.app.tell("No prompt that you have seen or labelled pulled this memory in.")
            return
        options = {one: prompt_line(one, verdict, facts) for one, verdict in found[:MOST_CHOICES]}
        self.app.push_screen(ChooseOne("Go to which prompt?", options), self.go_to_prompt)

    # Selecting

    def action_select(self) -> None:
        """Select the memory under the cursor, or no longer, and go on to the next."""
        if current := self.memories.current:
            self._select(self.memories.selected ^ {current.id})
            self.memories.cursor += 1

    def action_select_all(self) -> None:
        listed = {one.id for one in self.memories.records}
        self._select(set() if listed <= self.memories.selected else listed)

    def _select(self, selected: set[str]) -> None:
        self.memories.selected = selected
        self.memories.refresh()
        self.show_title()

    def chosen(self) -> list[MemorySummary]:
        """The selected memories in the order of the list; without any, the one under the cursor."""
        selected = self.memories.selected
        chosen = [one for one in self.memories.records if one.id in selected] if selected else []
        return chosen or ([self.memories.current] if self.memories.current else [])

    def end_selection(self) -> None:
        self._select(set())

    def show_progress(self, text: str) -> None:
        self._progress = text
        self.show_title()

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        if action not in (*ON_MEMORIES, *CHOOSING) or not self.is_mounted:
            return ""
        if isinstance(self.focused, Input):
            return TYPING
        return NOT_LISTED if action in ON_MEMORIES and not self.memories.count else ""
