"""The judge in Replay: each status, votes of several answers, and answers from the cache."""

from pathlib import Path

import pytest

from engine.config import Config
from engine.judge.cache import Cache
from engine.judge.judge import Judge
from engine.judge.providers.anthropic import AnthropicProvider
from engine.judge.providers.scripted import ScriptedAnswer, ScriptedProvider
from engine.judge.verdict import STATUSES
from engine.pipeline import BY_KEYWORDS
from engine.search import database
from tests.engine.judge.api_server import ApiServer, at, kept
from tests.tui.apps import SIZE, judged, press, reads, starting_in, table
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_what_several_answers_said_is_shown_and_what_the_cache_knows_is_not_asked(
    open_workspace: Opener, tmp_path: Path
) -> None:
    def voting(config: Config) -> Judge:
        cache = Cache(str(tmp_path / "judge.db"))
        return Judge(AnthropicProvider(config.judge.model, at(server.url)), config.judge, cache=cache, samples=3)

    with ApiServer() as server:
        server.answers.extend([kept(0), kept(), kept(0)])  # each about another order: three memories are disputed
        for where in (" ms", "from the cache."):
            workspace = open_workspace(judge=voting, prompts=demo_prompts("p01"))
            async with starting_in("replay", workspace).run_test(size=SIZE) as pilot:
                await judged(pilot, "p01")
                await press(pilot, "right")
                judged_too = [row.candidates[1] for row in table(pilot).records]
                disputed = [bool(one and one.verdict and one.verdict.is_disputed) for one in judged_too]
                await press(pilot, *["down"] * disputed.index(True))
                await reads(pilot, "#view-text", "The judge: rejected, 2 of 3 answers alike.")
                await reads(pilot, "#judge", where)
        assert len(server.requests) == 3


async def test_a_missing_key_names_the_variable_and_leaves_the_first_systems_choice(open_workspace: Opener) -> None:
    def keyless(config: Config) -> Judge:
        return Judge(AnthropicProvider(config.judge.model, environ={"HOME": "/nowhere"}), config.judge)

    workspace = open_workspace(judge=keyless, prompts=demo_prompts("p01"))
    async with starting_in("replay", workspace).run_test(size=SIZE) as pilot:
        await judged(pilot, "p01")
        await reads(pilot, "#judge", "ANTHROPIC_API_KEY")
        injected = [tuple(bool(one and one.injected) for one in row.candidates) for row in table(pilot).records]
        assert {*injected} == {(True, True), (False, False)}


@pytest.mark.slow
async def test_each_status_of_a_script_is_named_with_what_is_injected_instead(open_workspace: Opener) -> None:
    statuses = [status for status in STATUSES if status not in ("ok", "parse_error")]
    prompts = demo_prompts("p01", "p02", "p04", "p05", "p06", "p20")[: len(statuses)]
    script = {prompt.text: ScriptedAnswer(status=status) for prompt, status in zip(prompts, statuses, strict=True)}

    def failing(config: Config) -> Judge:
        return Judge(ScriptedProvider(script), config.judge)

    async with starting_in("replay", open_workspace(judge=failing, prompts=prompts)).run_test(size=SIZE) as pilot:
        for prompt, status in zip(prompts, statuses, strict=True):
            await judged(pilot, prompt.id)
            await reads(pilot, "#judge", f"(scripted): {status}, ")
            instead = "The choice of the system without a judge is" if status == "no_key" else "The best 2 are"
            await reads(pilot, "#judge", f"{instead} injected instead.")
            await press(pilot, "down")


async def test_without_fts5_it_says_that_no_judge_is_asked(
    open_workspace: Opener, built_demo_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built_demo_index.unlink()
    monkeypatch.setattr(database, "SEARCHABLE", database.SEARCHABLE.replace("{module}", "no_such_module"))
    async with starting_in("replay", open_workspace(prompts=demo_prompts("p01"))).run_test(size=SIZE) as pilot:
        await judged(pilot, "p01")
        await reads(pilot, "#judge", f"{BY_KEYWORDS}.")
        assert table(pilot).records
