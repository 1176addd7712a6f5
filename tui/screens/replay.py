"""Replay: a prompt through two or three systems, side by side, and why a memory is injected or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static

from engine.config import injected_system
from engine.conversations.injected import names_of
from engine.search.highlight import Marker
from tui.dialogs.choices import ChooseSystems
from tui.dialogs.dialog import FullText, text_width
from tui.dialogs.memories import PickMemory
from tui.keys import bindings, keyed
from tui.plain import beginning, plain
from tui.plain_app import AllReplayed, Kept
from tui.screens.base_screen import ModeScreen
from tui.screens.phrase_changes import UNDO_ELSEWHERE, PhraseChanges, why_no_phrase
from tui.screens.prompts_pane import PromptsPane
from tui.widgets.bars import KeyFooter, TopBar
from tui.widgets.explain_text import explained, judge_sentence, model_text
from tui.widgets.lists.prompts import PromptList
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import NO_MARKS, MemoryPane, memory_text
from tui.widgets.ranking_table import MISSED, RankingPane, RankingTable, ranking_rows
from tui.workspace.filtering import NO_PROMPTS_TO_REPLAY, nothing_found
from tui.workspace.prompts import empty_text
from tui.workspace.systems import record_note, scale_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.timer import Timer

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from tui.widgets.ranking_table import Row

REST_SECONDS = 0.3
NOT_TYPED = "Go to a prompt that you typed."
JUDGE_OFF = "The judge is off (--judge anthropic switches it on). {replay.columns} chooses other systems."
WHY, MEMORY, MODEL = "why", "memory", "model"
VIEWS = {WHY: "Why", MEMORY: "The memory", MODEL: "The text that the model would see"}


class ResultPane(RankingPane):
    """The prompt under the cursor and its ranking."""

    prompt_pane = query_one("#prompt", Static)

    def compose(self) -> ComposeResult:
        yield Static(id="prompt")
        yield from super().compose()


class ViewPane(MemoryPane):
    """The text about the memory under the cursor."""

    BINDINGS = [Binding("left", "screen.prompts", show=False)]


class ReplayScreen(ModeScreen):
    """Prompts, and below them the ranking of one; beside or below that, a text about the memory under the cursor."""

    CSS_PATH = "replay.tcss"
    AUTO_FOCUS = "PromptList"
    BINDINGS = bindings(
        shown="replay.explain replay.pick mark.relevant mark.not replay.type replay.choose replay.filter "
        "replay.columns replay.all replay.diff copy.text replay.search replay.order replay.view copy.path",
        hidden="replay.turn replay.memories replay.prompts replay.remove mark.unsure "
        "mark.unrateable mark.undo mark.phrase replay.again replay.next replay.previous replay.open prompt.read",
    )
    HELP = (
        "Right and left go between prompts, memories and a text. In all of them, {mark.relevant} and "
        "{mark.not} say whether the memory under the cursor is relevant, {replay.explain} explains its place, and "
        "{replay.view} shows another text about it. {replay.pick} explains any other memory. {mark.phrase} adds the "
        "prompt as a phrase of a memory that was missed."
    )

    prompt_list = query_one(PromptList)
    result = query_one(ResultPane)
    table = query_one(RankingTable)
    view = query_one(ViewPane)

    def __init__(self) -> None:
        super().__init__()
        self.prompts = PromptsPane(self.show_none, ResultPane(id="result", classes="pane"))
        self.phrases = PhraseChanges(self, undo=UNDO_ELSEWHERE)
        self.hold(self.prompts)
        self._asked_at = 0.0
        self._resting: Timer | None = None
        self._shown_view = WHY
        self._shown_id = ""

    def compose(self) -> ComposeResult:
        yield TopBar("replay")
        with Container(id="panes"):
            yield self.prompts
            yield ViewPane("view")
        yield KeyFooter()

    def on_mount(self) -> None:
        self.set_interval(0.1, self._show_waiting)

    def begin(self) -> None:
        if self.app.workspace.wanted_prompt and not self.prompts.shows_all:
            self.prompts.show_all()
        self.prompts.show_matching()
        self.prompts.read_known()

    @property
    def prompt(self) -> Prompt | None:
        return self.prompts.prompt if self.is_mounted else None

    @on(AllReplayed)
    def show_replayed(self) -> None:
        self.prompts.show_prompts()

    def show_none(self) -> None:
        self.set_class(self.prompt is None, "-none")
        if self.prompt:
            return
        workspace = self.app.workspace
        why = NO_PROMPTS_TO_REPLAY if self.prompts.shows_all else empty_text(self.prompts.choice.kind, workspace.heads)
        self.result.prompt_pane.update(plain(keyed(self.app, why)))
        self.result.border_title = "Prompt"
        self.result.show(workspace.heads, [], NO_MARKS)
        self.result.tell_judge("")
        self.view.show(plain(""))

    # The prompt and its ranking

    @on(RowList.Highlighted, "PromptList")
    def run_current(self) -> None:
        """Run the quick systems at once, but the judge, which may cost money, only when the cursor rests."""
        prompt = self.prompt
        if prompt is None:
            return
        self.app.run_quick(prompt)
        self.prompts.learn([prompt.id])
        self.show_prompt(prompt)
        if self.app.workspace.wanted_reason:
            self._show_reason()
        self._asked_at = self.app.workspace.clock()
        if self._resting:
            self._resting.stop()
        self._resting = self.set_timer(REST_SECONDS, self.ask_judge)

    def ask_judge(self) -> None:
        if self.prompt:
            self.app.ask_judge(self.prompt)

    @on(Kept)
    def show_answer(self, message: Kept) -> None:
        """Take in an answer, and show it if its prompt is still on the screen."""
        self.prompts.learn(message.prompt_ids)
        if self.prompt and self.prompt.id in message.prompt_ids:
            self.show_prompt(self.prompt)

    def show_prompt(self, prompt: Prompt) -> None:
        workspace = self.app.workspace
        answers = workspace.answers(prompt.id)
        rows = ranking_rows(workspace.heads, answers, workspace.verdicts(prompt.id))
        self.app.note_sighting(prompt.id)
        if prompt.id != self._shown_id:
            self._shown_id, self.table.records = prompt.id, ()  # the cursor begins at the best memory
        self.result.show(workspace.called_heads, rows, Marker.of(prompt))
        self.result.prompt_pane.update(beginning(prompt.text))
        self.result.border_title = plain(f"Prompt · {prompt.kind}" if prompt.kind else "Prompt")
        self.result.tell_judge(self._judge_text(answers) if rows else keyed(self.app, nothing_found(workspace.index)))
        if not rows:
            self.view.show(plain(""))

    def _judge_text(self, answers: Sequence[Retrieval | None]) -> str:
        """The judge's status, or why there is none; before that, whether the numbers compare."""
        workspace, columns = self.app.workspace, self.app.workspace.columns
        if workspace.needs_agreement:
            said = [keyed(self.app, "Press {app.judge} to ask the judge, which may cost money.")]
        elif workspace.judge:
            asked = zip(answers, columns, strict=True)
            said = [judge_sentence(answer) for answer, system in asked if system.has_judge]
        else:
            said = [] if record_note(columns) else [keyed(self.app, JUDGE_OFF)]
        return "\n".join(filter(None, dict.fromkeys((scale_note(columns), record_note(columns), *said))))

    def _show_waiting(self) -> None:
        """Show the seconds since the judge was asked."""
        workspace, prompt = self.app.workspace, self.prompt
        judged = [system.name for system in workspace.columns if system.has_judge]
        if prompt and any(workspace.retrieval(prompt.id, name) is None for name in judged):
            self.result.tell_judge(f"Asking the judge … {workspace.clock() - self._asked_at:.1f} s")

    # The text about the memory under the cursor

    def show_again(self) -> None:
        self.show_view()

    @on(RowList.Highlighted, "RankingTable")
    def show_view(self) -> None:
        if row := self.table.current:
            key = keyed(self.app, "{replay.view}")
            self.view.border_title = plain(f"{VIEWS[self._shown_view]} · {key} shows another text")
            self.view.show(self._view_text(row))

    def _view_text(self, row: Row) -> Content:
        """Why, the memory, or the text for the model. Where there is room, the memory stands below the reasons."""
        workspace, prompt, is_wide = self.app.workspace, self.prompt, self.has_class("-wide")
        if prompt is None:
            return plain("")
        memory = workspace.memory(row.memory.id) if is_wide or self._shown_view == MEMORY else None
        whole = memory_text(memory, Marker.of(prompt)) if memory else plain("")
        if self._shown_view == MEMORY:
            return whole
        if self._shown_view == WHY:
            why = self._explained(row.memory.id, self.view.text_width, has_title=False)
            return Content("\n\n").join([why, whole]) if is_wide else why
        answers = [answer for answer in workspace.answers(prompt.id) if answer]
        return model_text(answers, workspace.config, row.memory)

    def _explained(self, memory_id: str, width: int, *, has_title: bool = True) -> Content:
        """The outcome of a memory for this prompt in each system that has answered."""
        if self.prompt is None:
            return plain("")
        answers = [answer for answer in self.app.workspace.answers(self.prompt.id) if answer]
        return explained(self.app.workspace, answers, memory_id, width, has_title=has_title)

    def action_view(self) -> None:
        names = list(VIEWS)
        self._shown_view = names[(names.index(self._shown_view) + 1) % len(names)]
        self.show_view()

    def action_explain(self) -> None:
        """Go to the explanation, or show it over the screen where the pane has little room."""
        if row := self.table.current:
            self._shown_view = WHY
            self.show_view()
            if self.has_class("-wide"):
                self.view.focus()
            else:
                self.explain(row.memory.id)

    def _show_reason(self) -> None:
        """Explain the place of the memory that another screen asks about, also if no system finds it now."""
        wanted, self.app.workspace.wanted_reason = self.app.workspace.wanted_reason, ""
        if any(row.memory.id == wanted for row in self.table.records):
            self.table.go_to(wanted)
            self.table.focus()
            self.action_explain()
        else:
            self.explain(wanted)

    def action_pick(self) -> None:
        """Let a person pick a memory to explain, whether or not a system found it."""
        if self.prompt:
            self.ask(PickMemory(self.app.workspace.index), self.explain)

    def explain(self, memory_id: str) -> None:
        if self.prompt:
            judged = plain(self._judge_text(self.app.workspace.answers(self.prompt.id)))
            text = self._explained(memory_id, text_width(self.app.size.width))
            whole = Content("\n\n").join([text, judged.stylize_before("$foreground-muted")])
            self.app.push_screen(FullText("Why", whole))

    # Keys

    def action_columns(self) -> None:
        workspace = self.app.workspace
        possible = (*workspace.possible, *map(injected_system, names_of(workspace.prompts)))
        self.ask(ChooseSystems(possible, workspace.heads), self.take_columns)

    def take_columns(self, names: tuple[str, ...]) -> None:
        self.app.workspace.chosen = names
        self.prompts.show_matching()

    def action_again(self) -> None:
        if self.prompt:
            self.app.workspace.forget(self.prompt.id)
            self.run_current()

    @on(RowList.Selected, "PromptList")
    def action_memories(self) -> None:
        if self.focused is self.table:
            self.view.focus()
        elif self.table.count:
            self.table.focus()

    def step_back(self) -> bool:
        if self.focused in (self.table, self.view):
            self.action_prompts()
            return True
        return super().step_back()

    def action_prompts(self) -> None:
        self.set_focus(self.table if self.focused is self.view and self.table.count else self.prompt_list)

    @property
    def current_memory(self) -> MemorySummary | None:
        return self.table.current.memory if self.table.current else None

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        """Keys about a memory act on the row under the cursor of the table, wherever the focus is."""
        if isinstance(self.focused, Input):
            return "You are typing a search."
        if action in ("label", "explain", "view", "copy_path"):
            return "" if self.table.count else "No memory fits this prompt."
        if action == "phrase":
            return why_no_phrase(self._row)
        if action == "remove":
            return "" if self.focused is self.prompt_list and self.prompt_list.is_on_scratch else NOT_TYPED
        if action in ("open", "prompts"):
            return "Go to the memories first." if self.focused is self.prompt_list else ""
        return "The text is the last pane." if action == "memories" and self.focused is self.view else ""

    @on(RowList.Selected, "RankingTable")
    def action_open(self) -> None:
        row, prompt = self.table.current, self.prompt
        if row and prompt:
            self.read_memory(row.memory.id, row.memory.id, Marker.of(prompt))

    def action_label(self, verdict: str) -> None:
        """Write a label that is not blind: ranks and verdicts are on the screen, whatever the list shows already."""
        row, prompt = self.table.current, self.app.workspace.lists.find(self._shown_id)
        if row is None or prompt is None:
            return
        workspace = self.app.workspace
        with self.app.telling_errors():
            workspace.label_seen(prompt.id, row.memory, row.rank, verdict)
            self._show_labels(prompt, prompt.id)
            if self.table.current and self.table.current.is_missed:
                self.app.tell(keyed(self.app, MISSED))
            self.table.action_cursor(1)

    @property
    def _row(self) -> Row | None:
        """The row under the cursor, unless the focus is in the prompts."""
        return self.table.current if self.focused in (self.table, self.view) else None

    def action_phrase(self) -> None:
        """Let the prompt become a phrase of the memory under the cursor, or from the prompts, of any memory."""
        if self.prompt:
            self.phrases.add_prompt(self.prompt, self._row)

    def action_undo(self) -> None:
        event = self.take_back(self.app.workspace.undo)
        if event and self.prompt:
            self.app.tell(f"Taken back: {event.memory_id}")
            self._show_labels(self.prompt, event.prompt_id)

    def _show_labels(self, prompt: Prompt, changed_id: str) -> None:
        """Show the labels of *prompt*, and set or remove the tick of the prompt whose label changed."""
        self.prompts.learn_labels(changed_id)
        others = {prompt_id for prompt_id in self.prompt_list.labelled if prompt_id != changed_id}
        self.prompt_list.mark_labelled(others | ({changed_id} if self.app.workspace.labels(changed_id) else set()))
        self.show_prompt(prompt)
