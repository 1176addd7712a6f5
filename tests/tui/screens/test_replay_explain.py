"""Replay explains the memory under the cursor, and any other memory that is picked by typing."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.prompt import typed_prompt
from tests.engine.builders import fillers, memory, write_root
from tests.tui.apps import SIZE, SMALL, app_of, judged, press, reads, settled, starting_in, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts

pytestmark = pytest.mark.anyio


def screen_name(pilot: Pilot[None]) -> str:
    return type(pilot.app.screen).__name__


async def test_w_explains_the_memory_under_the_cursor_and_escape_goes_back(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"))
    async with starting_in("replay", workspace).run_test(size=SMALL) as pilot:
        await settled(pilot)
        await judged(pilot, "p01")
        await press(pilot, "right", "w")
        await until(pilot, lambda: screen_name(pilot) == "FullText")
        table: Any = pilot.app.screen_stack[-2].query_one("RankingTable")
        first = table.records[0].candidates[0]
        await reads(pilot, "#text", "memsift injects it: rank 1")
        await reads(pilot, "#text", f"strength {-first.score:.2f}")
        await reads(pilot, "#text", "memsift+judge")
        await reads(pilot, "#text", "Judge scripted (judge.jsonl): ok")
        await press(pilot, "escape")
        assert screen_name(pilot) == "ReplayScreen"
        assert type(pilot.app.focused).__name__ == "RankingTable"


async def test_f_explains_any_memory_that_is_picked_by_typing(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("Reply cache", memory_id="reply-cache"), *fillers(5)])
    workspace = open_workspace(root=root, judge=None, prompts=[typed_prompt("how is the cahce [b] warmed?")])
    async with starting_in("replay", workspace).run_test(size=SMALL) as pilot:
        await settled(pilot)
        await press(pilot, "f")
        await until(pilot, lambda: screen_name(pilot) == "PickMemory")
        await press(pilot, *"reply")
        memories: Any = pilot.app.screen.query_one("MemoryList")
        await until(pilot, lambda: [one.id for one in memories.records] == ["reply-cache"])
        await press(pilot, "enter")
        await until(pilot, lambda: screen_name(pilot) == "FullText")
        await reads(pilot, "Static", "memsift does not find it")
        await reads(pilot, "Static", "The prompt says 'cahce', the memory 'cache'.")


async def test_the_arrows_move_in_the_list_while_one_types(open_workspace: Opener) -> None:
    async with starting_in("replay", open_workspace(judge=None, prompts=demo_prompts("p01"))).run_test() as pilot:
        await settled(pilot)
        await press(pilot, "f")
        await until(pilot, lambda: screen_name(pilot) == "PickMemory")
        await press(pilot, "down", "down", "up")
        memories: Any = pilot.app.screen.query_one("MemoryList")
        assert memories.cursor == 1
        chosen = memories.current.title
        await press(pilot, "enter")
        await reads(pilot, "Static", chosen[:30])
        await press(pilot, "escape", "f")
        await until(pilot, lambda: screen_name(pilot) == "PickMemory")
        await press(pilot, *"zzz", "enter")
        assert screen_name(pilot) == "PickMemory", "nothing is explained where nothing is picked"
        await reads(pilot, "#none", "No memory has all of these words.")
        await press(pilot, "escape")
        assert screen_name(pilot) == "ReplayScreen"


async def test_another_form_of_a_word_is_marked_in_the_ranking(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("Replies are cached", memory_id="one"), *fillers(5)])
    workspace = open_workspace(root=root, judge=None, prompts=[typed_prompt("caching?")])
    async with starting_in("replay", workspace).run_test(size=SIZE) as pilot:
        await settled(pilot)
        table: Any = pilot.app.screen.query_one("RankingTable")
        assert ("cached", "match") in table.row_cells(0, 80)
        assert app_of(pilot).workspace.marker(workspace.prompts[0]).places("the cache") == [(4, 9)]
