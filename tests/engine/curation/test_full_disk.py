"""A disk that is full: nothing is changed, or the operation is finished once there is space again."""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from engine.curation.curator import ALL_BUT_NOTED, HALF_DONE, UNCHANGED
from engine.curation.operations import Merge
from engine.errors import CurationError
from tests.engine.curation.roots import contents, curator, document, rebuilt_index, summary, write_documents
from tests.engine.faults.mounts import small_disk

PAGE = os.sysconf("SC_PAGESIZE")


def fill(disk: Path, pages: int) -> Path:
    """Take all space but *pages* pages of *disk*."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError:
            pass
    os.truncate(ballast, ballast.stat().st_size - pages * PAGE)
    return ballast


def texts(root: Path) -> list[str]:
    return [path.read_text("utf-8") for path in root.rglob("*.json")]


@pytest.mark.slow
@pytest.mark.parametrize("pages", range(10))
def test_a_full_disk_costs_no_memory(tmp_path: Path, pages: int) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        names = [f"memory-{number}" for number in range(4)]
        root = write_documents(
            disk / "project/.claude/memory", [document(name, text="x" * (PAGE - 700)) for name in names]
        )
        before = contents(root)
        operation = Merge(str(root), summary(root, names[0]), tuple(summary(root, name) for name in names[1:]))
        with closing(curator()) as one:
            plan = one.plan(operation)
            ballast = fill(disk, pages)
            try:
                one.perform(plan)
            except CurationError as error:
                assert "cannot be" in str(error)
                (told,) = (said for said in (UNCHANGED, HALF_DONE, ALL_BUT_NOTED) if said in str(error))
                assert told != UNCHANGED or contents(root) == before
                assert told != ALL_BUT_NOTED or all(change.after in texts(root) for change in plan.effect.files)
                assert bool(one.journal.pending()) == (told != UNCHANGED)
        assert all(json.loads(path.read_text("utf-8")) for path in root.rglob("*.json"))
        ballast.unlink()
        with closing(curator()) as one:
            assert one.journal.pending() == []
            is_done = bool(one.journal.deeds())
        assert is_done == (contents(root) != before)
        assert (root / "index.md").read_text("utf-8") == rebuilt_index(root)
        assert [path.name for path in root.rglob(".*")] == []
