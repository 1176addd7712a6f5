"""The file of phrases: what cannot be used is named with its line, the rest counts, and nothing is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.lean.record import replace
from engine.memory import MemorySummary
from engine.paths import state_dir
from engine.phrases.file import PhraseReading, PhraseRow, phrases_files, read_phrases
from engine.phrases.writing import add_phrases, change_phrases
from engine.stores.roots import read_corpus
from tests.engine.builders import memory, write_root
from tests.tui.cli.command_line import PROJECT

AT = "2026-05-01T10:00:00.000Z"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_root(tmp_path / "root", [memory("Use WAL", body="Else a reader blocks."), memory("Use tabs")])


@pytest.fixture
def file(root: Path) -> Path:
    path = root / ".memsift/phrases.jsonl"
    path.parent.mkdir()
    return path


def row(phrase: str, memory_id: str = "Use-WAL", **others: object) -> str:
    return json.dumps({"id": memory_id, "phrase": phrase, "digest": "0" * 16, "by": "ana", "at": AT, **others})


def write(file: Path, *lines: str) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogateescape")


def summary(root: Path, memory_id: str = "Use-WAL") -> MemorySummary:
    return next(found.summary for found in read_corpus(str(root)).memories if found.summary.id == memory_id)


def reading(root: Path) -> PhraseReading:
    return read_phrases(str(root), os.environ)


def add(root: Path, *phrases: object, by: str = "ana", memory_id: str = "Use-WAL") -> tuple[int, list[str]]:
    return add_phrases(str(root), os.environ, [(summary(root, memory_id), phrases)], by)


def remove(root: Path, phrase: str) -> None:
    def make(found: PhraseReading) -> list[PhraseRow]:
        return [replace(one, is_removed=True) for one in found.rows["Use-WAL"] if one.phrase == phrase]

    change_phrases(str(root), os.environ, make)


def test_a_phrase_is_a_line_in_the_root_that_no_store_takes_for_a_memory(root: Path) -> None:
    assert add(root, "why does   the reader wait", "database is locked") == (2, [])
    lines = (root / ".memsift/phrases.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["phrase"] for line in lines] == ["database is locked", "why does the reader wait"]
    assert json.loads(lines[0]) | {"at": ""} == {
        "id": "Use-WAL",
        "phrase": "database is locked",
        "digest": summary(root).digest[:16],
        "by": "ana",
        "at": "",
    }
    assert len(read_corpus(str(root)).memories) == 2
    assert read_corpus(str(root)).skipped == ()
    assert set(reading(root).counted["Use-WAL"]) == {"database is locked", "why does the reader wait"}


def test_each_bad_line_is_named_the_rest_counts_and_all_lines_stay(root: Path, file: Path) -> None:
    bad = {
        '{"id": "Use-WAL", "phr': "is not JSON",
        "[" * 100_000: "is not JSON",
        "[]": "is not a JSON object",
        row("x", v=2): "was written by another version of memsift",
        row("x", at=5): "has a field of another kind",
        row("x", removed="yes"): "has a field of another kind",
        row("x", " "): "names no memory",
        row(" "): "has no phrase",
        row("red \x1b[31m"): "has a phrase with characters that control a terminal or hide text",
        row("hidden \u202e"): "has a phrase with characters that control a terminal or hide text",
        row("\ud800"): "has a phrase with characters that control a terminal or hide text",
        '{"id": "Use-WAL", "phrase": "caf\udce9"}': "has a phrase with characters that control a terminal or hide text",
        row("word " * 21): "has a phrase of more than 20 words or 400 characters",
        row("w" * 401): "has a phrase of more than 20 words or 400 characters",
    }
    marks = ["<<<<<<< HEAD", "=======", ">>>>>>> theirs"]
    write(file, row("first"), *bad, marks[0], row("mine"), marks[1], row("theirs"), marks[2], "", row("far", "gone"))
    found = reading(root)
    assert [(one.line, one.reason) for one in found.problems if "conflict" not in one.reason] == [
        (number, reason) for number, reason in enumerate(bad.values(), 2)
    ]
    assert [one.line for one in found.problems if "conflict" in one.reason] == [16, 18, 20]
    assert found.counted == {"Use-WAL": ("first", "mine", "theirs"), "gone": ("far",)}
    add(root, "new one")
    lines = file.read_text("utf-8", errors="surrogateescape").splitlines()
    assert set(bad) <= set(lines)
    assert not set(marks) & set(lines)
    assert reading(root).counted == {"Use-WAL": ("first", "mine", "theirs", "new one"), "gone": ("far",)}


def test_order_and_doubles_do_not_matter_and_the_latest_row_wins(root: Path, file: Path) -> None:
    lines = [
        row("kept"),
        row("kept", by="ben"),
        row("gone"),
        row("gone", at="2026-06-01T10:00:00.000Z", removed=True),
        row("back", removed=True),
        row("back", at="2026-06-01T10:00:00.000Z"),
        row("tie", removed=True),
        row("tie"),
    ]
    for order in (lines, lines[::-1], [*lines, *lines]):
        write(file, *order)
        assert reading(root).counted == {"Use-WAL": ("kept", "back")}


def test_a_removal_is_a_row_and_holds_also_over_a_clock_that_runs_ahead(root: Path, file: Path) -> None:
    write(file, row("ahead", at="2999-01-01T00:00:00.000Z"), row("stays"))
    remove(root, "ahead")
    assert reading(root).counted == {"Use-WAL": ("stays",)}
    with file.open("a", encoding="utf-8") as end:
        end.write(row("ahead", at="2999-01-01T00:00:00.000Z"))  # git joined the other side
    assert reading(root).counted == {"Use-WAL": ("stays",)}
    add(root, "ahead")
    assert "ahead" in reading(root).counted["Use-WAL"]


def test_the_earliest_twelve_phrases_of_a_memory_count_and_ten_thousand_can_be_changed(root: Path, file: Path) -> None:
    write(file, *(row(f"p{number:02}", at=f"2026-05-{number:02}T10:00:00.000Z") for number in range(20, 0, -1)))
    found = reading(root)
    assert found.counted["Use-WAL"] == tuple(f"p{number:02}" for number in range(1, 13))
    assert [(one.line, one.reason) for one in found.problems] == [
        (8, "is one phrase too many for 'Use-WAL': the first 12 count")
    ]
    assert add(root, " ", "more", "More") == (
        0,
        ["Use-WAL has no phrase", "Use-WAL has room for 0 of 1 new phrases: a memory has at most 12"],
    )
    write(file, *(row(f"phrase {number}", f"m{number // 10}") for number in range(10_000)))
    assert sum(map(len, reading(root).counted.values())) == 10_000
    add(root, "one more")
    assert len(file.read_text("utf-8").splitlines()) == 10_001


@pytest.mark.parametrize("kind", ["link", "folder link", "pipe", "folder"])
def test_a_link_out_of_the_root_and_a_pipe_are_left_alone_and_named(root: Path, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    mine = outside / "phrases.jsonl"
    mine.write_text(row("planted"), encoding="utf-8")
    folder = root / ".memsift"
    if kind == "folder link":
        folder.symlink_to(outside)
    else:
        folder.mkdir()
        path = folder / "phrases.jsonl"
        path.symlink_to(mine) if kind == "link" else os.mkfifo(path) if kind == "pipe" else path.mkdir()
    found = reading(root)
    assert found.counted == {}
    assert [(one.line, bool(one.reason)) for one in found.problems] == [(0, True)]
    assert add(root, "mine") == (1, [])
    assert mine.read_text("utf-8") == row("planted")
    assert reading(root).counted == {"Use-WAL": ("mine",)}
    own = Path(state_dir(str(root), os.environ), "phrases.jsonl")
    assert own.stat().st_mode & 0o777 == 0o600


def test_the_phrases_of_a_root_that_is_a_file_are_in_the_users_state(tmp_path: Path) -> None:
    single = tmp_path / "notes.jsonl"
    single.write_text('{"id": "a", "text": "Use WAL."}\n', encoding="utf-8")
    (own,) = phrases_files(str(single), os.environ)
    assert own == str(Path(state_dir(str(single), os.environ), "phrases.jsonl"))
    assert add(single, "lock", memory_id="a") == (1, [])
    assert reading(single).counted == {"a": ("lock",)}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_phrases_for_a_root_that_cannot_be_written_are_in_the_users_state(root: Path, file: Path) -> None:
    write(file, row("theirs"), row("not helpful"))
    file.parent.chmod(0o500)
    add(root, "mine")
    remove(root, "not helpful")
    file.parent.chmod(0o700)
    assert file.read_text("utf-8").splitlines() == [row("theirs"), row("not helpful")]
    assert reading(root).counted == {"Use-WAL": ("theirs", "mine")}


def test_the_phrases_of_a_model_take_the_place_of_older_ones_of_a_model(root: Path) -> None:
    add(root, "old one", "kept one", by="model a")
    add(root, "by hand")
    path = root / "decisions/Use-WAL.json"
    path.write_text(path.read_text("utf-8").replace("blocks", "waits"), encoding="utf-8")
    assert add(root, "kept one", "new one", by="model b") == (1, [])
    found = reading(root)
    assert set(found.counted["Use-WAL"]) == {"kept one", "new one", "by hand"}
    by = {one.phrase: (one.by, one.digest == summary(root).digest[:16]) for one in found.rows["Use-WAL"]}
    assert by == {"by hand": ("ana", False), "kept one": ("model a", True), "new one": ("model b", True)}


def test_git_is_told_to_join_the_lines_in_a_repository(root: Path) -> None:
    add(root, "outside")
    rules = root / ".memsift/.gitattributes"
    assert not rules.exists()
    (root / ".git").mkdir()
    add(root, "inside")
    assert rules.read_text() == "/*.jsonl merge=union\n"


WRITER = """
import os, sys
from engine.phrases.writing import add_phrases
from engine.stores.roots import read_corpus
root, name = sys.argv[1:]
memories = [found.summary for found in read_corpus(root).memories]
for number in range(6):
    add_phrases(root, os.environ, [(memory, [f"{name} {number}"]) for memory in memories], name)
"""


def test_two_writers_at_once_lose_nothing(root: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(root), name], cwd=PROJECT, env=dict(os.environ))
        for name in ("ana", "ben")
    ]
    assert [one.wait(60) for one in started] == [0, 0]
    wanted = {f"{name} {number}" for name in ("ana", "ben") for number in range(6)}
    assert {memory_id: set(own) for memory_id, own in reading(root).counted.items()} == {
        "Use-WAL": wanted,
        "Use-tabs": wanted,
    }


def test_the_reading_needs_only_the_hooks_own_modules(root: Path) -> None:
    add(root, "database is locked")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import os\n"
        "from engine.phrases.file import read_phrases\n"
        "assert read_phrases(sys.argv[2], os.environ).counted\n"
        "print([name for name in ('re', 'json', 'typing', 'datetime', 'contextlib', 'hashlib') if name in sys.modules])"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(PROJECT), str(root)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
