"""Report: the answer first, then parts whose rows open, and numbers that follow the labels."""

import json
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.config import Config
from engine.judge.judge import Judge
from engine.judge.verdict import Judgement
from labels.measure.report import PLAIN, Report, ReportOptions
from tests.labels.samples import known
from tests.tui.apps import at_rest, press, reads, running, screen_of, settled, shown, told, type_ahead, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import DEADLINE_S, GatedProvider, demo_prompts, fresh_cutoff
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.app import MemsiftApp
from tui.dialogs.questions import MovedStore
from tui.workspace.app_settings import Choices
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


async def part(pilot: Pilot[None], name: str) -> None:
    """Put the cursor on the part *name*, when the report is there."""
    parts = widget(pilot, "PartList")
    await until(pilot, lambda: any(one.name == name for one in parts.records), f"the part {name}")
    parts.go_to(name)
    await settled(pilot)


async def test_before_anything_was_replayed_it_says_which_key_does(open_workspace: Opener) -> None:
    async with running("report", open_workspace(prompts=demo_prompts("p01"))) as pilot:
        await reads(pilot, "#answer", "Press s")
        await press(pilot, "ctrl+s", "right", "enter")
        assert pilot.app.screen.query("PartList")


async def test_big_r_without_prompts_says_how_to_have_some(open_workspace: Opener) -> None:
    async with running("report", open_workspace(prompts=())) as pilot:
        await press(pilot, "R")
        await told(pilot, "--prompts")


async def test_the_answer_names_verdict_and_next_step_and_a_row_tells_what_it_counts(open_workspace: Opener) -> None:
    """The prompts or the memory. The key t asks for another precision."""
    workspace = open_workspace(judge=None, prompts=demo_prompts()[:24])
    replay_and_label(workspace)
    report = workspace.report()
    main, worst, prompt = report.systems[0].headline, report.worst_memories[0].id, report.worst_prompts[0]
    async with running("report", workspace, size=(160, 48)) as pilot:
        await reads(pilot, "#answer", f"Of {main.relevant.whole} memories the hook added, {main.relevant.part} helped:")
        await reads(pilot, "#answer", "That is below 80 %.")
        await reads(pilot, "#answer", "s Drop unlikely memories.")
        await part(pilot, "worst-memories")
        first = demo_prompts("p02")[0].text
        await reads(pilot, "#about-text", f"Injected for − {first[:60]}")
        assert known(workspace.memory(worst)).sections[0].lines[0] in shown(pilot, "#about-text")
        await part(pilot, "worst-prompts")
        await reads(pilot, "#about-text", prompt.text[:60])
        assert shown(pilot, "#about-text").count(" − ") >= prompt.irrelevant
        await press(pilot, "t")
        type_ahead(pilot, "home", "enter")
        await reads(pilot, "#answer", "would tell whether it reaches 50 %.")


async def test_the_chosen_precision_is_asked_for_at_the_next_start_too(
    open_workspace: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts("p01", "p02"))
    replay_and_label(workspace)
    choices = Choices(str(tmp_path / "state"))
    choices.write("target", "[/b] 2")
    monkeypatch.setattr(MemsiftApp, "DEFAULT_MODE", "report")
    async with MemsiftApp(workspace, None, choices).run_test() as pilot:
        await reads(pilot, "#answer", "would tell whether it reaches 80 %")
        await press(pilot, "t")
        type_ahead(pilot, "end", "enter")
        await reads(pilot, "#answer", "95 %")
    async with MemsiftApp(workspace, None, choices).run_test() as pilot:
        await reads(pilot, "#answer", "95 %")


@pytest.mark.slow
async def test_every_row_opens_what_it_counts(open_workspace: Opener) -> None:
    """The prompts with irrelevant memories, counted here by hand; a worst memory; a worst prompt."""
    workspace = open_workspace(judge=None, prompts=demo_prompts()[:24])
    replay_and_label(workspace)
    async with running("report", workspace) as pilot:
        await part(pilot, "precision")
        await press(pilot, "right", "enter")
        wrong = {prompt.id: number for prompt in workspace.prompts if (number := irrelevant(workspace, prompt.id))}
        options = screen_of(pilot).options
        assert options.keys() == wrong.keys()
        first = next(iter(options))
        assert wrong[first] == max(wrong.values())
        await press(pilot, "enter")
        await until(pilot, lambda: pilot.app.current_mode == "replay")
        replay = screen_of(pilot)
        await until(pilot, lambda: replay.prompt and replay.prompt.id == first)
        await press(pilot, "f5")
        await part(pilot, "worst-memories")
        await press(pilot, "left", "right", "enter")
        worst = workspace.report().worst_memories[0].id
        await until(pilot, lambda: pilot.app.current_mode == "browse")
        await until(pilot, lambda: screen_of(pilot).memories.current.id == worst)
        await press(pilot, "f5")
        await part(pilot, "worst-prompts")
        await press(pilot, "left", "right", "enter")
        await until(pilot, lambda: pilot.app.current_mode == "replay")
        await until(pilot, lambda: replay.prompt.id == workspace.report().worst_prompts[0].id)


