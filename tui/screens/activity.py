"""Activity: what the hook did on each prompt, newest first, and the way back from there to Replay and Label."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual import on, work
from textual.content import Content

from engine.agents.registry import title_of
from engine.conversations.activity_log import SLOW_MS
from tui.keys import bindings, keyed
from tui.plain import cells, hanging, marked, one_line, plain
from tui.screens.base_screen import ModeScreen
from tui.screens.filtered_list import FilteredList
from tui.widgets.lists.columns import Column, ColumnList
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import HEADING, MUTED
from tui.widgets.signs import DRAWN, signs
from tui.workspace.activity_rows import (
    BY_PROMPT,
    MOST,
    NEWEST,
    RULES,
    SLOWEST,
    ActivityEntry,
    ActivityLog,
    add_to_sample,
    log_stamps,
    prompt_of,
    read_activity,
    weeks_line,
)
from tui.workspace.systems import DROPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.memory import Memory
    from engine.prompt import Prompt
    from tui.plain import Marks
    from tui.widgets.signs import Signs


PLACEHOLDER = "Press {list.filter} and type: words of prompts, memories or reasons"
NO_HOOK = (
    "The hook is not installed in this folder, so there is nothing to show.\n\n`memsift install` puts it into the "
    "settings of Claude Code. Each prompt becomes a row here from then on."
)
NO_LOG = (
    "The hook is installed, and has answered no prompt for these memories yet.\n\nEach prompt in Claude Code becomes a "
    "row here. The log keeps a hash in place of the prompt; `memsift config set logging.prompts true` keeps its text."
)
NO_MATCH = "No row fits the filter. Press {go.back} to see all."
READING = "Reading the log …"
UNKNOWN = "The text of this prompt is unknown, so it cannot be replayed."
CHECK_SECONDS = 0.5
"""Time between two looks at the size of the log."""


MOST_DROPPED, WORD_WIDTH = 20, 10
TOOK = ("muted", "bad")
NO_TEXT = (
    "The text of this prompt is unknown: the log holds only its SHA-256, and no open file has the prompt. So it "
    "cannot be replayed or labelled. `memsift config set logging.prompts true` keeps the texts from now on."
)


def _duration(entry: ActivityEntry) -> str:
    return f"{entry.decision.ms:,.0f} ms"


def _outcome_tone(entry: ActivityEntry) -> str:
    if entry.decision.fallback:
        return "match"
    return "good" if entry.decision.injected else "muted"


COLUMNS = (
    Column(lambda entry: entry.decision.time[5:16].replace("T", " "), "When (UTC)", NEWEST, width=12),
    Column(
        lambda entry: entry.name,
        "Prompt",
        BY_PROMPT,
        tone=lambda entry: "" if entry.prompt else "muted",
        has_marks=True,
    ),
    Column(lambda entry: str(len(entry.injected) or "–"), "Inj.", MOST, 6, 2, tone=_outcome_tone, is_number=True),
    Column(lambda entry: entry.outcome, "Memories, or why none", width=30, from_width=96, tone=_outcome_tone),
    Column(_duration, "Took", SLOWEST, 9, tone=lambda entry: TOOK[entry.decision.ms >= SLOW_MS], is_number=True),
)


class ActivityList(ColumnList[ActivityEntry]):
    """The decisions of the hook, a row each."""

    NOUN = "answer of the hook"

    columns = COLUMNS

    def id_of(self, record: ActivityEntry) -> str:
        return str(record.number)


def entry_text(
    entry: ActivityEntry,
    memory_of: Callable[[str], Memory | None],
    marker: Marks,
    note: str,
    width: int,
    drawn: Signs = DRAWN,
) -> Content:
    """When, the prompt, the injected memories, and why each of the others was dropped, on a line of *width* cells.

    *note* ends the head.
    """
    decision = entry.decision
    facts = (
        f"{decision.time[:19].replace('T', ' ')} UTC",
        _duration(entry),
        title_of(decision.agent),
        decision.system,
        f"session {decision.session_id[:8]}",
    )
    head = " · ".join((*filter(None, facts), *filter(None, (note,))))
    return Content("\n").join(
        [
            plain(head).stylize_before(MUTED),
            Content(""),
            marked(entry.prompt, marker) if entry.prompt else plain(NO_TEXT),
            *_outcome(entry, memory_of, width, drawn),
            *_dropped(entry, memory_of, width),
        ]
    )


def _outcome(
    entry: ActivityEntry, memory_of: Callable[[str], Memory | None], width: int, drawn: Signs
) -> list[Content]:
    decision, sign = entry.decision, Content.styled(f"{drawn.injected} ", "$text-success")
    titles = (plain(_title(memory_id, memory_of)) for memory_id in decision.injected)
    lines = [hanging(sign + title, sign.cell_length, width) for title in titles]
    lines += [plain(f"Nothing: {one_line(decision.reason) or 'no memory'}.")] if not decision.injected else []
    lines += [plain(f"The judge fell back: {one_line(decision.fallback)}.")] if decision.fallback else []
    heading = f"Injected · {decision.characters:,} characters" if decision.injected else "Injected"
    return [Content(""), plain(heading).stylize_before(HEADING), *lines]


def _dropped(entry: ActivityEntry, memory_of: Callable[[str], Memory | None], width: int) -> list[Content]:
    found = entry.decision.dropped
    if not found:
        return []
    room = width - WORD_WIDTH
    rows = [(DROPPED.get(stage, stage), _title(name, memory_of)) for name, stage in found[:MOST_DROPPED]]
    lines = [plain(f"{cells(word, WORD_WIDTH - 2)}  {cells(title, room).rstrip()}") for word, title in rows]
    rest = len(found) - MOST_DROPPED
    lines += [plain(f"and {rest:,} more").stylize_before(MUTED)] if rest > 0 else []
    return [Content(""), plain("Dropped, and why").stylize_before(HEADING), *lines]


def _title(memory_id: str, memory_of: Callable[[str], Memory | None]) -> str:
    memory = memory_of(memory_id)
    return one_line(memory.summary.name if memory else f"{memory_id} (not here any more)")


class ActivityScreen(ModeScreen):
    """The hook's logs of the open roots."""

    TAB = "activity"
    CSS_PATH = "filtered_list.tcss"
    AUTO_FOCUS = "ActivityList"
    ON_ROWS = ("select", "select_all", "open", "sample", "copy", "read_prompt")
    CHOOSING = ("kind",)
    BINDINGS = bindings(
        shown="list.filter activity.kind activity.open activity.sample activity.live app.mute copy.text list.order",
        hidden="list.select list.all list.turn prompt.read",
    )
    HELP = (
        "What the hook decided on each prompt: when, what it injected, or why nothing, and how long it took. "
        "{activity.open} replays the prompt. {activity.sample} adds it to the sample, as chosen by hand; {go.label} "
        "then labels it. {activity.live} follows the hook as it answers, and {app.mute} mutes it."
    )

    def __init__(self) -> None:
        super().__init__()
        self.entries = ActivityList()
        self.listing = FilteredList(self, self.entries, RULES, PLACEHOLDER)
        self.hold(self.listing)
        self._log: ActivityLog | None = None
        self._is_live = False

    def on_mount(self) -> None:
        self.set_interval(CHECK_SECONDS, self.follow)

    def begin(self) -> None:
        if self._log is None:
            self.listing.show_progress(READING)
        self.follow()

    def follow(self) -> None:
        """Read the log again if it has grown."""
        if not self.is_current or (self._log and self._log.stamps == log_stamps(self.app.workspace.roots, os.environ)):
            return
        self.read_log()

    @work(thread=True, exclusive=True, group="log", exit_on_error=False)
    def read_log(self) -> None:
        workspace = self.app.workspace
        log = read_activity(workspace.index, workspace.lists.all, workspace.store.path, os.environ)
        self.call_later(self.show_log, log)

    def show_log(self, log: ActivityLog) -> None:
        self._log = log
        self.listing.progress = ""
        self.listing.show_matching()
        if self._is_live:
            self.entries.action_first()

    # The list

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        return self.listing.why_off(action, self.ON_ROWS, self.CHOOSING)

    def find_rows(self) -> Sequence[ActivityEntry] | None:
        return self.listing.find(self._log.entries if self._log else None)

    def nothing(self) -> Content:
        if self._log and self._log.entries:
            return plain(keyed(self.app, NO_MATCH))
        if self._log and self._log.is_installed:
            return plain(NO_LOG)
        return plain((self._log and self._log.stopped_by) or NO_HOOK)

    def title_parts(self) -> Sequence[str]:
        if self._log is None:
            return ()
        broken = f"{self._log.broken:,} lines cannot be read" if self._log.broken else ""
        weeks = weeks_line(self._log.weeks, in_words=signs(self).in_words)
        live = "following the hook" if self._is_live else ""
        listed = self.listing.of_all(len(self._log.entries), "prompts")
        return listed, self.listing.choice.kind, live, weeks, broken

    def show_current(self, *, from_start: bool = True) -> None:
        entry = self.entries.current
        if entry:
            workspace, detail = self.app.workspace, self.listing.detail
            known = workspace.lists.find(entry.prompt_id) if entry.prompt_id else None
            is_sampled = known is not None and not workspace.lists.is_scratch(known)
            note = "in the sample" if is_sampled else ""
            text = entry_text(entry, workspace.memory, self.entries.marker, note, detail.text_width, signs(self))
            detail.show(text, from_start=from_start)

    # Keys

    def action_kind(self) -> None:
        self.listing.ask_kind("Show which prompts?", RULES.counts(self._log.entries if self._log else ()))

    def action_live(self) -> None:
        """Put the cursor on the newest prompt, now and whenever a newer one comes, or leave it where it is."""
        self._is_live = not self._is_live
        if self._is_live:
            self.listing.choose(order=NEWEST, is_turned=False)
            self.entries.action_first()
        self.listing.show_title()

    @property
    def prompt(self) -> Prompt | None:
        """The prompt under the cursor; None if its text is unknown."""
        entry = self.entries.current
        return prompt_of(entry, self.app.workspace) if entry else None

    @on(RowList.Selected)
    async def action_open(self) -> None:
        """Show the prompt in Replay."""
        with self.app.telling_errors():
            if prompt := self.prompt:
                self.app.workspace.lists.add(prompt)
                await self.go_to_prompt(prompt.id)
            else:
                self.app.tell(UNKNOWN, severity="warning")

    def action_sample(self) -> None:
        """Add the selected prompts, or that under the cursor, to the labelled sample."""
        with self.app.telling_errors():
            added = add_to_sample(self.entries.chosen, self.app.workspace)
            for prompt in added.prompts:
                self.app.run_quick(prompt)
            self.app.tell(keyed(self.app, added.sentence))
            self.listing.select(())
            self.show_current(from_start=False)

    def action_copy(self) -> None:
        if entry := self.entries.current:
            self.app.copy_to_clipboard(entry.prompt or entry.decision.prompt_sha256)
            self.app.tell("Copied the prompt." if entry.prompt else "Copied the SHA-256 of the prompt.")
