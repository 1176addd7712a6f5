"""Panes that grow: keys give the pane with the focus more room, and the mouse drags the line between two."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from textual.screen import Screen
from textual.widget import Widget

from tui.widgets.signs import signs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.events import MouseDown, MouseMove, MouseUp
    from textual.geometry import Offset

USUAL, LARGE, WHOLE = range(3)
"""The room of the pane with the focus: as the screen has it, most of it, all of it."""

LARGE_SHARE = 75
"""Per cent of its container that a large pane gets."""

BESIDE_FROM = 140
"""Columns of a terminal from which a text is beside a list; before that it would take the list's columns away."""

LEAST_CELLS = 4
"""Cells of a pane that the mouse leaves."""

SIZES = {"horizontal": "width", "vertical": "height"}


class Split(NamedTuple):
    """Two neighbours in a container, and the size that is divided between them: "width" or "height"."""

    first: Widget
    second: Widget
    size: str

    def is_at(self, at: Offset) -> bool:
        """Whether the line between the two goes through a cell of the screen."""
        first, second = self.first.region, self.second.region
        x, y = at
        if self.size == "width":
            return x in (first.right - 1, second.x) and first.y <= y < first.bottom
        return y == second.y and first.x <= x < first.right


class PanesScreen(Screen[None]):
    """A screen of widgets with the class `pane`. When another pane gets the focus, the extra room goes to it."""

    ALLOW_IN_MAXIMIZED_VIEW = "TopBar, KeyFooter, WhereLine"
    _room = USUAL
    _dragged: Split | None = None

    @property
    def is_enlarged(self) -> bool:
        return self._room != USUAL

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.is_enlarged if (action, parameters) == ("enlarge", (-1,)) else True

    def action_enlarge(self, steps: int) -> None:
        """Give the pane with the focus more room, or less."""
        self._room = max(USUAL, min(WHOLE, self._room + steps))
        self._share_room()
        self.refresh_bindings()

    def on_descendant_focus(self) -> None:
        if self.is_enlarged:
            self._share_room()

    def on_resize(self) -> None:
        self.set_class(self.size.width >= BESIDE_FROM and not signs(self).in_words, "-beside")
        self._share_room()

    def _share_room(self) -> None:
        """Size all panes as the screen does, but the one with the focus by `_room`."""
        splits = list(self._splits())
        for split in splits:
            for widget in split[:2]:
                for name in (split.size, f"max_{split.size}", f"min_{split.size}"):
                    widget.styles.inline.clear_rule(name)
                widget.refresh(layout=True)
        around = self.focused.ancestors_with_self if self.focused else []
        pane = next((node for node in around if isinstance(node, Widget) and node.has_class("pane")), None)
        self.maximized = pane if self._room == WHOLE else None
        if self._room == LARGE and pane:
            for split in splits:
                if split.first in around or split.second in around:
                    is_first = split.first in around
                    _set(split, f"{LARGE_SHARE if is_first else 100 - LARGE_SHARE}%")
        self.call_after_refresh(self.show_again)

    def show_again(self) -> None:
        """Show again what depends on the sizes of panes, which have changed."""

    def _splits(self) -> Iterator[Split]:
        """All pairs of neighbours that hold panes and are shown."""
        for container in [self, *self.query(Widget)]:
            layout = container.styles.layout
            size = SIZES.get(layout.name) if layout else None
            shown = container.displayed_children if size else ()
            held = [child for child in shown if child.has_class("pane") or child.query(".pane")]
            yield from (Split(first, second, size or "") for first, second in pairwise(held))

    # The mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        at = event.screen_offset
        self._dragged = next((split for split in self._splits() if not self.maximized and split.is_at(at)), None)
        if self._dragged:
            self.clear_selection()
            self._dragged.first.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        if split := self._dragged:
            first, whole = split.first.region, split.first.region.union(split.second.region)
            is_wide = split.size == "width"
            cells = event.screen_x - first.x if is_wide else event.screen_y - first.y
            _set(split, max(LEAST_CELLS, min((whole.width if is_wide else whole.height) - LEAST_CELLS, cells)))

    def on_mouse_up(self, event: MouseUp) -> None:  # noqa: ARG002
        if self._dragged:
            self._dragged.first.release_mouse()
            self._dragged = None


class Fitted(Widget):
    """A widget whose screen shows all again when its width changes: its lines are wrapped for that width.

    A class of the screen may change it after the screen has its new size.
    """

    _fitted = 0

    def on_resize(self) -> None:
        if self.size.width != self._fitted and isinstance(self.screen, PanesScreen):
            self._fitted = self.size.width
            self.call_after_refresh(self.screen.show_again)


def _set(split: Split, size: int | str) -> None:
    """Give the first of two neighbours a size, and the second the rest."""
    for widget, room in ((split.first, size), (split.second, "1fr")):
        styles = widget.styles
        for name, value in ((split.size, room), (f"max_{split.size}", "100%"), (f"min_{split.size}", 1)):
            setattr(styles, name, value)
