"""The command palette (ctrl+p): every action of every screen, with its key, by its sentence in the table of keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.command import DiscoveryHit, Hit, Provider
from textual.content import Content

from tui.keys import KEYS, active_keys, home_of, idle_keys, key_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import ActiveBinding
    from textual.command import Hits

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
            *(self._command(name, partial(self._run, active)) for name, active in acting.items()),
            *(self._command(name, partial(self._tell_why, name, why), "off now") for name, why in idle.items()),
            *(self._command(name, partial(self._go, name), home_of(name).capitalize()) for name in others),
        ]

    def _command(self, name: str, run: Callable[[], object], note: str = "") -> Command:
        keys = key_names(self.app, name)
        return Command(KEYS[name].sentence, f"{keys} · {note}" if note else keys, run)

    async def _run(self, active: ActiveBinding) -> None:
        await self.app.run_action(active.binding.action, active.node)

    def _tell_why(self, name: str, why: str) -> None:
        self.app.tell(f"{KEYS[name].phrase}: this is off now. {why}".strip())

    async def _go(self, name: str) -> None:
        await self.app.switch_mode(home_of(name))
        self.app.tell(f"{key_names(self.app, name)}   {KEYS[name].phrase}")


def _muted(keys: str) -> Content:
    return Content(f"   {keys}").stylize("not bold $foreground-muted")
