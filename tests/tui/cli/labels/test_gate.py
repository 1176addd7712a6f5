"""`memsift gate`, on files and on labels."""

import fcntl
import json
import os
import re
import struct
import subprocess
import termios
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from labels.report.gate_text import VERDICTS
from tests.tui.cli.command_line import MAIN, PROJECT, memsift, refused
from tests.tui.demo import DEMO, DEMO_ROOT, make_workspace
from tests.tui.terminal import all_printed

FIRST, JUDGED = "memsift", "memsift+judge"


def run_file(folder: Path, prompts: int, *, good: float, judged: bool = False) -> list[str | Path]:
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
    run, labels = folder / "run.jsonl", folder / "qrels.txt"
    run.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    labels.write_text("\n".join(qrels) + "\n", encoding="utf-8")
    return ["gate", "--run", run, "--qrels", labels]


def unwrapped(text: str) -> str:
    return " ".join(text.split())


def as_json(result: Result) -> Any:
    return json.loads(result.stdout)


# The answer and the exit code


@pytest.mark.parametrize(
    ("least", "options", "verdict", "code"),
    [
        (0.6, [], "pass", 0),
        (0.95, [], "fail", 1),
        (0.8, [], "undecided", 1),
        (0.8, ["--allow-undecided"], "undecided", 0),
        (0.95, ["--allow-undecided"], "fail", 1),
        (0.8, ["--strict"], "undecided", 1),
        (0.8, ["--indifference", "0.7-0.9"], "pass", 0),
        (0.85, ["--indifference", "0.3"], "pass", 0),
    ],
)
def test_the_exit_code_is_the_answer(tmp_path: Path, least: float, options: list[str], verdict: str, code: int) -> None:
    command = [*run_file(tmp_path, 200, good=0.82), "--min-precision", str(least), *options]
    text, row = memsift(*command), memsift(*command, "--format", "json")
    assert (text.exit_code, row.exit_code) == (code, code)
    assert text.stdout.startswith(f"{VERDICTS[verdict]} with 200 labels: memsift ")
    assert as_json(row)["decision"]["verdict"] == verdict
    assert text.stderr == row.stderr == ""


@pytest.mark.parametrize(
    ("least", "verdict", "says"),
    [
        (0.3, "pass", "memsift reaches 60 %, and it serves 30 %."),
        (0.7, "fail", "memsift reaches 60 %, and it does not serve 70 %."),
        (0.5, "undecided", "memsift reaches 60 %, and it may or may not serve 50 %."),
    ],
)
def test_a_precise_system_that_is_mostly_silent_does_not_pass_a_gate_of_served_prompts(
    tmp_path: Path, least: float, verdict: str, says: str
) -> None:
    command = [*run_file(tmp_path, 200, good=0.9), "--min-precision", "0.6"]
    run = tmp_path / "run.jsonl"
    rows = [json.loads(line) for line in run.read_text(encoding="utf-8").splitlines()]
    for row in rows[::2]:
        row["injected"] = []
    run.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert as_json(memsift(*command, "--format", "json"))["verdict"] == "pass"
    text = memsift(*command, "--min-served", str(least), "--full")
    row = as_json(memsift(*command, "--min-served", str(least), "--format", "json"))
    assert (text.exit_code, row["verdict"]) == (int(verdict != "pass"), verdict)
    assert says in unwrapped(text.stdout)
    assert f"asked for {least:.2f}" in unwrapped(text.stdout)
    assert row["served"]["relevant"]["part"] / row["served"]["relevant"]["whole"] == pytest.approx(0.5, abs=0.02)


