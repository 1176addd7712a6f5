"""The command palette (ctrl+p): every action by its sentence in the table of keys, every memory and every prompt."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from textual.command import DiscoveryHit, Hit, Provider
from textual.content import Content

from engine.search.query import filter_terms
from tui.keys import KEYS, active_keys, home_of, idle_keys, key_names
from tui.plain import ROW_CHARACTERS, cells, one_line
from tui.screens.base_screen import ModeScreen
from tui.workspace.filtering import WordFilter

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.command import Hits

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from tui.runner import Runner


class Command(NamedTuple):
    """A line of the palette: its sentence, the keys that do the same, and the work of choosing it."""

    sentence: str
    keys: str
    run: Callable[[], object]


class KeyCommands(Provider):
    """A command for each key.

    A key that acts now does so. A key that is off tells why. A key of another screen leads there and is named, so that
    nothing is done to a memory or card that nobody has seen.
    """

    app: Runner  # type: ignore[assignment]

    async def discover(self) -> Hits:
        """All commands, shown before anything is typed."""
        for command in self._commands():
            yield DiscoveryHit(Content(command.sentence) + _muted(command.keys), command.run, command.sentence)

    async def search(self, query: str) -> Hits:
        """The commands whose sentence matches *query*, with their score."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = matcher.match(command.sentence)
            if score > 0:
                yield Hit(
                    score, matcher.highlight(command.sentence) + _muted(command.keys), command.run, command.sentence
                )

    def _commands(self) -> list[Command]:
        """Keys that act here, keys of this screen that are off, then keys of the other screens."""
        acting = active_keys(self.screen)
        idle = idle_keys(self.screen, acting) | idle_keys(self.app, acting)
        others = [name for name in KEYS if name not in (acting | idle) and home_of(name) in self.app.MODES]
        return [
            *(self._command(name, partial(self.app.act, name)) for name in acting),
            *(self._command(name, partial(self.app.act, name), "off now") for name in idle),
            *(self._command(name, partial(self._go, name), home_of(name).capitalize()) for name in others),
        ]

    def _command(self, name: str, run: Callable[[], object], note: str = "") -> Command:
        keys = key_names(self.app, name)
        return Command(KEYS[name].sentence, f"{keys} · {note}" if note else keys, run)

    async def _go(self, name: str) -> None:
        await self.app.switch_mode(home_of(name))
        self.app.tell(f"{key_names(self.app, name)}   {KEYS[name].phrase}")


MOST_FOUND, FEWEST_LETTERS, MOST_CELLS = 12, 2, 72
"""Memories and prompts that are listed at most, letters from which they are looked for, cells of one."""

BODY_SCORE = 0.01
"""The score of words that stand in a body only."""


class MemoriesAndPrompts(Provider):
    """The memories and the prompts with all of the typed words, of which a choice leads to one."""

    app: Runner  # type: ignore[assignment]

    async def search(self, query: str) -> Hits:
        screen, matcher = self.screen, self.matcher(query)
        if len(query) < FEWEST_LETTERS or not isinstance(screen, ModeScreen):
            return
        memories, prompts = await asyncio.to_thread(self._found, query)
        rows = [(f"memory: {memory.title}", partial(screen.go_to_memory, memory.id)) for memory in memories]
        rows += [
            (f"prompt: {prompt.text[:ROW_CHARACTERS]}", partial(screen.go_to_prompt, prompt.id)) for prompt in prompts
        ]
        for text, go in rows:
            shown = cells(text, MOST_CELLS).rstrip()
            yield Hit(matcher.match(one_line(text)) or BODY_SCORE, matcher.highlight(shown), go, shown)

    def _found(self, query: str) -> tuple[list[MemorySummary], list[Prompt]]:
        """Asked in a thread, so that typing is never held up."""
        workspace, words = self.app.workspace, WordFilter(query)
        fitting = (prompt for prompt in workspace.lists.all if words.fits(prompt.text.casefold()))
        return workspace.index.matching(filter_terms(query))[:MOST_FOUND], list(islice(fitting, MOST_FOUND))


def _muted(keys: str) -> Content:
    return Content(f"   {keys}").stylize("not bold $foreground-muted")
