"""Changes of phrases on a screen: the form with the phrases of a memory, and a prompt that becomes a phrase."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING

from engine.errors import CurationError
from engine.stores.writing import FormField
from engine.wording import counted
from tui.dialogs.memories import MemoryForm, PickMemory
from tui.dialogs.questions import AskLine
from tui.keys import keyed
from tui.plain import cells
from tui.screens.base_screen import ScreenPart
from tui.workspace.curate.asked import (
    as_phrase,
    change_asked,
    phrases_of,
    place_for_new,
    require_phrases,
    take_back,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.stores.writing import Changes
    from tui.runner import Runner
    from tui.screens.base_screen import ModeScreen
    from tui.widgets.ranking_table import Row
    from tui.workspace.curate.asked import Changed

HINT = "a short prompt on each line, in {}"
ONE_AT_A_TIME = "Edit the phrases of one memory at a time; {go.back} selects none."
UNDO, UNDO_ELSEWHERE = "{change.undo} takes it back.", "In Browse, {change.phrases} takes it out again."
MOST_TITLE = 60
"""Cells of a title in a question."""


class PhraseChanges(ScreenPart):
    """Changes phrases in a worker of a *screen*. *chosen* gives the memories of the form, of which there must be one.

    *forget* is called after a change. *undo*: a sentence on how it is taken back, with the ids of keys.
    """

    def __init__(
        self,
        screen: ModeScreen,
        chosen: Callable[[], list[MemorySummary]] = list,
        forget: Callable[[], object] = lambda: None,
        undo: str = UNDO,
    ) -> None:
        self._screen, self._chosen, self._forget, self._undo = screen, chosen, forget, undo
        self._done: list[Changed] = []

    @property
    def app(self) -> Runner:
        return self._screen.app

    def action_phrases(self) -> None:
        """Open the form with the phrases of the memory under the cursor."""
        with self.app.telling_errors():
            memories = self._chosen()
            if len(memories) != 1:
                raise CurationError(f"{len(memories):,} memories are selected. {keyed(self.app, ONE_AT_A_TIME)}")
            (memory,) = memories
            old = phrases_of(memory, os.environ)
            place, warning = place_for_new(memory.root, os.environ)
            hint = f"{HINT.format(place)}. {warning}" if warning else HINT.format(place)
            form = [FormField("asked as", "\n".join(old), hint, is_list=True, is_long=True)]

            def save(changes: Changes) -> None:
                new = _lines(changes)
                self._work(partial(self._change, memory, new, [phrase for phrase in old if phrase not in new]))

            def allowed(changes: Changes) -> None:
                require_phrases(memory, _lines(changes))

            lines = {"asked as": "\n".join([*old, ""])} if old else None
            self._screen.ask(MemoryForm(f"Phrases of {memory.id}", form, allowed, lines), save)

    def add_prompt(self, prompt: Prompt, row: Row | None) -> None:
        """Ask whether a prompt becomes a phrase of the memory in *row*; without a row, of which memory."""
        workspace = self.app.workspace

        def picked(memory_id: str) -> None:
            if memory := workspace.memory(memory_id):
                self._confirm(prompt, memory.summary)

        if row:
            self._confirm(prompt, row.memory)
        else:
            self._screen.ask(PickMemory(workspace.index, "Which memory did this prompt miss?"), picked)

    def _confirm(self, prompt: Prompt, memory: MemorySummary) -> None:
        place, warning = place_for_new(memory.root, os.environ)

        def add(line: str) -> None:
            with self.app.telling_errors():
                require_phrases(memory, [line])
                self._work(partial(self._change, memory, [line], []))

        title = cells(memory.name, MOST_TITLE).rstrip()
        hint = f"A prompt like this will find “{title}”. The phrase goes to {place}. {warning}"
        self._screen.ask(AskLine("Add the prompt as a phrase?", as_phrase(prompt.text), hint), add)

    # Changing

    def forget(self) -> None:
        """Let no change of phrases before now be taken back by a key."""
        self._done.clear()

    def take_back(self) -> bool:
        """Take back the last change of phrases; False if there is none."""
        if self._done:
            self._work(partial(self._take_back, self._done.pop()))
            return True
        return False

    def _work(self, change: Callable[[], object]) -> None:
        self._screen.run_worker(change, group="phrases", thread=True, exit_on_error=False)

    def _change(self, memory: MemorySummary, add: list[str], remove: list[str]) -> None:
        with self.app.changing:
            changed = change_asked(memory, add, remove, self.app.workspace.annotator, os.environ)
        self._screen.call_later(self._show, changed)

    def _take_back(self, changed: Changed) -> None:
        with self.app.changing:
            undone = take_back(changed, os.environ)
        self._screen.call_later(self._show, undone)

    def _show(self, changed: Changed) -> None:
        """Show the memories as they are found now, and say where the phrases are."""
        if not changed.path:
            self.app.tell("The memory has this phrase already.")
            return
        self.app.take_changes(is_reread=changed.is_reread)
        if not changed.back:
            self.app.tell("The change of phrases is taken back.")
            return
        self._forget()
        self._done.append(changed)
        parts = ((changed.added, "added"), (changed.removed, "removed"))
        said = " and ".join(f"{counted(count, 'phrase')} {word}" for count, word in parts if count)
        self.app.tell(
            f"{said or 'The phrases now belong to the present text'}: {changed.path}. {keyed(self.app, self._undo)}"
        )


def _lines(changes: Changes) -> list[str]:
    """The phrases in the form."""
    ((_, (text,)),) = changes.fields
    return [" ".join(line.split()) for line in json.loads(text) if line.strip()] if text else []


def why_no_phrase(row: Row | None) -> str:
    """The reason why the memory in *row* of a ranking needs no phrase for the prompt; empty if it may."""
    return "" if row is None or row.is_left_out else "It needs no phrase: the hook injects it for this prompt."