def test_notes_without_a_label_cannot_make_a_gate_pass(tmp_path: Path) -> None:
    """30 of 100 prompts with an irrelevant memory get new notes instead: 46 of 100 become 46 of 70."""
    command = [*run_file(tmp_path, 100, good=0.46), "--unjudged", "exclude", "--min-precision", "0.45"]
    assert memsift(*command).stdout.startswith("Not decided yet, with 100 labels: memsift may or may not reach 45 %.")
    labels = (tmp_path / "qrels.txt").read_text(encoding="utf-8").split("\n")
    bad = [line.split()[0] for line in labels if line.endswith(" 0")][:30]
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["prompt_id"] in bad:
            row["injected"] = row["candidates"] = [{"id": f"junk{number}"} for number in range(3)]
    (tmp_path / "run.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for options in ([], ["--allow-undecided"], ["--min-served", "0.1"]):
        done = memsift(*command, *options)
        first, *_, last = done.stdout.splitlines()
        assert done.exit_code == 1
        assert first == "Not decided yet, with 100 labels: 90 of 160 injected memories have no label."
        assert "46 were relevant: 66 %." in done.stdout
        assert "90 of 160 injected memories, on 30 labelled prompts, have no label that counts." in done.stdout
        assert last == "Next: add the 90 missing memories to the qrels."
    assert memsift("report", *command[1:-2]).stdout.splitlines()[-1] == last
    assert memsift(*command, "--max-unlabelled", "0.6").stdout.startswith("PASS")


def test_an_open_question_says_how_many_more_prompts_it_takes(tmp_path: Path) -> None:
    files = run_file(tmp_path, 45, good=0.93)
    out = memsift(*files, "--min-precision", "0.8", "--full").stdout
    more = as_json(memsift(*files, "--min-precision", "0.8", "--format", "json"))["decision"]["more"]
    assert out.startswith("Not decided yet, with 45 labels: memsift may or may not reach 80 %.")
    assert f"About {more} more prompts would decide, if precision stays where it is." in out
    assert "None is left to be judged" in unwrapped(out)
    assert out.splitlines()[-1] == f"Next: add about {more} prompts to the run and the qrels."


def test_too_near_the_gate_the_proposed_zone_decides(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 300, good=0.8), "--min-precision", "0.8"]
    out = memsift(*command, "--full").stdout
    assert "How many more prompts would decide cannot be said: precision is too near 0.80" in out
    step = r"Next: accept the answer to within ([\d.]+) points: --indifference (0\.\d+)"
    found = re.search(step, unwrapped(out))
    assert found
    assert float(found[1]) == pytest.approx(50 * float(found[2]))
    assert memsift(*command, "--indifference", found[2]).stdout.split()[0] in ("PASS", "FAIL")
    narrower = f"{float(found[2]) - 0.011:.3f}"
    assert memsift(*command, "--indifference", narrower).stdout.startswith("Not decided yet")


def test_after_an_open_single_look_no_other_one_is_proposed(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 45, good=0.82), "--min-precision", "0.8", "--one-look"]
    out = memsift(*command, "--full").stdout
    assert "A second one with --one-look would be wrong more often than 1 time in 20" in unwrapped(out)
    assert out.splitlines()[-1] == "Next: ask without --one-look, to learn how many more prompts are needed."
    out = memsift(*run_file(tmp_path, 60, good=0.8), "--min-precision", "0.8").stdout
    assert out.splitlines()[-1] == "Next: add about 10 prompts to the run and the qrels.", "the next look is at 70"


def test_whoever_asks_once_gets_an_answer_earlier_and_is_told_the_price(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 45, good=0.95), "--min-precision", "0.8"]
    short, full = memsift(*command).stdout, unwrapped(memsift(*command, "--full").stdout)
    assert short.startswith("Not decided yet")
    assert "If you ask only once, --one-look has a narrower range; --full says what it costs." in unwrapped(short)
    assert "add --one-look: asked after every prompt, it would be wrong in most cases." in full
    once = memsift(*command, "--one-look")
    assert (once.exit_code, once.stdout.split()[0]) == (0, "PASS")
    row = as_json(memsift(*command, "--one-look", "--format", "json"))["decision"]
    assert row["live"] == row["estimate"]["interval"]
    assert "if this is the first and last time that you ask" in unwrapped(
        memsift(*command, "--one-look", "--full").stdout
    )


def test_the_text_says_what_was_found_and_how_sure_that_is(tmp_path: Path) -> None:
    out = memsift(*run_file(tmp_path, 100, good=0.9), "--min-precision", "0.5", "--full").stdout
    assert "PASS with 100 labels: memsift reaches 50 %.\n" in out
    assert "found so far 0.90 90 of 100 memories that it injected were relevant, on 100 prompts" in unwrapped(out)
    assert "right in 19 of 20 cases, with looks at 20, 45, 70 and 100 prompts" in unwrapped(out)
    out = memsift(*run_file(tmp_path, 100, good=0.9), "--min-precision", "0.5", "--full", "--any-look").stdout
    assert "right in 19 of 20 cases at least, however often you look" in unwrapped(out)
    assert "Would the judge pay?" not in out, "there is no judged system"
    assert "The judge " not in out


