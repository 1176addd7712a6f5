"""Replay: two systems side by side, the judge's answer when it comes, labels beside the ranking."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from engine.inject import context
from engine.judge.judge import Judge
from engine.prompt import Turn, typed_prompt
from engine.quality.checks.memories import tokens
from tests.engine.builders import fillers, memory, write_root
from tests.labels.samples import known
from tests.tui.apps import (
    SMALL,
    current_prompt,
    judged,
    press,
    reads,
    running,
    settled,
    shown,
    table,
    text_of,
    toasts,
    told,
    type_ahead,
    until,
    widget,
)
from tests.tui.conftest import Opener
from tests.tui.demo import GatedProvider, demo_prompts, fresh_cutoff
from tui.screens.replay import REST_SECONDS
from tui.workspace.systems import DROPPED

pytestmark = pytest.mark.anyio

QUESTION = "How do background jobs get into the queue?"


async def test_the_first_system_is_there_at_once_and_the_judge_fills_its_column_when_it_answers(
    open_workspace: Opener,
) -> None:
    provider = GatedProvider()
    prompts = demo_prompts("p01")
    gate = provider.hold(prompts[0].text)
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=prompts)
    async with running("replay", workspace) as pilot:
        rows = table(pilot).records
        assert [row.candidates[0].rank for row in rows] == list(range(1, len(rows) + 1))
        assert sum(row.is_injected for row in rows) == 3
        assert {row.notes for row in rows} == {("", "…")}
        await until(pilot, lambda: "…" in shown(pilot, "#judge"), "it says that it waits")
        await press(pilot, "right", "down", "down")
        stood_on = known(table(pilot).current)
        gate.set()
        await judged(pilot, "p01")
        now = known(table(pilot).current)
        assert (now.memory, table(pilot).has_focus) == (stood_on.memory, True), "focus and cursor stay where they were"
        rows = table(pilot).records
        assert Counter(row.candidates[1].dropped_by for row in rows if row.candidates[1])["judge"] >= 3
        await reads(pilot, "RankingTable", "✗ rejected")
        await reads(pilot, "#judge", " ok")
        await press(pilot, "f2", "f3")
        assert (table(pilot).has_focus, table(pilot).cursor) == (True, 2)
        # r runs the prompt again
        gate.clear()
        await press(pilot, "r")
        assert all(row.candidates[1] is None for row in table(pilot).records)
        gate.set()
        await judged(pilot, "p01")
        assert len(provider.asked) == 2


async def test_a_memory_stands_on_one_row_in_both_columns_and_w_explains_it(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"))
    async with running("replay", workspace) as pilot:
        await judged(pilot, "p01")
        retrieval = known(workspace.retrieval("p01", "memsift+judge"))
        for row, line in zip(table(pilot).records, text_of(table(pilot)).split("\n"), strict=False):
            first, judged_too = map(known, row.candidates)
            assert judged_too.memory.id == row.memory.id == first.memory.id
            assert row.memory.title[:20] in line
            assert ("✓ kept" in line) == judged_too.injected
            assert first.injected or f"· {DROPPED[str(first.dropped_by)]}" in line
        rows = table(pilot).records
        injected = {row.memory.id for row in rows if row.candidates[1] and row.candidates[1].injected}
        assert injected == {one.memory.id for one in retrieval.injected}
        await press(pilot, "right")
        dropped = next(i for i, row in enumerate(rows) if row.candidates[1] and row.candidates[1].dropped_by == "judge")
        await press(pilot, *["down"] * dropped)
        await reads(pilot, "#view-text", "in its order, rejected: ")
        await reads(pilot, "#view-text", rows[dropped].memory.title)
        await pilot.resize_terminal(*SMALL)
        await press(pilot, "home", "w")
        await reads(pilot, "#text", "hook injects it: rank 1")
        await reads(pilot, "#text", f"strength {-rows[0].candidates[0].score:.2f}")
        await reads(pilot, "#text", "hook + judge")
        await reads(pilot, "#text", "Judge scripted (judge.jsonl): ok")
        await press(pilot, "escape")
        assert table(pilot).has_focus


async def test_a_late_answer_about_an_older_prompt_is_kept_but_not_shown(open_workspace: Opener) -> None:
    provider = GatedProvider()
    older, newer = prompts = demo_prompts("p01", "p02")
    slow, quick = provider.hold(older.text), provider.hold(newer.text)
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=prompts)
    async with running("replay", workspace) as pilot:
        await until(pilot, lambda: provider.asked == [older.text])
        await press(pilot, "down")
        await until(pilot, lambda: len(provider.asked) == 2)
        before = [row.memory.id for row in table(pilot).records]
        slow.set()
        await judged(pilot, older.id)
        assert [row.memory.id for row in table(pilot).records] == before
        assert all(row.candidates[1] is None for row in table(pilot).records)
        quick.set()
        await judged(pilot, newer.id)
        assert all(row.candidates[1] for row in table(pilot).records)


async def test_the_judge_is_asked_at_most_once_for_a_prompt(open_workspace: Opener) -> None:
    """However many screens ask for its answer, and however often."""
    provider = GatedProvider()
    prompts = demo_prompts("p01", "p02", "p04")
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=prompts)
    async with running("replay", workspace) as pilot:
        await press(pilot, "f4", "f3", "down", "up", "f5", "R", "R", "f3", "f4", "f5", "R")
        await until(pilot, lambda: len(workspace.finished) == 6)
        await press(pilot, "down", "down", "up")
        await pilot.pause(REST_SECONDS + 0.1)
        assert Counter(provider.asked) == Counter({prompt.text: 1 for prompt in prompts})


async def test_the_judge_is_not_asked_about_prompts_that_the_cursor_passes_by(open_workspace: Opener) -> None:
    provider = GatedProvider()
    prompts = demo_prompts("p01", "p02", "p04", "p05")
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=prompts)
    async with running("replay", workspace) as pilot:
        type_ahead(pilot, "down", "down", "down")
        await judged(pilot, "p05")
        assert len(provider.asked) <= 2
        assert provider.asked[-1] == prompts[-1].text


async def test_without_a_judge_the_hooks_system_stands_beside_the_first_stage(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts("p44"), cutoff=fresh_cutoff())
    async with running("replay", workspace, size=(160, 48)) as pilot:
        await reads(pilot, "#judge", "The judge is off")
        await reads(pilot, "#head", "no cutoff hook")
        columns = [[cell[0] for cell in table(pilot).row_cells(row, 120)[-2:]] for row in range(4)]
        assert "high" in columns[0][0]
        assert "70 %" in columns[0][1]
        assert re.fullmatch(r"· 31 %, needs \d\d %", columns[3][1].strip())
        await press(pilot, "right")
        await reads(pilot, "#view-text", "rank 1 in its order, 70 % likely to be relevant; 24 % is enough.")
        await press(pilot, "down", "down", "down")
        await reads(pilot, "#view-text", "31 % likely to be relevant; a second memory needs")


async def test_without_a_judge_there_is_one_column_and_keys_lead_between_prompts_and_memories(
    open_workspace: Opener,
) -> None:
    """It says how to have a judge. A prompt that matches nothing says so."""
    prompts = [*demo_prompts("p01", "p02"), typed_prompt("zzzz qqqq")]
    workspace = open_workspace(judge=None, prompts=prompts)
    async with running("replay", workspace) as pilot:
        await reads(pilot, "#judge", "--judge")
        assert shown(pilot, "#head") == "Memory hook"
        assert "off" not in text_of(table(pilot)).split()
        await press(pilot, "enter")
        assert table(pilot).has_focus
        await press(pilot, "left")
        assert widget(pilot, "PromptList").has_focus
        await press(pilot, "right", "right_square_bracket")
        assert (current_prompt(pilot), table(pilot).has_focus) == ("p02", True)
        await press(pilot, "left_square_bracket", "down")
        assert current_prompt(pilot) == "p01"
        title = known(table(pilot).current).memory.title
        await press(pilot, "enter")
        await reads(pilot, "#text", title)
        await press(pilot, "escape", "left", "end")
        assert table(pilot).records == []
        await reads(pilot, "#judge", "No memory fits this prompt.")
        await press(pilot, "right", "a")
        assert workspace.store.events() == ()


async def type_prompt(pilot: Pilot[None], text: str) -> None:
    """Paste *text* as the live prompt, keep it, and go back to Replay."""
    await press(pilot, "n")
    await until(pilot, lambda: pilot.app.screen.query("TextArea"))
    pilot.app.post_message(Paste(text))
    await settled(pilot)
    await press(pilot, "enter", "escape")
    await until(pilot, lambda: pilot.app.screen.query("PromptList"))
    await settled(pilot)


@pytest.mark.slow
async def test_a_typed_prompt_is_replayed_beside_the_sample_and_taken_into_it_or_removed(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"), judge=None)
    async with running("replay", workspace) as pilot:
        for key, said in (("t", "comes from a file"), ("delete", "Go to a prompt that you typed.")):
            await press(pilot, key)
            await told(pilot, said)
        await type_prompt(pilot, QUESTION)
        assert [prompt.text for prompt in workspace.lists.scratch] == [QUESTION]
        assert len(workspace.prompts) == 2
        await reads(pilot, "#prompt", QUESTION)
        await until(pilot, lambda: "queue" in text_of(table(pilot)).lower())
        assert widget(pilot, "PromptList").has_focus
        await type_prompt(pilot, "  \n ")
        assert len(workspace.lists.all) == 3, "a prompt without words is none"
        lines = ["How do background jobs", "", '  File "queue.py" [/b], line 3', "get into the queue?"]
        await type_prompt(pilot, "\r\n".join(lines))
        assert workspace.lists.scratch[0].text == "\n".join(lines), "every line of a paste is kept"
        assert len(workspace.lists.all) == 4
        prompts = widget(pilot, "PromptList")
        assert "typed How do" in text_of(prompts)
        await press(pilot, "t")
        assert "by hand How do" in text_of(prompts)
        assert len(workspace.prompts) == 3
        await press(pilot, "backspace")
        assert len(workspace.prompts) == 3, "a prompt of the sample is not removed"
        await press(pilot, "t", "delete")
        assert len(workspace.lists.all) == 3


async def test_i_shows_the_whole_prompt_and_above_it_the_turns_before(open_workspace: Opener) -> None:
    turns = tuple(Turn("assistant", f"turn {number}\n" * 9) for number in range(9))
    prompt = typed_prompt("queue [b] " * 300 + "and its very end", turns)
    workspace = open_workspace(prompts=[prompt], judge=None)
    async with running("replay", workspace) as pilot:
        assert "its very end" not in shown(pilot, "#prompt")
        await press(pilot, "i")
        pane, text = widget(pilot, "TextPane"), widget(pilot, "#text")
        await until(pilot, lambda: text.region.y == pane.content_region.y, "the prompt is at the top")
        await press(pilot, "g")
        await until(pilot, lambda: pane.scroll_y == 0)
        await reads(pilot, "#above", "turn 0")
        await press(pilot, "end")
        await reads(pilot, "#text", "and its very end")


async def test_a_label_is_not_blind_and_goes_to_the_row_under_the_cursor(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    async with running("replay", workspace) as pilot:
        await press(pilot, "right")
        await judged(pilot, "p01")
        ids = [row.memory.id for row in table(pilot).records]
        await press(pilot, "a", "x", "down", "s")
        said = [(label.memory_id, label.verdict, label.blind) for label in workspace.store.labels()]
        assert said == [(ids[0], "relevant", False), (ids[1], "not", False), (ids[3], "unsure", False)]
        assert [row.verdict for row in table(pilot).records[:4]] == ["relevant", "not", "", "unsure"]
        assert (table(pilot).has_focus, table(pilot).cursor) == (True, 4)
        prompts = widget(pilot, "PromptList")
        assert prompts.labelled == {"p01"}
        await press(pilot, "z")
        assert len(workspace.store.labels()) == 2
        assert prompts.labelled == {"p01"}
        assert table(pilot).records[3].verdict == ""
        assert table(pilot).has_focus
        await press(pilot, "right_square_bracket", "z", "z")
        assert prompts.labelled == set()
        # keys about the highlighted memory act while the prompts have the focus, too
        await press(pilot, "escape", "home", "w")
        await reads(pilot, "#view-text", table(pilot).records[0].memory.title)
        assert widget(pilot, "#view").has_focus
        await press(pilot, "escape")
        assert table(pilot).has_focus
        await press(pilot, "escape", "x")
        assert prompts.has_focus
        assert [(label.memory_id, label.verdict) for label in workspace.store.labels()] == [(ids[0], "not")]


async def test_the_pane_shows_why_then_the_memory_then_the_text_that_the_model_would_see(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p04"), judge=None, cutoff=fresh_cutoff())
    async with running("replay", workspace, size=(160, 48)) as pilot:
        await reads(pilot, "#view-text", "hook injects it: rank 1")
        await press(pilot, "V")
        await reads(pilot, "#view-text", table(pilot).records[0].memory.path)
        await press(pilot, "V")
        text = context(known(workspace.retrieval("p04", "memsift")), workspace.config)
        await reads(pilot, "#view-text", f"memsift {len(text):,} characters, about {tokens(text):,} tokens")
        lines = str(widget(pilot, "#view-text").render()).split("\n")
        start = lines.index('<memory-context source="memsift">')
        assert "\n".join(lines[start : start + len(text.splitlines())]) == text
        await press(pilot, "V")
        await reads(pilot, "#view-text", "hook injects it: rank 1")


@pytest.mark.slow
async def test_systems_are_chosen_by_name_and_scores_that_do_not_compare_say_so(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p04", "p05"))
    async with running("replay", workspace, size=(160, 48)) as pilot:
        await judged(pilot, "p04")
        assert "do not compare" not in shown(pilot, "#judge")
        await press(pilot, "c")
        assert widget(pilot, "SelectionList").selected == ["memsift", "memsift+judge"]
        await press(pilot, "down", "space", "down", "space", "enter")
        await reads(pilot, "ChooseSystems Static", "At most 3 systems")
        await press(pilot, "space", "enter")
        assert workspace.heads == ("memsift", "bm25", "memsift+judge")
        await reads(pilot, "#head", "hook BM25 + judge")
        await reads(pilot, "#judge", "strength and BM25 do not compare: look at signs and ranks.")
        assert {len(row.candidates) for row in table(pilot).records} == {3}
        await press(pilot, "c", "escape", "down")
        assert {("p05", "memsift"), ("p05", "bm25")} <= workspace.finished


@pytest.mark.slow
async def test_a_store_that_cannot_be_written_is_told_and_the_ranking_is_shown(
    open_workspace: Opener, locked: Any, tmp_path: Path
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"), busy_timeout_s=0.01)
    async with running("replay", workspace) as pilot:
        await press(pilot, "right")
        await judged(pilot, "p01")
        await press(pilot, "a")
        with locked(tmp_path / "labels.db"):
            await press(pilot, "x", "z", "right_square_bracket")
            await judged(pilot, "p02")
            assert table(pilot).records
            assert sum("Try again" in toast for toast in toasts(pilot)) >= 3
        assert [label.verdict for label in workspace.store.labels()] == ["relevant"]
        assert pilot.app.is_running


async def test_f_explains_any_memory_that_is_picked_by_typing(open_workspace: Opener, tmp_path: Path) -> None:
    """Arrows move in the list while one types. In the ranking, another form of a word is marked."""
    root = write_root(
        tmp_path / "root",
        [memory("Reply cache", memory_id="reply-cache"), memory("Answers are cached", memory_id="cached"), *fillers(5)],
    )
    prompts = [typed_prompt("how is the cahce [b] warmed?"), typed_prompt("caching?")]
    workspace = open_workspace(root=root, judge=None, prompts=prompts)
    async with running("replay", workspace, size=SMALL) as pilot:
        await press(pilot, "f", *"reply")
        await until(pilot, lambda: [one.id for one in widget(pilot, "MemoryList").records] == ["reply-cache"])
        await press(pilot, "enter")
        await reads(pilot, "FullText Static", "hook does not find it")
        await reads(pilot, "FullText Static", "The prompt says 'cahce', the memory 'cache'.")
        await press(pilot, "escape", "f", "down", "down", "up")
        memories = widget(pilot, "MemoryList")
        assert memories.cursor == 1
        chosen = memories.current.title
        await press(pilot, "enter")
        await reads(pilot, "FullText Static", chosen[:30])
        await press(pilot, "escape", "f", *"zzz", "enter")
        await reads(pilot, "#none", "No memory has all of these words.")
        await press(pilot, "escape", "down")
        cells = [table(pilot).row_cells(row, 80) for row in range(table(pilot).count)]
        assert any(("cached", "match") in row for row in cells)
