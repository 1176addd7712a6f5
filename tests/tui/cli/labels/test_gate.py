"""`memsift gate`, on files and on labels. Its sentences are those of `labels/report`."""

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.labels.samples import write
from tests.tui.cli.command_line import MAIN, jsonl, memsift, read_rows, refused
from tests.tui.demo import DEMO_ROOT, make_workspace
from tests.tui.terminal import printed_in

FIRST, JUDGED = "memsift", "memsift+judge"
Command = list[str | Path]


def run_file(folder: Path, prompts: int, *, good: float, judged: bool = False) -> Command:
    """A run that injects a memory for each prompt, and qrels that call the share *good* of them relevant."""
    rows, qrels = [], []
    for number in range(prompts):
        is_good = number * 37 % 100 < 100 * good
        candidate = {"id": "m", "verdict": None}
        row = {"prompt_id": f"p{number}", "system": FIRST, "injected": [{"id": "m"}], "candidates": [candidate]}
        rows.append(row)
        if judged:
            verdict = {"decision": "approved" if is_good else "rejected", "samples": 1, "source": "live"}
            asked = {"template_hash": "0", "elapsed_ms": 400 + number, "cost_usd": 0.0004}
            found = [{"id": "m", "verdict": verdict}]
            injected = [{"id": "m"}] if is_good else []
            rows.append({**row, "system": JUDGED, "injected": injected, "candidates": found, "judgement": asked})
        qrels.append(f"p{number} 0 m {int(is_good)}")
    return files(folder, rows, qrels)


def files(folder: Path, rows: list[dict[str, Any]], qrels: list[str]) -> Command:
    return ["gate", "--run", jsonl(folder / "run.jsonl", *rows), "--qrels", write(folder / "qrels.txt", *qrels)]


def rows_in(folder: Path) -> list[dict[str, Any]]:
    return read_rows(folder / "run.jsonl")


def decided(command: Command, *options: str) -> Any:
    return json.loads(memsift(*command, *options, "--format", "json").stdout)


def begins_as(text: str, row: Any) -> bool:
    """Whether *text* begins with the first lines in JSON, wherever they are broken."""
    return " ".join(text.split()).startswith(" ".join(" ".join(row["first_lines"]).split()))


# The answer and the exit code

ANSWERS: list[tuple[float, list[str], str, int]] = [
    (0.6, [], "pass", 0),
    (0.95, [], "fail", 1),
    (0.8, [], "undecided", 1),
    (0.8, ["--allow-undecided"], "undecided", 0),
    (0.95, ["--allow-undecided"], "fail", 1),
    (0.8, ["--strict"], "undecided", 1),
    (0.8, ["--indifference", "0.7-0.9"], "pass", 0),
    (0.85, ["--indifference", "0.3"], "pass", 0),
]


def test_the_exit_code_is_the_answer(tmp_path: Path) -> None:
    files = run_file(tmp_path, 200, good=0.82)
    for least, options, verdict, code in ANSWERS:
        command: Command = [*files, "--min-precision", str(least), *options]
        text, row = memsift(*command), memsift(*command, "--format", "json")
        assert (text.exit_code, row.exit_code) == (code, code), (least, options)
        assert json.loads(row.stdout)["decision"]["verdict"] == verdict
        assert (begins_as(text.stdout, json.loads(row.stdout)), text.stderr + row.stderr) == (True, "")


def test_a_precise_system_that_is_mostly_silent_does_not_pass_a_gate_of_served_prompts(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 200, good=0.9), "--min-precision", "0.6"]
    jsonl(
        tmp_path / "run.jsonl",
        *({**row, "injected": []} if n % 2 == 0 else row for n, row in enumerate(rows_in(tmp_path))),
    )
    assert decided(command)["verdict"] == "pass"
    for least, verdict in (("0.3", "pass"), ("0.7", "fail"), ("0.5", "undecided")):
        row = decided(command, "--min-served", least)
        assert (row["verdict"], row["decision"]["verdict"]) == (verdict, "pass")
        assert row["served"]["relevant"]["part"] / row["served"]["relevant"]["whole"] == pytest.approx(0.5, abs=0.02)
        assert memsift(*command, "--min-served", least).exit_code == int(verdict != "pass")


