"""What commands print of hostile titles, prompts, names and folders: nothing of it commands a terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.paths import state_dir
from labels.exchange.registry import FORMATS
from tests.engine.builders import memory, put, write_root
from tests.tui.cli.command_line import MAIN, jsonl, memsift, printed, rows
from tests.tui.terminal import printed_in
from tui.cli import main

COMMANDING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""C0 controls but tab and line ends, DEL and C1 controls, and the characters that change the direction of text."""

HOSTILE = "\x1b[2J\x07 \x9b31m \x85 \x7f \u202eevil\u202c \u2066x\u2069 \u200e\u200f\u061c é 数据"
ASK = f"signing rule {HOSTILE}"
TITLE = " ".join(ASK.split())
ID = "m\x1b[2J\u202e"


class Place:
    """A root in a folder with a hostile name, prompts, a judge, and labels by a person with a hostile name."""

    def __init__(self, folder: Path) -> None:
        made = [memory(f"zz{number}", "other", body=HOSTILE, memory_id=f"m{number}") for number in range(9)]
        made.append(memory("signing of é 数据", f"signing {HOSTILE}", body=HOSTILE, memory_id="fine"))
        self.root = write_root(folder / f"root {HOSTILE}".replace("/", ""), made)
        (fine,), index = self.root.rglob("fine.json"), self.root / "index.md"
        hostile = {**json.loads(fine.read_text("utf-8")), "id": ID, "title": TITLE}
        fine.with_name("hostile.json").write_text(json.dumps(hostile), "utf-8")
        (line,) = (line for line in index.read_text("utf-8").splitlines() if "fine.json" in line)
        with index.open("a", encoding="utf-8") as file:
            file.write(line.replace("fine.json", "hostile.json") + "\n")
        self.prompts = jsonl(folder / "prompts.jsonl", {"id": ID, "prompt": ASK}, {"id": "p2", "prompt": "signing zz1"})
        self.judge = f"scripted:{jsonl(folder / 'judge.jsonl', {'prompt': ASK, 'keep': [TITLE]})}"
        self.db = folder / "labels.db"
        self.over = ("--root", self.root)
        self.kept = ("--db", self.db)
        self.read = ("--prompts", self.prompts)

    def labelled(self) -> Place:
        """With a replay, and a label of each pair."""
        assert memsift("replay", *self.over, *self.read, "--save", *self.kept).exit_code == 0
        event = {"record": "event", "annotator": f"eve{HOSTILE}"}
        verdicts = ((ID, "relevant"), ("fine", "not"))
        events = [
            {**event, "prompt_id": prompt, "memory_id": name, "verdict": verdict}
            for prompt, (name, verdict) in product((ID, "p2"), verdicts)
        ]
        done = memsift("import", jsonl(self.db.with_name("labels.jsonl"), *events), *self.over, *self.read, *self.kept)
        assert done.exit_code == 0, done.output
        return self


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def harmless(*arguments: str | Path) -> str:
    """stdout of a command as on a terminal, without bold type. Neither it nor stderr must command the terminal."""
    result = CliRunner().invoke(main, [str(each) for each in arguments], prog_name="memsift", color=True)
    assert result.exit_code in (0, 1), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    shown = re.sub("\x1b\\[[01]m", "", result.stdout)
    assert (COMMANDING.findall(shown), COMMANDING.findall(result.stderr)) == ([], [])
    return shown


FORMS = ("json", "text")


def test_search_judge_and_prompts(place: Place, tmp_path: Path) -> None:
    other = write_root(place.root.parent / "other", [memory("signing elsewhere", memory_id="b")])
    for form, more in product(FORMS, ((), ("--explain",), ("--memory", ID), ("--root", other), ("--mode", "auto"))):
        assert "数据" in harmless("search", ASK, *place.over, "--format", form, *more)
    found = printed(memsift("search", ASK, *place.over))
    assert (found["query"], TITLE in [one["title"] for one in found["results"]]) == (ASK, True)
    text, judged = (
        harmless("judge", ASK, *place.over, "--judge", place.judge, "--format", form) for form in ("text", "json")
    )
    assert ("数据" in text, TITLE in [one["title"] for one in json.loads(judged)["verdicts"]]) == (True, True)
    for command in (["replay", *place.over, *place.read], ["prompts", place.prompts]):
        shown = harmless(*command)
        assert ID in [row.get("prompt_id", row.get("id")) for row in map(json.loads, shown.splitlines())]
    assert "é 数据" in shown
    assert [row["prompt"] for row in rows(memsift("prompts", place.prompts))] == [ASK, "signing zz1"]
    memsift("replay", *place.over, *place.read, "--resume", tmp_path / "run.jsonl")
    assert COMMANDING.findall((tmp_path / "run.jsonl").read_text("utf-8")) == []


