"""`memsift tune`, and its model in search, replay and the app."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from engine.config import Config
from engine.cutoff import load_cutoff, surer
from engine.paths import state_dir
from engine.settings.sources import read_config
from tests.engine import models
from tests.engine.builders import memory, write_root
from tests.labels.samples import write
from tests.tui.cli.command_line import configure, memsift, printed, refused, rows
from tests.tui.demo import DEMO, DEMO_ROOT

PROMPTS, QRELS = DEMO / "prompts.jsonl", DEMO / "qrels.txt"
FILES = ("--root", DEMO_ROOT, "--prompts", PROMPTS, "--qrels", QRELS)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for the demo's cutoff."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Path(state_dir(str(DEMO_ROOT), {"XDG_STATE_HOME": str(tmp_path / "state")}))


def tune(*arguments: str | Path) -> Result:
    return memsift("tune", *FILES, *arguments)


def model(state: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((state / "cutoff.json").read_text(encoding="utf-8"))
    return found


def test_apply_writes_what_the_hook_reads_and_undo_removes_it(state: Path) -> None:
    result = tune("--target-precision", "0.65", "--apply", "--format", "json")
    shown = printed(result)
    assert shown["at"]["low"] >= 0.65
    assert [one["threshold"] for one in shown["points"]] == [step / 100 for step in range(100)]
    assert shown["today"]["injected"] == sum(one["before"] for one in shown["changes"])
    assert str(state / "cutoff.json") in result.stderr
    made = model(state)
    assert made["threshold"] == shown["at"]["threshold"]
    assert made["weights"] == shown["weights"]["by_feature"]
    provenance = {"target_precision": 0.65, "prompts": shown["prompts"], "started_from": "the default model"}
    assert made["provenance"].items() >= {**provenance, "promise": "the roots of the labels"}.items()
    assert load_cutoff(str(state), read_config(str(DEMO_ROOT), {}).config, "", bool) is not None

    undone, again = (memsift("tune", "--root", DEMO_ROOT, "--undo") for _ in range(2))
    assert (undone.exit_code, undone.stdout, "Removed" in undone.stderr) == (0, "", True)
    assert not (state / "cutoff.json").exists()
    assert (again.exit_code, "no tuned cutoff" in again.stderr) == (0, True)


def test_the_answer_comes_first_the_curve_on_request_and_nothing_is_written(state: Path) -> None:
    result = tune("--target-precision", "0.65")
    first, more, step = result.stdout.split("\n\n")
    assert (result.exit_code, len(first.splitlines()), "--full" in more) == (0, 5, True)
    assert "Promise: at least 65 % relevant, kept 9 times in 10, on prompts like these." in first
    assert step == "Next: use it: memsift tune --target-precision 0.65 --apply.\n"
    assert "Nothing was written" in result.stderr
    result = tune("--target-precision", "0.99", "--apply", "--full")
    assert (result.exit_code, "nothing was written" in result.stderr) == (1, True)
    for text in ("99 % cannot be promised", "memsift config set", "P at least"):
        assert text in result.stdout
    assert not (state / "cutoff.json").exists()


REFUSED = {
    "": "--target-precision",
    "--target-precision 0": "not in the range",
    "--target-precision 1": "not in the range",
    "--target-precision high": "not a valid float",
    "--target-precision 0.8 --confidence 0.3": "not in the range",
    "--target-precision 0.8 --qrels x": "go together",
    "--undo --apply": "neither",
    "--undo --target-precision 0.8": "neither",
    "--target-precision 0.8": "Missing: 20 prompts, 5 relevant memories, 5 irrelevant memories",
}


def test_options_that_make_no_sense_and_too_few_labels_are_refused(state: Path) -> None:
    for line, said in REFUSED.items():
        result = memsift("tune", "--root", DEMO_ROOT, *line.split())
        assert (result.exit_code, said in result.stderr) == (2, True), line
    assert not (state / "cutoff.json").exists()


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels", "other 0 memory 1")
    files = ("--root", DEMO_ROOT, "--prompts", PROMPTS, "--qrels", qrels)
    assert "has no row for any of the 52 prompts" in refused(memsift("tune", *files, "--target-precision", "0.5"))
    other = write_root(tmp_path / "other", [memory("cache rule")])
    (other / "memory-config.json").write_text('{"retrieval": {"match_strategy": "title_tags"}}', "utf-8")
    assert "has no cutoff" in refused(memsift("tune", "--root", other, "--target-precision", "0.8"))


def label_the_demo(store: Path) -> None:
    """Replay the demo and give its qrels as a person's labels."""
    rows(memsift("replay", "--root", DEMO_ROOT, "--prompts", PROMPTS, "--save", "--db", store))
    imported = memsift("import", QRELS, "--root", DEMO_ROOT, "--prompts", PROMPTS, "--annotator", "me", "--db", store)
    assert imported.exit_code == 0


