"""The command palette: every key that works on the screen now, by its sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Provider

from tui.bindings import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.command import Hits
    from textual.dom import DOMNode


class KeyCommands(Provider):
    """The bindings of bindings.py that are active where the palette was opened."""

    async def discover(self) -> Hits:
        for sentence, node, action in self._commands():
            yield DiscoveryHit(sentence, self._runner(node, action))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for sentence, node, action in self._commands():
            score = matcher.match(sentence)
            if score > 0:
                yield Hit(score, matcher.highlight(sentence), self._runner(node, action))

    def _commands(self) -> Iterator[tuple[str, DOMNode, str]]:
        seen = set()
        for active in self.screen.active_bindings.values():
            name = active.binding.id or ""
            if active.enabled and name in KEYS and name not in seen:
                seen.add(name)
                yield KEYS[name][3], active.node, active.binding.action

    def _runner(self, node: DOMNode, action: str):  # type: ignore[no-untyped-def]
        async def run() -> None:
            await self.app.run_action(action, node)

        return run
