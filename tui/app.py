"""The app: its screens, its own keys, the theme that it remembers, and the command palette (ctrl+p)."""

from __future__ import annotations

import asyncio
import os
import webbrowser
from functools import partial
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from textual.command import DiscoveryHit, Hit, Provider
from textual.content import Content

from engine.search.query import filter_terms
from tui.dialogs.dialog import copy_text
from tui.keys import KEYS, active_keys, bindings, home_of, idle_keys, key_names
from tui.plain import ROW_CHARACTERS, cells, one_line
from tui.plain_app import RunChanged
from tui.runner import Runner
from tui.screens.base_screen import ModeScreen
from tui.workspace.activity_rows import EVERYWHERE, MUTES, NOWHERE, is_muted, mute
from tui.workspace.filtering import WordFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.command import Hits
    from textual.screen import Screen
    from textual.widget import Widget

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from tui.workspace.app_settings import AppSettings, Choices
    from tui.workspace.workspace import Workspace


class KeyCommands(Provider):
    """A command for each key.

    A key that acts now does so. A key that is off tells why. A key of another screen leads there and is named, so that
    nothing is done to a memory or card that nobody has seen.
    """

    app: Runner  # type: ignore[assignment]

    async def discover(self) -> Hits:
        """All commands, shown before anything is typed."""
        for phrase, keys, run in self._commands():
            yield DiscoveryHit(Content(phrase) + _muted(keys), run, phrase)

    async def search(self, query: str) -> Hits:
        """The commands whose phrase matches *query*, with their score."""
        matcher = self.matcher(query)
        for phrase, keys, run in self._commands():
            if (score := matcher.match(phrase)) > 0:
                yield Hit(score, matcher.highlight(phrase) + _muted(keys), run, phrase)

    def _commands(self) -> Iterable[tuple[str, str, Callable[[], object]]]:
        """The phrases, with the keys that do the same, and the work of choosing one; each phrase once.

        Keys that act here, keys of this screen that are off, then keys of the other screens.
        """
        acting = active_keys(self.screen)
        idle = idle_keys(self.screen, acting) | idle_keys(self.app, acting)
        others = [name for name in KEYS if name not in (acting | idle) and home_of(name) in self.app.MODES]
        named: list[tuple[str, Callable[[str], object], str]] = [(name, self.app.act, "") for name in acting]
        named += [(name, self.app.act, "off now") for name in idle]
        named += [(name, self._go, home_of(name).capitalize()) for name in others]
        found: dict[str, tuple[str, str, Callable[[], object]]] = {}
        for name, run, note in named:
            keys, phrase = key_names(self.app, name), KEYS[name].phrase
            found.setdefault(phrase, (phrase, f"{keys} · {note}" if note else keys, partial(run, name)))
        return found.values()

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
        rows = [(f"Go to the memory {memory.name}", partial(screen.go_to_memory, memory.id)) for memory in memories]
        rows += [
            (f"Go to the prompt {prompt.text[:ROW_CHARACTERS]}", partial(screen.go_to_prompt, prompt.id))
            for prompt in prompts
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


LOOK_SECONDS = 1.0
"""Time between two looks at the labels of other programs."""


def make_screen(mode: str) -> Screen[Any]:
    """A new `BrowseScreen` of `tui.screens.browse` for "browse", and so on. The module is imported on first use."""
    made: Screen[Any] = getattr(import_module(f"tui.screens.{mode}"), f"{mode.capitalize()}Screen")()
    return made


def has_browser() -> bool:
    """Whether this machine has a browser with a window of its own. A browser of text would write over the app."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    return not isinstance(found, webbrowser.GenericBrowser) or isinstance(found, webbrowser.BackgroundBrowser)


class MemsiftApp(Runner):
    """Browse, replay, label, report and settle over one workspace.

    *start* is one of MODES, or None for DEFAULT_MODE. *choices* are kept from one start to the next.
    """

    TITLE = "memsift"
    CSS_PATH = "app.tcss"
    COMMANDS = {KeyCommands, MemoriesAndPrompts}
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (22, "-tall")]
    MODES: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {  # type: ignore[assignment]
        mode: partial(make_screen, mode)
        for mode in ("browse", "replay", "label", "report", "whatif", "inbox", "activity", "settle", "diff", "live")
    }
    DEFAULT_MODE = "browse"
    BINDINGS = bindings(
        shown="app.help app.quit",
        hidden="go.browse go.replay go.label go.report go.whatif go.inbox go.activity "
        "app.reload app.cancel app.judge app.skipped app.mute app.theme app.picture app.jump",
    )

    def __init__(
        self,
        workspace: Workspace,
        start: str | None = None,
        choices: Choices | None = None,
        settings: AppSettings | None = None,
    ) -> None:
        super().__init__(workspace, settings, choices)
        self._start = start

    async def on_mount(self) -> None:
        if (name := self.choice("theme")) in self.available_themes:
            self.theme = name
        self.set_interval(LOOK_SECONDS, self.look_for_labels)
        if self._start:
            await self.switch_mode(self._start)
        if told := [*self.key_mistakes, *filter(None, [self.workspace.notice])]:
            self.tell_mistakes(told)

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        """The reason why an action of the app is off now; empty while it acts."""
        if action == "agree" and not self.workspace.needs_agreement:
            return "No judge waits for your agreement."
        return "Nothing is being replayed." if action == "cancel_run" and self.progress is None else ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self.why_off(action, parameters) and super().check_action(action, parameters)

    async def action_open_link(self, target: str, file: str) -> None:
        """Open a link in the memory *file*: another memory in Browse, an address in the browser, or else copy it."""
        path = os.path.realpath(os.path.join(os.path.dirname(file), target))  # noqa: PTH118, PTH120
        found = next((memory.id for memory in self.workspace.index.summaries() if memory.file == path), "")
        if found and isinstance(screen := self.screen_stack[0], ModeScreen):
            if self.screen.is_modal:
                self.screen.dismiss(None)
            await screen.go_to_memory(found)
        elif target.startswith("http") and (self.is_web or has_browser()):
            self.open_url(target)
        else:
            copy_text(self.screen, target)

    def action_jump(self) -> None:
        """Show a letter on every list and panel that can have the focus."""
        from tui.dialogs.key_help import Jump

        def go(target: Widget | None) -> None:
            if target:
                self.screen.set_focus(target)

        self.push_screen(Jump(self.screen.focus_chain), go)

    def action_mute(self) -> None:
        """Ask where the hook is to inject nothing."""
        from tui.dialogs.choices import ChooseByDigit

        def take(how: str | None) -> None:
            if how:
                with self.telling_errors():
                    self.tell(mute(self.workspace.root, how, os.environ))
                    self.tell_screens(RunChanged())

        is_on = is_muted(self.workspace.root, os.environ)
        options = {how: text for how, text in MUTES.items() if is_on or how != NOWHERE}
        self.push_screen(ChooseByDigit("Mute the hook?", options, NOWHERE if is_on else EVERYWHERE, 60), take)

    def action_change_theme(self) -> None:
        """Show the themes; the one under the cursor is tried at once."""
        from tui.dialogs.choices import ChooseTheme

        def remember(chosen: str | None) -> None:
            if chosen is not None:
                self.remember("theme", chosen)

        self.push_screen(ChooseTheme(self.available_themes, self.theme), remember)

    def action_picture(self) -> None:
        self.tell(f"The picture is {self.save_screenshot()}.")

    def action_show_skipped(self) -> None:
        from tui.dialogs.dialog import FullText, skipped_text

        self.push_screen(FullText("Skipped", skipped_text(self.workspace.skipped, self.workspace.index.notices)))