def test_commands_about_labels(place: Place) -> None:
    place.labelled()
    over, both = place.over, (*place.over, "--root", write_root(place.root.parent / "b", [memory("signing elsewhere")]))
    for form in ("json", "text", "markdown", "html"):
        shown = harmless("report", *over, *place.kept, "--format", form, "--full")
        assert ("precision" in shown.lower(), form != "json" or "数据" in shown) == (True, True)
    for name, form in FORMATS.items():
        system = ["--system", "memsift"] if form.is_run else []
        if name != "csv":
            assert harmless("export", "--format", name, *system, *place.kept)
    exported = map(json.loads, harmless("export", *place.kept).splitlines())
    assert TITLE in [row["title"] for row in exported if row["record"] == "memory"]
    for form in FORMS:
        assert harmless("gate", "--min-precision", "0.5", *over, *place.kept, "--format", form)
        assert "memsift" in harmless("diff", *over, *place.kept, "--format", form)
        harmless("diff", "1", "1", *over, *place.kept, "--format", form)
    harmless("replay", *both, *place.read, "--save", *place.kept)
    for roots, form in product((over, both), FORMS):
        assert ASK[:12] in harmless("label", "--next", "5", *place.read, *roots, *place.kept, "--format", form)
        shown = harmless("label", *place.read, *roots, *place.kept, "--format", form)
        if form == "json":
            assert f"eve{HOSTILE}" in [one["annotator"] for one in json.loads(shown.splitlines()[0])["people"]]


@pytest.mark.slow
def test_tune(place: Place, tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(40)]
    prompts = jsonl(tmp_path / "many.jsonl", *({"id": name, "prompt": f"{name} {ASK}"} for name in names))
    qrels = tmp_path / "qrels.txt"
    judged = ((ID, 1), ("fine", 0))
    qrels.write_text("".join(f"{name} 0 {one} {grade}\n" for name in names for one, grade in judged), "utf-8")
    tune = ("tune", *place.over, "--prompts", prompts, "--qrels", qrels, "--target-precision", "0.4", "--full")
    assert "数据" in harmless(*tune)
    assert any(one["title"] == TITLE for one in json.loads(harmless(*tune, "--format", "json"))["changes"])


def test_csv_on_a_terminal_has_dots_and_in_a_pipe_is_exact(place: Place) -> None:
    place.labelled()
    command = [*MAIN, "export", "--format", "csv", "--db", str(place.db)]
    shown = printed_in(command)
    assert COMMANDING.findall(shown) == []
    assert "signing rule ·[2J·" in shown
    assert f"eve{HOSTILE}" in subprocess.run(command, capture_output=True, timeout=60, check=True).stdout.decode()


def test_settings(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder's name is hostile, and so are settings that the commands show."""
    config = {"judge": {"model": HOSTILE}}
    (place.root / "memory-config.json").write_text(json.dumps({"retrieval": config}), encoding="utf-8")
    assert "é 数据" in harmless("trust", place.root)
    harmless("trust", "--list", "--format", "text")
    trusted = json.loads(harmless("trust", "--list", "--format", "json"))
    assert [one["root"] for one in trusted] == [str(place.root)]
    monkeypatch.chdir(place.root)
    assert "hooks" in json.loads(harmless("install", "--print"))
    config |= {"match_strategy": HOSTILE, f"key{HOSTILE}": 1}
    (place.root / "memory-config.json").write_text(json.dumps({"retrieval": config}), encoding="utf-8")
    for form in FORMS:
        assert "match_strategy" in harmless("config", *place.over, "--format", form)
        assert "python" in harmless("doctor", "--format", form)


def test_commands_about_memories_their_changes_and_the_log(place: Place) -> None:
    harmless("tag", ID, "--add", f"tag {HOSTILE}", *place.over, "--dry-run")
    assert memsift("tag", ID, "--add", "new", *place.over).exit_code == 0
    log = Path(state_dir(str(place.root), os.environ)) / "activity.jsonl"
    line = {"time": "2026-01-01T00:00:00Z", "session_id": HOSTILE, "prompt": ASK, "prompt_sha256": HOSTILE}
    put(log, json.dumps({**line, "injected": [ID], "reason": HOSTILE, "fallback": HOSTILE}) + "\n")
    for form in FORMS:
        for command in (["list"], ["show", ID], ["quality", "check"], ["activity"]):
            assert "数据" in harmless(*command, *place.over, "--format", form)
        for command in (["quality", "list"], ["activity", "--memory", ID]):
            harmless(*command, *place.over, "--format", form)
        assert "数据" in harmless("history", ID, "--diff", "--format", form)
