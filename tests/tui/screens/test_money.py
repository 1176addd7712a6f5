"""No judge is asked before a person agrees to its cost, and never over the limit."""

import asyncio
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.judge.judge import Judge
from engine.judge.limits import Limits
from engine.judge.provider import Completion, Question
from engine.lean.record import replace
from tests.engine.judge.api_server import ApiServer
from tests.tui.apps import app_of, press, reads, running, settled, told, until
from tests.tui.cli.command_line import jsonl
from tests.tui.conftest import Opener
from tests.tui.demo import GatedProvider, demo_prompts
from tui.screens.replay import REST_SECONDS
from tui.workspace import opening
from tui.workspace.judging import JudgeOptions
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

CENT_TOKENS = 10_000
"""At one dollar for a million tokens, an answer costs one cent."""


class PaidProvider(GatedProvider):
    """Keeps nothing, for one cent a call."""

    def __init__(self, name: str = "anthropic") -> None:
        super().__init__()
        self.name, self.model = name, "claude-haiku-4-5"

    def complete(self, question: Question, timeout_s: float) -> Completion:
        return replace(super().complete(question, timeout_s), input_tokens=CENT_TOKENS)


def paid_workspace(open_workspace: Opener, provider: PaidProvider, *ids: str) -> Workspace:
    spending = Limits(asks_first=True)
    return open_workspace(
        judge=lambda config: Judge(spending.around(provider), config.judge),
        spending=spending,
        prompts=demo_prompts(*ids),
    )


async def rest(pilot: Any) -> None:
    """Let the cursor rest for longer than it takes to ask the judge."""
    await asyncio.sleep(REST_SECONDS * 2)
    await settled(pilot)


@pytest.mark.slow
async def test_a_resting_cursor_never_pays_before_a_person_agreed(open_workspace: Opener) -> None:
    """After the agreement, the judge is asked and the top bar counts."""
    provider = PaidProvider()
    async with running("replay", paid_workspace(open_workspace, provider, "p01", "p02")) as pilot:
        await rest(pilot)
        await press(pilot, "f4", "f3", "down")
        await rest(pilot)
        assert provider.asked == []
        await reads(pilot, "#judge", "Press $ to ask the judge")
        await press(pilot, "dollar_sign")
        await reads(pilot, "#cost", "2 prompts: at most 2 calls, for at most $")
        await press(pilot, "escape")
        await rest(pilot)
        assert provider.asked == []
        await press(pilot, "dollar_sign", "enter")
        await until(pilot, lambda: len(provider.asked) == 1)
        await reads(pilot, "#where", "judge: $0.0100 of $1.00")
        await press(pilot, "up")
        await reads(pilot, "#where", "judge: $0.0200 of $1.00")
        await press(pilot, "dollar_sign")
        assert not pilot.app.screen.query("#cost"), "one agreement is enough for this start"


async def test_big_r_asks_first_and_without_an_agreement_replays_without_the_judge(open_workspace: Opener) -> None:
    provider = PaidProvider()
    workspace = paid_workspace(open_workspace, provider, "p01", "p02", "p04")
    async with running("report", workspace) as pilot:
        await press(pilot, "R")
        await reads(pilot, "#cost", "3 prompts: at most")
        await press(pilot, "escape")
        await reads(pilot, "#state", "3 prompts replayed")
        assert provider.asked == []
        assert {outcome.system for outcome in workspace.store.outcomes()} == set(workspace.systems)


@pytest.mark.slow
async def test_a_replay_stops_before_the_limit_and_can_go_on_with_another(open_workspace: Opener) -> None:
    provider = PaidProvider()
    ids = [prompt.id for prompt in demo_prompts()[:12]]
    workspace = paid_workspace(open_workspace, provider, *ids)
    async with running("report", workspace) as pilot:
        await press(pilot, "R", *["backspace"] * 4, *"nan", "enter")
        await reads(pilot, "#wrong", "Type an amount above 0")
        await press(pilot, *["backspace"] * 3, *"0.05", "enter")
        await told(pilot, "limit")
        assert 0 < len(provider.asked) <= 5
        assert workspace.needs_agreement
        await until(pilot, lambda: app_of(pilot).progress is None)
        await press(pilot, "R", "enter")
        await reads(pilot, "#state", "12 prompts replayed")
        assert len({one.prompt_id for one in workspace.store.outcomes() if "judge" in one.system}) == 12
        answers = [found.call.answers for found in workspace.store.outcomes() if found.call]
        assert all(answers), "no refused call is recorded"


async def test_where_no_price_is_known_the_question_says_who_pays(open_workspace: Opener) -> None:
    provider = PaidProvider("claude-cli")
    async with running("replay", paid_workspace(open_workspace, provider, "p01")) as pilot:
        await press(pilot, "dollar_sign")
        await reads(pilot, "#cost", "Claude subscription")
        assert not pilot.app.screen.query("Input")
        await press(pilot, "enter")
        await until(pilot, lambda: len(provider.asked) == 1)
        await reads(pilot, "#where", "judge: 1 call")


def test_the_app_opens_a_judge_that_waits_for_an_agreement(root: Path, server: ApiServer, tmp_path: Path) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"prompt": "how is the cache warmed?"})
    options, db = JudgeOptions("anthropic-http"), str(tmp_path / "labels.db")
    opened = opening.open_workspace(str(root), [str(prompts)], options, db, os.environ, asks_first=True)
    with closing(opened) as workspace:
        assert workspace.needs_agreement
        assert not any("judge" in system for system in workspace.systems)
        workspace.run(workspace.prompts[0], "memsift+judge")
        assert not server.requests
        workspace.agree(1.0)
        workspace.run(workspace.prompts[0], "memsift+judge")
        assert len(server.requests) == 1
