"""Label: labels that are given. Grades, the latest labels, the guideline, reasons that lead to a change of a memory."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.errors import MemsiftError
from engine.paths import config_file
from engine.prompt import typed_prompt
from labels.measure.gate import GateDecision
from labels.measure.intervals import Estimate, Interval
from labels.measure.metrics import Headline, Ratio
from labels.records import Card
from tests.engine.builders import memory, write_root
from tests.labels.samples import known
from tests.tui.apps import app_of, card_shown, labelling, press, reads, running, screen_of, shown, told, until, widget
from tests.tui.cli.command_line import memsift
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO, DEMO_ROOT, demo_prompts, replay
from tui.app import MemsiftApp
from tui.workspace.app_settings import AppSettings
from tui.workspace.labelling import GUIDELINE, change_label, guideline, guideline_hash, latest_labels
from tui.workspace.report import live_precision, precision_words

pytestmark = pytest.mark.anyio

ONE = demo_prompts("p01")


def given(pilot: Pilot[None]) -> list[tuple[str | None, int | None]]:
    events = app_of(pilot).workspace.store.events()
    return [(event.verdict, event.grade) for event in events if event.action == "label"]


@pytest.mark.slow
async def test_digits_give_grades_only_where_they_are_on(open_workspace: Opener) -> None:
    app = MemsiftApp(open_workspace(prompts=ONE, judge=None), "label", settings=AppSettings(has_grades=True))
    async with app.run_test() as pilot:
        await until(pilot, lambda: pilot.app.current_mode == "label")
        await card_shown(pilot)
        await press(pilot, "2", "z", "0", "z", "1", "z", "a")
        assert given(pilot) == [("relevant", 2), ("not", 0), ("relevant", 1), ("relevant", None)]


async def test_a_label_of_the_latest_is_changed_by_another_event(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=ONE, judge=None)
    async with labelling(workspace) as pilot:
        screen = screen_of(pilot)
        first = screen.card
        await press(pilot, "a", "2", "1")
        assert given(pilot) == [("relevant", None)] * 2, "only digits 0 and 1 answer without grades"
        third = screen.card
        await press(pilot, "h", "j", "x")
        assert screen.card == third
        assert [(one.verdict, one.supersedes) for one in workspace.store.events()][2] == ("not", 1)
        assert next((one.pair, one.verdict) for one in latest_labels(workspace)) == (first.pair, "not")
        assert shown(pilot, "#recent").count("−") == 1
        await press(pilot, "space", "escape", "space")
        assert [one.action for one in workspace.store.events()] == ["label"] * 3 + ["skip"]


async def test_an_answer_to_a_repeat_and_a_label_of_an_old_text_stay(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("cache rule")])
    workspace = open_workspace(root=root, prompts=ONE, judge=None)
    replay(workspace)
    (summary,) = workspace.index.summaries()
    for verdict, is_repeat in (("relevant", False), ("not", True)):
        how: dict[str, Any] = {"seed": 1, "blind": True, "elapsed_ms": 1, "repeat": is_repeat}
        workspace.store.label("me", "p01", Card(summary, 1), verdict, **how)
    repeat, first = latest_labels(workspace)
    with pytest.raises(MemsiftError, match="shown again"):
        change_label(workspace, repeat, "relevant")
    with pytest.raises(MemsiftError, match="has changed since"):
        change_label(workspace, first._replace(digest="old"), "not")
    assert len(workspace.store.events()) == 2


async def test_c_shows_the_guideline_which_stands_beside_the_card_where_there_is_room(open_workspace: Opener) -> None:
    """Before the first label it is there in any terminal. Its hash goes with each label."""
    environ = dict(os.environ)
    assert guideline(environ) == GUIDELINE
    usual = guideline_hash(environ)
    file = Path(config_file(environ)).with_name("guideline.md")
    file.parent.mkdir(parents=True)
    file.write_text("Only [what] the team agreed on.", encoding="utf-8")
    assert guideline_hash(environ) != usual
    workspace = open_workspace(prompts=ONE, judge=None)
    async with running("label", workspace, size=(80, 24)) as pilot:
        await card_shown(pilot)
        await reads(pilot, "#guide-text", "Only [what] the team agreed on.")
        await press(pilot, "c")
        await reads(pilot, "FullText Static", "Only [what] the team agreed on.")
        await press(pilot, "escape", "a")
        await until(pilot, lambda: not widget(pilot, "#guide").display, "the labels take its place")
        await pilot.resize_terminal(160, 48)
        await until(pilot, lambda: widget(pilot, "#guide").display, "there is room beside the card")
        assert "not blind" not in shown(pilot, "#prompt")
        assert widget(pilot, "#card-text").size.width <= 90
        workspace.show("p01")
        await press(pilot, "a")
        await reads(pilot, "#prompt", "not blind: you have seen its ranks")


@pytest.mark.slow
async def test_a_reason_leads_to_the_change_after_the_prompt(open_workspace: Opener, tmp_path: Path) -> None:
    titles = ("signing keys rotate", "rotate signing keys", "other thing", "unlike text", "quite strange")
    root = write_root(tmp_path / "root", map(memory, titles))
    workspace = open_workspace(root=root, prompts=[typed_prompt("rotate the signing keys")], judge=None)
    async with labelling(workspace) as pilot:
        stale = screen_of(pilot).card.memory.id
        await press(pilot, "w", "1", "x", "f", "w", "4", "x")
        assert screen_of(pilot).card is None
        await reads(pilot, "#revealed", "f retires")
        await reads(pilot, "#revealed", "and 1 more after it")
        await press(pilot, "f", "1")
        await told(pilot, "B, then u, takes it back")
        assert known(workspace.memory(stale)).summary.status == "retired"
        await reads(pilot, "#revealed", "f edits")
        await press(pilot, "f")
        await until(pilot, lambda: pilot.app.screen.query("TextArea"))


def test_the_live_interval_counts_whole_prompts_and_says_how_many_more(open_workspace: Opener, tmp_path: Path) -> None:
    workspace = open_workspace(judge=None, annotator="ana")
    replay(workspace)
    assert live_precision(workspace) == ""
    where = ("--root", DEMO_ROOT, "--db", tmp_path / "labels.db", "--prompts", DEMO / "prompts.jsonl")
    assert memsift("import", DEMO / "qrels.txt", "--annotator", "ana", *where).exit_code == 0
    assert re.fullmatch("precision .*, below 80 %", live_precision(workspace))


def test_the_words_of_the_live_interval() -> None:
    estimate = Estimate(0.7, Interval(0.6, 0.8), 20, 20.0)

    def words(verdict: str, low: float, high: float, more: int | None) -> str:
        found = Headline(Ratio(14, 20), estimate, Interval(low, high))
        return precision_words(GateDecision(**vars(found), verdict=verdict, more=more, left=3, either=False))

    assert words("undecided", 0.01, 1.0, None) == ""
    assert words("undecided", 0.0, 1.0, 40) == "about 40 more prompts decide"
    assert words("undecided", 0.52, 0.91, 40) == "precision 52 to 91 %, about 40 more prompts decide"
    assert words("undecided", 0.52, 0.91, None) == "precision 52 to 91 %"
    assert words("pass", 0.82, 0.91, None) == "precision 82 to 91 %, above 80 %"
    assert words("fail", 0.4, 0.75, None) == "precision 40 to 75 %, below 80 %"


async def test_each_label_is_one_key_and_the_end_sums_up(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p03"), judge=None)
    async with labelling(workspace) as pilot:
        keys = 0
        while not screen_of(pilot).is_done:
            await press(pilot, "x")
            keys += 1
        assert keys == sum(len(pairs) for pairs in workspace.labelled_pairs().values())
        await reads(pilot, "#card-text", f"{keys} labels by")
        await reads(pilot, "#card-text", "memories the hook added, 0 helped: 0 %")
        await press(pilot, "enter")
        assert pilot.app.current_mode == "report"
