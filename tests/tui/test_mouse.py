"""The mouse alone: dialogs close and their keys are clicked, names of columns sort, links lead on, lines are dragged.

And the keys that give a pane more room, which the mouse gives by dragging.
"""

from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from tests.engine.builders import memory, write_memory, write_root
from tests.tui.apps import SIZE, at_rest, footer, help_lines, press, running, settled, starting_in, toasts, told, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.app import MemsiftApp
from tui.dialogs.key_help import Jump, KeyHelp

pytestmark = pytest.mark.anyio


async def click_key(pilot: Pilot[None], name: str) -> None:
    """Click the key that the footer calls *name*."""
    await at_rest(pilot)  # a list that is read again makes the footer anew
    found: Any = pilot.app.screen.query("KeyFooter FooterKey")
    await pilot.click(next(key for key in found if key.description == name))
    await settled(pilot)


@pytest.mark.slow
async def test_a_click_beside_a_dialog_closes_it(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=())).run_test(size=SIZE) as pilot:
        for key in ("x", "t", "e", "m", "S", "question_mark", "ctrl+t", "grave_accent", "ctrl+p"):
            await press(pilot, key)
            assert len(pilot.app.screen_stack) == 2, key
            await pilot.click(offset=(1, 1) if key != "e" else (0, 5))
            await until(pilot, lambda: len(pilot.app.screen_stack) == 1, key)


async def test_a_form_is_opened_filled_and_saved_and_a_memory_retired_and_taken_back_by_clicks(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("first one"), memory("second one")])
    async with running("browse", open_workspace(root=root, prompts=())) as pilot:
        await click_key(pilot, "Edit")
        assert footer(pilot.app) == "^s Save · esc Close"
        await click_key(pilot, "Save")
        assert "Nothing is changed yet" in str(pilot.app.screen.query_one("#told").render())  # type: ignore[attr-defined]
        await click_key(pilot, "Close")
        await click_key(pilot, "Retire")
        await pilot.click("Options", offset=(4, 1))
        await told(pilot, "u takes it back")
        await click_key(pilot, "Undo")
        await told(pilot, "Took back")


async def test_the_names_of_columns_sort_and_turn_and_the_latest_toast_is_shown_alone(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("b"), memory("c"), memory("a")])
    app = MemsiftApp(open_workspace(root=root, prompts=()))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        listed: Any = pilot.app.screen.query_one("MemoryList")
        for x, titles in ((15, "abc"), (15, "cba"), (3, "cba"), (15, "abc")):
            await pilot.click("ColumnHeads", offset=(x, 0))
            await settled(pilot)
            assert "".join(record.title for record in listed.records) in (titles, titles[::-1] if x == 3 else titles)
        await at_rest(pilot)
        app.tell("An older warning", severity="warning")
        app.tell("The latest news")
        await until(pilot, lambda: len(app.screen.query("Toast")) == 2)
        await at_rest(pilot)
        shown = [toast for toast in app.screen.query("Toast") if toast.region]
        assert [str(toast.render()) for toast in shown] == ["The latest news"]
        assert all(pane.region.bottom <= shown[0].region.y for pane in app.screen.query(".pane")), "it covers no text"


async def test_a_link_leads_to_its_memory_or_out_of_the_app(open_workspace: Opener, tmp_path: Path) -> None:
    root = tmp_path / "projects/x/memory"
    root.mkdir(parents=True)
    (root / "a.md").write_text("# First\n\n[the other](b.md)\n\nhttps://example.org/x[1]\n", encoding="utf-8")
    (root / "b.md").write_text("the end", encoding="utf-8")
    app = MemsiftApp(open_workspace(root=root, prompts=(), judge=None))
    opened: list[str] = []
    app.open_url = lambda url, **_: opened.append(url)  # type: ignore[method-assign]
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        await click_on(pilot, "b.md")
        await until(pilot, lambda: app.screen.query_one("MemoryList").current.id == "b")  # type: ignore[attr-defined]
        await press(pilot, "up", "enter")
        await click_on(pilot, "https")
        await until(pilot, lambda: opened or toasts(pilot))
        assert (opened or [toasts(pilot)[-1].removeprefix("Copied ")]) == ["https://example.org/x[1"]
        await click_on(pilot, "b.md")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.screen.query_one("MemoryList").current.id == "b"  # type: ignore[attr-defined]


async def click_on(pilot: Pilot[None], text: str) -> None:
    """Click the first place of the screen at which *text* stands."""
    await at_rest(pilot)
    rows = [strip.text for strip in pilot.app.screen._compositor.render_strips()]
    x, y = next((row.index(text), y) for y, row in enumerate(rows) if text in row)
    await pilot.click(offset=(x + 1, y))
    await settled(pilot)


def regions(pilot: Pilot[None], *selectors: str) -> list[Region]:
    return [pilot.app.screen.query_one(selector).region for selector in selectors]


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    await pilot.mouse_down(offset=start)
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await at_rest(pilot)


