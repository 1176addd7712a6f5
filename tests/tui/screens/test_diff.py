"""Diff: two saved runs as a list of prompts, and the way from Replay there and back."""

import pytest

from engine.lean.record import replace
from engine.prompt import Prompt, typed_prompt
from engine.roots import OpenRoots
from labels.exchange.trec import read_qrels
from labels.records import NOT_RELEVANT, RELEVANT, Card
from labels.runs import InjectedMemory
from tests.labels.samples import known
from tests.tui.apps import SMALL, current_prompt, press, reads, running, screen_of, shown, starting_in, toasts, until
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO, demo_prompts
from tests.tui.test_hostile import TEXTS
from tui.workspace.filtering import RowChoice, WordFilter
from tui.workspace.replay.run_diffs import ALL, BETTER, GAINED, IN_RUN, LOST, ONLY, RULES, WORSE, WORST, read_diff
from tui.workspace.replay.run_diffs import diff_rows as rows_of
from tui.workspace.sources import Settings
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

HOSTILE = typed_prompt("\n".join(TEXTS.values()) + " library_id holds rotation")


def save_run(workspace: Workspace, prompts: tuple[Prompt, ...], most: int, **settings: float) -> None:
    config = replace(workspace.config, max_inject=most, **settings)
    workspace.take_settings(Settings(OpenRoots((workspace.root,), workspace.root, config)))
    with workspace.store.together():
        for prompt in prompts:
            workspace.keep(workspace.run(prompt, "memsift"))


def label_by_qrels(workspace: Workspace) -> None:
    """Label the injected memories of the demo as its qrels do."""
    grades = read_qrels(DEMO / "qrels.txt")
    for run in workspace.store.saved_runs(workspace.index.root):
        for prompt_id, memories in workspace.store.injected_sets(run.run_id).items():
            for one in memories:
                if (grade := grades.get(prompt_id, {}).get(one.memory_id)) is not None:
                    card = Card(known(workspace.memory(one.memory_id)).summary, 1)
                    verdict = RELEVANT if grade else NOT_RELEVANT
                    workspace.store.label("me", prompt_id, card, verdict, seed=1, blind=True, elapsed_ms=0)


def with_two_runs(workspace: Workspace) -> Workspace:
    """The demo with a run that injects three memories, and a later one that injects one and has another prompt."""
    prompts = workspace.prompts
    save_run(workspace, (*prompts[:20], HOSTILE), 3)
    save_run(workspace, (*prompts[1:21], HOSTILE), 1)
    label_by_qrels(workspace)
    return workspace


def test_the_rows_of_a_diff_are_narrowed_and_sorted(open_workspace: Opener) -> None:
    workspace = with_two_runs(open_workspace())
    found = read_diff(workspace.store.path, workspace.index.root, ())
    compared = known(found.compared)
    assert compared.settings == ("max_inject was 3, is 1",)
    save_run(workspace, (*workspace.prompts[1:21], HOSTILE), 1, min_strength=2.999)
    latest, *_ = workspace.store.saved_runs(workspace.index.root)
    again = read_diff(workspace.store.path, workspace.index.root, ())
    assert again.pair == (known(found.pair)[0], latest), "a run that injects the same as another is passed over"
    rows = rows_of(compared, lambda memory: memory.title)
    number = RULES.counts(rows)
    assert (number[ALL], number[ONLY], number[GAINED]) == (22, 2, 0)
    assert 0 < number[LOST] <= 20
    by_worth = [row.diff.worth for row in RULES.listed(rows, RowChoice(kind=ALL, order=WORST))]
    assert by_worth == sorted(by_worth)
    assert by_worth[0] < 0
    worse = RULES.listed(rows, RowChoice(kind=WORSE, order=WORST))
    assert len(worse) == number[WORSE] == sum(worth < 0 for worth in by_worth)
    assert number[BETTER] == sum(one > 0 for one in by_worth)
    turned = RULES.listed(rows, RowChoice(kind=ALL, order=IN_RUN, is_turned=True))
    assert turned == rows[::-1]
    found_by_words = RULES.listed(rows, RowChoice(WordFilter("[link= ROTATION"), ALL, IN_RUN))
    assert [row.diff.prompt_id for row in found_by_words] == [HOSTILE.id]


@pytest.mark.slow
async def test_d_shows_what_the_latest_run_changed_and_enter_goes_to_the_prompt(open_workspace: Opener) -> None:
    workspace = with_two_runs(open_workspace(judge=None))
    async with running("replay", workspace, size=(120, 36)) as pilot:
        await press(pilot, "d")
        app, screen = pilot.app, screen_of(pilot)
        await until(pilot, lambda: screen.diffs.count, "the diff")
        await reads(pilot, "#detail-text", "Changed in between: max_inject was 3, is 1.")
        assert "of 22 prompts differ" in str(screen.listing.list_pane.border_title)
        assert "Lost" in shown(pilot, "#detail-text")
        summary = workspace.index.summaries()[0]
        old = [InjectedMemory(name, "", "Older title") for name in (summary.id, "gone")]
        assert [*map(screen.called, old)] == [summary.name, "Older title"]
        # all prompts, a search, and back again
        await press(pilot, "v", "end", "enter")
        assert screen.diffs.count == 22
        await press(pilot, "slash", *"rotation", "enter")
        assert [row.diff.prompt_id for row in screen.diffs.records] == [HOSTILE.id]
        await press(pilot, "escape")
        assert screen.diffs.count < 22
        wanted = screen.diffs.current.diff.prompt_id
        await press(pilot, "enter")
        assert app.current_mode == "replay"
        assert current_prompt(pilot) == wanted
        # esc leads from Diff back to Replay, and never quits
        await press(pilot, "d", "escape")
        assert app.current_mode == "replay"
        # two other runs: the third that is selected takes the place of the first; the earlier is always the one before
        save_run(workspace, workspace.prompts[:3], 2)
        latest, second, first = workspace.store.saved_runs(workspace.index.root)
        await press(pilot, "d")
        await until(pilot, lambda: screen._found.pair == (second, latest), "the latest pair")
        await press(pilot, "c", "G", "space", "enter")
        await until(pilot, lambda: screen._found.pair == (first, second), "the other pair")
        await press(pilot, "c", "j", "space", "enter")
        await reads(pilot, "ChooseRuns Static", "Select two runs.")
        await press(pilot, "escape")
        assert len(app.screen_stack) == 1


async def test_without_two_runs_diff_says_what_makes_one(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts("p01", "p02"))
    async with starting_in("diff", workspace).run_test(size=SMALL) as pilot:
        await reads(pilot, "#detail-text", "Two runs are needed, and none is saved")
        await reads(pilot, "#detail-text", "R replays all prompts")
        await press(pilot, "c", "enter")
        assert toasts(pilot) == ["There are no two runs to choose from."]
        save_run(workspace, workspace.prompts, 3)
        await press(pilot, "f3", "d")
        await reads(pilot, "#detail-text", "Two runs are needed, and one is saved")
