"""The lines at the edges of a screen: tabs, the run under way, keys, and in plain mode the place of the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Input, OptionList, SelectionList, Static, TextArea
from textual.widgets._footer import FooterKey

from tui.keys import keyed
from tui.plain import ROW_CHARACTERS, joined, one_line, plain
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import TextPane
from tui.widgets.signs import signs
from tui.workspace.curate.memory_facts import root_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.widget import Widget

    from tui.workspace.replay.background_run import RunProgress
    from tui.workspace.workspace import Workspace


TABS = (
    ("browse", "Browse"),
    ("replay", "Replay"),
    ("label", "Label"),
    ("report", "Report"),
    ("whatif", "What-if"),
    ("inbox", "Inbox"),
    ("activity", "Activity"),
)
"""Mode and name of each tab; the id of its key is `go.` and the mode."""

SCREEN_NAMES = {**dict(TABS), "settle": "Settle", "diff": "Diff", "live": "Prompt"}

KEYED_FROM, NAMED_FROM = 80, 52
"""Columns of a terminal from which each tab shows key and name, and from which it shows its name at least."""

GAPS = 3
"""Cells beside the way back and the facts."""


class BarText(Static):
    """A line that is laid out anew only if its text changes."""

    text = ""

    def say(self, text: str, accent: int = 0) -> None:
        """Show *text*, its first *accent* characters in the colour of keys."""
        if text != self.text:
            self.text = text
            self.update(plain(text).stylize("bold $footer-key-foreground", 0, accent) if accent else plain(text))


class Tab(BarText):
    """The key of one screen, with or without its name; a click goes there."""

    def __init__(self, mode: str, key: str, name: str) -> None:
        super().__init__(key, markup=False)
        self.mode = mode
        self._key, self._label = key, name
        self.tooltip = name

    def show(self, *, has_key: bool, has_name: bool) -> int:
        """Show the key or the name or both, and give the cells that they take."""
        is_here = self.has_class("-current")
        here = " (this screen)" if signs(self).in_words and is_here else ""
        text = " ".join([self._key] * has_key + [f"{self._label}{here}"] * has_name)
        self.say(text, 0 if is_here or not has_key else len(self._key))
        return cell_len(text) + (3 if is_here else 1)

    async def on_click(self) -> None:
        await self.app.switch_mode(self.mode)


class Crumb(BarText):
    """The screen to which escape leads; a click goes there, too."""

    async def on_click(self) -> None:
        await self.screen.run_action("back")


class TopBar(Vertical):
    """Tabs on the left, then the way back and the root; below them the progress of a run. *mode*: the present tab."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode
        self._back = ""
        self._facts: Sequence[str] = ()

    def compose(self) -> ComposeResult:
        with Horizontal():
            for mode, name in TABS:
                key = keyed(self.app, f"{{go.{mode}}}")
                yield Tab(mode, key, name).set_class(mode == self._mode, "-current")
            yield Crumb(id="crumb", markup=False)
            yield BarText(id="where", markup=False)
        with Horizontal(id="running"):
            yield Static("", id="run", markup=False)
            yield Static(keyed(self.app, "{app.cancel} cancels"), id="cancel", markup=False)

    def on_resize(self) -> None:
        self._fit()

    def show_where(self, workspace: Workspace, trail: Sequence[str], note: str = "") -> None:
        """Show the screen to which escape leads, the last one of *trail*; then *note*, and the root."""
        self._back = trail[-1] if trail else ""
        self._facts = [*filter(None, [note]), *where_facts(workspace, keyed(self.app, "{app.skipped}"))]
        self._fit()

    def _fit(self) -> None:
        """Show as many keys and names, the way back, and as many facts as a line has room for, none of them cut."""
        room = width = self.app.size.width
        for tab in self.query(Tab):
            is_here = tab.mode == self._mode
            has_key = width >= KEYED_FROM or width < NAMED_FROM
            room -= tab.show(has_key=has_key, has_name=width >= NAMED_FROM or is_here)
        back = f"{signs(self).back} {SCREEN_NAMES[self._back]}" if self._back else ""
        with_key = f"{keyed(self.app, '{go.back}')} {back}" if back else ""
        shown = next((text for text in (with_key, back) if cell_len(text) < room), "")
        self.query_one(Crumb).say(shown)
        line = joined(self._facts, room - len(shown) - GAPS)
        self.query_one("#where", BarText).say(line if cell_len(line) <= room - len(shown) - GAPS else "")

    def show_run(self, progress: RunProgress | None) -> None:
        self.query_one("#running").set_class(progress is not None, "-on")
        self.query_one("#run", Static).update(progress.text if progress else "")


