"""A disk that is full: nothing is changed, or the operation is finished once there is space again."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine.curation.curator import ALL_BUT_NOTED, HALF_DONE, UNCHANGED
from engine.curation.operations import Merge
from engine.errors import CurationError
from engine.paths import journal_file
from tests.engine.curation.roots import contents, curator, document, rebuilt_index, summary, write_documents
from tests.engine.faults.mounts import fill, small_disk

PAGE = os.sysconf("SC_PAGESIZE")


@pytest.mark.slow
@pytest.mark.parametrize(("pages", "has_journal"), [*((n, False) for n in range(7)), *((n, True) for n in range(16))])
def test_a_full_disk_costs_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int, has_journal: bool
) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        if has_journal:
            monkeypatch.setenv("XDG_DATA_HOME", str(disk / "data"))
        names = [f"memory-{number}" for number in range(4)]
        root = write_documents(
            disk / "project/.claude/memory", [document(name, text="x" * (PAGE - 700)) for name in names]
        )
        before = contents(root)
        operation = Merge(str(root), summary(root, names[0]), tuple(summary(root, name) for name in names[1:]))
        with closing(curator()) as one:
            plan = one.plan(operation)
            ballast = fill(disk, pages * PAGE)
            try:
                one.perform(plan)
            except CurationError as error:
                assert "cannot be" in str(error)
                (told,) = (said for said in (UNCHANGED, HALF_DONE, ALL_BUT_NOTED) if said in str(error))
                assert told != UNCHANGED or contents(root) == before
                texts = [path.read_text("utf-8") for path in root.rglob("*.json")]
                assert told != ALL_BUT_NOTED or all(change.after in texts for change in plan.effect.files)
                assert bool(one.journal.pending()) == (told != UNCHANGED)
        assert all(json.loads(path.read_text("utf-8")) for path in root.rglob("*.json"))
        ballast.unlink()
        with closing(curator()) as one:
            assert one.journal.pending() == []
            is_done = bool(one.journal.deeds())
        assert is_done == (contents(root) != before)
        assert (root / "index.md").read_text("utf-8") == rebuilt_index(root)
        assert [path.name for path in root.rglob(".*")] == []


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_an_operation_is_on_disk_when_it_is_done(tmp_path: Path) -> None:
    """A removed journal file of SQLite that came back after a power cut would take the operation back."""
    root = write_documents(tmp_path / ".claude/memory", [document("alpha")])
    command = [sys.executable, "-c", "from tui.cli import main; main()", "retire", "alpha", "--root", str(root)]
    calls = tmp_path / "calls"
    trace = ["strace", "-f", "-y", "-o", str(calls), "-e", "trace=unlink,unlinkat,fsync,fdatasync"]
    subprocess.run([*trace, *command], check=True, capture_output=True)
    lines = calls.read_text("utf-8").splitlines()
    removed = [number for number, line in enumerate(lines) if "journal.db-journal" in line and "unlink" in line]
    assert len(removed) == 3, "the tables, the operation begun, the operation done"
    folder = re.escape(os.path.dirname(journal_file(os.environ)))  # noqa: PTH120
    assert all(re.search(rf"f(data)?sync\(\d+<{folder}>", lines[number + 1]) for number in removed)
