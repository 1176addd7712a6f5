"""Browse: the list, the filter, the text beside it."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets._footer import FooterKey

from tests.tui.apps import SMALL, at_rest, footer, listed, press, reads, running, shown, text_of, toasts, until, widget
from tests.tui.conftest import Opener
from tui.dialogs.dialog import FullText

pytestmark = pytest.mark.anyio


def current(pilot: Pilot[None]) -> str:
    return str(widget(pilot, "MemoryList").current.id)


async def test_all_memories_are_listed_and_the_filter_finds_a_part_of_a_word_in_a_body(open_workspace: Opener) -> None:
    """Enter and down lead from it to the list, escape clears it, and a filter that nothing matches says so."""
    workspace = open_workspace(prompts=())
    async with running("browse", workspace) as pilot:
        assert listed(pilot) == [one.id for one in workspace.index.summaries()]
        first: Any = workspace.memory(listed(pilot)[0])
        await reads(pilot, "#detail-text", first.summary.title)
        await reads(pilot, "#detail-text", first.summary.path[:30])
        await reads(pilot, "#list", f"{len(workspace.index)} memories")
        line, names = widget(pilot, "Input"), widget(pilot, "MemoryList")
        assert "celery" not in " ".join(listed(pilot))
        await press(pilot, "slash", *"celer")
        assert "rq-on-redis" in listed(pilot)
        assert len(listed(pilot)) < 5
        await reads(pilot, "#detail-text", "Celery")
        await reads(pilot, "#list", f"{len(listed(pilot))} of ")
        await press(pilot, "escape")
        assert (line.value, names.has_focus) == ("", True)
        await press(pilot, "slash", *"queue", "enter", "down", "down")
        assert (names.has_focus, line.value) == (True, "queue")
        stood_on = current(pilot)
        assert stood_on != listed(pilot)[0]
        await press(pilot, "slash", "backspace", "backspace", "down")
        assert names.has_focus
        await press(pilot, "up", "escape")
        assert len(listed(pilot)) > 60
        assert current(pilot) == stood_on
        await press(pilot, "slash", *"zzzzqq")
        assert listed(pilot) == []
        await reads(pilot, "#detail-text", "esc")
        await press(pilot, "enter", "enter", "Y")
        assert (toasts(pilot), len(pilot.app.screen_stack)) == (["No memory is listed."], 1)


async def test_a_row_has_the_name_and_then_the_description_and_no_column_is_empty(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = tmp_path / "projects/x/memory"
    root.mkdir(parents=True)
    (root / "MEMORY.md").write_text("- **Config:** in `gateway.txt`\n", encoding="utf-8")
    front = "name: Use bunx over npx\ndescription: Always use bunx for tools\ntype: feedback"
    (root / "bunx.md").write_text(f"---\n{front}\n---\nSay bunx.", encoding="utf-8")
    async with running("browse", open_workspace(root=root, prompts=(), judge=None), size=(120, 35)) as pilot:
        await at_rest(pilot)
        assert shown(pilot, "ColumnHeads") == "Category Title Tokens Findings"
        rows = shown(pilot, "MemoryList")
        assert rows.startswith("feedback Use bunx over npx Always use bunx for tools")
        assert "Config: in `gateway.txt`" in rows
        detail = text_of(widget(pilot, "#detail-text")).splitlines()
        assert detail[:3] == ["Use bunx over npx", "Always use bunx for tools", "feedback"]
        assert "Tags" not in footer(pilot.app)
        await press(pilot, "question_mark", *"change the tags")
        await reads(pilot, "Options", "It has a name in place of tags: e changes it.")


@pytest.mark.slow
async def test_enter_or_two_clicks_open_the_memory_and_the_close_keys_lead_back(open_workspace: Opener) -> None:
    async with running("browse", open_workspace(prompts=())) as pilot:
        await press(pilot, "down", "down")
        here = current(pilot)
        for close in ("escape", "space", "q"):
            await press(pilot, "enter")
            assert isinstance(pilot.app.screen, FullText)
            await reads(pilot, "FullText VerticalScroll", here)
            await press(pilot, close)
            assert not isinstance(pilot.app.screen, FullText)
            assert current(pilot) == here
        await pilot.click("MemoryList", offset=(5, 3))
        assert current(pilot) == listed(pilot)[3]
        await pilot.click("MemoryList", offset=(5, 3), times=2)
        assert isinstance(pilot.app.screen, FullText)


@pytest.mark.slow
async def test_the_keys_of_vim_scroll_the_detail_and_slash_filters_from_it(open_workspace: Opener) -> None:
    async with running("browse", open_workspace(prompts=()), SMALL) as pilot:
        await press(pilot, "tab")
        detail = pilot.app.screen.query_one("#detail")
        assert detail.has_focus
        await until(pilot, lambda: detail.max_scroll_y > 2, "a detail that is longer than its pane")
        await at_rest(pilot)  # the facts about the memory come later, and then it is shown from its top again
        await press(pilot, "j", "j")
        await until(pilot, lambda: detail.scroll_offset.y == 2, "two lines down")
        await press(pilot, "k")
        await until(pilot, lambda: detail.scroll_offset.y == 1, "a line up")
        await press(pilot, "G")
        await until(pilot, lambda: detail.scroll_offset.y == detail.max_scroll_y > 2, "the end")
        await press(pilot, "g")
        await until(pilot, lambda: detail.scroll_offset.y == 0, "the beginning")
        await press(pilot, "slash", *"redis")
        assert widget(pilot, "Input").value == "redis"


async def test_no_hint_is_clipped_in_a_small_terminal_without_memories(open_workspace: Opener, tmp_path: Path) -> None:
    """The last hint of the footer is the key that quits."""
    async with running("browse", open_workspace(prompts=(), root=tmp_path), SMALL) as pilot:
        for key in ("tab", "slash"):
            await press(pilot, key)
            await at_rest(pilot)
            hints = {one.description: one.region for one in pilot.app.screen.query(FooterKey)}
            assert ("Filter" in hints, "Quit" in hints) == (key == "tab", key == "tab")
            assert all(region.right <= SMALL[0] for region in hints.values())