@pytest.mark.slow
def test_labels_in_the_store_make_the_model_of_a_file_of_them_and_the_recall_of_the_report(
    state: Path, tmp_path: Path
) -> None:
    store = tmp_path / "labels.db"
    label_the_demo(store)
    arguments, place = ("--target-precision", "0.65", "--format", "json"), ("--root", DEMO_ROOT, "--db", store)
    of_store = printed(memsift("tune", *place, *arguments))
    of_files = printed(tune(*arguments, "--unjudged", "exclude"))
    assert (of_store["relevant"], of_store["not_relevant"]) == (of_files["relevant"], of_files["not_relevant"])
    assert of_store["weights"]["by_feature"] == pytest.approx(of_files["weights"]["by_feature"])
    report = printed(memsift("report", *place, "--format", "json"))
    (used,) = [one for one in report["systems"] if one["system"] == "memsift+default"]
    known = used["recall_of_known"]
    assert of_store["today"]["relevant"] == known["part"]
    assert of_store["today"]["recall"] == pytest.approx(known["part"] / known["whole"])
    assert not (state / "cutoff.json").exists()


def state_of(root: Path, tmp_path: Path) -> Path:
    return Path(state_dir(str(root), {"XDG_STATE_HOME": str(tmp_path / "state")}))


@pytest.mark.slow
def test_a_root_without_labels_gets_a_model_only_if_it_is_named_and_is_told_that_nothing_is_promised(
    state: Path, tmp_path: Path
) -> None:
    store = tmp_path / "labels.db"
    label_the_demo(store)
    other = write_root(tmp_path / "other", [memory("cache rule")])
    arguments = ("--db", store, "--target-precision", "0.6", "--apply")
    result = memsift("tune", "--root", DEMO_ROOT, "--root", other, *arguments)
    assert result.exit_code == 0
    assert f"{other} has no labels, so it gets no model" in result.stderr
    assert model(state)["provenance"]["promise"] == "the roots of the labels"
    assert not state_of(other, tmp_path).exists()

    named = memsift("tune", "--root", DEMO_ROOT, "--to", other, *arguments)
    assert named.exit_code == 0
    assert f"{other} has no labels, so nothing is promised there" in named.stderr
    assert "needs labels of 4 roots; there are labels of 1" in named.stderr
    written = model(state_of(other, tmp_path))
    assert written["provenance"]["promise"] == "none"
    assert written["threshold"] == model(state)["threshold"]
    configure(other, max_inject=5)
    assert "different rules" in refused(memsift("tune", "--root", DEMO_ROOT, "--root", other, *arguments))


# What uses the model


