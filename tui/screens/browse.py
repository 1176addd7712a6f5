"""Browse: the memories, filtered as you type and sorted by any column, and the one under the cursor in full."""

from __future__ import annotations

import gc
import os
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.content import Content

from engine.lean.record import replace
from engine.quality.checks.memories import spoken
from engine.quality.decisions import SAFETY
from engine.quality.registry import CHECKS
from engine.search.highlight import Marker
from engine.search.query import filter_terms
from engine.stores.markdown.parts import is_part
from tui.dialogs.choices import ChooseOne
from tui.keys import bindings, keyed
from tui.plain import plain
from tui.plain_app import AllReplayed, FindingsChanged
from tui.screens.base_screen import ModeScreen
from tui.screens.filtered_list import FilteredList, number_options
from tui.screens.memory_changes import MemoryChanges
from tui.screens.phrase_changes import PhraseChanges
from tui.widgets.lists.memories import MemoryList, columns_over
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_detail import NOTHING_ABOUT, MemoryOverview, about_lines, detail_text, prompt_line
from tui.widgets.memory_pane import MUTED, MemoryPane, category_name
from tui.widgets.signs import signs
from tui.workspace.curate.memory_facts import (
    ANY,
    EVERYTHING,
    NO_FACTS,
    ORDERS,
    PRECISION,
    UPDATED,
    Facts,
    Narrowing,
    Pulled,
    counts,
    ordered,
    read_facts,
    said_in_file,
    stamps,
)
from tui.workspace.curate.tasks import IN_APP
from tui.workspace.filtering import RowRules, no_memories

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from engine.memory import MemorySummary

IN_INBOX = "Press {go.inbox} to see more."
NO_MATCH = "No memory fits the filter. Press {go.back} to clear it."
CHECKING = "The checks are running. Memories with a finding appear here when they are done. {go.back} shows all."
RISKS_ALONE = "checked for risks alone, {browse.finding} runs all checks"
"""The checks of a root with very many memories, before a person wants to see findings."""

ORDER_NAMES = {UPDATED: "age", PRECISION: "relevant"}
"""Orders that their column names in another way."""

NEVER_PULLED = (
    "No prompt pulls this memory in. {go.replay} tries another prompt, {go.activity} lists the hook's answers."
)
STILL_REPLAYED = "The prompts are still being replayed. Press {browse.prompts} again when that is done."
BY_WHICH = "Which prompt pulled it in?"
SHOW_HIDDEN = "hidden"
SHOW_HIDDEN_LINE = "Show {} hidden: your labels of these prompts will not count as blind"
ALL = ""
MOST_CHOICES = 200
FEW = 12
"""Memories that need only the upper half of a large terminal."""


