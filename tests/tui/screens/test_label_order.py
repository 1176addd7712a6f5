"""Choosing which prompts come first, on the Label screen."""

from typing import Any

import pytest
from textual.pilot import Pilot

from labels.labelling_order import AGREE, DIFFER, DISAGREEMENT_FIRST, STRATIFIED
from tests.tui.apps import SIZE, app_of, card_shown, press, reads, starting_in, toasts, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts

pytestmark = pytest.mark.anyio


async def ordered(pilot: Pilot[None]) -> None:
    """Wait until the order of prompts is made and a card is shown."""
    screen: Any = pilot.app.screen
    workspace = app_of(pilot).workspace

    def is_planned() -> bool:
        plan = workspace.store.plan(workspace.index.root, workspace.annotator)
        return plan is not None and plan.order == workspace.order and screen.queue is not None

    await until(pilot, is_planned, "an order")
    await card_shown(pilot)


async def choose(pilot: Pilot[None], *keys: str) -> None:
    await press(pilot, "o", *keys)
    await ordered(pilot)


async def test_a_chosen_order_is_made_shown_and_kept(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None)
    async with starting_in("label", workspace).run_test(size=SIZE) as pilot:
        await card_shown(pilot)
        await reads(pilot, "#progress", "0 of 52 prompts")
        await choose(pilot, "down", "down", "enter")
        assert workspace.order == DISAGREEMENT_FIRST
        await reads(pilot, "#progress", "0 of 52 prompts done · 0 labels · disagreements first")
        strata = workspace.store.strata(workspace.index.root)
        screen: Any = pilot.app.screen
        first_ten = [strata[prompt.id] for prompt in screen.queue.order[:10]]
        assert first_ten.count(DIFFER) >= 8
        assert AGREE in first_ten
    workspace.close()
    workspace = open_workspace(judge=None)
    async with starting_in("label", workspace).run_test(size=SIZE) as pilot:
        await ordered(pilot)
        await reads(pilot, "#progress", "disagreements first")


async def test_a_prompt_that_was_begun_is_labelled_to_its_end_before_the_order_changes(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None)
    async with starting_in("label", workspace).run_test(size=SIZE) as pilot:
        await card_shown(pilot)
        screen: Any = pilot.app.screen
        here = screen.prompt
        await press(pilot, "a")
        rest = screen.position.open
        assert rest
        await choose(pilot, "down", "down", "enter")
        assert (workspace.order, screen.prompt, screen.position.open) == (DISAGREEMENT_FIRST, here, rest)
        while screen.card:
            await press(pilot, "a")
        await press(pilot, "enter")
        await card_shown(pilot)
        assert screen.prompt == next(one for one in screen.queue.order if one != here)


async def test_a_prompt_that_comes_in_joins_the_order_and_takes_no_card_away(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p04"), judge=None, order=STRATIFIED)
    async with starting_in("label", workspace).run_test(size=SIZE) as pilot:
        await ordered(pilot)
        screen: Any = pilot.app.screen
        while screen.card:
            await press(pilot, "a")
        here = screen.prompt
        workspace.lists.read(demo_prompts("p01", "p04", "p20"))
        await press(pilot, "f2", "f4")
        await until(pilot, lambda: len(screen.queue.order) == 3)
        assert (screen.prompt, screen.is_revealed) == (here, True)
        assert set(workspace.store.strata(workspace.index.root)) == {"p01", "p04", "p20"}


async def test_an_order_that_cannot_be_kept_is_told_and_labelling_goes_on(
    open_workspace: Opener, locked: Any, tmp_path: Any
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p04"), judge=None, busy_timeout_s=0.01)
    async with starting_in("label", workspace).run_test(size=SIZE, notifications=True) as pilot:
        await card_shown(pilot)
        with locked(tmp_path / "labels.db"):
            await press(pilot, "o", "down", "enter")
            await until(pilot, lambda: any("another program is writing" in toast for toast in toasts(pilot)))
        await card_shown(pilot)
        await press(pilot, "a")
        assert len(app_of(pilot).workspace.store.labels()) == 1
