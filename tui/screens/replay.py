"""Replay: a prompt through two systems, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Container
from textual.getters import query_one
from textual.widgets import Footer, Static

from engine.prompt import typed_prompt
from labels.records import INJECTED, Card
from tui.bindings import bindings
from tui.dialogs.full_text import FullText, text_width
from tui.dialogs.pick_memory import PickMemory
from tui.dialogs.type_prompt import TypePrompt
from tui.messages import Kept
from tui.plain import beginning, plain
from tui.screens.base_screen import ModeScreen
from tui.widgets.explain_text import candidate_sentence, explain_text, judge_sentence
from tui.widgets.prompt_list import PromptList
from tui.widgets.ranking_table import RankingPane, RankingTable, ranking_rows
from tui.widgets.row_list import RowList
from tui.widgets.top_bar import TopBar
from tui.workspace.empty_states import NO_PROMPTS_TO_REPLAY, nothing_found

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.timer import Timer

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval

CHOSEN_NOW = "It is in the sample now, and F4 asks about it next. As a prompt chosen by hand, it is reported apart."
SCRATCH_AGAIN = "It is a scratch prompt again, beside the sample."
REST_SECONDS = 0.3
IN_PROMPTS, IN_MEMORIES = "Go to the memories first.", "You are at the memories."
NOT_TYPED = "Go to a prompt that you typed."
JUDGE_OFF = "The judge is off (--judge anthropic switches it on). Press c to compare two systems without a judge."
NO_JUDGE = "No judge. On the right: the hook, with the {} cutoff."
WAITING = "Press $ to ask the judge, which may cost money."
COMPARING = "Two systems without a judge, side by side. c goes back."


class Result(RankingPane):
    """The prompt under the cursor, its ranking, and a sentence about the memory under the cursor."""

    prompt_pane = query_one("#prompt", Static)
    why = query_one("#why", Static)

    def compose(self) -> ComposeResult:
        yield Static(id="prompt", classes="pane")
        yield from super().compose()
        yield Static(id="why")


class ReplayScreen(ModeScreen):
    """Prompts on the left; on the right, the result of the prompt under the cursor in two systems."""

    CSS_PATH = "replay.tcss"
    AUTO_FOCUS = "PromptList"
    BINDINGS = bindings(
        shown="replay.memories replay.prompts mark.relevant mark.not mark.undo replay.compare",
        hidden="replay.remove replay.choose replay.type "
        "mark.unsure mark.unrateable replay.again replay.next replay.previous replay.open "
        "replay.explain replay.pick prompt.read",
    )
    HELP = (
        "Right and left go between prompts and memories. There, a and x say whether a memory is relevant, "
        "and e explains its place. f explains any other memory."
    )

    prompt_list = query_one(PromptList)
    result = query_one(Result)
    table = query_one(RankingTable)

    def __init__(self) -> None:
        super().__init__()
        self._asked_at = 0.0
        self._resting: Timer | None = None

    def compose(self) -> ComposeResult:
        yield TopBar("replay")
        with Container(id="panes"):
            yield PromptList(classes="pane")
            yield Result(id="result")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.set_interval(0.1, self._show_waiting)

    def begin(self) -> None:
        lists = self.app.workspace.lists
        self.result.name_systems(self.app.workspace.heads)
        scratch = f" · {len(lists.scratch):,} scratch" if lists.scratch else ""
        self.prompt_list.border_title = f"{len(lists.sample):,} prompts{scratch} · n types another"
        self.prompt_list.mark_labelled(self.app.workspace.labelled_pairs().keys())
        self.prompt_list.scratch = len(lists.scratch)
        self.prompt_list.show(lists.all)
        self.prompt_list.go_to(self.app.workspace.wanted_prompt)
        self.app.workspace.wanted_prompt = ""
        if not lists.all:
            self.result.prompt_pane.update(plain(NO_PROMPTS_TO_REPLAY))

    # The prompt and its ranking

    @property
    def prompt(self) -> Prompt | None:
        return self.prompt_list.current

    @on(RowList.Highlighted, "PromptList")
    def run_current(self) -> None:
        """Run the quick systems at once, but the judge, which may cost money, only when the cursor rests."""
        prompt = self.prompt
        if prompt is None:
            return
        self.app.run_quick(prompt)
        self.show_prompt(prompt)
        self._asked_at = self.app.workspace.clock()
        if self._resting:
            self._resting.stop()
        self._resting = self.set_timer(REST_SECONDS, self.ask_judge)

    def ask_judge(self) -> None:
        if self.prompt:
            self.app.ask_judge(self.prompt)

    @on(Kept)
    def show_answer(self, message: Kept) -> None:
        """Show an answer if its prompt is still on the screen."""
        if self.prompt and self.prompt.id in message.prompt_ids:
            self.show_prompt(self.prompt)

    def show_prompt(self, prompt: Prompt) -> None:
        workspace = self.app.workspace
        first, second = workspace.side_by_side(prompt.id)
        if first is None:
            return
        rows = ranking_rows(first, second, workspace.labels(prompt.id))
        self.app.note_sighting(prompt.id)
        self.result.show(rows, workspace.marker(prompt), "…" if workspace.second else "off")
        self.result.prompt_pane.update(beginning(prompt.text))
        self.result.prompt_pane.border_title = plain(f"Prompt · {prompt.kind}" if prompt.kind else "Prompt")
        self.result.name_systems(workspace.heads)
        self.result.tell_judge(self._judge_text(second) if rows else nothing_found(workspace))
        if not rows:
            self.result.why.update("")

    def _judge_text(self, second: Retrieval | None) -> str:
        if self.app.workspace.comparing:
            return COMPARING
        if self.app.workspace.needs_agreement:
            return WAITING
        if self.app.workspace.judged:
            return judge_sentence(second)
        cutoff = self.app.workspace.cutoff
        return NO_JUDGE.format(cutoff.kind) if cutoff else JUDGE_OFF

    def _show_waiting(self) -> None:
        """Show the seconds since the judge was asked."""
        workspace, judged = self.app.workspace, self.app.workspace.judged
        if workspace.comparing or judged is None:
            return
        if self.prompt and not workspace.retrieval(self.prompt.id, judged.name):
            self.result.tell_judge(f"Asking the judge … {workspace.clock() - self._asked_at:.1f} s")

    @on(RowList.Highlighted, "RankingTable")
    def show_why(self) -> None:
        row = self.table.current
        if row:
            sentence = candidate_sentence(row, self.app.workspace.heads)
            self.result.why.update(plain(f"{row.memory.title}\n{sentence}"))

    # Keys

    def action_compare(self) -> None:
        self.app.workspace.comparing = not self.app.workspace.comparing
        self.run_current()

    def action_move(self, step: int) -> None:
        self.prompt_list.cursor += step

    def action_type(self) -> None:
        self.app.push_screen(TypePrompt(), self.replay_typed)

    def replay_typed(self, text: str | None) -> None:
        if text:
            typed = typed_prompt(text)
            self.app.workspace.add_prompt(typed)
            self.app.workspace.wanted_prompt = typed.id
            self.begin()
        self.prompt_list.focus()

    def action_choose(self) -> None:
        """Move the prompt from scratch into the labelled sample, or back."""
        lists, prompt = self.app.workspace.lists, self.prompt
        if prompt is None:
            return
        if not lists.is_scratch(prompt) and prompt not in lists.chosen:
            self.app.tell("This prompt is in the sample: it comes from a file.")
            return
        with self.app.telling_errors():
            lists.choose(prompt)
            self.app.tell(SCRATCH_AGAIN if lists.is_scratch(prompt) else CHOSEN_NOW)
            self.begin()

    def action_remove(self) -> None:
        lists, prompt = self.app.workspace.lists, self.prompt
        if prompt is None:
            return
        with self.app.telling_errors():
            lists.remove(prompt)
            self.app.tell("Removed. To have it again, type it again with n.")
            self.begin()

    def action_again(self) -> None:
        if self.prompt:
            self.app.workspace.forget(self.prompt.id)
            self.run_current()

    @on(RowList.Selected, "PromptList")
    def action_memories(self) -> None:
        if self.table.count:
            self.table.focus()

    def action_prompts(self) -> None:
        self.prompt_list.focus()

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        """Keys about a memory act only while the table has the focus: nobody labels a row that is not looked at."""
        if action == "remove":
            return "" if self.focused is self.prompt_list and self.prompt_list.is_on_scratch else NOT_TYPED
        if action in ("label", "prompts", "open", "explain"):
            return "" if self.focused is self.table else IN_PROMPTS
        return IN_MEMORIES if action == "memories" and self.focused is not self.prompt_list else ""

    @on(RowList.Selected, "RankingTable")
    def action_open(self) -> None:
        row, prompt = self.table.current, self.prompt
        if row and prompt:
            self.read_memory(row.memory.id, row.memory.id, self.app.workspace.marker(prompt))

    def action_explain(self) -> None:
        row = self.table.current
        if row:
            self.explain(row.memory.id)

    def action_pick(self) -> None:
        """Let a person pick a memory to explain, whether or not a system found it."""
        if self.prompt:
            self.app.push_screen(PickMemory(self.app.workspace.index), self.explain)

    def explain(self, memory_id: str | None) -> None:
        """Show the outcome of a memory for this prompt in each system that has answered."""
        if self.prompt and memory_id:
            explanations = self.app.workspace.explanations(self.prompt.id, memory_id)
            self.app.push_screen(FullText(memory_id, explain_text(explanations, text_width(self.app.size.width))))

    def action_label(self, verdict: str) -> None:
        """Write a label that is not blind: ranks and verdicts are on the screen."""
        row, prompt = self.table.current, self.prompt
        if row is None or prompt is None:
            return
        workspace = self.app.workspace
        card = Card(row.memory, INJECTED, 1.0, row.rank)
        with self.app.telling_errors():
            workspace.store.label(
                workspace.annotator, prompt.id, card, verdict, seed=workspace.seed, blind=False, elapsed_ms=0
            )
            self._show_labels(prompt, prompt.id)
            self.table.action_cursor(1)

    def action_undo(self) -> None:
        event = self.take_back(self.app.workspace.undo)
        if event and self.prompt:
            self.app.tell(f"Taken back: {event.memory_id}")
            self._show_labels(self.prompt, event.prompt_id)

    def _show_labels(self, prompt: Prompt, changed_id: str) -> None:
        """Show the labels of *prompt*, and set or remove the tick of the prompt whose label changed."""
        others = {prompt_id for prompt_id in self.prompt_list.labelled if prompt_id != changed_id}
        self.prompt_list.mark_labelled(others | ({changed_id} if self.app.workspace.labels(changed_id) else set()))
        self.show_prompt(prompt)