def test_replay_runs_the_tuned_system_beside_the_plain_one_if_it_fits(state: Path) -> None:
    replay = ("replay", "--root", DEMO_ROOT, "--prompts", PROMPTS, "--systems")
    assert "no tuned cutoff for memsift+cutoff" in memsift(*replay, "memsift+cutoff").stderr
    models.write_model(state, models.content(intercept=-7.0, threshold=0.95))
    found = rows(memsift("replay", "--root", DEMO_ROOT, "--prompts", PROMPTS))
    systems = {row["system"] for row in found}
    assert systems == {"memsift", "memsift+cutoff"}
    count = {name: sum(len(row["injected"]) for row in found if row["system"] == name) for name in systems}
    assert 0 < count["memsift+cutoff"] < count["memsift"]
    cut = [one for row in found for one in row["candidates"] if one["dropped_by"] == "cutoff"]
    assert cut
    assert all(one["probability"] < surer(0.95) for one in cut)
    result = memsift(*replay, "bm25+cutoff")
    assert (result.exit_code, result.stdout, "match_strategy was" in result.stderr) == (2, "", True)
    models.write_model(state, models.content(Config(max_inject=7)))
    result = memsift("search", "background job queue", "--root", DEMO_ROOT, "--mode", "auto")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert "ignored: it was made for another configuration: max_inject was 7, is 3" in line


@pytest.fixture
def team_root(tmp_path: Path, private_home: Path) -> Path:  # noqa: ARG001
    return Path(shutil.copytree(DEMO_ROOT, tmp_path / "team/.claude/memory"))


def shared_tune(root: Path, *arguments: str) -> Result:
    wanted = ("--target-precision", "0.65", "--apply") if "--undo" not in arguments else ()
    return memsift("tune", "--root", root, "--prompts", PROMPTS, "--qrels", QRELS, *wanted, *arguments)


def model_of_config(root: Path) -> tuple[str, str]:
    """The model that holds and where it lies, as `memsift config` says; doctor must name the same file."""
    (row,) = [
        one for one in printed(memsift("config", "--root", root, "--format", "json")) if one["key"] == "cutoff_model"
    ]
    if place := row["place"]:
        os.chdir(root.parent.parent)
        found = json.loads(memsift("doctor", "--format", "json").stdout)
        model = [one["text"] for one in found if one["check"] == "cutoff" and one["status"] == "ok"]
        assert model == [f"{root}: the model in {place}"]
    assert json.loads(memsift("config", "get", "cutoff_model", "--root", root).stdout) == row["value"]
    return row["value"], Path(place or "").name


@pytest.mark.slow
def test_a_shared_model_is_the_same_for_everybody_who_trusts_the_root(
    team_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two accounts: who tunes shares the model, and a colleague has it after `memsift trust`, until their own."""
    monkeypatch.chdir(team_root)
    told = shared_tune(team_root, "--shared")
    assert (told.exit_code, f"memsift trust {team_root}" in told.stderr) == (0, True)
    assert "Your own model" not in told.stderr
    made = json.loads((team_root / "memsift-cutoff.json").read_text("utf-8"))
    assert len(made["provenance"]["labels_sha256"]) == 16
    assert model_of_config(team_root) == ("default", "")
    home = team_root.parents[2] / "ann"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    assert memsift("trust", team_root).exit_code == 0
    assert model_of_config(team_root) == ("shared", "memsift-cutoff.json")
    shared_tune(team_root)
    assert "comes before it" in shared_tune(team_root, "--shared").stderr
    assert model_of_config(team_root) == ("tuned", "cutoff.json")
    shared_tune(team_root, "--undo")
    assert model_of_config(team_root)[0] == "shared"
    assert "Removed" in shared_tune(team_root, "--undo", "--shared").stderr
    assert model_of_config(team_root)[0] == "default"
    assert "no shared cutoff" in shared_tune(team_root, "--undo", "--shared").stderr
    target = team_root.parents[2] / "target"
    target.write_text("mine", "utf-8")
    (team_root / "memsift-cutoff.json").symlink_to(target)
    assert shared_tune(team_root, "--shared").exit_code == 2
    assert target.read_text("utf-8") == "mine", "it is not shared through a planted link"