def test_notes_without_a_label_cannot_make_a_gate_pass(tmp_path: Path) -> None:
    """30 of 100 prompts with an irrelevant memory get new notes instead: 46 of 100 become 46 of 70."""
    command = [*run_file(tmp_path, 100, good=0.46), "--unjudged", "exclude", "--min-precision", "0.45"]
    assert decided(command)["verdict"] == "undecided"
    labels = (tmp_path / "qrels.txt").read_text(encoding="utf-8").split("\n")
    bad = [line.split()[0] for line in labels if line.endswith(" 0")][:30]
    junk = {"injected": [{"id": f"junk{n}"} for n in range(3)], "candidates": [{"id": f"junk{n}"} for n in range(3)]}
    jsonl(tmp_path / "run.jsonl", *({**row, **junk} if row["prompt_id"] in bad else row for row in rows_in(tmp_path)))
    for options in ([], ["--allow-undecided"], ["--min-served", "0.1"]):
        assert (memsift(*command, *options).exit_code, decided(command, *options)["verdict"]) == (1, "undecided")
    step = memsift(*command).stdout.splitlines()[-1]
    assert "90" in step
    assert memsift("report", *command[1:-2]).stdout.splitlines()[-1] == step
    assert memsift(*command, "--max-unlabelled", "0.6").exit_code == 0


def test_too_near_the_gate_the_proposed_zone_decides(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 300, good=0.8), "--min-precision", "0.8"]
    found = re.search(r"--indifference (0\.\d+)", memsift(*command, "--full").stdout)
    assert found
    assert decided(command, "--indifference", found[1])["verdict"] != "undecided"
    assert decided(command, "--indifference", f"{float(found[1]) - 0.011:.3f}")["verdict"] == "undecided"


def test_whoever_asks_once_gets_an_answer_earlier_and_between_two_looks_it_stays(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 45, good=0.95), "--min-precision", "0.8"]
    assert memsift(*command).exit_code == 1
    assert "--one-look" in memsift(*command).stdout
    row = decided(command, "--one-look")["decision"]
    assert (row["verdict"], row["live"] == row["estimate"]["interval"]) == ("pass", True)
    assert "--one-look" in memsift(*run_file(tmp_path, 45, good=0.82), *command[5:], "--one-look").stdout


def test_an_open_question_says_how_many_more_prompts_would_decide(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 45, good=0.93), "--min-precision", "0.8"]
    more = decided(command)["decision"]["more"]
    assert f"about {more} prompts" in memsift(*command).stdout.splitlines()[-1]
    last = memsift(*run_file(tmp_path, 60, good=0.8), *command[5:]).stdout.splitlines()[-1]
    assert "about 10 prompts" in last, "the next look is at 70"


def test_the_text_begins_with_a_few_lines_and_ends_with_the_next_step(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 100, good=0.6, judged=True), "--min-precision", "0.9"]
    short, full, row = memsift(*command).stdout, memsift(*command, "--full").stdout, decided(command)
    first, more, last = short.rstrip("\n").split("\n\n")
    assert (begins_as(first, row), row["next"], len(first.splitlines()) <= 7) == (True, last, True)
    assert more == "More: memsift gate with --full."
    assert "memsift tune --target-precision 0.9" in last
    assert (full.startswith(first), full.endswith(f"\n\n{last}\n")) == (True, True)
    assert max(map(len, full.splitlines())) <= 80


@pytest.mark.slow
def test_the_text_follows_the_width_of_the_terminal(tmp_path: Path) -> None:
    command = [*MAIN, *map(str, run_file(tmp_path, 100, good=0.6, judged=True)), "--min-precision", "0.4", "--full"]
    for columns, widest in ((60, 60), (200, 100)):
        assert widest - 20 < max(map(len, printed_in(command, columns).splitlines())) <= widest


# The judge


def test_the_case_for_the_judge_is_made_where_both_were_replayed(tmp_path: Path) -> None:
    files = [*run_file(tmp_path, 100, good=0.6, judged=True), "--min-precision", "0.5"]
    out = " ".join(memsift(*files, "--worth", "3", "--full").stdout.split())
    assert "450 ms at the median, over 494 ms in 1 of 20, for $0.00040 on average (100 calls recorded)" in out
    row = decided(files, "--worth", "3")["judge"]
    assert (row["answer"], row["break_even"]) == ("pays", None)
    assert row["comparison"]["irrelevant"]["value"] == pytest.approx(-0.4)
    assert decided(files)["judge"]["answer"] is None
    row = decided([*files[:-1], "0.9"], "--system", JUDGED, "--any-look")
    assert (row["system"], row["decision"]["verdict"], row["silent"]["part"]) == (JUDGED, "pass", 40)