@pytest.mark.slow
async def test_no_part_leaves_half_of_a_wide_terminal_empty(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts()[:24], cutoff=fresh_cutoff())
    replay_and_label(workspace)
    async with running("report", workspace, size=(160, 48)) as pilot:
        await part(pilot, "limits")
        parts = widget(pilot, "PartList").records
        assert len(parts) > 12
        for one in parts:
            await part(pilot, one.name)
            await at_rest(pilot)
            region = widget(pilot, "#part").region
            strips = pilot.app.screen._compositor.render_strips()[region.y : region.bottom]
            lines = [strip.text[region.x : region.right].strip() for strip in strips]
            assert lines.count("") < len(lines) / 2, one.name


def irrelevant(workspace: Workspace, prompt_id: str) -> int:
    """The number of irrelevant memories that the first system injects for a prompt."""
    found = known(workspace.retrieval(prompt_id, "memsift"))
    verdicts = {pair[0]: label.verdict for pair, label in workspace.labels(prompt_id).items()}
    return sum(verdicts.get(one.memory.id) == "not" for one in found.injected)


@pytest.mark.slow
async def test_w_writes_a_report_for_its_owner_and_keeps_an_old_mode(open_workspace: Opener, tmp_path: Path) -> None:
    workspace = open_workspace(judge=None, prompts=demo_prompts("p01", "p02"))
    replay_and_label(workspace)
    contents = {".html": "<h2", ".md": "# memsift report", ".json": '"systems"', ".txt": "Next:"}
    (tmp_path / "report.html").touch()
    (tmp_path / "report.html").chmod(0o640)
    async with running("report", workspace) as pilot:
        await part(pilot, "precision")
        for ending in (*contents, ".pdf"):
            file = tmp_path / f"report{ending}"
            await press(pilot, "ctrl+s")
            widget(pilot, "Input").value = str(file)
            await press(pilot, "enter")
            await told(pilot, str(file) if ending in contents else "Nothing was written")
            if ending in contents:
                assert contents[ending] in file.read_text()
                assert file.stat().st_mode & 0o777 == (0o640 if ending == ".html" else 0o600)
        assert json.loads((tmp_path / "report.json").read_text())["prompts"] == 2
        assert not list(tmp_path.glob("report.pdf*"))


@pytest.mark.slow
async def test_the_report_is_made_once_drawn_to_each_width_and_follows_labels_and_v(open_workspace: Opener) -> None:
    workspace: Any = open_workspace(kind=CountedWorkspace, prompts=demo_prompts("p01"), judge=None)
    workspace.made = 0
    replay_and_label(workspace, prompts=0)
    async with running("report", workspace) as pilot:
        await reads(pilot, "#answer", "is not known yet")
        await at_rest(pilot)
        for size in ((60, 20), (30, 8), (160, 48)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: widget(pilot, "#answer").region.width == size[0])  # type: ignore[misc]
            await settled(pilot)
        assert workspace.made == 1
        await reads(pilot, "#about-text", "without a label, hidden so that your label stays blind.")
        memory = workspace.retrieval("p01", "memsift").injected[0].memory.title
        assert memory not in shown(pilot, "#about-text")
        await press(pilot, "right_square_bracket")
        assert "2 of " in shown(pilot, "PartList")
        await press(pilot, "f3", "right", "a", "a", "a", "f5", "left_square_bracket")
        await reads(pilot, "TableRows", "3 of 3")
        await until(pilot, lambda: widget(pilot, "#plot").display, "a curve of the labelled prompt")
        await press(pilot, "v")
        await part(pilot, "ranking")
        await reads(pilot, "#part", "Ranking, as TREC counts it")
        await press(pilot, "v")
        await until(pilot, lambda: all(one.name != "ranking" for one in widget(pilot, "PartList").records))


async def test_the_worker_of_a_replay_that_breaks_is_told(open_workspace: Opener) -> None:
    class BrokenJudge(Judge):
        """A judge whose own code raises something unforeseen."""

        def evaluate(self, *_: object) -> Judgement:
            raise RuntimeError("a bug [/b]")

    def broken(config: Config) -> Judge:
        return BrokenJudge(GatedProvider(), config.judge)

    async with running("report", open_workspace(judge=broken, prompts=demo_prompts("p01"))) as pilot:
        await press(pilot, "R")
        await told(pilot, "a bug [/b]")
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
    replay_and_label(workspace, prompts=0)
    async with running("report", workspace) as pilot:
        await reads(pilot, "#state", "Counting")
        await press(pilot, "f2", "f5")
        await reads(pilot, "#state", "Counting")
        workspace.gate.set()
        await reads(pilot, "#answer", "is not known yet")
        await until(pilot, lambda: not widget(pilot, "#state").display, "it is done")


async def test_a_report_that_cannot_be_made_is_told_and_the_last_one_stays(
    open_workspace: Opener, tmp_path: Path
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), judge=None)
    replay_and_label(workspace, prompts=0)
    async with running("report", workspace) as pilot:
        await reads(pilot, "#answer", "is not known yet")
        await pilot.app.workers.wait_for_complete()
        (tmp_path / "labels.db").rename(tmp_path / "elsewhere.db")
        (tmp_path / "labels.db").write_text("no database")
        await press(pilot, "f2")
        await until(pilot, lambda: isinstance(pilot.app.screen, MovedStore), "it is asked where labels go")
        await press(pilot, "escape", "f5")
        await told(pilot, "labels.db")
        await reads(pilot, "#answer", "is not known yet")
