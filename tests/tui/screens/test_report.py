"""Report: numbers that follow the labels, and replaying everything."""

from __future__ import annotations

from collections import Counter
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from engine.judge.judge import Judge
from engine.judge.providers.scripted import ScriptedProvider
from labels.measure.report import PLAIN, ReportOptions
from tests.tui.apps import DEADLINE_S, SIZE, card_shown, press, reads, settled, shown, starting_in, toasts, until
from tests.tui.demo import DEMO, CountingProvider, demo_prompts
from tui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from labels.measure.report import Report
    from tests.tui.conftest import Opener

pytestmark = pytest.mark.anyio


def replayed(workspace: Workspace) -> None:
    """Run every prompt through every system, and keep it."""
    for prompt in workspace.prompts:
        for system in workspace.systems:
            workspace.keep(workspace.run(prompt, system))


async def test_before_anything_was_replayed_it_says_which_key_does(open_workspace: Opener) -> None:
    async with starting_in("report", open_workspace(prompts=demo_prompts("p01"))).run_test(size=SIZE) as pilot:
        await reads(pilot, "#text", "Press r")


async def test_r_without_prompts_says_how_to_have_some(open_workspace: Opener) -> None:
    async with starting_in("report", open_workspace(prompts=())).run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "r")
        assert any("--prompts" in toast for toast in toasts(pilot))


async def test_r_replays_every_prompt_through_every_system_once(open_workspace: Opener) -> None:
    provider = CountingProvider(ScriptedProvider.from_file(str(DEMO / "judge.jsonl"), sleep=lambda _: None))
    prompts = demo_prompts("p01", "p02", "p03", "p04")
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=prompts)
    async with starting_in("report", workspace).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await press(pilot, "r", "r")
        await reads(pilot, "#state", "4 prompts replayed")
        await reads(pilot, "#text", "4 prompts replayed, 0 of them with labels")
        await pilot.app.workers.wait_for_complete()
        await settled(pilot)
        assert workspace.replayed == 8
        assert len(workspace.store.outcomes()) == 8
        assert max(Counter(provider.calls).values()) == 1


async def test_precision_of_both_systems_follows_the_labels(open_workspace: Opener) -> None:
    """All memories of one prompt are labelled relevant, all of the other not relevant; counted here by hand."""
    prompts = demo_prompts("p01", "p02")
    workspace = open_workspace(prompts=prompts)
    async with starting_in("label", workspace).run_test(size=SIZE) as pilot:
        await card_shown(pilot)
        screen: Any = pilot.app.screen
        for _ in prompts:
            key = "a" if screen.prompt.id == "p01" else "x"
            while screen.card:
                await press(pilot, key)
            await press(pilot, "enter")
            await card_shown(pilot)
        await press(pilot, "f5")
        for system in workspace.systems:
            sizes = {prompt.id: len(workspace.retrieval(prompt.id, system).injected) for prompt in prompts}  # type: ignore[union-attr]
            relevant, whole = sizes["p01"], sum(sizes.values())
            await reads(pilot, "#text", f"{relevant} of {whole}")
            await reads(pilot, "#text", f"{relevant / whole:.2f} ")
        await reads(pilot, "#text", "Cohen's kappa")


async def test_a_label_from_another_screen_is_in_the_report_at_once(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), judge=None)
    replayed(workspace)
    async with starting_in("report", workspace).run_test(size=SIZE) as pilot:
        await reads(pilot, "#text", "0 of them with labels")
        await press(pilot, "f3", "right", "a", "f5")
        await reads(pilot, "#text", "1 of them with labels")
        await reads(pilot, "#text", "1 of 1")


async def test_the_report_is_made_once_and_drawn_to_each_width(open_workspace: Opener) -> None:
    workspace: Any = open_workspace(kind=CountedWorkspace, prompts=demo_prompts("p01"), judge=None)
    workspace.made = 0
    replayed(workspace)
    async with starting_in("report", workspace).run_test(size=SIZE) as pilot:
        await reads(pilot, "#text", "1 prompt replayed")
        await pilot.app.workers.wait_for_complete()
        await settled(pilot)
        await pilot.resize_terminal(60, 20)
        await until(pilot, lambda: pilot.app.screen.query_one("#text").size.width < 60)
        assert workspace.made == 1
        await until(pilot, lambda: "1 prompt replayed" in shown(pilot, "#text"))


