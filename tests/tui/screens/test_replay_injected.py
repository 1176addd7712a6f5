"""Replay with what a hook really wrote beside two systems."""

import pytest

from engine.lean.record import replace
from engine.prompt import Injection, Prompt
from tests.tui.apps import SMALL, press, reads, shown, starting_in, table, widget
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, fresh_cutoff

pytestmark = pytest.mark.anyio


def written_prompts() -> tuple[Prompt, ...]:
    """Prompts for which transcripts tell of two hooks: one wrote memories and another a text, or the first none."""
    first, second, *others = demo_prompts()
    wrote = (Injection("", ids=("overdue-index-added", "money-in-cents")), Injection("other", text="- [/b] a text"))
    return (replace(first, injections=wrote), replace(second, injections=(Injection(""),)), *others)


@pytest.mark.slow
async def test_what_a_hook_wrote_stands_beside_two_systems_and_says_that_it_has_no_scores(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(judge=None, prompts=written_prompts(), cutoff=fresh_cutoff())
    workspace.chosen = ("bm25", "memsift+default", "injected")
    async with starting_in("replay", workspace).run_test(size=SMALL) as pilot:
        await reads(pilot, "#head", "Memory BM25 hook injected")
        await reads(pilot, "#judge", "BM25 and strength do not compare: look at signs and ranks.")
        rows = {row.memory.id: row.candidates[2] for row in table(pilot).records if row.candidates[2]}
        assert [one.rank for one in rows.values() if one] == [1, 2]
        assert set(rows) == {"overdue-index-added", "money-in-cents"}
        # the row with the focus keeps the marks of its words, as underlined text
        await press(pilot, "right")
        row = table(pilot)
        strip = row.render_line(row.cursor - row.scroll_offset.y)
        marked = [segment.text for segment in strip if segment.style and segment.style.underline]
        assert marked == ["index"]
        workspace.chosen = ("memsift+default", "injected", "injected:other")
        await press(pilot, "f2", "f3")
        await reads(pilot, "#head", "Memory hook injected :other")
        await reads(pilot, "#judge", "injected: what a hook wrote, in its order, without scores.")
        assert "On the right" not in shown(pilot, "#judge")
        # a filter that no prompt fits says so in whole sentences, and not under the name of a prompt
        await press(pilot, "left", "v", "down", "down", "enter")
        keys = "R replays all prompts, c chooses systems, esc shows all."
        await reads(pilot, "#prompt", f"No judge failed on a replayed prompt. {keys}")
        assert str(widget(pilot, "#result").border_title) == "Prompt"
