"""The lists of rows: only visible rows are drawn, and the cursor follows keys and records."""

from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult

import tui
from engine.memory import MemorySummary
from tests.labels.samples import known
from tests.tui.apps import press, settled, text_of, until
from tui.widgets.lists.memories import MemoryList
from tui.widgets.lists.rows import Cell, RowList

pytestmark = pytest.mark.anyio

MANY = 100_000
HEIGHT = 20


class Numbers(RowList[int]):
    """Row 7 reads `row 7`; `drawn` are the numbers of the rows drawn so far."""

    drawn: list[int]

    def id_of(self, record: int) -> str:
        return str(record)

    def row_cells(self, index: int, width: int) -> list[Cell]:
        self.drawn.append(index)
        return [(f"row {index}".ljust(width), "match")]


class ListApp(App[None]):
    """An app with one list; `heard` are the messages about its cursor."""

    CSS_PATH = Path(tui.__file__).parent / "app.tcss"

    def __init__(self, rows: RowList[Any]) -> None:
        super().__init__()
        self.rows = rows
        self.heard: list[tuple[str, int]] = []

    def compose(self) -> ComposeResult:
        yield self.rows

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        self.heard.append(("highlighted", message.index))

    def on_row_list_selected(self, message: RowList.Selected) -> None:
        self.heard.append(("selected", message.index))


def numbers() -> Numbers:
    rows = Numbers()
    rows.drawn = []
    return rows


async def test_it_says_where_the_cursor_went_and_what_was_chosen_and_nothing_while_it_is_empty() -> None:
    rows = numbers()
    app = ListApp(rows)
    async with app.run_test(size=(40, HEIGHT)) as pilot:
        await press(pilot, "down", "up", "pagedown", "end", "home", "enter")
        assert (rows.cursor, app.heard, rows.drawn) == (0, [], [])
        rows.show(range(5))
        await press(pilot, "down", "down", "enter", "end", "down")
        moves = [("highlighted", 0), ("highlighted", 1), ("highlighted", 2), ("selected", 2), ("highlighted", 4)]
        assert app.heard == moves
        rows.focus()
        await settled(pilot)
        marked = [one.text for one in rows.render_line(4) if one.style and one.style.underline]
        assert marked == ["row 4"], "a mark on the cursor is underlined, but not the space behind it"


async def test_of_a_hundred_thousand_rows_only_those_in_view_are_drawn_and_keys_keep_the_cursor_in_view() -> None:
    rows = numbers()
    async with ListApp(rows).run_test(size=(40, HEIGHT)) as pilot:
        rows.show(range(MANY))
        await until(pilot, lambda: rows.drawn)
        assert set(rows.drawn) == set(range(HEIGHT))
        rows.drawn.clear()
        await press(pilot, "down")
        await until(pilot, lambda: {0, 1} <= set(rows.drawn))
        assert len(rows.drawn) <= 2 * HEIGHT
        rows.drawn.clear()
        await press(pilot, "end")
        await until(pilot, lambda: MANY - 1 in rows.drawn)
        assert set(rows.drawn) <= {0, 1, *range(MANY - HEIGHT, MANY)}
        assert len(rows.drawn) < 10 * HEIGHT
        for keys, cursor in (
            (["g", "down", "j", "up", "k", "k"], 0),
            (["j", "j"], 2),
            (["g", "pagedown"], HEIGHT),
            (["pagedown", "pageup"], HEIGHT),
            (["G"], MANY - 1),
            (["pagedown", "down"], MANY - 1),
            (["g"], 0),
            (["end", "home"], 0),
            (["pageup"], 0),
        ):
            await press(pilot, *keys)
            assert rows.cursor == cursor
            assert rows.scroll_offset.y <= cursor < rows.scroll_offset.y + HEIGHT
            assert f"row {cursor}" in text_of(rows).split("\n")[cursor - rows.scroll_offset.y]
        await press(pilot, "end")
        rows.show(range(3), is_near=True)
        await settled(pilot)
        assert (rows.cursor, rows.scroll_offset.y) == (2, 0), "a list that gets shorter keeps its cursor inside"


async def test_the_cursor_follows_its_row_when_the_list_is_filled_anew(open_workspace: Any) -> None:
    summaries: list[MemorySummary] = open_workspace(prompts=()).index.summaries()
    rows = MemoryList()
    async with ListApp(rows).run_test(size=(80, HEIGHT)) as pilot:
        rows.show(summaries)
        await press(pilot, "pagedown", "pagedown")
        stood_on = known(rows.current)
        rows.show(list(reversed(summaries)))
        await settled(pilot)
        assert rows.current == stood_on
        assert rows.scroll_offset.y <= rows.cursor < rows.scroll_offset.y + HEIGHT
        rows.show([one for one in summaries if one is not stood_on])
        assert rows.cursor == 0
        rows.show([])
        assert rows.current is None
