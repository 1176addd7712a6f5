"""The live prompt: what BM25, the hook, and the hook with a judge would inject for it, beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Horizontal
from textual.events import DescendantBlur, DescendantFocus
from textual.getters import query_one
from textual.widgets import OptionList, Static, TextArea
from textual.worker import get_current_worker

from engine.config import AUTO, SYSTEMS
from engine.prompt import typed_prompt
from tui.dialogs.dialog import FullText, text_width
from tui.dialogs.memories import PickMemory
from tui.keys import bindings, keyed
from tui.plain import TITLE_EDGES, joined, plain
from tui.plain_app import Kept
from tui.screens.base_screen import ModeScreen
from tui.screens.live.column import SystemColumn
from tui.widgets.bars import KeyFooter, TopBar
from tui.widgets.explain_text import explained, judge_sentence
from tui.widgets.signs import signs
from tui.workspace.systems import MOST_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.app import ComposeResult
    from textual.timer import Timer

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from tui.runner import Runner

REST_SECONDS = 0.15
"""The columns are made when nothing was typed for this time."""

NO_JUDGE = (
    "No judge. A judge is a language model that reads the found memories and keeps the helpful ones.\n\n"
    "With a key in ANTHROPIC_API_KEY:\nmemsift --judge anthropic\n\n"
    "With a model on this machine:\nmemsift --judge openai --judge-model NAME\n\n"
    "An example without either:\nmemsift demo"
)
ASKS, ASKING, SEARCHING = "{live.ask} asks the judge", "Asking the judge …", "…"
SCRIPTED = "{live.ask} asks a scripted judge: a file of answers, no model"

EXAMPLE = "Example, made from your notes"


class PromptEditor(TextArea):
    """The prompt: text that is typed or pasted."""

    app: Runner
    BINDINGS = bindings(hidden="live.line")

    def action_line(self) -> None:
        self.insert("\n")


class LiveScreen(ModeScreen):
    """A prompt, and below it a column for each system."""

    CSS_PATH = "live.tcss"
    AUTO_FOCUS = "SystemColumn"
    BINDINGS = bindings(
        shown="live.ask replay.type replay.explain replay.pick mark.relevant mark.not live.next",
        hidden="live.previous mark.unsure mark.undo copy.text copy.path",
        at_once="live.ask",
    )
    HELP = (
        "{replay.type} goes to the prompt; the columns follow as you type. {live.ask} asks the judge, which "
        "may cost money. {replay.explain} tells why a memory is injected, {replay.pick} why another one is not. "
        "{live.next} goes to the next column."
    )

    editor = query_one(PromptEditor)
    note = query_one("#note", Static)
    _prompt: Prompt | None = None
    _example = ""
    _answers: Mapping[str, Retrieval | None] = {}
    _is_asking = False
    _resting: Timer | None = None

    def compose(self) -> ComposeResult:
        self._prompt = self.app.workspace.first_prompt()
        self._example = "" if self.app.workspace.lists.find(self._prompt.id) else self._prompt.text
        yield TopBar("replay")
        yield PromptEditor(self._prompt.text, placeholder="Type or paste a prompt.", classes="pane")
        with Horizontal(id="columns"):
            yield from map(SystemColumn, range(MOST_COLUMNS))
        yield Static(id="note")
        yield KeyFooter()

    def begin(self) -> None:
        self.rank_now()

    def show_again(self) -> None:
        self.show_columns()

    @property
    def prompt(self) -> Prompt | None:
        return self._prompt

    @property
    def columns(self) -> list[SystemColumn]:
        """The columns that systems have now."""
        return [*self.query(SystemColumn)][: len(self.app.workspace.live)]

    @property
    def column(self) -> SystemColumn:
        """The column with the cursor, or the first."""
        return next((column for column in self.columns if column.has_focus), self.columns[0])

    @property
    def current_memory(self) -> MemorySummary | None:
        found = self.column.found.get(self.column.chosen)
        return found.memory if found else None

    # The answers

    @on(TextArea.Changed)
    def rank_soon(self) -> None:
        text = self.editor.text.strip()
        known = (prompt for prompt in self.app.workspace.lists.all if prompt.text == text)
        self._prompt, self._is_asking = next(known, typed_prompt(text)), False
        if self._resting:
            self._resting.stop()
        self._resting = self.set_timer(REST_SECONDS, self.rank_now)

    def rank_now(self) -> None:
        if self._prompt:
            self.rank(self._prompt, [name for _, name in self.app.workspace.live if name])

    @work(thread=True, exclusive=True, group="ranking", exit_on_error=False)
    def rank(self, prompt: Prompt, names: Sequence[str]) -> None:
        """Have each system answer, a judge only from its cache."""
        worker, workspace = get_current_worker(), self.app.workspace
        answers = {name: workspace.previewed(prompt, name) if prompt.text else None for name in names}
        if not worker.is_cancelled:
            self.call_later(self.take_answers, prompt, answers)

    def take_answers(self, prompt: Prompt, answers: Mapping[str, Retrieval | None]) -> None:
        if prompt is self._prompt:
            self._answers = answers
            if self.app.workspace.lists.find(prompt.id):
                self.app.note_sighting(prompt.id)
            self.show_columns()

    @on(Kept)
    def show_answer(self, message: Kept) -> None:
        if self._prompt and self._prompt.id in message.prompt_ids:
            self._is_asking = False
            self.rank_now()

    def show_columns(self) -> None:
        workspace, prompt, answers = self.app.workspace, self._prompt, self._answers
        self.show_title()
        if prompt is None or not answers:
            return
        verdicts = workspace.verdicts(prompt.id)
        beside = {found.memory.id for answer in answers.values() if answer for found in answer.injected}
        for column, (called, name) in zip(self.columns, workspace.live, strict=True):
            answer = answers.get(name)
            if answer:
                column.show(called, answer, beside, verdicts)
            else:
                column.say(called, self._lack(name, prompt))
        judged = [answer for answer in answers.values() if answer and SYSTEMS[answer.system].has_judge]
        hidden = self._show_few()
        more = keyed(self.app, f"{{live.next}} shows {hidden}. ") if hidden else ""
        self.note.update(plain(more + (judge_sentence(judged[-1]) if judged else "")))
        self.refresh_bindings()

    @on(DescendantFocus)
    @on(DescendantBlur)
    def show_title(self) -> None:
        """Tell what keys do, and that an example is one. From the columns, nothing is selected in the prompt."""
        is_example = bool(self._example) and self.editor.text == self._example
        self.editor.set_class(is_example, "-example")
        if self.focused is self.editor:  # `has_focus` comes later
            hints = ["typing replaces it" if is_example else "", self._asks, "{live.line} begins a line"]
            hints += ["{go.back} leaves it"]
        else:
            self.editor.move_cursor(self.editor.document.end)
            hints = ["{replay.type} types your own" if is_example else "{replay.type} types another"]
        parts = [EXAMPLE if is_example else "Prompt", *(keyed(self.app, hint) for hint in hints if hint)]
        self.editor.border_title = plain(joined(parts, self.size.width - 2 * TITLE_EDGES))

    @property
    def _asks(self) -> str:
        """The key that asks the judge, and whether that is a model; empty without a judge."""
        judge = self.app.workspace.judge
        return "" if judge is None else SCRIPTED if judge.identity(AUTO)[0] == "scripted" else ASKS

    def _lack(self, name: str, prompt: Prompt) -> str:
        """The reason why a column has no answer."""
        if not name:
            return NO_JUDGE
        if not prompt.text:
            return "Type a prompt first."
        if not SYSTEMS[name].has_judge:
            return SEARCHING
        return ASKING if self._is_asking else f"{keyed(self.app, self._asks)}."

    def _show_few(self) -> str:
        """Where the terminal is narrow, show the column with the cursor and the next; the name of the next hidden one.

        A screen reader reads line by line, so that there a single column is shown.
        """
        columns = self.columns
        at, most = columns.index(self.column), 1 if signs(self).in_words else 2 if self.has_class("-narrow") else 3
        first = max(0, min(at, len(columns) - most))
        for column in self.query(SystemColumn):
            column.display = column in columns[first : first + most]
        after = (*range(at, len(columns)), *range(at))
        return next((self.app.workspace.live[place][0] for place in after if not columns[place].display), "")

    # Keys

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        is_typing = self.is_mounted and self.editor.has_focus
        if action == "ask":
            is_open = None in self._answers.values() and bool(self._prompt and self._prompt.text)
            return "" if is_typing or is_open else "The judge has answered."
        if action in ("label", "explain", "copy_path"):
            return "" if self.is_mounted and self.current_memory else "Go to a memory first."
        return ""

    async def action_type(self) -> None:
        self.set_focus(self.editor)  # at once: the next key is for the prompt
        self.editor.select_all()

    def action_move(self, step: int) -> None:
        """Go to the next column, or to the one before."""
        columns = self.columns
        columns[(columns.index(self.column) + step) % len(columns)].focus()
        self.call_after_refresh(self.show_columns)

    def step_back(self) -> bool:
        """Leave the prompt for the columns."""
        if self.editor.has_focus:
            self._leave_prompt()
            return True
        return False

    def _leave_prompt(self) -> None:
        """Go to the first column with an injected memory."""
        full = (column for column in self.columns if any(row.injected for row in column.found.values()))
        self.set_focus(next((column for column in full if column.display), self.column))

    def action_ask(self) -> None:
        """Take the prompt into the list of prompts, and ask the judge about it."""
        prompt = self._prompt
        self._leave_prompt()
        if prompt is None or not prompt.text:
            return
        self._keep(prompt)

        def ask() -> None:
            self._is_asking = self.app.ask_judge(prompt)
            self.rank_now()

        self.app.with_agreement(ask)

    def _keep(self, prompt: Prompt) -> None:
        self.app.workspace.lists.add(prompt)
        self.app.workspace.wanted_prompt = prompt.id
        self.app.run_quick(prompt)

    def action_label(self, verdict: str) -> None:
        """Write a label that is not blind: the ranks are on the screen."""
        found, prompt = self.column.found.get(self.column.chosen), self._prompt
        if found and prompt:
            with self.app.telling_errors():
                self._keep(prompt)
                self.app.workspace.label_seen(prompt.id, found.memory, found.rank, verdict)
                self.show_columns()

    def action_undo(self) -> None:
        if event := self.take_back(self.app.workspace.undo):
            self.app.tell(f"Taken back: {event.memory_id}")
            self.show_columns()

    @on(OptionList.OptionSelected)
    def action_explain(self) -> None:
        if self.column.chosen:
            self.explain(self.column.chosen)

    def action_pick(self) -> None:
        self.ask(PickMemory(self.app.workspace.index), self.explain)

    def explain(self, memory_id: str) -> None:
        """Show the outcome of a memory in each system that has answered."""
        answers = [answer for answer in self._answers.values() if answer]
        text = explained(self.app.workspace, answers, memory_id, text_width(self.app.size.width))
        self.app.push_screen(FullText("Why", text))
