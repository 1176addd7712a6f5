"""Conflict copies of a memory: each command that lists says so, and each that changes leaves them and names them."""

import json
import os
from pathlib import Path

import pytest

from labels.store import LabelStore
from tests.engine.curation.roots import document, write_documents
from tests.tui.cli.command_line import memsift, process, refused
from tui.workspace.curate.tasks import check_all
from tui.workspace.opening import opened_index

COPY = "decisions/quasar (conflicted copy).json"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_documents(tmp_path / "project/.claude/memory", [document("quasar", title="Quasar is here")])
    old = document("quasar", title="Quasar was there")
    (folder / COPY).write_text(json.dumps(old), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "project")
    return folder


def status_of(file: Path) -> str:
    return str(json.loads(file.read_text(encoding="utf-8"))["record_status"])


def test_a_process_retires_the_memory_and_names_its_copy(root: Path) -> None:
    done = process("retire", "quasar", "--reason", "old", "--root", root)
    assert done.stderr == (
        f"memsift: Retired quasar: old ({COPY} with the same id stays as before). To undo: memsift undo 1\n"
    )
    assert (status_of(root / "decisions/quasar.json"), status_of(root / COPY)) == ("retired", "active")
    assert json.loads(process("search", "quasar", "--root", root).stdout)["total_results"] == 0


def test_a_move_that_would_make_the_copy_the_memory_is_refused(root: Path, tmp_path: Path) -> None:
    other = write_documents(tmp_path / "other/.claude/memory", [])
    assert COPY in refused(memsift("move", "quasar", "--to", other, "--root", root))
    assert (root / "decisions/quasar.json").exists()


def test_the_copy_is_shown_in_list_doctor_checks_and_inbox(root: Path) -> None:
    listed = memsift("list", "--root", root, "--format", "text")
    assert listed.stdout == "quasar  active  decision  Quasar is here\n"
    assert f"{COPY}: has the id 'quasar'" in listed.stderr
    assert COPY in " ".join(memsift("doctor").output.split())
    assert COPY in " ".join(memsift("quality", "check", "--check", "drift", "--root", root).stdout.split())
    db = root.parent / "labels.db"
    LabelStore.open(db).close()
    with opened_index(str(root)) as index:
        tasks = check_all(index, [str(root)], db, os.environ, lambda *_: None, names=["drift"]).tasks
    assert [(one.finding.check, one.memory.id if one.memory else "", one.finding.where) for one in tasks] == [
        ("drift", "quasar", COPY)
    ]
