"""A replay of all prompts: off the interface's thread, on every screen, cancelled by a key."""

from pathlib import Path
from typing import Any

import pytest

from engine.judge.judge import Judge
from tests.tui.apps import app_of, press, reads, running, settled, shown, toasts, told, until
from tests.tui.conftest import Opener
from tests.tui.demo import GatedProvider, demo_prompts
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

AT_ONCE = 8


def gated_workspace(open_workspace: Opener, free: int, held: int) -> tuple[Workspace, GatedProvider]:
    """A workspace whose judge answers the first prompts, *free* of them, and holds the others, *held* of them."""
    provider = GatedProvider()
    prompts = demo_prompts()[: free + held]
    for prompt in prompts[free:]:
        provider.hold(prompt.text)
    return open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=prompts), provider


def recorded(workspace: Workspace) -> int:
    return len({outcome.prompt_id for outcome in workspace.store.outcomes()})


async def test_the_judge_is_asked_about_several_prompts_at_once_and_a_reload_ends_the_run(
    open_workspace: Opener,
) -> None:
    workspace, provider = gated_workspace(open_workspace, free=0, held=12)
    async with running("report", workspace) as pilot:
        await press(pilot, "R")
        await until(pilot, lambda: len(provider.asked) == AT_ONCE)
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: app_of(pilot).progress is None)
        provider.open_all()
        await settled(pilot)
        assert len(workspace.finished) == 0, "the run was over the old memories"
        await press(pilot, "R")
        await reads(pilot, "#state", "12 prompts replayed")
        assert len(workspace.finished) == 24


@pytest.mark.slow
async def test_every_screen_shows_the_progress_and_ctrl_x_cancels_and_keeps_what_is_done(
    open_workspace: Opener,
) -> None:
    workspace, provider = gated_workspace(open_workspace, free=3, held=20)
    async with running("report", workspace) as pilot:
        await press(pilot, "R")
        for key in ("f2", "f3", "f4", "f5", "f2"):
            await press(pilot, key)
            await reads(pilot, "#run", "Replayed ")
            await reads(pilot, "#run", "/23")
            await reads(pilot, "#cancel", "ctrl+x cancels")
        await press(pilot, "ctrl+x")
        await until(pilot, lambda: app_of(pilot).progress is None, "the run is over, with answers still under way")
        assert recorded(workspace) >= 3
        assert any("of 23 prompts were replayed, and are kept" in toast for toast in toasts(pilot))
        await until(pilot, lambda: shown(pilot, "#run") == "", "no progress is shown")
        asked = len(provider.asked)
        provider.open_all()
        await until(pilot, lambda: recorded(workspace) >= asked, "answers that come late are kept, too")
        await settled(pilot)
        assert len(provider.asked) == asked, "nothing more is asked"


@pytest.mark.slow
async def test_keys_work_while_the_results_wait_for_the_disk(
    open_workspace: Opener, locked: Any, tmp_path: Path
) -> None:
    workspace = open_workspace(prompts=demo_prompts()[:30], judge=None, busy_timeout_s=0.1)
    async with running("report", workspace) as pilot:
        with locked(tmp_path / "labels.db"):
            await press(pilot, "R", "f2", "down", "down")
            await reads(pilot, "#run", "Replayed 0/30")
            assert recorded(workspace) == 0
        await until(pilot, lambda: recorded(workspace) == 30)
        await told(pilot, "30 prompts replayed")
