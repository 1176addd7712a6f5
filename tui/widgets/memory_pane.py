"""A whole memory: as text, and in a pane that scrolls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from engine.search.highlight import Marker
from tui.plain import marked, plain, shown_path
from tui.widgets.panes import Fitted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult

    from engine.memory import Memory, MemorySummary, Section

MUTED = "$foreground-muted"
HEADING = "bold $text-primary"
NO_MARKS = Marker()
MOST_CHARACTERS, CUT = 50_000, "…\n\nThese are the first {:,} of {:,} characters."
"""Characters of a text in a pane at most: to wrap more takes long enough to be felt."""

LINK = re.compile(r"""https?://[^\s<>"'`)\]]+[^\s<>"'`)\].,;:!?]|(?<=\]\()[^()\s#]+\.md(?=[#)])""")
"""Addresses of the web, and the files to which Markdown links lead."""

CATEGORY_NAMES = {"session_summary": "session", "tech_debt": "tech debt"}


class TextPane(VerticalScroll, can_focus=True):
    """A text that scrolls with arrows and with the keys of vim."""

    BINDINGS = [
        Binding("j", "scroll_down", "Down", show=False),
        Binding("k", "scroll_up", "Up", show=False),
        Binding("g", "scroll_home", "First", show=False),
        Binding("G", "scroll_end", "Last", show=False),
        Binding("ctrl+d", "half_page(1)", "Half a page down", show=False),
        Binding("ctrl+u", "half_page(-1)", "Half a page up", show=False),
    ]

    def action_half_page(self, direction: int) -> None:
        self.scroll_relative(y=direction * max(1, self.size.height // 2), animate=False)

    @property
    def text(self) -> str:
        """All text of the pane, to be copied."""
        return "\n".join(str(widget.content) for widget in self.query(Static))


class MemoryPane(TextPane, Fitted):
    """The memory under the cursor in Browse, or the card in Label and Settle. Its text has the id `<id>-text`."""

    def __init__(self, id: str) -> None:  # noqa: A002 - as Textual's widgets
        super().__init__(id=id, classes="pane")

    _is_waiting = False

    def compose(self) -> ComposeResult:
        yield Static(id=f"{self.id}-text")

    @property
    def text_width(self) -> int:
        """Cells of a line beside the scrollbar."""
        return max(1, self.content_region.width - self.styles.scrollbar_size_vertical)

    def show(self, text: Content, *, from_start: bool = True, at: int = 0) -> None:
        """Show *text* from its beginning, or where the pane is scrolled to. Of a very long text, show the beginning.

        *at*: the place of a character that is to be seen, in place of the beginning.
        """
        if len(text) > MOST_CHARACTERS:
            text = text[:MOST_CHARACTERS] + plain(CUT.format(MOST_CHARACTERS, len(text))).stylize_before(MUTED)
        shown = self.query_one(Static)
        if not (isinstance(shown.content, Content) and text.is_same(shown.content)):
            shown.update(text)
            # Of two texts within one turn, Textual may keep the height of the first.
            self.call_after_refresh(self._laid_out, is_second=self._is_waiting)
            self._is_waiting = True
        if from_start:
            self.scroll_home(animate=False)
            if at:
                line = len(text[:at].wrap(self.text_width)) - 1
                self.call_after_refresh(self.scroll_to, y=max(0, line - self.size.height // 3), animate=False)

    def _laid_out(self, *, is_second: bool) -> None:
        self._is_waiting = False
        if is_second:
            self.query_one(Static).refresh(layout=True)


def category_name(category: str) -> str:
    """The category in words for people."""
    return CATEGORY_NAMES.get(category, category.replace("_", " "))


def is_inactive(memory: MemorySummary) -> bool:
    """Whether its status is anything but active."""
    return memory.status != "active"


def memory_text(memory: Memory, marker: Marker = NO_MARKS) -> Content:
    """Name, description, facts, tags, path and body of a memory, with the matches of *marker* marked."""
    text = Content("\n").join([*head_lines(memory.summary, marker), *body_lines(memory.sections, marker)])
    return linked(text, memory.summary.file)


def linked(text: Content, file: str) -> Content:
    """*text* of a memory in *file*, in which a click on a link opens it."""
    for found in LINK.finditer(text.plain):
        text = text.stylize(on_click("app.open_link", found[0], file), *found.span())
    return text


def on_click(action: str, *parameters: str) -> Style:
    """The style of a text that does an action when it is clicked."""
    return Style.from_meta({"@click": (action, parameters)})


def head_lines(summary: MemorySummary, marker: Marker) -> list[Content]:
    """Name, description, facts, tags and path of a memory."""
    dates = [f"updated {summary.updated_at[:10]}"] if summary.updated_at else []
    status = [summary.status] if is_inactive(summary) else []
    facts = " · ".join([category_name(summary.category), *status, *dates])
    tags = "#" + " #".join(summary.tags) if summary.tags and not summary.has_name else ""
    return [
        marked(summary.name, marker).stylize_before("bold"),
        *([marked(summary.about, marker)] if summary.about else []),
        plain(facts).stylize_before(MUTED),
        *([marked(tags, marker).stylize_before(MUTED)] if tags else []),
        plain(shown_path(summary.path)).stylize_before(MUTED),
    ]


def body_lines(sections: Iterable[Section], marker: Marker, short: int = 0) -> list[Content]:
    """Each section below its heading, after an empty line.

    A section of one line, of at most *short* characters, stands behind its heading, and no empty line between two.
    """
    lines: list[Content] = []
    was_short = False
    for section in sections:
        is_short = bool(short and section.heading) and len(section.lines) == 1 and len(section.lines[0]) <= short
        if not (is_short and was_short):
            lines.append(Content(""))
        was_short = is_short
        heading = plain(section.heading).stylize_before(HEADING)
        if is_short:
            lines.append(heading + "  " + marked(section.lines[0], marker))
        else:
            lines += [*([heading] if section.heading else []), *(marked(line, marker) for line in section.lines)]
    return lines