def test_the_text_begins_with_a_few_lines_and_ends_with_the_next_step(tmp_path: Path) -> None:
    files = run_file(tmp_path, 100, good=0.6, judged=True)
    command = [*files, "--min-precision", "0.9"]
    short, full = memsift(*command).stdout, memsift(*command, "--full").stdout
    first, more, last = short.rstrip("\n").split("\n\n")
    live = as_json(memsift(*command, "--format", "json"))["decision"]["live"]
    assert first.splitlines() == [
        "FAIL with 100 labels: memsift does not reach 90 %.",
        "memsift injected 100 memories on 100 prompts; 60 were relevant: 60 %.",
        f"The true share is between {100 * live['low']:.0f} % and {100 * live['high']:.0f} %, "
        "a range that is right 19 times in 20.",
        "60 of 60 prompts that needed a memory got one (91-100 %). 40 of 40 that needed",
        "  none got one anyway.",
        "The judge would drop 40 useless memories and no useful ones (100 prompts).",
    ]
    assert more == "More: memsift gate with --full."
    assert last == "Next: drop unlikely memories: memsift tune --target-precision 0.9."
    assert full.startswith(first)
    assert full.endswith(f"\n\n{last}\n")
    assert "Would the judge pay?" in full
    assert max(map(len, full.splitlines())) <= 80
    row = as_json(memsift(*command, "--format", "json"))
    assert (" ".join(row["first_lines"]), row["next"]) == (" ".join(first.split()), last)


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "widest"), [(60, 60), (200, 100)])
def test_the_text_follows_the_width_of_the_terminal(tmp_path: Path, columns: int, widest: int) -> None:
    files = run_file(tmp_path, 100, good=0.6, judged=True)
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    command = [*MAIN, *map(str, files), "--min-precision", "0.4", "--full"]
    running = subprocess.Popen(command, stdout=follower, cwd=PROJECT)
    os.close(follower)
    shown = all_printed(leader)
    assert running.wait(30) == 0
    lines = shown.replace("\r", "").splitlines()
    assert lines[0] == "PASS with 100 labels: memsift reaches 40 %."
    assert widest - 20 < max(map(len, lines)) <= widest


# The judge


def test_the_case_for_the_judge_is_made_where_both_were_replayed(tmp_path: Path) -> None:
    files = run_file(tmp_path, 100, good=0.6, judged=True)
    out = unwrapped(memsift(*files, "--min-precision", "0.5", "--worth", "3", "--full").stdout)
    assert "Would the judge pay? memsift+judge against memsift, on 100 prompts" in out
    assert "irrelevant memories per prompt 0.40 fewer (0.3" in out
    assert " relevant memories per prompt the same (0.00 to 0.00)" in out
    assert "450 ms at the median, over 494 ms in 1 of 20, for $0.00040 on average (100 calls recorded)" in out
    assert (
        "It pays. At 3 irrelevant to one relevant memory, the balance per prompt in irrelevant ones is 0.40 fewer"
        in out
    )
    plain = unwrapped(memsift(*files, "--min-precision", "0.5", "--full").stdout)
    assert (
        "it left out 40 irrelevant and 0 relevant memories, and brought in 0 irrelevant and 0 relevant ones." in plain
    )
    assert "In general it may still lose one for up to 3 % of the prompts." in plain
    row = as_json(memsift(*files, "--min-precision", "0.5", "--worth", "3", "--format", "json"))["judge"]
    assert (row["answer"], row["break_even"]) == ("pays", None)
    assert row["comparison"]["irrelevant"]["value"] == pytest.approx(-0.4)
    assert as_json(memsift(*files, "--min-precision", "0.5", "--format", "json"))["judge"]["answer"] is None


