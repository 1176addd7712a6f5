"""`memsift replay` and `memsift report`, alone and one after the other."""

from pathlib import Path
from typing import Any

import pytest

from engine.retrieval import DROP_STAGES
from tests.tui.cli.command_line import jsonl, memsift, printed, read_rows, refused, rows
from tests.tui.demo import DEMO, DEMO_ROOT

ROW_KEYS = ["prompt_id", "system", "injected", "candidates", "judgement", "fallback", "ms"]
INJECTED_KEYS = ["id", "path", "rank", "score", "confidence"]
CANDIDATE_KEYS = ["id", "bm25", "body_bonus", "score", "matched", "probability", "verdict", "dropped_by"]
FIRST, CUT, JUDGED = "memsift", "memsift+default", "memsift+default+judge"


@pytest.fixture(scope="module")
def quick_judge(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo's judge without its delays."""
    script = read_rows(DEMO / "judge.jsonl")
    quick = [{name: value for name, value in row.items() if name != "delay_ms"} for row in script]
    return f"scripted:{jsonl(tmp_path_factory.mktemp('judge') / 'judge.jsonl', *quick)}"


@pytest.fixture(scope="module")
def run_file(quick_judge: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every prompt of the demo through the first stage, with its cutoff, and with the judge."""
    result = memsift("replay", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl", "--judge", quick_judge)
    file = tmp_path_factory.mktemp("run") / "run.jsonl"
    file.write_text(result.stdout, encoding="utf-8")
    return file


def of_system(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in report["systems"] if one["system"] == name)  # type: ignore[no-any-return]


# Replay


def test_replay_prints_a_documented_row_for_each_prompt_and_system_with_verdicts_and_failures(run_file: Path) -> None:
    found = read_rows(run_file)
    assert len(found) == 52 * 3
    assert [row["system"] for row in found[:6]] == 2 * [FIRST, CUT, JUDGED]
    for row in found:
        assert list(row) == ROW_KEYS
        assert all(list(one) == INJECTED_KEYS for one in row["injected"])
        assert all(list(one) == CANDIDATE_KEYS for one in row["candidates"])
        kept = [one["id"] for one in row["candidates"] if one["dropped_by"] is None]
        assert [one["id"] for one in row["injected"]] == kept
        assert {one["dropped_by"] for one in row["candidates"]} <= {None, *DROP_STAGES}
        assert len(kept) <= 3
    by_key = {(row["prompt_id"], row["system"]): row for row in found}
    assert {one["verdict"] for one in by_key["p01", FIRST]["candidates"]} == {None}
    decisions = {one["verdict"]["decision"] for one in by_key["p01", JUDGED]["candidates"] if one["verdict"]}
    assert decisions == {"approved", "rejected"}
    for prompt, fallback in (("p39", "timeout"), ("p44", "parse_error")):
        row = by_key[prompt, JUDGED]
        assert (row["fallback"], len(row["injected"])) == (fallback, 2)


def test_systems_choose_what_runs_and_without_save_no_label_store_is_made(
    quick_judge: str, tmp_path: Path, private_home: Path
) -> None:
    lines = (DEMO / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    arguments = ["replay", "--root", DEMO_ROOT, "--prompts", jsonl(tmp_path / "prompts.jsonl", *lines[:5])]

    def systems(*options: str, **environ: str) -> list[str]:
        return [row["system"] for row in rows(memsift(*arguments, *options, **environ))]

    assert systems() == [FIRST, CUT] * 5
    assert systems(MEMSIFT_CUTOFF="off") == [FIRST] * 5
    assert systems("--systems", CUT, MEMSIFT_CUTOFF="off") == [CUT] * 5
    assert systems("--systems", f"{FIRST}, {FIRST}") == [FIRST] * 5
    assert systems("--systems", JUDGED, "--judge", quick_judge) == [JUDGED] * 5
    assert systems(MEMSIFT_JUDGE=quick_judge) == [FIRST, CUT, JUDGED] * 5
    assert list(private_home.rglob("labels.db*")) == []


REFUSED = {
    "--systems bm26": "bm26",
    "--systems bm25,": "''",
    f"--systems {JUDGED}": "--judge",
    "--judge nobody": "nobody",
    "--judge scripted:/no/such/file": "/no/such/file",
}


def test_systems_and_judges_that_there_are_not_and_options_that_go_together_are_refused(run_file: Path) -> None:
    for options, named in REFUSED.items():
        command = ("replay", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl", *options.split())
        result = memsift(*command)
        assert (result.exit_code, result.stdout, named in result.stderr) == (2, "", True), options
    result = memsift("replay", "--root", DEMO_ROOT)
    assert (result.exit_code, "--prompts" in result.stderr) == (2, True)
    for option, other in (("--run", "--run and --qrels"), ("--qrels", "--run and --qrels"), ("--prompts", "--run")):
        result = memsift("report", option, run_file)
        assert (result.exit_code, other in result.stderr) == (2, True), option


# Report of files


def test_the_formats_hold_the_same_precision_and_the_judge_of_the_demo_is_more_precise(run_file: Path) -> None:
    arguments = ["report", "--run", run_file, "--qrels", DEMO / "qrels.txt"]
    made = printed(memsift(*arguments, "--format", "json", "--ranking"))
    first, judged = of_system(made, FIRST), of_system(made, JUDGED)
    assert first["precision"]["value"] < judged["precision"]["value"]
    assert judged["false_fire_rate"]["value"] < first["false_fire_rate"]["value"]
    assert judged["lost_per_prompt"]["value"] > 0
    assert first["ranked"]["prompts"] == 41
    assert set(first["ranked"]["means"]) == {"P@1", "P@3", "AP", "nDCG@10", "RR", "Bpref"}
    shown = f"{first['precision']['part']} of {first['precision']['whole']}"
    assert of_system(printed(memsift(*arguments, "--format", "json")), FIRST)["ranked"] is None
    text, markdown = memsift(*arguments, "--full"), memsift(*arguments, "--format", "markdown")
    assert shown in text.stdout
    assert shown in markdown.stdout
    assert markdown.stdout.startswith("# ")
    assert (text.exit_code, text.stderr, markdown.exit_code) == (0, "", 0)


def test_the_page_goes_into_a_file_and_a_bad_run_is_refused_with_its_line(run_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    arguments = ["report", "--run", run_file, "--qrels", DEMO / "qrels.txt", "--prompts", DEMO / "prompts.jsonl"]
    result = memsift(*arguments, "--root", DEMO_ROOT, "--format", "html", "--output", page)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    written = page.read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>")
    assert "Release a hold that is stuck in in_transit" in written
    assert "the queue is stuck again" in written
    assert "By kind of prompt: where it is good" in written
    refused(memsift(*arguments, "--output", page / "folder.html"))
    good = {"prompt_id": "p01", "system": "memsift", "injected": [], "candidates": []}
    file = jsonl(tmp_path / "run.jsonl", good, good)
    assert f"{file}, line 2" in refused(memsift("report", "--run", file, "--qrels", DEMO / "qrels.txt"))


# Report of labels


def test_what_replay_saved_is_what_report_reads(quick_judge: str, tmp_path: Path) -> None:
    store = tmp_path / "here" / "labels.db"
    lines = (DEMO / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    prompts = jsonl(tmp_path / "prompts.jsonl", *lines[:6])
    replay = ("replay", "--root", DEMO_ROOT, "--prompts", prompts, "--judge", quick_judge, "--save")
    saved = memsift(*replay, MEMSIFT_DB=str(store))
    made = printed(memsift("report", "--root", DEMO_ROOT, "--db", store, "--format", "json"))
    assert [(one["system"], one["prompts"]) for one in made["systems"]] == [(FIRST, 6), (CUT, 6), (JUDGED, 6)]
    assert made["systems"][0]["precision"] == {"value": None, "part": 0, "whole": 0}
    injected = sum(len(row["injected"]) for row in rows(saved) if row["system"] == FIRST)
    assert made["systems"][0]["unjudged"]["whole"] == injected


def test_a_report_on_nothing_says_what_to_replay() -> None:
    said = refused(memsift("report", "--root", DEMO_ROOT))
    assert said.startswith("memsift: Nothing is measured yet: no prompt was replayed. Next: replay prompts to label: ")