def test_a_loss_that_the_interval_allows_is_said_as_a_bound(tmp_path: Path) -> None:
    """The judge lost and won as many relevant memories here, which does not show that it loses none."""
    rows, qrels = [], []
    for number in range(40):
        before, after = (["a"], ["b"]) if number % 2 else (["b"], ["a"])
        for system, injected in ((FIRST, [*before, "c"]), (JUDGED, after)):
            one = {"prompt_id": f"p{number}", "system": system, "candidates": [{"id": one} for one in "abc"]}
            rows.append({**one, "injected": [{"id": name} for name in injected]})
        qrels += [f"p{number} 0 a 1", f"p{number} 0 b 0", f"p{number} 0 c 0"]
    command = [*files(tmp_path, rows, qrels), "--min-precision", "0.5", "--system", FIRST]
    low = decided(command)["judge"]["comparison"]["relevant"]["interval"]["low"]
    assert low < -0.1
    assert f"up to {-low:.2f} relevant memories a prompt" in " ".join(memsift(*command, "--full").stdout.split())


# On labels


def replayed_and_labelled(store: Path, prompts: int, verdict: str) -> None:
    """Replay the first *prompts* of the demo and give every card the label *verdict*."""
    with closing(make_workspace(store)) as workspace:
        for prompt in workspace.prompts[:prompts]:
            for system in workspace.systems:
                workspace.keep(workspace.run(prompt, system))
            pool = workspace.pool(prompt.id)
            for card in pool.cards if pool else ():
                workspace.store.label("me", prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=10)


def test_the_labels_of_the_store_decide(tmp_path: Path) -> None:
    store = tmp_path / "labels.db"
    command: Command = ["gate", "--min-precision", "0.7", "--any-look", "--root", DEMO_ROOT, "--db", store]
    assert "memsift replay --save" in refused(memsift(*command[:-2]))
    replay = ("replay", "--root", DEMO_ROOT, "--prompts", jsonl(tmp_path / "one.jsonl", {"prompt": "job queue"}))
    memsift(*replay, "--save", "--db", store)
    for options in ([], ["--allow-undecided"]):
        line = refused(memsift(*command, *options))
        assert "No label counts for memsift+default, so nothing can be decided. To label prompts: memsift" in line
    store.unlink()
    replayed_and_labelled(store, 20, "relevant")
    assert decided(command)["verdict"] == "pass"
    changed = memsift(*command, "--full", MEMSIFT_MAX_INJECT="2")
    assert (changed.exit_code, "max_inject was 3, is 2" in " ".join(changed.stdout.split())) == (1, True)
    assert "memsift replay --prompts FILE --save" in changed.stdout.splitlines()[-1]
    assert memsift(*command, "--allow-undecided", MEMSIFT_MAX_INJECT="2").exit_code == 0


WRONG = {
    "": "--min-precision",
    "--min-precision 1": "--min-precision",
    "--min-precision 0.8 --indifference 0.5-0.7": "contain --min-precision 0.8",
    "--min-precision 0.8 --indifference 0.7-1.2": "between 0 and 1",
    "--min-precision 0.8 --indifference -0.1": "LOW-HIGH or a width",
    "--min-precision 0.8 --indifference nan": "between 0 and 1",
    "--min-precision 0.8 --indifference 1.5": "between 0 and 1",
    "--min-precision 0.8 --worth 0": "--worth",
    "--min-precision 0.8 --any-look --one-look": "leave one out",
    "--min-precision 0.8 --system bm26": "Choose from memsift",
}


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    command = run_file(tmp_path, 30, good=0.6)
    for options, complaint in WRONG.items():
        result = memsift(*command, *options.split())
        assert (result.exit_code, result.stdout, complaint in result.stderr) == (2, "", True), options
    (tmp_path / "other.txt").write_text("elsewhere 0 m1 1\n", "utf-8")
    refused(memsift(*command[:-1], tmp_path / "other.txt", "--min-precision", "0.5"))
    assert "has no label for a prompt of" in refused(memsift("report", *command[1:-1], tmp_path / "other.txt"))
    jsonl(tmp_path / "run.jsonl", *rows_in(tmp_path), *({**row, "system": "bm25"} for row in rows_in(tmp_path)))
    result = memsift(*command, "--min-precision", "0.8")
    assert (result.exit_code, "Name a system with --system: bm25, memsift." in result.stderr) == (2, True)
