"""The list of Browse: columns, order, filters; and the detail beside it."""

import json
import os
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from engine.paths import state_dir
from engine.prompt import typed_prompt
from tests.engine.curation.roots import document, write_documents
from tests.labels.samples import known
from tests.tui.apps import current_prompt, listed, press, reads, settled, shown, table, text_of, toasts, until, widget
from tests.tui.conftest import Opener
from tui.app import MemsiftApp
from tui.workspace.curate.memory_facts import ORDERS
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

WIDE = (160, 36)
HOSTILE = "closing [/b] tag [/ [b + x [link=http://x]y"
PROMPT = typed_prompt(f"title of alpha shared {HOSTILE}")


@pytest.fixture
def workspace(open_workspace: Opener, tmp_path: Path) -> Workspace:
    """Three memories of two categories in a project, replayed on a prompt, and a log of the hook."""
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "there.py").write_text("")
    related = ["src/there.py", "src/gone.py", "../outside.py", HOSTILE]
    retired = {"record_status": "retired", "retired_reason": "No longer true."}
    root = write_documents(
        project / ".claude" / "memory",
        [
            document("alpha", related_files=related, title=f"Title of alpha {HOSTILE}"),
            document("beta", "runbook", updated_at="2026-03-01T00:00:00Z", **retired),
            document("gamma", updated_at="2026-02-01T00:00:00Z", title="Another title, much longer than others"),
        ],
    )
    made = open_workspace(root=root, prompts=(PROMPT,), judge=None)
    made.keep(made.run(PROMPT, made.first.name))
    folder = Path(state_dir(made.index.root, os.environ))
    folder.mkdir(parents=True)
    lines = [{"time": "2026-01-01T00:00:00Z", "system": "memsift", "injected": ["gamma"]}] * 3
    lines.append({"time": "2026-01-02T00:00:00Z", "system": "memsift", "injected": ["alpha"]})
    (folder / "activity.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return made


def label(workspace: Workspace, verdict: str) -> None:
    card = next(one for one in known(workspace.pool(PROMPT.id)).cards if one.memory.id == "alpha")
    workspace.store.label(workspace.annotator, PROMPT.id, card, verdict, seed=1, blind=True, elapsed_ms=1)


async def facts_shown(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: widget(pilot, "MemoryList").facts.words, "facts")
    await settled(pilot)


ORDERED = {
    "Title": ["gamma", "alpha", "beta"],
    "Category": ["alpha", "gamma", "beta"],
    "Status": ["alpha", "gamma", "beta"],
    "Age, the newest first": ["beta", "gamma", "alpha"],
    "Injected by the hook, the most first": ["gamma", "alpha", "beta"],
    "Relevant of labelled, the best first": ["alpha", "gamma", "beta"],
    "Tokens, the longest first": ["alpha", "gamma", "beta"],
}


@pytest.mark.slow
async def test_the_columns_show_injections_labels_and_tokens_and_sort(workspace: Workspace) -> None:
    """Numbers end below the end of their column's name. A status is named only where it is not "active"."""
    label(workspace, "relevant")
    async with MemsiftApp(workspace).run_test(size=WIDE) as pilot:
        await facts_shown(pilot)
        assert shown(pilot, "ColumnHeads") == "Category Title Inj. Relevant"
        await press(pilot, "o", *["down"] * 7, "enter", "o", "home", "enter")
        await pilot.resize_terminal(120, 48)
        await settled(pilot)
        heads = text_of(widget(pilot, "ColumnHeads"))
        assert heads.split() == ["Category", "Title", "Age", "Tokens", "Inj.", "Relevant"]
        rows = text_of(widget(pilot, "MemoryList")).splitlines()
        row = next(one for one in rows if "alpha" in one)
        numbers = row[heads.index("Age") - 2 :].split()
        assert (numbers[0], *numbers[2:4]) == ("10mo", "1", "1/1")
        assert int(numbers[1]) > 5
        assert heads.index("Age") + 3 == row.index("10mo") + 4
        assert ["[retired]" in one for one in rows[:3]] == ["beta" in one for one in rows[:3]]
        await press(pilot, *["down"] * ["beta" in one for one in rows].index(True))
        await reads(pilot, "#detail-text", "Retired: No longer true. Title of beta")
        for choice, order in ORDERED.items():
            place = [order.text for order in ORDERS.values()].index(choice)
            await press(pilot, "o", "home", *["down"] * place, "enter")
            assert listed(pilot) == order, choice
            heads = shown(pilot, "ColumnHeads")
            assert choice == "Status" or "▲" in heads or "▼" in heads
            await press(pilot, "O")
            assert listed(pilot)[0] == order[-1] or choice[:8] in ("Category", "Status", "Relevant")
        # the filter marks its words in the rows and keeps the order
        await press(pilot, "o", "home", "down", "enter", "slash", *"titl")
        assert listed(pilot) == ["gamma", "alpha", "beta"]
        for place, word in enumerate(("title", "Title")):
            assert (word, "match") in widget(pilot, "MemoryList").row_cells(place, 80)


@pytest.mark.slow
async def test_the_detail_shows_fields_files_and_changes_and_a_list_is_narrowed(workspace: Workspace) -> None:
    async with MemsiftApp(workspace).run_test(size=WIDE, notifications=True) as pilot:
        await reads(pilot, "#detail-text", "Status accepted")
        await reads(pilot, "#detail-text", "✓ src/there.py")
        await reads(pilot, "#detail-text", "✗ src/gone.py (not there)")
        await reads(pilot, "#detail-text", "✗ ../outside.py (not there)")
        await reads(pilot, "#detail-text", HOSTILE)
        await press(pilot, "x", "0", *"[/b", "enter")
        await reads(pilot, "#detail-text", "Retired alpha: [/b")
        await press(pilot, "u")
        await reads(pilot, "#detail-text", "Retired alpha: [/b (taken back)")
        await press(pilot, "c", "down", "enter")
        assert listed(pilot) == ["alpha", "gamma"]
        await reads(pilot, "#list", "2 of 3 memories · decision")
        await press(pilot, "escape", "v", "down", "down", "enter")
        assert listed(pilot) == ["beta"]
        await reads(pilot, "#list", "retired")
        await press(pilot, "c", "down", "enter")
        assert listed(pilot) == []
        await reads(pilot, "#detail-text", "Press esc to clear it")
        await press(pilot, "escape")
        assert len(listed(pilot)) == 3


async def why_shown(pilot: Pilot[None], memory_id: str) -> None:
    """Wait until Replay explains why the prompt pulled the memory in."""
    await until(pilot, lambda: bool(pilot.app.screen.query("PromptList")), "Replay")
    await settled(pilot)
    assert current_prompt(pilot) == PROMPT.id
    assert known(table(pilot).current).memory.id == memory_id
    assert widget(pilot, "#view").has_focus
    await reads(pilot, "#view-text", "hook injects it")


async def test_the_only_prompt_that_pulled_the_memory_in_is_explained(workspace: Workspace) -> None:
    label(workspace, "not")
    workspace.lists.read([typed_prompt("another prompt first"), PROMPT])
    async with MemsiftApp(workspace).run_test(size=WIDE) as pilot:
        await reads(pilot, "#detail-text", f"− {PROMPT.text} (not relevant)")
        await reads(pilot, "#detail-text", "The hook injected it once.")
        for keys in (["w"], ["f2", "tab", "enter"]):
            await press(pilot, *keys)
            await why_shown(pilot, "alpha")


@pytest.mark.slow
async def test_hidden_prompts_are_shown_on_request_and_are_not_blind_then(workspace: Workspace) -> None:
    async with MemsiftApp(workspace).run_test(size=WIDE) as pilot:
        await reads(pilot, "#detail-text", "1 prompt is hidden, so that your label stays blind.")
        assert PROMPT.text not in shown(pilot, "#detail-text")
        await press(pilot, "w")
        await reads(pilot, "OptionList", "labels of these prompts will not count as blind")
        assert workspace.is_blind(PROMPT.id)
        await press(pilot, "enter")
        await reads(pilot, "OptionList", PROMPT.text)
        assert not workspace.is_blind(PROMPT.id)
        await press(pilot, "enter")
        await why_shown(pilot, "alpha")


async def test_without_a_replay_w_offers_one_and_then_shows_why(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_documents(tmp_path / "root", [document("alpha"), document("zebra", "runbook", title="Zebra", tags=[])])
    app = MemsiftApp(open_workspace(root=root, prompts=(PROMPT,), judge=None))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await facts_shown(pilot)
        await press(pilot, "w")
        await reads(pilot, "OptionList", "Replay all prompts to find out")
        await press(pilot, "enter")
        await reads(pilot, "#detail-text", "1 prompt is hidden")
        await press(pilot, "w", "enter")
        await reads(pilot, "OptionList", PROMPT.text)
        await press(pilot, "escape", "G", "w")
        assert toasts(pilot)[-1].startswith("No prompt pulls this memory in. P tries another prompt")


@pytest.mark.slow
async def test_a_narrow_list_leaves_columns_out_and_no_row_is_wider_than_it(workspace: Workspace) -> None:
    """More width never leaves a column out but age and length, and the title gets more of it, also beside the pane."""
    before: set[str] = set()
    titles: dict[int, int] = {}
    async with MemsiftApp(workspace).run_test(size=(60, 24)) as pilot:
        await facts_shown(pilot)
        rows = widget(pilot, "MemoryList")
        for width in (60, 80, 99, 100, 120, 139, 140, 160):
            await pilot.resize_terminal(width, 24)
            await settled(pilot)
            heads = shown(pilot, "ColumnHeads").split()
            assert before <= {*heads, "Age", "Tokens"}, width
            before = {*heads}
            titles[width] = len(rows.row_cells(0, rows.row_width)[2][0])
            if width == 60:
                assert heads == ["Category", "Title"]
            for row in range(3):
                assert sum(cell_len(text) for text, _ in rows.row_cells(row, rows.row_width)) <= rows.row_width
        assert 35 <= titles[60] <= titles[80] <= titles[120] <= titles[160]
