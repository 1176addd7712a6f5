"""Browse: the memories, filtered as you type and sorted by any column, and the one under the cursor in full."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from textual import on, work
from textual.getters import query_one

from engine.search.highlight import Marker
from engine.search.query import filter_terms
from tui.bindings import bindings
from tui.dialogs.choices import ChooseOne
from tui.messages import FactsRead
from tui.plain import plain
from tui.screens.curating_screen import CuratingScreen
from tui.screens.list_screen import CHOOSING, ListScreen
from tui.widgets.browse_columns import MemoryTable, category_name, columns_over
from tui.widgets.memory_detail import detail_text, prompt_line
from tui.widgets.row_columns import ColumnHeads
from tui.widgets.row_list import RowList
from tui.workspace.curate.memory_facts import RISING, narrowed, ordered, read_facts, related_files, stamps
from tui.workspace.empty_states import no_memories

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.memory import MemorySummary
    from engine.search.query import Term

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


class BrowseScreen(ListScreen, CuratingScreen):
    """A list of memories, and a memory beside it, or below it where the terminal is narrow."""

    MODE = "browse"
    NOT_LISTED = "No memory is listed."
    PLACEHOLDER = "Press / and type: words of title, tags or body"
    ORDERS = ORDERS
    ON_ROWS = (
        *("copy", "open", "retire", "archive", "restore", "retag", "edit", "edit_file"),
        *("select", "select_all", "prompts", "merge", "move"),
    )
    CHOOSING = (*CHOOSING, "undo", "category", "status")
    BINDINGS = bindings(
        shown="list.filter list.select change.retire change.edit change.undo",
        hidden="list.clear list.order browse.copy browse.open change.archive change.restore change.tags "
        "change.file change.merge change.move list.all list.turn browse.category browse.status browse.prompts",
    )
    HELP = (
        "The memories of this root. Type / and some words to filter by title, tags and body. Keys that change "
        "memories act on the selected ones, else on the one under the cursor. Every change can be taken back with u, "
        "also tomorrow."
    )

    memories = query_one(MemoryTable)

    def __init__(self) -> None:
        super().__init__()
        self._reading = 0
        self._category = self._status = ALL
        self._progress = ""
        self._stamps: tuple[tuple[str, int, int], ...] = ()

    def make_list(self) -> tuple[ColumnHeads, MemoryTable]:
        columns = columns_over(self.app.workspace.roots)
        return ColumnHeads(columns, RISING), MemoryTable(columns)

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

    def show_matching(self) -> None:
        """List the memories that fit the filter: the best match first, or sorted. The others are not selected."""
        index, terms = self.app.workspace.index, self.terms
        self._reading = self.app.workspace.reading
        found = narrowed(index.matching(terms), self._category, self._status)
        self.memories.marker = self.marker
        self.show_rows(ordered(found, self._order, self.memories.facts, is_turned=self._is_turned))
        if not found:
            self.detail.show(plain(no_memories(self.app.workspace) or NO_MATCH))

    def show_title(self) -> None:
        """Say how many memories are listed, of how many, and which filters hold; or how far a change is."""
        count, total = self.memories.count, len(self.app.workspace.index)
        listed = f"{count:,} of {total:,} memories" if count < total else f"{total:,} memories"
        if self._progress:
            self.list_pane.border_title = plain(self._progress)
        else:
            self.entitle(listed, category_name(self._category), self._status)

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

    @on(RowList.Selected)
    def action_open(self) -> None:
        if current := self.memories.current:
            self.read_memory(current.id, current.id, self.marker)

    def action_clear(self) -> None:
        if self.is_changing:
            self.stop_changing()
        else:
            super().action_clear()

    def show_everything(self) -> bool:
        was_narrowed = bool(self._category or self._status)
        self._category = self._status = ALL
        return was_narrowed

    def action_copy(self) -> None:
        if current := self.memories.current:
            self.app.copy_to_clipboard(current.path)
            self.app.tell(f"Copied {current.path}")

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

    # Changing

    def chosen(self) -> list[MemorySummary]:
        """The selected memories in the order of the list; without any, the one under the cursor."""
        return self.memories.chosen

    def end_selection(self) -> None:
        self.select(set())

    def show_progress(self, text: str) -> None:
        self._progress = text
        self.show_title()
