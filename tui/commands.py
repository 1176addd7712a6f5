"""The command palette (ctrl+p): every key that acts on the screen now, by its sentence in the table of keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Provider

from tui.bindings import KEYS, active_keys

if TYPE_CHECKING:
    from textual.binding import ActiveBinding
    from textual.command import Hits


class KeyCommands(Provider):
    """A command for each active binding; choosing the command does what the key does."""

    async def discover(self) -> Hits:
        """All commands, shown before anything is typed."""
        for sentence, active in self._commands().items():
            yield DiscoveryHit(sentence, partial(self._run, active))

    async def search(self, query: str) -> Hits:
        """The commands whose sentence matches *query*, with their score."""
        matcher = self.matcher(query)
        for sentence, active in self._commands().items():
            score = matcher.match(sentence)
            if score > 0:
                yield Hit(score, matcher.highlight(sentence), partial(self._run, active))

    def _commands(self) -> dict[str, ActiveBinding]:
        """By sentence. A binding with several keys is one command."""
        commands: dict[str, ActiveBinding] = {}
        for name, active in active_keys(self.screen):
            commands.setdefault(KEYS[name].sentence, active)
        return commands

    async def _run(self, active: ActiveBinding) -> None:
        await self.app.run_action(active.binding.action, active.node)