def test_a_loss_that_the_interval_allows_is_said_as_a_bound(tmp_path: Path) -> None:
    """The judge lost and won as many relevant memories here, which does not show that it loses none."""
    rows, qrels = [], []
    for number in range(40):
        before, after = (["a"], ["b"]) if number % 2 else (["b"], ["a"])
        for system, injected in ((FIRST, [*before, "c"]), (JUDGED, after)):
            found = [{"id": one, "verdict": None} for one in "abc"]
            one = {"prompt_id": f"p{number}", "system": system, "candidates": found}
            rows.append({**one, "injected": [{"id": name} for name in injected]})
        qrels += [f"p{number} 0 a 1", f"p{number} 0 b 0", f"p{number} 0 c 0"]
    run, labels = tmp_path / "run.jsonl", tmp_path / "qrels.txt"
    run.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    labels.write_text("\n".join(qrels) + "\n", encoding="utf-8")
    command = ["gate", "--run", run, "--qrels", labels, "--min-precision", "0.5", "--system", FIRST]
    out = unwrapped(memsift(*command, "--full").stdout)
    low = as_json(memsift(*command, "--format", "json"))["judge"]["comparison"]["relevant"]["interval"]["low"]
    assert "On these 40 prompts it left out 60 irrelevant and 20 relevant memories, and brought in 20" in out
    assert low < -0.1
    assert f"In general it may lose up to {-low:.2f} relevant memories a prompt." in out
    assert "loses no relevant" not in out


def test_the_judged_system_can_be_decided_on(tmp_path: Path) -> None:
    command = [*run_file(tmp_path, 100, good=0.6, judged=True), "--min-precision", "0.9", "--system", JUDGED]
    assert "left out       40 of 100 prompts, for which it injects nothing\n" in memsift(*command, "--full").stdout
    row = as_json(memsift(*command, "--any-look", "--format", "json"))
    assert (row["system"], row["decision"]["verdict"]) == (JUDGED, "pass")
    assert (row["silent"]["part"], row["silent"]["whole"]) == (40, 100)


# On labels


def replayed_and_labelled(store: Path, prompts: int, verdict: str) -> None:
    """Replay the first *prompts* of the demo and give every card the label *verdict*."""
    workspace = make_workspace(store)
    with closing(workspace):
        for prompt in workspace.prompts[:prompts]:
            for system in workspace.systems:
                workspace.keep(workspace.run(prompt, system))
            pool = workspace.pool(prompt.id)
            for card in pool.cards if pool else ():
                workspace.store.label("me", prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=10)


def test_the_labels_of_the_store_decide(tmp_path: Path) -> None:
    store = tmp_path / "labels.db"
    command = ["gate", "--min-precision", "0.7", "--any-look", "--root", DEMO_ROOT, "--db", store]
    assert "memsift replay --save" in refused(memsift(*command[:-2]))
    memsift("replay", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl", "--save", "--db", store)
    for options in ([], ["--allow-undecided"]):
        assert refused(memsift(*command, *options)) == (
            "memsift: No label counts for memsift+default, so nothing can be decided. Label prompts: memsift, then L."
        )
    store.unlink()
    replayed_and_labelled(store, 30, "relevant")
    done = memsift(*command)
    assert done.exit_code == 0
    assert re.match(r"PASS with \d+ labels: memsift reaches 70 %\.\n", done.stdout)
    changed = memsift(*command, "--full", MEMSIFT_MAX_INJECT="2")
    assert changed.exit_code == 1
    assert changed.stdout.splitlines()[0].endswith(" labels: memsift was replayed with other settings.")
    assert changed.stdout.endswith("\nNext: replay with the present settings: memsift replay --prompts FILE --save.\n")
    assert "max_inject was 3, is 2" in unwrapped(changed.stdout)
    assert memsift(*command, "--allow-undecided", MEMSIFT_MAX_INJECT="2").exit_code == 0


WRONG = {
    "": "--min-precision",
    "--min-precision 1": "--min-precision",
    "--min-precision 0.8 --indifference 0.5-0.7": "contain --min-precision 0.8",
    "--min-precision 0.8 --indifference 0.7-1.2": "between 0 and 1",
    "--min-precision 0.8 --indifference -0.1": "LOW-HIGH or a width",
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
    run = tmp_path / "run.jsonl"
    run.write_text(run.read_text() + run.read_text().replace(FIRST, "bm25"), encoding="utf-8")
    result = memsift(*command, "--min-precision", "0.8")
    assert (result.exit_code, "Name a system with --system: bm25, memsift." in result.stderr) == (2, True)