def where_facts(workspace: Workspace, key: str) -> list[str]:
    """The cost of the judge so far, the first open root, and the number of skipped files with their *key*."""
    skipped = len(workspace.skipped)
    spent = workspace.spending.text if workspace.spending else ""
    names = root_name(workspace.root)
    if len(workspace.roots) > 1:
        names += f" and {len(workspace.roots) - 1} more"
    return [*filter(None, (spent, names, f"{skipped:,} skipped ({key})" if skipped else ""))]


ALWAYS = ("leave", "app.toggle_help", "app.quit")
"""Actions whose keys are always shown, at the end."""

SPACES = 2
"""Cells of a key besides its texts: between key and name, and behind the name."""


class KeyFooter(Footer):
    """As many keys of the screen as there is room for, in the order of its BINDINGS, and always those of help and quit.

    A key that would be cut off is left out: help and palette list it.
    """

    _shown: Sequence[object] = ()

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)

    def compose(self) -> ComposeResult:
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        own = [key for key in keys if key.action not in ALWAYS]
        others = [key for key in keys if key.action in ALWAYS]
        widths = {key: cell_len(key.key_display) + cell_len(key.description) + SPACES for key in keys}
        while own and sum(widths[key] for key in (*own, *others)) - 1 > self.app.size.width:  # no space at the end
            own.pop()
        yield from (*own, *others)

    async def recompose(self) -> None:
        """Make the keys anew if others are to be shown, or if the width is another one: most moves change none."""
        active = self.screen.active_bindings.values() if self.is_attached else ()
        shown = [self.app.size, *((binding.binding, binding.enabled) for binding in active if binding.binding.show)]
        if self._bindings_ready and shown != self._shown:
            self._shown = shown
            await super().recompose()

    async def on_resize(self) -> None:
        await self.recompose()


NOWHERE = "Nothing has the cursor."


class WhereLine(BarText):
    """The first line of a screen: a screen reader reads nothing twice."""

    DEFAULT_CSS = "WhereLine { dock: top; height: auto; max-height: 3; background: $panel; color: $text; }"


def where(screen: Screen[Any], name: str) -> str:
    """The place of the cursor on *screen*, which is called *name* unless a dialog with a title lies over it."""
    focused = screen.focused
    if focused is None:
        return f"{name}: {NOWHERE}"
    if screen.is_modal:
        titles = (getattr(widget, "border_title", None) for widget in focused.ancestors_with_self)
        name = next((one_line(str(title)) for title in titles if title), "Dialog")
    return f"{name}, {_place(focused)}"


def _place(widget: Widget) -> str:
    if isinstance(widget, RowList):
        if not widget.count:
            return f"{widget.NOUN}: none is listed."
        said = one_line(widget.said()[:ROW_CHARACTERS])
        return f"{widget.NOUN} {widget.cursor + 1:,} of {widget.count:,}: {said}"
    if isinstance(widget, OptionList):
        at = widget.highlighted
        if at is None:
            return "choice: none."
        said, state = one_line(str(widget.get_option_at_index(at).prompt)), ""
        title = f"{_title(widget)}, " if widget.border_title else ""
        if isinstance(widget, SelectionList):
            state = ", selected" if widget.get_option_at_index(at).value in widget.selected else ", not selected"
        return f"{title}choice {at + 1:,} of {widget.option_count:,}: {said}{state}"
    if isinstance(widget, Input):
        return f"input: {one_line(widget.value) or 'empty'}. {one_line(str(widget.placeholder))}"
    if isinstance(widget, TextArea):
        row, _ = widget.cursor_location
        line = one_line(widget.document.get_line(row)[:ROW_CHARACTERS])
        return f"input {_title(widget)}, line {row + 1:,} of {widget.document.line_count:,}: {line or 'empty'}"
    said = widget.text.lstrip().partition("\n")[0] if isinstance(widget, TextPane) else ""
    return f"text: {_title(widget)}. {one_line(said[:ROW_CHARACTERS])}".removesuffix(" ")


def _title(widget: Widget) -> str:
    return one_line(str(widget.border_title or widget.id or ""))
