"""The list of prompts in Replay: searched, filtered and sorted, with a sign where the systems differ."""

import pytest

from engine.prompt import Prompt
from tests.tui.apps import app_of, listed, press, reads, running, shown, table, text_of, type_ahead, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts

pytestmark = pytest.mark.anyio


async def test_after_a_replay_the_prompts_on_which_the_systems_differ_are_marked_and_listed(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p03", "p02", "p04", "p05"), judge=None)
    workspace.chosen = ("memsift", "bm25")
    async with running("replay", workspace) as pilot:
        await press(pilot, "v", "down", "enter")
        await reads(pilot, "#prompt", "No replayed prompt differs between memsift and bm25. R replays all prompts")
        assert table(pilot).records == []
        await press(pilot, "R")
        await until(pilot, lambda: len(workspace.finished) == 10)
        sets = {
            one.id: [{each.memory.id for each in answer.injected} for answer in workspace.answers(one.id) if answer]
            for one in workspace.prompts
        }
        differing = [name for name, (first, second) in sets.items() if first != second]
        assert 0 < len(differing) < 5
        await until(pilot, lambda: listed(pilot, "PromptList") == differing)
        assert f"{len(differing)} of 5 prompts · systems differ" in str(widget(pilot, "PromptList").border_title)
        await press(pilot, "escape")
        lines = text_of(widget(pilot, "PromptList")).split("\n")[1:6]
        for prompt, line in zip(workspace.prompts, lines, strict=True):
            first, second = sets[prompt.id]
            sign = "→" if len(first) != len(second) else "≠"
            assert (f"{len(first)}{sign}{len(second)}" in line) == (first != second)
        await press(pilot, "o", "end", "enter")
        sizes = [abs(len(sets[name][0]) - len(sets[name][1])) for name in listed(pilot, "PromptList")]
        assert sizes == sorted(sizes, reverse=True), "the largest difference comes first"
        await press(pilot, "o", "home", "enter", "v")
        assert f"{len(differing)} systems differ" in shown(pilot, "OptionList")


@pytest.mark.slow
async def test_words_are_searched_and_the_list_is_sorted(open_workspace: Opener) -> None:
    prompts = [Prompt(f"t{day}", f"[/b] queue {day}", timestamp=f"2026-01-0{day}") for day in (1, 3, 2)]
    workspace = open_workspace(prompts=[*demo_prompts("p01"), *prompts], judge=None)
    async with running("replay", workspace) as pilot:
        assert listed(pilot, "PromptList") == ["t3", "t2", "t1", "p01"]
        await press(pilot, "end", "home", "end")
        await reads(pilot, "#prompt", workspace.prompts[0].text[:20])
        await press(pilot, "slash", *"QUEUE [/", "enter")
        assert listed(pilot, "PromptList") == ["t3", "t2", "t1"]
        await reads(pilot, "#prompt", "[/b] queue 3")
        row = widget(pilot, "PromptList").row_cells(1, 40)
        assert [text for text, tone in row if tone == "match"] == ["[/", "queue"]
        await press(pilot, "O")
        assert listed(pilot, "PromptList") == ["t1", "t2", "t3"]
        await press(pilot, "o", "down", "enter")
        assert listed(pilot, "PromptList") == ["t1", "t3", "t2"]
        await press(pilot, "slash", *"zz", "enter")
        await reads(pilot, "#prompt", "No prompt fits. esc shows all.")
        await press(pilot, "a", "w", "V", "i", "escape")
        assert len(listed(pilot, "PromptList")) == 4
        assert not widget(pilot, "Input").display
        assert workspace.store.labels() == ()
        assert len(app_of(pilot).screen_stack) == 1


async def test_a_label_that_is_typed_ahead_belongs_to_the_ranking_on_the_screen(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p03"), judge=None)
    async with running("replay", workspace) as pilot:
        prompts = {prompt.id: prompt for prompt in workspace.prompts}
        type_ahead(pilot, "down", "a", "down", "a")
        await until(pilot, lambda: len(workspace.store.labels()) == 2)
        for label in workspace.store.labels():
            found = {one.memory.id for one in workspace.run(prompts[label.prompt_id], "memsift").candidates}
            assert label.memory_id in found
