"""The prompts of a workspace in two lists: the sample that is labelled and measured, and scratch prompts beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.lean.record import replace
from engine.prompt import TYPED
from labels.records import BY_HAND, CHOSEN, REMOVED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.prompt import Prompt
    from labels.store import LabelStore


class PromptLists:
    """`sample`: the prompts of the files, behind those that were chosen by hand.

    Where the files hold none and *takes_replayed*, the prompts that were replayed over the root stand in their place.

    `scratch`: prompts that were typed, or visited from another screen; the newest first. None of them is sampled. The
    label store remembers by a prompt's source whether it is typed, chosen or removed, so typed prompts come back at the
    next start.
    """

    def __init__(
        self, store: LabelStore, root: str, prompts: Iterable[Prompt], *, takes_replayed: bool = False
    ) -> None:
        self._store = store
        self._takes_replayed = takes_replayed
        self._root = root
        self.scratch = store.prompts_of_source(root, TYPED)
        self.sample: tuple[Prompt, ...] = ()
        self.read(prompts)

    def read(self, prompts: Iterable[Prompt]) -> None:
        """Take *prompts* of the files. Such a prompt is neither chosen nor scratch, even if it was typed, too."""
        of_files = tuple(prompts) or self._replayed()
        ids = {prompt.id for prompt in of_files}
        chosen = self._store.prompts_of_source(self._root, CHOSEN)
        self.sample = (*(prompt for prompt in chosen if prompt.id not in ids), *of_files)
        self.scratch = tuple(prompt for prompt in self.scratch if prompt.id not in ids)

    def _replayed(self) -> tuple[Prompt, ...]:
        if not self._takes_replayed:
            return ()
        return tuple(prompt for prompt in self._store.prompts(self._root) if prompt.source not in BY_HAND)

    @property
    def all(self) -> tuple[Prompt, ...]:
        return (*self.scratch, *self.sample)

    @property
    def chosen(self) -> tuple[Prompt, ...]:
        """The prompts of the sample that a person picked: they have no place in a random order."""
        return tuple(prompt for prompt in self.sample if prompt.source == CHOSEN)

    @property
    def drawn(self) -> tuple[Prompt, ...]:
        return tuple(prompt for prompt in self.sample if prompt.source != CHOSEN)

    def find(self, prompt_id: str) -> Prompt | None:
        return next((prompt for prompt in self.all if prompt.id == prompt_id), None)

    def is_scratch(self, prompt: Prompt) -> bool:
        return any(prompt.id == other.id for other in self.scratch)

    def add(self, prompt: Prompt) -> None:
        """Put a scratch prompt first, once. Nothing changes for a prompt of the sample."""
        if all(prompt.id != other.id for other in self.sample):
            self.scratch = (prompt, *_without(self.scratch, prompt))

    def remove(self, prompt: Prompt) -> None:
        """Take a scratch prompt off the list for good. Its labels stay. Raises LabelStoreError: nothing changed."""
        if prompt.source == TYPED:
            self._store.record_prompt(replace(prompt, source=REMOVED))
        self.scratch = _without(self.scratch, prompt)

    def choose(self, prompt: Prompt) -> None:
        """Move a scratch prompt to the sample, or a chosen one back. Raises LabelStoreError: nothing changed."""
        if self.is_scratch(prompt):
            self.sample = (self._recorded(prompt, CHOSEN), *self.sample)
            self.scratch = _without(self.scratch, prompt)
        elif prompt.source == CHOSEN:
            self.scratch = (self._recorded(prompt, TYPED), *self.scratch)
            self.sample = _without(self.sample, prompt)

    def _recorded(self, prompt: Prompt, source: str) -> Prompt:
        moved = replace(prompt, source=source)
        self._store.record_prompt(moved)
        return moved


def _without(prompts: Iterable[Prompt], prompt: Prompt) -> tuple[Prompt, ...]:
    return tuple(other for other in prompts if other.id != prompt.id)
