"""`memsift export`, `memsift import` and `memsift merge`."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from engine.stores.roots import read_corpus
from tests.engine.builders import memory, write_root
from tests.labels.exchange.datasets import check_label_studio
from tests.labels.samples import write
from tests.tui.cli.command_line import jsonl, memsift, refused, rows
from tests.tui.demo import DEMO, DEMO_ROOT

QRELS = ["import", DEMO / "qrels.txt", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a replay of the demo's prompts and with the demo's labels, given by Jan."""
    db = tmp_path_factory.mktemp("store") / "labels.db"
    memsift("replay", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl", "--save", "--db", db)
    assert memsift(*QRELS, "--annotator", "jan", "--db", db).exit_code == 0
    return db


def told(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [line.removeprefix("memsift: ") for line in result.stderr.splitlines()]


def count(db: Path, table: str) -> int:
    with closing(sqlite3.connect(db)) as opened:
        return int(opened.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_no_output_takes_the_place_of_the_label_store(store: Path, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(store)
    before = rows(memsift("export", "--db", store))
    for command in (["export"], ["report", "--root", DEMO_ROOT, "--format", "html"]):
        for output in (store, tmp_path / "link.jsonl"):
            refused = memsift(*command, "--db", store, "--output", output)
            assert (refused.exit_code, "is the label store" in refused.stderr) == (2, True)
    assert rows(memsift("export", "--db", store)) == before


def test_only_labels_of_a_root_are_exported_also_without_a_replay(store: Path, tmp_path: Path) -> None:
    roots = [write_root(tmp_path / name, [memory(f"the text of {name}", memory_id="m")]) for name in ("a", "b")]
    prompts, db = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": "keys"}), tmp_path / "labels.db"
    memsift("import", write(tmp_path / "qrels", "p1 0 m 1"), "--root", roots[0], "--prompts", prompts, "--db", db)
    assert memsift("export", "--format", "qrels", "--root", roots[0], "--db", db).stdout == "p1 0 m 1\n"
    for other in (store, db):
        nothing = memsift("export", "--format", "qrels", "--root", roots[1], "--db", other)
        assert (nothing.stdout, told(nothing)[0]) == ("", "There are no labels of these memories.")


def test_a_file_is_written_alone_and_a_place_that_cannot_hold_one_is_named(store: Path, tmp_path: Path) -> None:
    result = memsift("export", "--format", "csv", "--db", store, "--output", tmp_path / "labels.csv")
    assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir() if "labels" in path.name] == ["labels.csv"]
    line = refused(memsift("export", "--db", store, "--output", tmp_path / "labels.csv/labels.jsonl"))
    assert "labels.csv/labels.jsonl: Not a directory. Name a file that can be written." in line


def test_stdout_is_the_file_and_stderr_says_what_is_left_out(store: Path) -> None:
    result = memsift("export", "--format", "qrels", "--db", store)
    assert {len(line.split()) for line in result.stdout.splitlines()} == {4}
    assert "qrels leaves out texts of prompts: 52." in told(result)
    everything = memsift("export", "--db", store)
    assert told(everything) == []
    assert {row["record"] for row in rows(everything)} == {"memsift", "prompt", "memory", "run", "retrieval", "event"}
    several = memsift("export", "--format", "run", "--db", store)
    assert (several.exit_code, several.stdout) == (2, "")
    assert "A run file holds one system. Choose one with --system: " in several.stderr
    name = several.stderr.strip(".\n").split(", ")[-1]
    lines = memsift("export", "--format", "run", "--system", name, "--db", store).stdout.splitlines()
    assert {line.split()[5] for line in lines} == {name}


REFUSED = {
    "--gold": "--gold",
    "--format csv --gold --annotator jan": "--gold",
    "--format run --system x": "There is no run of 'x'. Choose one",
    "--format csv --system x": "--system goes with",
    "--format prodigy --interface": "--interface goes with label-studio",
    "--format none": "'none' is not one of",
}


def test_contradicting_options_are_refused_and_label_studio_needs_its_interface(store: Path, tmp_path: Path) -> None:
    for line, says in REFUSED.items():
        result = memsift("export", *line.split(), "--db", store)
        assert (result.exit_code, result.stdout, says in result.stderr) == (2, "", True), line
    tasks = memsift("export", "--format", "label-studio", "--db", store)
    assert told(tasks)[-1].endswith("labelling interface: memsift export --format label-studio --interface")
    printed = memsift("export", "--format", "label-studio", "--interface", "--db", tmp_path / "none.db")
    check_label_studio(json.loads(tasks.stdout), printed.stdout)
    assert (told(printed), (tmp_path / "none.db").exists()) == ([], False)


TABLE = "prompt_id,prompt,memory_id,digest,title,label:jan\n"


def test_tables_of_spreadsheets_are_read_or_the_error_says_how_to_save_them(tmp_path: Path) -> None:
    root = write_root(tmp_path / "r", [memory("x", memory_id="naïf"), memory("Keys", memory_id="1e5")])
    place = ("--db", tmp_path / "labels.db", "--root", root)
    table, row = tmp_path / "t.csv", TABLE + "p1,wie geht’s,naïf,,,relevant\n"
    marked = f"sep=;\r\n{row.replace(',', ';')}"
    for content in (row.encode("utf-16"), marked.encode(), row.encode("utf-8-sig")):
        table.write_bytes(content)
        assert "1 label by jan" in memsift("import", table, *place, "--dry-run").stderr
    digest = {one.summary.id: one.summary.digest for one in read_corpus(str(root)).memories}["1e5"]
    changed = f"{TABLE}p1,how,1e5,{digest},,relevant\np2,why,1.00E+05,{digest},Keys,not\n"
    for content, said in (
        (row.encode("cp1252"), "line 2: expected UTF-8 text. Is it a table? Save the sheet as CSV UTF-8"),
        (TABLE.encode("utf-16-le"), "line 1: expected UTF-8 text."),
        (b"sep=;\nmemory_id;label:jan\n", "line 2, prompt_id: expected a column of this name"),
        (b"PK\x03\x04\x14", "this is a spreadsheet's own format, not text. Save the sheet as CSV UTF-8"),
        (changed.encode(), "line 3, memory_id: expected '1e5', whose text this is, found '1.00E+05'"),
    ):
        table.write_bytes(content)
        result = memsift("import", table, *place)
        assert (result.exit_code, "codec" in result.stderr, said in result.stderr) == (2, False, True), said


def test_a_file_of_one_persons_labels_holds_what_labels_need_and_git_may_join_it(store: Path, tmp_path: Path) -> None:
    (tmp_path / "shop/.git").mkdir(parents=True)
    file, union = tmp_path / "shop/labels/jan.jsonl", "/*.jsonl merge=union\n"
    rules, share = file.parent / ".gitattributes", ("export", "--annotator", "jan", "--output")
    said = told(memsift(*share, file, "--db", store))
    assert said[1] == f"{rules} lets git join the labels of two machines. Commit it, too."
    head, *lines = file.read_text().splitlines(keepends=True)
    rows = [json.loads(line) for line in lines]
    assert {row["record"]: set(row) for row in rows} == {
        "prompt": {"record", "id", "text"},
        "event": {"record", *"annotator prompt_id memory_id digest verdict ts session source uid".split()},
    }
    assert sum(row["record"] == "event" for row in rows) == count(store, "label_event") == 304
    assert str(DEMO) not in "".join(lines)

    # joined lines in any order are the same labels, also on a machine without the memories
    joined = tmp_path / "joined.jsonl"
    joined.write_text("".join([*reversed(lines), head, *lines]), encoding="utf-8")
    assert told(memsift("import", joined, "--db", tmp_path / "new.db"))[0].startswith(
        "Imported from joined.jsonl, jsonl: 304"
    )
    memsift(*share, tmp_path / "again.jsonl", "--db", tmp_path / "new.db")
    assert (tmp_path / "again.jsonl").read_text() == file.read_text()
    assert not (tmp_path / ".gitattributes").exists(), "outside of a repository nobody needs it"

    # neither a machine without these labels, nor hashes, nor a file in conflict takes a label away
    few, qrels = tmp_path / "few.db", write(tmp_path / "qrels", "p01 0 no-index-on-due-at 1")
    memsift("import", qrels, *QRELS[2:], "--annotator", "jan", "--db", few)
    memsift(*share, file, "--db", few)
    assert (len(file.read_text().splitlines()), rules.read_text()) == (len(lines) + 2, union)
    before = file.read_text()
    assert "unlike this export" in memsift(*share, file, "--no-text", "--db", few).stderr
    assert file.read_text() == before
    conflict = file.with_name("conflict.jsonl")
    conflict.write_text(f"<<<<<<< HEAD\n{before}=======\n>>>>>>> theirs\n", encoding="utf-8")
    assert "holds no labels to join" in memsift(*share, conflict, "--db", few).stderr
    assert conflict.read_text().startswith("<<<<<<< HEAD")
    hashed = file.with_name("hashed.jsonl")
    rules.write_text("*.svg binary", encoding="utf-8")
    memsift(*share, hashed, "--no-text", "--db", few)
    assert (len(hashed.read_text().splitlines()), "due-at" in hashed.read_text()) == (3, False)
    assert rules.read_text() == f"*.svg binary\n{union}"
    with_texts = ("--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl", "--db", tmp_path / "ci.db")
    assert told(memsift("import", hashed, *with_texts)) == [
        "Imported from hashed.jsonl, jsonl: 1 label by jan, 1 prompt, 1 memory text."
    ]


def test_importing_and_merging_say_what_came_in_and_what_was_there(store: Path, tmp_path: Path) -> None:
    db = tmp_path / "data" / "labels.db"
    (line,) = told(memsift(*QRELS, "--dry-run", "--db", db))
    assert line.startswith("Would import from qrels.txt, qrels: 304 labels")
    assert not db.parent.exists()
    (line,) = told(memsift(*QRELS, "--db", db))
    assert line.startswith("Imported from qrels.txt, qrels: 304 labels by qrels, 52 prompts, ")
    (line,) = told(memsift(*QRELS, "--db", db))
    assert line == "Imported from qrels.txt, qrels: nothing new; 304 key presses already there."
    qrels = write(tmp_path / "q.txt", "p01 0 no-index-on-due-at 1", "p77 0 nothing 1")
    assert told(memsift("import", qrels, *QRELS[2:], "--db", tmp_path / "l.db"))[1:] == [
        "Unknown here, and without a text in the file: 1 prompt, such as 'p77'.",
        "Unknown here, and without a text in the file: 1 memory, such as 'nothing'.",
        "Left out: 1 label about unknown prompts or memories.",
    ]
    merge = ("merge-labels", store, "--db", tmp_path / "merged.db")
    assert told(memsift(*merge))[0].startswith("Merged labels.db: 304 labels by jan, 52 prompts, ")
    assert told(memsift(*merge)) == ["Merged labels.db: nothing new; 304 key presses already there."]
    assert "There is no label store" in refused(memsift("merge-labels", tmp_path / "nowhere.db", "--db", db))


def test_a_file_with_a_fault_is_refused_whole(store: Path, tmp_path: Path) -> None:
    db = tmp_path / "labels.db"
    memsift("merge-labels", store, "--db", db)
    before = count(db, "label_event")
    lines = memsift("export", "--db", store).stdout.splitlines()
    last = {**json.loads(lines[-1]), "uid": "f" * 32, "verdict": "yes"}
    for file, says in (
        (jsonl(tmp_path / "broken.jsonl", *lines[:-1], last), f"line {len(lines)}, verdict: expected one of relevant"),
        (jsonl(tmp_path / "x", {"a": 1}), "no known format"),
        (tmp_path / "nowhere", "nowhere: No such file"),
    ):
        assert says in refused(memsift("import", file, "--db", db))
        assert count(db, "label_event") == before
