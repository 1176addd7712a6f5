"""No judge is asked before a person agrees to its cost, and never over the limit."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from engine.judge.judge import Judge
from engine.judge.limits import Limits
from engine.judge.provider import Completion, Question
from engine.judge.providers.scripted import ScriptedProvider
from tests.engine.judge.api_server import ApiServer
from tests.tui.apps import SIZE, app_of, press, reads, settled, shown, starting_in, toasts, until
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO, demo_prompts
from tui.screens.replay import REST_SECONDS
from tui.workspace import opening
from tui.workspace.judging import JudgeOptions
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

CENT_TOKENS = 10_000
"""At one dollar for a million tokens, an answer costs one cent."""


class PaidProvider:
    """Keeps nothing, for one cent a call."""

    fingerprint = ""

    def __init__(self, name: str = "anthropic") -> None:
        self.name, self.model = name, "claude-haiku-4-5"
        self.calls = 0

    def hide(self, text: str) -> str:
        return text

    def prepare(self) -> None:
        """There is nothing to load."""

    def close(self) -> None:
        """There is nothing to close."""

    def complete(self, question: Question, timeout_s: float) -> Completion:  # noqa: ARG002
        self.calls += 1
        return Completion('{"keep": []}', input_tokens=CENT_TOKENS)


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
    provider = PaidProvider()
    async with starting_in("replay", paid_workspace(open_workspace, provider, "p01", "p02")).run_test(
        size=SIZE
    ) as pilot:
        await settled(pilot)
        await rest(pilot)
        await press(pilot, "f4", "f3", "down")
        await rest(pilot)
        assert provider.calls == 0
        await reads(pilot, "#judge", "Press $ to ask the judge")
        await press(pilot, "dollar_sign")
        await reads(pilot, "#cost", "2 prompts: at most 2 calls, for at most $")
        await press(pilot, "escape")
        await rest(pilot)
        assert provider.calls == 0


@pytest.mark.slow
async def test_after_the_agreement_the_judge_is_asked_and_the_top_bar_counts(open_workspace: Opener) -> None:
    provider = PaidProvider()
    async with starting_in("replay", paid_workspace(open_workspace, provider, "p01", "p02")).run_test(
        size=SIZE
    ) as pilot:
        await settled(pilot)
        await press(pilot, "dollar_sign", "enter")
        await until(pilot, lambda: provider.calls == 1)
        await reads(pilot, "#where", "judge: $0.0100 of $1.00")
        await press(pilot, "down")
        await reads(pilot, "#where", "judge: $0.0200 of $1.00")
        await press(pilot, "dollar_sign")
        assert not pilot.app.screen.query("#cost"), "one agreement is enough for this start"


async def test_big_r_asks_first_and_without_an_agreement_replays_without_the_judge(open_workspace: Opener) -> None:
    provider = PaidProvider()
    workspace = paid_workspace(open_workspace, provider, "p01", "p02", "p04")
    async with starting_in("report", workspace).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await press(pilot, "R")
        await reads(pilot, "#cost", "3 prompts: at most")
        await press(pilot, "escape")
        await reads(pilot, "#state", "3 prompts replayed")
        assert provider.calls == 0
        assert {outcome.system for outcome in workspace.store.outcomes()} == set(workspace.systems)


async def test_a_replay_stops_before_the_limit_and_can_go_on_with_another(open_workspace: Opener) -> None:
    provider = PaidProvider()
    ids = [prompt.id for prompt in demo_prompts()[:12]]
    workspace = paid_workspace(open_workspace, provider, *ids)
    async with starting_in("report", workspace).run_test(size=SIZE, notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "R", *["backspace"] * 4, *"nan", "enter")
        await reads(pilot, "#wrong", "Type an amount above 0")
        await press(pilot, *["backspace"] * 3, *"0.05", "enter")
        await until(pilot, lambda: any("limit" in toast for toast in toasts(pilot)))
        assert 0 < provider.calls <= 5
        assert workspace.needs_agreement
        await until(pilot, lambda: app_of(pilot).progress is None)
        await press(pilot, "R", "enter")
        await reads(pilot, "#state", "12 prompts replayed")
        assert len({one.prompt_id for one in workspace.store.outcomes() if "judge" in one.system}) == 12
        assert all(found.call.answers for found in workspace.store.outcomes() if found.call), (
            "no refused call is recorded"
        )


async def test_where_no_price_is_known_the_question_says_who_pays(open_workspace: Opener) -> None:
    provider = PaidProvider("claude-cli")
    async with starting_in("replay", paid_workspace(open_workspace, provider, "p01")).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await press(pilot, "dollar_sign")
        await reads(pilot, "#cost", "Claude subscription")
        assert not pilot.app.screen.query("Input")
        await press(pilot, "enter")
        await until(pilot, lambda: provider.calls == 1)
        await reads(pilot, "#where", "judge: 1 call")


async def test_a_scripted_judge_needs_no_question(open_workspace: Opener) -> None:
    spending = Limits(asks_first=True)
    script = spending.around(ScriptedProvider.from_file(str(DEMO / "judge.jsonl"), sleep=lambda _: None))
    workspace = open_workspace(
        judge=lambda config: Judge(script, config.judge), spending=spending, prompts=demo_prompts("p01")
    )
    async with starting_in("replay", workspace).run_test(size=SIZE) as pilot:
        await until(pilot, lambda: len(workspace.finished) == len(workspace.systems))
        assert "judge:" not in shown(pilot, "#where")


def test_the_app_opens_a_judge_that_waits_for_an_agreement(root: Path, server: ApiServer, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "how is the cache warmed?"}\n', encoding="utf-8")
    options, db = JudgeOptions("anthropic-http"), str(tmp_path / "labels.db")
    workspace = opening.open_workspace(str(root), [str(prompts)], options, db, os.environ, asks_first=True)
    try:
        assert workspace.needs_agreement
        assert not any("judge" in system for system in workspace.systems)
        workspace.run(workspace.prompts[0], "memsift+judge")
        assert not server.requests
        workspace.agree(1.0)
        workspace.run(workspace.prompts[0], "memsift+judge")
        assert len(server.requests) == 1
    finally:
        workspace.close()
