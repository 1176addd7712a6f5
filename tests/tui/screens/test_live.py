"""The live prompt: three systems beside each other, a judge that is asked on enter only, labels and explanations."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.judge.cache import Cache
from engine.judge.judge import Judge
from engine.judge.limits import Limits
from engine.lean.record import replace
from engine.prompt import typed_prompt
from tests.tui.apps import SMALL, app_of, at_rest, footer, press, reads, screen_of, shown, starting_in, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import GatedProvider, demo_prompts, fresh_cutoff, scripted
from tests.tui.screens.test_money import PaidProvider
from tui.app import MemsiftApp
from tui.cli import app as cli_app
from tui.demo import FIRST, open_demo

pytestmark = pytest.mark.anyio

BM25, HOOK, JUDGED = "#column0", "#column1", "#column2"


async def test_typing_ranks_in_all_columns_but_asks_no_judge_and_records_nothing(open_workspace: Opener) -> None:
    provider = GatedProvider()
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=())
    async with starting_in("live", workspace).run_test(size=(120, 30)) as pilot:
        await at_rest(pilot)
        await press(pilot, "n", *"celery queue", "ctrl+j", *"retries")
        assert widget(pilot, "PromptEditor").text == "celery queue\nretries", "what was there is typed over"
        found = workspace.run(typed_prompt("celery queue\nretries"), "bm25")
        await until(pilot, lambda: set(widget(pilot, BM25).found) >= {one.memory.id for one in found.injected})
        assert f"BM25 · {len(found.injected)} injected" in shown(pilot, BM25)
        await reads(pilot, HOOK, "hook · ")
        await reads(pilot, JUDGED, "enter asks the judge.")
        assert (provider.asked, len(workspace.finished), workspace.store.prompts(workspace.index.root)) == ([], 0, ())
        assert workspace.store.seen_prompts(workspace.annotator) == frozenset()
        screen_of(pilot).take_answers(typed_prompt("older"), {name: None for _, name in workspace.live})
        assert "BM25 · " in shown(pilot, BM25), "an answer about an older text is dropped"
        await press(pilot, "enter")
        await reads(pilot, JUDGED, "hook + judge · 0 injected")
        assert len(provider.asked) == 1
        assert [prompt.text for prompt in workspace.lists.scratch] == ["celery queue\nretries"]
        await press(pilot, "n", *"zzzz", "escape", "escape")
        assert app_of(pilot).current_mode == "live", "there is no screen before it"


async def test_behind_the_prompt_the_cursor_is_in_the_first_column_that_injects(open_workspace: Opener) -> None:
    prompts = demo_prompts("p12")
    async with starting_in("live", open_workspace(prompts=prompts)).run_test(size=(120, 30)) as pilot:
        await at_rest(pilot)
        await press(pilot, "n")
        widget(pilot, "PromptEditor").text = prompts[0].text
        await until(pilot, lambda: any(row.injected for row in widget(pilot, HOOK).found.values()))
        await reads(pilot, BM25, "BM25 · 0 injected")
        await press(pilot, "escape")
        assert pilot.app.focused is widget(pilot, HOOK)


async def test_below_the_injected_memories_stand_those_that_nearly_passed_with_the_chance_that_they_miss(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts("p44"), cutoff=fresh_cutoff())
    workspace.wanted_prompt = "p44"
    async with starting_in("live", workspace).run_test(size=(120, 36)) as pilot:
        await reads(pilot, HOOK, "hook · ")
        answer = workspace.run(workspace.prompts[0], workspace.live[1][1])
        dropped = [row for row in answer.candidates if not row.injected]
        ids = [row.memory.id for row in (*answer.injected, *dropped[:3])]
        assert [key for key in widget(pilot, HOOK).found if key in ids] == ids
        assert "31 %, needs " in shown(pilot, HOOK)
        assert "a second memory needs" in dropped[0].reason
        screen = screen_of(pilot)
        await screen.action_type()
        screen.show_columns()  # as after a change of the size, before the focus has come
        assert screen.editor.selected_text == workspace.prompts[0].text


async def test_a_prompt_made_from_a_note_says_that_it_is_an_example(open_workspace: Opener) -> None:
    async with starting_in("live", open_workspace(prompts=(), judge=None)).run_test(size=SMALL) as pilot:
        await at_rest(pilot)
        editor = widget(pilot, "PromptEditor")
        assert str(editor.border_title) == "Example, made from your notes · n types your own"
        assert "**" not in editor.text
        await press(pilot, "n")
        assert "Example, made from your notes · typing replaces it" in str(editor.border_title)
        await press(pilot, *"own")
        assert (editor.text, str(editor.border_title)[:6], editor.has_class("-example")) == ("own", "Prompt", False)


async def test_a_judge_that_costs_is_asked_after_an_agreement_and_a_cached_answer_shows_at_once(
    open_workspace: Opener, tmp_path: Path
) -> None:
    prompt = demo_prompts("p01")[0]
    cache, provider, limits = Cache(str(tmp_path / "judge.db")), PaidProvider(), Limits(asks_first=True)
    first = open_workspace(
        judge=lambda config: Judge(scripted(config)._provider, config.judge, cache=cache), prompts=()
    )
    first.run(prompt, "memsift+judge")
    first.spending = limits
    async with starting_in("live", first).run_test(size=(120, 30)) as pilot:
        await at_rest(pilot)
        await press(pilot, "n")
        widget(pilot, "PromptEditor").text = prompt.text
        await reads(pilot, JUDGED, "kept by the judge")
        first.judge = Judge(limits.around(provider), first.config.judge)
        widget(pilot, "PromptEditor").text = "celery queue"
        await reads(pilot, JUDGED, "enter asks the judge.")
        await press(pilot, "enter")
        assert "at most 1 call, for at most $0.01" in shown(pilot, "#cost")
        assert provider.asked == []
        await press(pilot, "enter")
        await until(pilot, lambda: provider.asked == ["celery queue"])


async def test_useful_memories_are_marked_and_keys_label_and_explain(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts("p01", "p02"), cutoff=fresh_cutoff())
    workspace.wanted_prompt = "p01"
    async with starting_in("live", workspace).run_test(size=(120, 30), notifications=True) as pilot:
        await at_rest(pilot)
        assert "No judge." in shown(pilot, JUDGED)
        assert "memsift --judge anthropic" in shown(pilot, JUDGED)
        best = widget(pilot, BM25).chosen
        await press(pilot, "a")
        (label,) = workspace.store.labels()
        assert (label.prompt_id, label.memory_id, label.verdict, label.blind) == ("p01", best, "relevant", False)
        assert " of 3 useful" in shown(pilot, BM25) or "1 of " in shown(pilot, BM25)
        await press(pilot, "u")
        assert workspace.store.labels() == ()
        assert "useful" not in shown(pilot, BM25)
        await press(pilot, "w")
        assert "BM25 injects it: rank 1" in shown(pilot, "#text")
        await press(pilot, "escape", "f", "enter")
        assert "hook " in shown(pilot, "#text")
        await press(pilot, "escape", "question_mark", "escape", "y")
        assert not workspace.is_blind("p01")


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, ("BM25", "hook", "hook + judge")),
        ({"match_strategy": "fts5_bm25"}, ("hook", "hook + judge")),
        ({"judge": {"enabled": True}}, ("BM25", "hook")),
        ({"match_strategy": "title_tags"}, ("BM25", "hook")),
    ],
)
def test_systems_that_are_the_same_stand_there_once(
    open_workspace: Opener, settings: dict[str, Any], names: tuple[str, ...]
) -> None:
    workspace = open_workspace(prompts=())
    if "judge" in settings:
        settings = {"judge": replace(workspace.config.judge, **settings["judge"])}
    workspace.config = replace(workspace.config, **settings)
    assert tuple(name for name, _ in workspace.live) == names


async def test_in_a_narrow_terminal_a_key_shows_the_third_column_and_other_settings_take_it_away(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(cutoff=fresh_cutoff())
    async with starting_in("live", workspace).run_test(size=(80, 24)) as pilot:
        await at_rest(pilot)
        assert [column.display for column in pilot.app.screen.query("SystemColumn")] == [True, True, False]
        assert "→ shows hook + judge." in shown(pilot, "#note")
        await press(pilot, "right", "right")
        assert [column.display for column in pilot.app.screen.query("SystemColumn")] == [False, True, True]
        workspace.config = replace(workspace.config, judge=replace(workspace.config.judge, enabled=True))
        await press(pilot, "left")
        assert [column.display for column in pilot.app.screen.query("SystemColumn")] == [True, True, False]
        assert "hook" in shown(pilot, HOOK)


@pytest.mark.parametrize(("prompts", "start"), [((), "live"), (("p01",), None)])
def test_a_project_without_prompts_opens_on_it(
    open_workspace: Opener, monkeypatch: pytest.MonkeyPatch, prompts: tuple[str, ...], start: str | None
) -> None:
    workspace = open_workspace(prompts=demo_prompts(*prompts) if prompts else ())
    opened: list[str | None] = []
    monkeypatch.setattr("engine.opening.files_to_build", lambda *_: 0)
    monkeypatch.setattr("tui.workspace.opening.open_workspace", lambda *_, **__: workspace)
    monkeypatch.setattr(cli_app, "run_app", lambda _, first=None, **__: opened.append(first))
    cli_app.open_app(["root"], (), None, None, is_plain=False)  # type: ignore[arg-type]
    assert opened == [start]
    assert workspace.first_prompt().text


@pytest.mark.slow
@pytest.mark.usefixtures("private_home")
async def test_the_demo_shows_a_prompt_with_its_peoples_labels_and_the_answer_of_its_judge() -> None:
    for fresh in (True, False):
        with closing(open_demo(dict(os.environ), fresh=fresh)) as workspace:
            assert workspace.wanted_prompt == FIRST
            async with MemsiftApp(workspace, "live").run_test(size=(120, 30)) as pilot:
                await at_rest(pilot)
                assert "BM25 · 1 of 3 useful" in shown(pilot, BM25)
                assert "hook · 1 of 1 useful" in shown(pilot, HOOK)
                assert "kept by the judge" in shown(pilot, JUDGED)
                assert "judge: " not in shown(pilot, "TopBar")
                assert "w Why" in footer(pilot.app)
                await press(pilot, "n", *"vitest")
                await reads(pilot, JUDGED, "enter asks a scripted judge: a file of answers, no model.")
                await press(pilot, "escape", "escape")
                assert app_of(pilot).current_mode == "browse"