@pytest.mark.slow
async def test_the_line_between_two_panes_is_dragged_and_a_new_size_of_the_terminal_puts_it_back(
    open_workspace: Opener,
) -> None:
    app = starting_in("replay", open_workspace(prompts=demo_prompts("p01"), judge=None))
    async with app.run_test(size=SIZE) as pilot:
        await at_rest(pilot)
        before, below = regions(pilot, "#left", "#result")
        await drag(pilot, (before.right, 4), (70, 4))
        await drag(pilot, (10, below.y), (10, 20))
        left, view, result = regions(pilot, "#left", "#view", "#result")
        assert (left.width, view.width, result.y) == (70, SIZE[0] - 70, 20)
        assert app.mouse_captured is None
        await pilot.resize_terminal(SIZE[0] + 2, SIZE[1])
        await at_rest(pilot)
        assert regions(pilot, "#left")[0].width == before.width + 1
        # the four panes of a large Browse
        await pilot.resize_terminal(160, 48)
        await press(pilot, "f2")
        await at_rest(pilot)
        rows, facts, about = regions(pilot, "#list", "#overview", "#about")
        for start, end in (((rows.right, 4), (70, 4)), ((10, facts.y), (10, 20)), ((150, about.y), (150, 25))):
            await drag(pilot, start, end)
        rows, facts, about = regions(pilot, "#list", "#overview", "#about")
        assert (rows.width, facts.y, about.y, facts.bottom) == (70, 20, 25, about.bottom)


@pytest.mark.slow
async def test_the_pane_with_the_focus_grows_in_two_steps_and_its_room_follows_the_focus(
    open_workspace: Opener,
) -> None:
    async with starting_in("browse", open_workspace(prompts=(), judge=None)).run_test(size=SIZE) as pilot:
        await at_rest(pilot)
        usual = regions(pilot, "#list", "#detail")
        assert "Smaller" not in footer(pilot.app)
        await press(pilot, "plus")
        await at_rest(pilot)
        assert regions(pilot, "#list")[0].area > usual[0].area
        assert footer(pilot.app).startswith("_ Smaller")
        await press(pilot, "tab")
        await at_rest(pilot)
        assert regions(pilot, "#detail")[0].area > usual[1].area
        await press(pilot, "plus")
        await at_rest(pilot)
        assert regions(pilot, "#detail")[0].area > SIZE[0] * (SIZE[1] - 4), "all but the lines at the edges"
        await press(pilot, "underscore", "underscore")
        await at_rest(pilot)
        assert regions(pilot, "#list", "#detail") == usual
        await press(pilot, "plus", "escape")
        await at_rest(pilot)
        assert regions(pilot, "#list", "#detail") == usual, "escape gives the usual room back"


@pytest.mark.slow
async def test_help_has_fewer_lines_with_each_letter_and_enter_does_what_the_line_says(open_workspace: Opener) -> None:
    async with MemsiftApp(open_workspace(prompts=())).run_test(size=SIZE, notifications=True) as pilot:
        await press(pilot, "question_mark", *"mat")
        assert help_lines(pilot.app).count("\n") == 0
        assert "Retire" not in help_lines(pilot.app)
        await press(pilot, *[*"ching nothing"])
        assert help_lines(pilot.app) == ""
        await press(pilot, "enter", "escape")
        await press(pilot, "question_mark", *"thetags", "escape", "question_mark", *"the", "space", *"tags", "enter")
        await until(pilot, lambda: "Tags of" in str(pilot.app.screen.query_one("Vertical").border_title))
        await press(pilot, "escape", "question_mark", *"cancel", "enter")
        await until(pilot, lambda: toasts(pilot))
        assert toasts(pilot)[-1].endswith("this is off now. Nothing is being replayed.")
        assert not isinstance(pilot.app.screen, (KeyHelp, Jump))


@pytest.mark.slow
async def test_the_palette_leads_to_memories_and_prompts(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory(f"number {i}", "cache") for i in range(3)])
    write_memory(root, memory("the zebra [b]", "queue"))
    workspace = open_workspace(root=root, prompts=demo_prompts("p01", "p02"), judge=None)
    async with MemsiftApp(workspace).run_test(size=SIZE) as pilot:
        for typed, mode, wanted in (
            ("zebra", "browse", "the zebra [b]"),
            (workspace.prompts[1].text[:12], "replay", workspace.prompts[1].text),
        ):
            await press(pilot, "f5", "ctrl+p", *("space" if letter == " " else letter for letter in typed))
            await until(pilot, lambda: pilot.app.screen.query_one("CommandList").option_count == 1)  # type: ignore[attr-defined]
            await press(pilot, "enter")
            await until(pilot, lambda mode=mode: pilot.app.current_mode == mode)
            await at_rest(pilot)
            screen: Any = pilot.app.screen
            assert (screen.memories.current.title if mode == "browse" else screen.prompt.text) == wanted