class BrowseScreen(ModeScreen):
    """A list of memories, and a memory beside it, or below it where the terminal is narrow."""

    TAB = "browse"
    CSS_PATH = "filtered_list.tcss"
    AUTO_FOCUS = "MemoryList"
    ON_ROWS = (
        *("copy", "copy_path", "open", "retire", "restore", "retag", "edit", "edit_file"),
        *("select", "select_all", "prompts", "phrases", "merge", "move"),
    )
    CHOOSING = ("undo", "narrow")
    BINDINGS = bindings(
        shown="list.filter browse.prompts change.edit change.retire change.restore change.merge browse.finding "
        "change.undo change.tags change.phrases change.file list.select list.order browse.category browse.status "
        "copy.text copy.path browse.open",
        hidden="change.redo change.move list.all list.turn",
    )
    HELP = (
        "The memories of this root. Type {list.filter} and some words to filter by title, tags and body; "
        "{browse.category}, {browse.status} and {browse.finding} narrow the list to a category, a status or a finding. "
        "Keys that change memories act on the selected ones, else on the one under the cursor. Every change can be "
        "taken back with {change.undo}, also tomorrow; a change of phrases only at once."
    )

    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (22, "-tall"), (38, "-high")]

    def __init__(self) -> None:
        super().__init__()
        workspace = self.app.workspace
        self.memories = MemoryList(columns_over(workspace.roots), Facts(now=workspace.now()))
        self.overview, self.about = MemoryOverview(), MemoryPane("about")
        self.listing = FilteredList(
            self,
            self.memories,
            RowRules(ORDERS),
            "Press {list.filter} and type: words of title, tags or body",
            usual=EVERYTHING,
            hint="{list.order} sort, {browse.category} category, {browse.status} status, {browse.finding} finding",
            below=(self.overview, self.about),
        )
        self.changes = MemoryChanges(self, lambda: self.memories.chosen, self.listing.show_progress, self._forget)
        self.phrases = PhraseChanges(self, lambda: self.memories.chosen)
        self.hold(self.changes, self.phrases, self.listing)
        self.marker = Marker()
        self._reading = 0
        self._stamps: tuple[tuple[str, int, int], ...] = ()
        self._is_warned = False
        self._shown_kind = ("", False)
        self._counted: dict[str, Counter[str]] = {}
        self._counted_at, self._counted_facts = 0, NO_FACTS

    def show_again(self) -> None:
        super().show_again()
        self.show_overview()

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        if reason := self.listing.why_off(action, self.ON_ROWS, self.CHOOSING):
            return reason
        return "" if self.memories.selected else self.changes.why_off(action, self.current_memory)

    def begin(self) -> None:
        """Fill the list again if the memories changed, and read the facts again if their files changed.

        The cursor goes to a memory that another screen names.
        """
        if self._reading != self.app.workspace.reading:
            self.listing.show_matching(is_near=True)
        workspace = self.app.workspace
        if wanted := workspace.wanted_memory:
            workspace.wanted_memory = ""
            if all(record.id != wanted for record in self.memories.records):
                self.listing.show_all()
            self.memories.go_to(wanted)
            self.memories.focus()
        if self._stamps != stamps(workspace.index, workspace.store.path, os.environ):
            self.call_after_refresh(self.read_facts)  # a thread would slow the first screen
        else:
            self.check_memories()
            self.show_findings()

    # The list

    @property
    def narrowing(self) -> Narrowing:
        """The kind of memories that is listed."""
        narrowing: Narrowing = self.listing.choice.kind
        return narrowing

    def find_rows(self) -> Sequence[MemorySummary]:
        """The memories that fit the filter: the best match first, or sorted."""
        self._reading = self.app.workspace.reading
        choice, facts = self.listing.choice, self.memories.facts
        terms = filter_terms(self.listing.filter_line.value)
        self.memories.marker = self.marker = Marker(terms)
        found = self.narrowing.of(self.app.workspace.index.matching(terms), facts)
        if not terms and not choice.order:
            found = sorted(found, key=is_part)  # first the memories that can be changed here
        self.set_class(len(found) <= FEW, "-few")
        self.show_overview()
        return ordered(found, choice.order, facts, is_turned=choice.is_turned)

    def nothing(self) -> Content:
        self.about.show(plain(""))
        why = no_memories(self.app.workspace.index) or NO_MATCH
        if self.narrowing.check and len(self.app.workspace.index):
            why = NO_MATCH if self.is_checked else CHECKING
        return plain(keyed(self.app, why))

    def title_parts(self) -> Sequence[str]:
        chosen, by = self.narrowing, self.listing.choice.order
        finding = "any finding" if chosen.check == ANY else chosen.check
        order = f"by {ORDER_NAMES.get(by, by)}" if by else ""
        listed = self.listing.of_all(len(self.app.workspace.index), "memories")
        found = self.app.findings
        checks = "" if self.is_checked or not found.checked else found.progress or keyed(self.app, RISKS_ALONE)
        return listed, category_name(chosen.category), chosen.status, finding, order, checks

    def show_current(self, *, from_start: bool = True) -> None:
        current = self.memories.current
        memory = self.app.workspace.memory(current.id) if current else None
        if memory:
            if (kind := (memory.summary.status, is_part(memory.summary))) != self._shown_kind:
                self._shown_kind = kind
                self.refresh_bindings()
            text = self.changes.note_seen(memory.summary)
            reason, related = said_in_file(memory.summary.root, text)
            facts, say = self.memories.facts, partial(keyed, self.app)
            lines = about_lines(memory, facts, related, say, signs(self))
            whole = detail_text(memory, facts, say, self.marker, [] if self.is_large else lines, reason)
            self.listing.detail.show(whole, from_start=from_start)
            about = Content("\n").join(lines[1:]) if lines else plain(say(NOTHING_ABOUT)).stylize_before(MUTED)
            self.about.show(about, from_start=from_start)

    @property
    def is_large(self) -> bool:
        """Whether overview and `about` are shown."""
        return self.has_class("-beside") and self.has_class("-high")

    @property
    def is_checked(self) -> bool:
        """Whether all checks are done."""
        checked = self.app.findings.checked
        return checked is not None and not checked.is_partial

    def show_overview(self) -> None:
        """Count all memories by category, status and finding, in a large terminal."""
        if self.is_large:
            self.overview.show(self._numbers(), self.narrowing, self.memories.facts.weeks)

    def _numbers(self) -> dict[str, Counter[str]]:
        """How many memories each category, status and check has. They are counted again only after a change."""
        reading, facts = self.app.workspace.reading, self.memories.facts
        if self._counted_at != reading or self._counted_facts is not facts:
            self._counted = counts(self.app.workspace.index.summaries(), facts)
            self._counted_at, self._counted_facts = reading, facts
        return self._counted

    @work(thread=True, exclusive=True, group="facts", exit_on_error=False)
    def read_facts(self) -> None:
        workspace = self.app.workspace
        read = stamps(workspace.index, workspace.store.path, os.environ)
        facts = read_facts(workspace.index, workspace.store.path, workspace.annotator, os.environ, workspace.now())
        self.call_later(self.show_facts, facts, read)

    def show_facts(self, facts: Facts, read: tuple[tuple[str, int, int], ...]) -> None:
        """Show new facts, and remember the stamps of the files that they come from."""
        self._stamps = read
        self._take_facts(replace(facts, findings=self.memories.facts.findings))
        self.check_memories()
        self.show_findings()

    @on(FindingsChanged)
    def show_findings(self) -> None:
        """Show the findings of the checks, and tell once that some memories are risky."""
        self.listing.show_title()
        if checked := self.app.findings.checked:
            found = checked.by_memory()
            risky = sum(any(finding.check == SAFETY for finding in about) for about in found.values())
            if risky and not self._is_warned and self.is_current:
                self.app.tell_news(f"{spoken(risky)}. {keyed(self.app, IN_INBOX)}", severity="warning")
            if found != self.memories.facts.findings:
                self._take_facts(replace(self.memories.facts, findings=found))
            self._is_warned = True

    def _take_facts(self, facts: Facts) -> None:
        if not self._is_warned:
            gc.freeze()  # else each full garbage collection walks over all memories and facts, in the middle of a key
        self.memories.take_facts(facts)
        if self.listing.choice.order or self.narrowing.check:
            self.listing.show_matching(is_near=True)
        else:
            self.listing.show_heads()
            self.show_again()

    # Keys

    @on(RowList.Selected)
    async def action_open(self) -> None:
        """Read the memory; where it is read already, in the pane, go on to the prompts that pulled it in."""
        if self.focused in (self.listing.detail, self.about):
            await self.action_prompts()
        elif current := self.memories.current:
            self.read_memory(current.id, current.id, self.marker)

    @property
    def current_memory(self) -> MemorySummary | None:
        return self.memories.current

    def action_undo(self) -> None:
        """Take back the last change of phrases; without one since the last change of memories, that change."""
        if not self.phrases.take_back():
            self.changes.action_undo()

    def _forget(self, is_new: bool) -> None:
        self.listing.select(())
        if is_new:
            self.phrases.forget()

    def action_narrow(self, field: str) -> None:
        """Ask which value of a field of the narrowing should hold. Numbers of checks are known when these are done."""
        numbers = self._numbers()[field]
        names = {name: category_name(name) for name in sorted(numbers)}
        if field == "check":
            self.check_memories(is_whole=True)
            names = {ANY: "any finding", **{name: f"{name}: {CHECKS[name]}" for name in IN_APP}}
        texts = {ALL: "all memories", **names}
        if field != "check" or self.is_checked:
            texts = number_options(texts, {**numbers, ALL: len(self.app.workspace.index)})

        def narrow(value: str) -> None:
            self.listing.choose(kind=replace(self.narrowing, **{field: value}))

        shown = dict(list(texts.items())[:MOST_CHOICES])
        name = {"check": "finding"}.get(field, field)
        self.ask(ChooseOne(f"Show which {name}?", shown, getattr(self.narrowing, field)), narrow)

    async def action_prompts(self) -> None:
        """Show in Replay why the memory was pulled in. Of several prompts, or of hidden ones, ask for one."""
        current, facts = self.memories.current, self.memories.facts
        found = facts.prompts.get(current.id, ()) if current else ()
        hidden = facts.hidden.get(current.id, ())[:MOST_CHOICES] if current else ()
        if len(found) == 1 and not hidden:
            await self.action_show_why(found[0].prompt_id)
        elif found or hidden:
            options = {pulled.prompt_id: prompt_line(pulled, facts, signs(self)) for pulled in found[:MOST_CHOICES]}
            options |= {SHOW_HIDDEN: SHOW_HIDDEN_LINE.format(len(hidden))} if hidden else {}
            self.ask(ChooseOne(BY_WHICH, options), partial(self._go, hidden))
        elif self.app.progress:
            self.app.tell(keyed(self.app, STILL_REPLAYED))
        elif self.app.jobs_left():
            dialog = ChooseOne("No replayed prompt pulled it in", {"all": "Replay all prompts to find out"})
            self.ask(dialog, lambda _: self.app.with_agreement(self.app.replay_all))
        else:
            self.app.tell(keyed(self.app, NEVER_PULLED))

    @on(AllReplayed)
    def see_replayed(self) -> None:
        self.begin()

    async def _go(self, hidden: Sequence[str], chosen: str) -> None:
        """Show why a chosen prompt pulled the memory in, or first ask for one of the *hidden* prompts."""
        if chosen != SHOW_HIDDEN:
            await self.action_show_why(chosen)
            return
        for prompt_id in hidden:
            self.app.note_sighting(prompt_id)
        options = {prompt_id: prompt_line(Pulled(prompt_id), self.memories.facts, signs(self)) for prompt_id in hidden}
        self.ask(ChooseOne(BY_WHICH, options), self.action_show_why)

    async def action_show_why(self, prompt_id: str) -> None:
        if self.memories.current:
            self.app.workspace.wanted_reason = self.memories.current.id
            await self.go_to_prompt(prompt_id)