async def test_the_worker_of_a_replay_that_breaks_is_told(open_workspace: Opener) -> None:
    class BrokenWorkspace:
        """A judge whose own code raises something unforeseen."""

        def prepare(self) -> None:
            """There is nothing to load."""

        def evaluate(self, *_: object) -> object:
            raise RuntimeError("a bug [/b]")

        def close(self) -> None:
            """There is nothing to close."""

    workspace = open_workspace(judge=lambda _: BrokenWorkspace(), prompts=demo_prompts("p01"))
    async with starting_in("report", workspace).run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "r")
        await until(pilot, lambda: any("a bug [/b]" in toast for toast in toasts(pilot)))
        assert pilot.app.is_running


class CountedWorkspace(Workspace):
    """Counts the reports that it makes."""

    made: int

    def report(self, options: ReportOptions = PLAIN) -> Report:
        self.made += 1
        return super().report(options)


class GatedWorkspace(Workspace):
    """Hands a report over only when the gate is open. Open it before the test ends."""

    gate: Event

    def report(self, options: ReportOptions = PLAIN) -> Report:
        made = super().report(options)
        assert self.gate.wait(DEADLINE_S)
        return made


async def test_while_a_report_is_made_the_screen_says_so_and_can_be_left(open_workspace: Opener) -> None:
    workspace: Any = open_workspace(kind=GatedWorkspace, prompts=demo_prompts("p01"))
    workspace.gate = Event()
    replayed(workspace)
    async with starting_in("report", workspace).run_test(size=SIZE) as pilot:
        await reads(pilot, "#state", "Counting")
        await press(pilot, "f2", "f5")
        await reads(pilot, "#state", "Counting")
        workspace.gate.set()
        await reads(pilot, "#text", "1 prompt replayed")
        await until(pilot, lambda: shown(pilot, "#state") == "", "it is done")


async def test_the_report_says_what_one_system_changes_against_another(open_workspace: Opener) -> None:
    workspace: Any = open_workspace(kind=CountedWorkspace, prompts=demo_prompts("p01", "p02"))
    workspace.made = 0
    replayed(workspace)
    for prompt in workspace.prompts:
        for card in workspace.pool(prompt.id).cards:
            workspace.store.label("me", prompt.id, card, "not", seed=1, blind=True, elapsed_ms=1)
    async with starting_in("report", workspace).run_test(size=SIZE) as pilot:
        await reads(pilot, "#text", "Differences: what one system changes against another")
        await reads(pilot, "#text", "memsift+judge memsift +0.00")
        assert workspace.made == 1, "it takes seconds over many labels"


async def test_m_shows_the_curves_and_the_ranking_and_takes_them_away(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), judge=None)
    replayed(workspace)
    pool = workspace.pool("p01")
    assert pool is not None
    for card in pool.cards:
        workspace.store.label("me", "p01", card, "relevant", seed=1, blind=True, elapsed_ms=1)
    async with starting_in("report", workspace).run_test(size=SIZE) as pilot:
        await press(pilot, "m")
        await reads(pilot, "#text", "Ranking, as TREC counts it")
        await reads(pilot, "#text", "Labels over time: how precision became known")
        await press(pilot, "m")
        await until(pilot, lambda: "Ranking, as TREC" not in shown(pilot, "#text"))
        await reads(pilot, "#text", "Precision")


async def test_a_report_that_cannot_be_made_is_told_and_the_last_one_stays(
    open_workspace: Opener, tmp_path: Path
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), judge=None)
    replayed(workspace)
    async with starting_in("report", workspace).run_test(size=SIZE, notifications=True) as pilot:
        await reads(pilot, "#text", "1 prompt replayed")
        await pilot.app.workers.wait_for_complete()
        (tmp_path / "labels.db").rename(tmp_path / "elsewhere.db")
        (tmp_path / "labels.db").write_text("no database")
        await press(pilot, "f2", "f5")
        await until(pilot, lambda: any("labels.db" in toast for toast in toasts(pilot)), "it is told")
        await reads(pilot, "#text", "1 prompt replayed")
        await until(pilot, lambda: shown(pilot, "#state") == "")
