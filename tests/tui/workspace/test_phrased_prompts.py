"""A prompt that became a phrase counts in no number, and nobody makes the numbers better by it."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.config import Config
from engine.cutoff import load_cutoff
from engine.doctor import memories
from engine.memory import MemorySummary
from engine.paths import state_dir
from engine.phrases.writing import add_phrases
from engine.search.phrases import words_of
from engine.settings.roots import RootSearch
from engine.settings.sources import read_config
from engine.settings.trust import trust
from labels.measure.gate import gate_report
from labels.measure.metrics import Ratio
from labels.report.first_lines import first_lines
from labels.report.gate_text import gate_lines
from tests.engine import models
from tests.tui.cli.command_line import memsift, printed
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO, DEMO_ROOT, demo_prompts, fresh_cutoff
from tests.tui.workspace.whatif.labelled import replay_and_label
from tui.widgets.whatif import numbers_text
from tui.workspace import opening
from tui.workspace.report import GATE, read_report
from tui.workspace.whatif.sample import effect_of, read_sample
from tui.workspace.workspace import Workspace

SYSTEM = "memsift+default"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEMO_ROOT, tmp_path / "root"))


def add_phrase(root: Path, phrase: str) -> None:
    """Give a memory of a root a phrase that counts."""
    with opening.opened_index(str(root)) as index:
        memory = index.summaries()[0]
    assert add_phrases(str(root), os.environ, [(memory, [phrase])], "me") == (1, [])
    trust(str(root), os.environ)


def doctor_on_cutoff(root: Path) -> str:
    """What `memsift doctor` says about the tuned model of a root: that it counts, and perhaps more."""
    search = RootSearch((str(root),))
    (found,) = [one for one in memories.findings(str(root), search, os.environ) if one.check == "cutoff"]
    assert f"{root}: the model in" in found.text
    return found.text


def served(workspace: Workspace) -> Ratio:
    found = {one.system: one for one in read_report(workspace).report.systems}
    return found[SYSTEM].served.relevant


def missed(workspace: Workspace) -> list[tuple[MemorySummary, Sequence[object]]]:
    """A needed memory of each prompt that got none, and the prompt."""
    evidence, texts = read_report(workspace).report.evidence, workspace.store.prompt_texts()
    memories = {one.id: one for one in workspace.index.summaries()}
    got = {row.prompt_id: {*row.injected} for row in evidence.of(SYSTEM)}
    return [(memories[min(ids)], [texts[name]]) for name, ids in evidence.needed.items() if not ids & got[name]]


@pytest.mark.slow
def test_whoever_adds_every_missed_prompt_as_a_phrase_raises_no_number_of_served_prompts(
    open_workspace: Opener, root: Path
) -> None:
    def opened() -> Workspace:
        workspace: Workspace = open_workspace(root=root, judge=None, cutoff=fresh_cutoff())
        replay_and_label(workspace)
        return workspace

    before = opened()
    added, first = missed(before), served(before)
    assert len(added) == first.whole - first.part > 3
    assert add_phrases(str(root), os.environ, added, "me") == (len(added), [])
    trust(str(root), os.environ)

    after = opened()
    report = read_report(after).report
    counts = [text for _, (text,) in added if words_of(str(text))]  # a prompt of stop words finds nothing as a phrase
    said = f"{len(counts)} prompts left out: they are phrases now; {len(counts)} in need count as not served."
    assert report.prompts == len(demo_prompts()) - len(counts)
    last = served(after)
    assert (last.whole, last.part <= first.part) == (first.whole, True)
    assert said in first_lines(report)
    assert said in gate_lines(gate_report(report.evidence, SYSTEM, GATE))

    sample, config = read_sample(after.store, after.index), after.config
    sets = sample.injected(config, after.cutoff)
    effect = effect_of(sample, (config, sets), (config, sets))
    assert effect.saved.served.relevant == last
    assert {one.prompt.text for one in sample.prompts}.isdisjoint(counts)
    assert numbers_text(effect, 60).plain.endswith(f"\n{said}")


def test_a_run_file_says_which_prompts_were_phrases_and_report_and_gate_leave_them_out(
    root: Path, tmp_path: Path
) -> None:
    prompt = demo_prompts("p01")[0]
    files = ("--root", root, "--prompts", DEMO / "prompts.jsonl")
    run = tmp_path / "run.jsonl"

    def replayed() -> list[dict[str, object]]:
        run.write_text(memsift("replay", *files, "--systems", SYSTEM).stdout, encoding="utf-8")
        return [json.loads(line) for line in run.read_text("utf-8").splitlines()]

    assert not any("is_phrase" in row for row in replayed())
    add_phrase(root, prompt.text)
    assert [row["prompt_id"] for row in replayed() if "is_phrase" in row] == ["p01"]
    measured = ("--run", run, "--qrels", DEMO / "qrels.txt")
    said = "1 prompt left out: it is a phrase now; 1 in need counts as not served."
    report = printed(memsift("report", *measured, "--format", "json"))
    assert said in report["first_lines"]
    assert report["prompts"] == len(demo_prompts()) - 1
    gate = memsift("gate", *measured, "--min-precision", "0.1")
    assert said in " ".join(gate.stdout.split())


@pytest.mark.slow
def test_tune_leaves_them_out_and_a_model_knows_whether_it_had_phrases(root: Path) -> None:
    files = ("--root", root, "--prompts", DEMO / "prompts.jsonl", "--qrels", DEMO / "qrels.txt")
    command = ("tune", *files, "--target-precision", "0.6", "--apply")
    state = Path(state_dir(str(root), os.environ))
    models.write_model(state, models.content(Config(max_inject=3)))
    first = printed(memsift(*command, "--format", "json"))
    assert (first["has_phrases"], first["phrased"]) == (False, 0)

    assert "was tuned" not in doctor_on_cutoff(root)
    add_phrase(root, demo_prompts("p01")[0].text)
    assert "was tuned without phrases, and the root has some now" in doctor_on_cutoff(root)
    result = memsift(*command)
    assert "1 prompt left out: it is a phrase now." in result.stdout
    assert f"{state}/cutoff.json was tuned without phrases, and the root has some now" in result.stderr
    assert json.loads((state / "cutoff.json").read_text("utf-8"))["phrases"] is True
    assert "was tuned" not in memsift(*command).stderr + doctor_on_cutoff(root)
    config = read_config(str(root), {}).config
    found: Any = load_cutoff(str(state), config, "", bool)
    assert found.model.has_phrases
    Path(root, ".memsift/phrases.jsonl").unlink()
    assert "was tuned with phrases, and the root has none that count" in doctor_on_cutoff(root)
    assert "was tuned with phrases, and the root has none that count" in memsift(*command).stderr
