"""The base of Replay: its list of prompts, and the keys that type, choose and remove one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.getters import query_one

from engine.prompt import typed_prompt
from tui.dialogs.type_prompt import TypePrompt
from tui.screens.base_screen import ModeScreen
from tui.widgets.prompt_list import PromptList

if TYPE_CHECKING:
    from engine.prompt import Prompt

OF_A_FILE = "This prompt is in the sample: it comes from a file."
CHOSEN_NOW = "It is in the sample now, and F4 asks about it next. As a prompt chosen by hand, it is reported apart."
SCRATCH_AGAIN = "It is a scratch prompt again, beside the sample."
REMOVED = "Removed. To have it again, type it again with n."


class PromptsScreen(ModeScreen):
    """A list of prompts: the scratch prompts, and then the sample."""

    prompt_list = query_one(PromptList)

    def show_prompts(self) -> None:
        """Fill the list again. The cursor stays on its prompt, or goes to the one that another screen asked for."""
        workspace = self.app.workspace
        lists = workspace.lists
        scratch = f" · {len(lists.scratch):,} scratch" if lists.scratch else ""
        self.prompt_list.border_title = f"{len(lists.sample):,} prompts{scratch} · n types another"
        self.prompt_list.mark_labelled(workspace.labelled_pairs().keys())
        self.prompt_list.scratch = len(lists.scratch)
        self.prompt_list.show(lists.all)
        self.prompt_list.go_to(workspace.wanted_prompt)
        workspace.wanted_prompt = ""

    @property
    def prompt(self) -> Prompt | None:
        return self.prompt_list.current

    def action_move(self, step: int) -> None:
        self.prompt_list.cursor += step

    def action_type(self) -> None:
        self.app.push_screen(TypePrompt(), self.replay_typed)

    def replay_typed(self, text: str | None) -> None:
        if text:
            typed = typed_prompt(text)
            self.app.workspace.add_prompt(typed)
            self.app.workspace.wanted_prompt = typed.id
            self.show_prompts()
        self.prompt_list.focus()

    def action_choose(self) -> None:
        """Move the prompt from scratch into the labelled sample, or back."""
        lists, prompt = self.app.workspace.lists, self.prompt
        if prompt is None:
            return
        if not lists.is_scratch(prompt) and prompt not in lists.chosen:
            self.app.tell(OF_A_FILE)
            return
        with self.app.telling_errors():
            lists.choose(prompt)
            self.app.tell(SCRATCH_AGAIN if lists.is_scratch(prompt) else CHOSEN_NOW)
            self.show_prompts()

    def action_remove(self) -> None:
        if self.prompt:
            with self.app.telling_errors():
                self.app.workspace.lists.remove(self.prompt)
                self.app.tell(REMOVED)
                self.show_prompts()
