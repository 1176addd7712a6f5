"""Report: the gate's answer and the next step, then every part of the report as a chart and a table whose rows open."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Provider
from textual.containers import Container, ScrollableContainer, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static
from textual.worker import Worker, WorkerState, get_current_worker

from engine.installation import install_command
from engine.wording import counted
from labels.measure.report import ReportOptions
from labels.report.first_lines import BY_REPLAY, BY_TARGET, BY_WORST
from tui.dialogs.choices import ChooseOne, ChoosePrompt
from tui.dialogs.questions import AskLine
from tui.keys import bindings, keyed
from tui.plain import one_line, plain
from tui.plain_app import AllReplayed
from tui.screens.base_screen import ModeScreen
from tui.widgets.bars import KeyFooter, TopBar
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import TextPane
from tui.widgets.panes import Fitted
from tui.widgets.report import (
    PartList,
    TableRows,
    answer_text,
    called_table,
    memory_row_text,
    part_text,
    prompts_text,
    table_rows,
)
from tui.widgets.report_charts import curve_beside, drawn_chart, plot
from tui.widgets.signs import signs
from tui.workspace.filtering import NO_ROWS, nothing_to_count
from tui.workspace.report import ASKED, ENDINGS, TARGETS, counted_prompts, read_report, target_of, write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.app import ComposeResult
    from textual.command import Hits

    from labels.report.section import CountedPrompts, ReportSection
    from tui.workspace.report import ReportReading

MARGIN, FRAME, MIN_WIDTH = 4, 2, 20
"""Cells beside a text and of a frame, and cells of a line at least: a narrower terminal cuts the lines."""

ROOMY, LARGE = 34, 40
"""Rows of a terminal from which on the answer has more numbers, and a curve stands below a table."""

MOST_CHOICES = 200
COUNTING, TARGET = "Counting …", "target"
EXPORT = f"The ending decides the form: {', '.join(ENDINGS)}. Only you can read the file."


class Parts(Provider):
    """Each part of the report."""

    async def discover(self) -> Hits:
        for text, go in self._parts():
            yield DiscoveryHit(text, go)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for text, go in self._parts():
            if (score := matcher.match(text)) > 0:
                yield Hit(score, matcher.highlight(text), go, text)

    def _parts(self) -> Iterator[tuple[str, Callable[[], object]]]:
        screen = self.screen
        if isinstance(screen, ReportScreen):
            for part in screen.parts.records:
                yield f"Read in the report: {one_line(part.title)}", partial(screen.go_to_part, part.name)


class PartPane(Vertical, Fitted):
    """Where a part is shown."""


class AnswerPane(Static, can_focus=True):
    """The answer and the next step. Enter does the step, as it does wherever no row has the cursor."""

    BINDINGS = [
        Binding("down,j", "screen.parts", "Parts", show=False),
        *ScrollableContainer.BINDINGS,
        *TextPane.BINDINGS,
    ]


class ReportScreen(ModeScreen):
    """The report of the label store. A worker makes it each time the screen is shown."""

    CSS_PATH = "report.tcss"
    COMMANDS = {Parts}
    AUTO_FOCUS = "#answer"
    BINDINGS = bindings(
        shown="report.step report.rows report.parts report.replay report.target report.export",
        hidden="report.next report.previous report.more copy.text replay.type",
    )
    HELP = (
        "On the answer, {report.step} does the next step. Down goes to the parts, right to the rows of one, and enter "
        "opens the prompts or the memory that a row counts. Press {report.replay} to replay all prompts first. "
        "{report.more} adds the ranking measures of TREC."
    )

    answer = query_one(AnswerPane)
    parts = query_one(PartList)
    table = query_one(TableRows)
    head = query_one("#head", Static)
    chart = query_one("#chart", Static)
    text = query_one("#about-text", Static)
    state = query_one("#state", Static)

    def __init__(self) -> None:
        super().__init__()
        self._reading: ReportReading | None = None
        self._shows_more = False
        self._asked = ASKED
        self._replaying = ""
        self._doing = ""

    def compose(self) -> ComposeResult:
        yield TopBar("report")
        yield AnswerPane(id="answer", classes="pane")
        with Container(id="panes"):
            yield PartList(classes="pane")
            with PartPane(id="part", classes="pane"):
                yield Static(id="chart")
                yield Static(id="head")
                yield TableRows()
                with TextPane(id="about"):
                    yield Static(id="about-text")
                with suppress(ImportError):  # without the package, the table says the same
                    from textual_plotext import PlotextPlot

                    yield PlotextPlot(id="plot", classes="-off")
        yield Static(id="state")
        yield KeyFooter()

    def on_mount(self) -> None:
        self.answer.border_title = "Answer"
        self._asked = target_of(self.app.choice(TARGET))

    def begin(self) -> None:
        self.show_report()

    # The report

    def show_report(self) -> None:
        """Have a worker make the report; the present report stays until then."""
        self._doing = COUNTING
        self._show_state()
        self._make(ReportOptions(ranking=self._shows_more, curves=True), self._asked)

    @work(thread=True, exclusive=True, group="report", exit_on_error=False)
    def _make(self, options: ReportOptions, asked: float) -> None:
        """Make the report, and hand it over unless a newer worker has replaced this one."""
        worker, made = get_current_worker(), read_report(self.app.workspace, options, asked)
        if not worker.is_cancelled:
            self.call_later(self.take_report, made)

    def take_report(self, reading: ReportReading) -> None:
        self._reading = reading
        self._doing = ""
        self._show_state()
        self.parts.show(reading.sections if reading.report.systems else [])
        self.show_again()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """After a failure the last report stays."""
        if event.state is WorkerState.ERROR:
            self._doing = ""
            self._show_state()

    def show_again(self) -> None:
        if self._reading:
            is_short = self.size.height < ROOMY
            report, workspace = self._reading.report, self.app.workspace
            lack = "" if report.labelled_prompts else nothing_to_count(workspace.index, workspace.lists.drawn)
            width, say = self._width(self.size.width - FRAME), partial(keyed, self.app)
            text = answer_text(self._reading, width, say, is_short=is_short, drawn=signs(self))
            self.answer.update(plain(keyed(self.app, lack)) if lack else text)
            self.set_class(bool(lack) or not report.systems, "-empty")
            self.show_part()
            self.refresh_bindings()

    @staticmethod
    def _width(cells: int) -> int:
        return max(MIN_WIDTH, cells - MARGIN)

    def _show_state(self) -> None:
        text = " · ".join(filter(None, (self._replaying, self._doing)))
        self.state.update(plain(text))
        self.state.set_class(not text, "-empty")

    # A part

    @property
    def part(self) -> ReportSection | None:
        return self.parts.current

    @on(RowList.Highlighted, "PartList")
    def show_part(self) -> None:
        """Show the part under the cursor: its chart where there is room, its table, and how to read it."""
        if self.part is None or self._reading is None:
            return
        section = self.part
        self.query_one("#part").border_title = plain(section.title)
        self.parts.border_title = plain(f"{self.parts.cursor + 1} of {self.parts.count}")
        width, has_bars = self._width(self.query_one("#part").size.width), not signs(self).in_words
        self._show_chart(section.name, width)
        table = section.table
        called = self.app.workspace.called
        head, rows = table_rows(called_table(table, called), width, has_bars=has_bars) if table else ([], [])
        self.head.update(plain("\n".join(f" {line}" for line in head)))
        self.head.set_class(not head, "-off")
        self.table.set_class(not rows, "-off")
        self.table.show(rows)
        self.show_text()

    def _show_chart(self, name: str, width: int) -> None:
        assert self._reading
        drawn = drawn_chart(name, self._reading.report, width)
        has_room = self.size.height >= LARGE and not self.has_class("-narrow")
        curve = curve_beside(name, self._reading.report) if has_room else None
        plots = self.query("#plot")
        if curve and not plots:
            lack = plain(f"The curve needs the extra stats: {install_command('stats')}")
            drawn = Content("\n\n").join(filter(None, (drawn, lack)))
        self.chart.set_class(drawn is None, "-off")
        if drawn:
            self.chart.update(drawn)
        for widget in plots:
            found: Any = widget
            found.set_class(not curve, "-off")
            self.query_one("#part").set_class(bool(curve), "-curve")
            if curve:
                plot(found.plt, curve)
                found.refresh()

    @on(RowList.Highlighted, "TableRows")
    def show_text(self) -> None:
        if self.part:
            row = self.table.current
            width = self._width(self.query_one("#part").size.width)
            prompts = self._prompts(row.counted, width) if row and row.counted else None
            self.query_one("#part").set_class(prompts is not None, "-behind")
            self.text.update(part_text(self.part, row.whole if row else "", width, prompts))
            self.query_one("#about").scroll_home(animate=False)

    def _prompts(self, counted: CountedPrompts, width: int) -> Content | None:
        """The prompts or the memory that a row counts, where no curve needs the room."""
        if self._reading is None or not counted.prompts or self.query_one("#part").has_class("-curve"):
            return None
        found = counted_prompts(counted, self._reading.report)
        read, drawn = self.app.workspace.memory, signs(self)
        if counted.memory:
            return memory_row_text(found, counted.memory, read(counted.memory), width, drawn)
        return prompts_text(found, len(counted.prompts), read, width, drawn)

    # Keys

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:
        if not self.is_mounted:
            return ""
        if action in ("rows", "parts", "move", "export") and not self.parts.count:
            return keyed(self.app, "There is no report yet. Press {report.replay} to replay the prompts.")
        if action == "rows":
            return "" if self.focused is not self.table else "These are the rows: enter opens one."
        if action == "step":
            return "" if self._reading and self._reading.step.place else "There is no step to do here."
        return super().why_off(action, parameters)

    @on(RowList.Selected, "PartList")
    def action_rows(self) -> None:
        (self.table if self.table.count else self.query_one("#about")).focus()

    def step_back(self) -> bool:
        is_inside = self.focused not in (self.answer, self.parts) and bool(self.parts.count)
        if is_inside:
            self.action_parts()
        return is_inside

    def action_parts(self) -> None:
        """Go to the parts; from there, back to the answer."""
        (self.answer if self.focused is self.parts else self.parts).focus()

    async def action_step(self) -> None:
        """Do the step that the answer names: on another screen, in a dialog, or in a part of the report."""
        place = self._reading.step.place if self._reading else ""
        if place in self.app.MODES:
            await self.app.switch_mode(place)
        elif place == BY_REPLAY:
            self.action_replay_all()
        elif place == BY_TARGET:
            self.action_target()
        elif place == BY_WORST:
            self.go_to_part(place)

    def go_to_part(self, name: str) -> None:
        self.parts.go_to(name)
        self.action_rows()

    def action_move(self, step: int) -> None:
        self.parts.cursor += step

    @on(RowList.Selected, "TableRows")
    async def open_row(self) -> None:
        """Show what the row counts: the memory in Browse, or one of the prompts in Replay."""
        row = self.table.current
        counted = row.counted if row else None
        if self._reading is None or counted is None:
            self.app.tell("This row counts no prompt.")
        elif counted.memory:
            await self.go_to_memory(counted.memory)
        elif len(counted.prompts) == 1:
            await self.go_to_prompt(counted.prompts[0])
        else:
            texts = self._reading.report.captions.prompts
            shown = {name: one_line(texts.get(name, name))[:200] for name in counted.prompts[:MOST_CHOICES]}
            question = f"{len(counted.prompts):,} prompts in this row. Open one:"
            self.ask(ChoosePrompt(question, shown), self.go_to_prompt)

    def action_more(self) -> None:
        self._shows_more = not self._shows_more
        self.show_report()

    def action_target(self) -> None:
        """Let a person choose the precision that the gate asks for."""

        def take(chosen: str) -> None:
            self._asked = target_of(chosen)
            self.app.remember(TARGET, chosen)
            self.show_report()

        options = {f"{target:g}": f"{100 * target:g} % of what is injected is relevant" for target in TARGETS}
        self.ask(ChooseOne("Which precision is asked for?", options, f"{self._asked:g}"), take)

    def action_export(self) -> None:
        def take(name: str) -> None:
            if name and self._reading:
                with self.app.telling_errors():
                    self.app.tell(f"Written: {write_report(self._reading.report, name)}")

        self.ask(AskLine("Write the report to which file?", "memsift-report.html", EXPORT), take)

    # Replaying

    def action_replay_all(self) -> None:
        if not self.app.workspace.prompts:
            self.app.tell(keyed(self.app, NO_ROWS["no prompts to replay"]))
            return
        self.app.with_agreement(self.app.replay_all)

    @on(AllReplayed)
    def finish(self, message: AllReplayed) -> None:
        self._replaying = f"{counted(message.prompts, 'prompt')} replayed."
        self.call_after_refresh(self.show_report)
