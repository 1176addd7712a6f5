"""The app: its screens, its own keys, and the theme that it remembers."""

from __future__ import annotations

import os
import webbrowser
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from tui.commands import KeyCommands, MemoriesAndPrompts
from tui.dialogs.dialog import copy_text
from tui.keys import bindings
from tui.messages import RunChanged
from tui.runner import Runner
from tui.screens.base_screen import ModeScreen
from tui.workspace.activity_rows import EVERYWHERE, MUTES, NOWHERE, is_muted, mute

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen
    from textual.widget import Widget

    from tui.workspace.app_settings import AppSettings, Choices
    from tui.workspace.workspace import Workspace

LOOK_SECONDS = 1.0
"""Time between two looks at the labels of other programs."""

NO_OFFER, NO_RUN = "No judge waits for an agreement.", "Nothing is being replayed."


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
        for mode in ("browse", "replay", "label", "report", "whatif", "inbox", "activity", "settle", "diff")
    }
    DEFAULT_MODE = "browse"
    BINDINGS = bindings(
        shown="app.help app.quit",
        hidden="go.browse go.replay go.label go.report go.whatif go.inbox go.activity "
        "app.reload app.cancel app.judge app.skipped app.mute app.theme app.jump",
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
            self.trail.clear()
        if told := [*self.key_mistakes, *filter(None, [self.workspace.notice])]:
            self.tell_mistakes(told)

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        """The reason why an action of the app is off now; empty while it acts."""
        if action == "agree" and not self.workspace.needs_agreement:
            return NO_OFFER
        return NO_RUN if action == "cancel_run" and self.progress is None else ""

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
                    self._tell_screens(RunChanged())

        is_on = is_muted(self.workspace.root, os.environ)
        options = {how: text for how, text in MUTES.items() if is_on or how != NOWHERE}
        self.push_screen(ChooseByDigit("Mute the hook?", options, NOWHERE if is_on else EVERYWHERE, 60), take)

    def action_change_theme(self) -> None:
        """Show the themes; the one under the cursor is tried at once."""
        from tui.dialogs.choices import ChooseTheme

        self.push_screen(ChooseTheme(sorted(self.available_themes), self.theme), self.remember_theme)

    def remember_theme(self, chosen: str | None) -> None:
        """Write down the theme that a person chose; None is no choice."""
        if chosen is not None:
            self.remember("theme", chosen)

    def action_show_skipped(self) -> None:
        from tui.dialogs.dialog import FullText, skipped_text

        self.push_screen(FullText("Skipped", skipped_text(self.workspace.skipped, self.workspace.index.notices)))
