"""memsift and another program that write the same root, with a lock and without: no change of either is lost."""

import json
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from engine.curation.curator import Curator
from engine.curation.index_lines import IndexFile
from engine.curation.journal import Deed, Effect, Journal
from engine.curation.operations import Edit, Move, Restore, Retire, Tag
from engine.errors import ChangedSinceError
from engine.paths import journal_file
from engine.stores.writing import Changes, writing_of
from tests.engine.curation.roots import contents, document, read, rebuilt_index, summary, write_documents
from tests.engine.faults.answers import tries

SECONDS = tries(30, 10)
LEAST = 10
"""Changes of each writer on a machine that is busy with other work."""
OTHER_WRITER = '''
"""Writes as claude-memory's own program does: a folder as lock, a temporary file, a rename, a line of the index."""
import json, os, sys, tempfile, time

root, seconds = sys.argv[1], float(sys.argv[2])
lock, index = os.path.join(root, ".index.lockdir"), os.path.join(root, "index.md")
counts = {"shared": 0, "own": 0}

def write(path, text):
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".mw-", suffix=".tmp")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(temporary, path)

end = time.monotonic() + seconds
while time.monotonic() < end:
    for name in counts:
        try:
            os.mkdir(lock)
        except FileExistsError:
            time.sleep(0.002)
            continue
        path = os.path.join(root, "decisions", f"{name}.json")
        with open(path, encoding="utf-8") as file:
            one = json.load(file)
        one["counter"] = counts[name] = counts[name] + 1
        if name == "own":
            one["title"] = f"Own {counts[name]}"
        write(path, json.dumps(one, indent=2, ensure_ascii=False) + "\\n")
        with open(index, encoding="utf-8") as file:
            lines = [line for line in file.read().splitlines() if f"/{name}.json" not in line]
        where = f".claude/memory/decisions/{name}.json #tags:{','.join(one['tags'])}"
        own = [f"- [DECISION] {one['title']} -> {where}"] if one["record_status"] == "active" else []
        entries = sorted([*own, *(line for line in lines if line.startswith("- ["))], key=str.lower)
        write(index, "\\n".join([*(line for line in lines if not line.startswith("- [")), *entries, ""]))
        os.rmdir(lock)
        time.sleep(0.001)
print(json.dumps(counts))
'''


@pytest.mark.long
@pytest.mark.slow
def test_no_change_of_two_writers_is_lost(tmp_path: Path) -> None:
    names = ("shared", "own", "mine")
    root = write_documents(tmp_path / "project/.claude/memory", [document(name) for name in names])
    other = subprocess.Popen([sys.executable, "-c", OTHER_WRITER, str(root), str(SECONDS)], stdout=subprocess.PIPE)
    done, refused = 0, 0
    while other.poll() is None:
        with closing(Curator(os.environ)) as curator:
            shared, mine = summary(root, "shared"), summary(root, "mine")
            operations = (
                Edit(str(root), shared, Changes(title=f"Shared {done}")),
                Tag(str(root), shared, (f"t-{done % 7}",), (f"t-{(done - 1) % 7}",)),
                (Retire(str(root), mine, "x") if mine.status == "active" else Restore(str(root), mine)),
            )
            try:
                curator.perform(curator.plan(operations[done % 3]))
                done += 1
            except ChangedSinceError:
                refused += 1
        time.sleep(0.001)
    counts = json.loads(other.communicate()[0])
    assert read(root, "shared")["counter"] == counts["shared"] > LEAST
    assert read(root, "own")["counter"] == counts["own"] > LEAST
    assert read(root, "shared")["times_updated"] == done - done // 3 > LEAST
    assert (root / "index.md").read_text("utf-8") == rebuilt_index(root)
    assert not [path for path in root.rglob(".*") if path != Path(root)]


class Meddled(Journal):
    """A journal during whose writing another program, which takes no lock, writes the file *path*."""

    path: Path

    def begin(self, deed: Deed, effect: Effect) -> tuple[int, int]:
        number = super().begin(deed, effect)
        self.path.write_text(f"{self.path.read_text('utf-8')}\n", encoding="utf-8")
        return number


@pytest.mark.parametrize("operation", ["edit", "move"])
def test_a_file_that_is_written_after_the_last_look_is_not_overwritten(tmp_path: Path, operation: str) -> None:
    root = write_documents(tmp_path / "one/.claude/memory", [document("alpha"), document("beta")])
    other = write_documents(tmp_path / "two/.claude/memory", [])
    before, beta = contents(root, other), summary(root, "beta")
    journal = Meddled(journal_file(os.environ))
    journal.path = root / "decisions/beta.json"
    with closing(Curator(os.environ, journal=journal)) as curator:
        edit = Edit(str(root), beta, Changes(title="Ours"))
        plan = curator.plan(edit if operation == "edit" else Move(str(root), beta, str(other)))
        with pytest.raises(ChangedSinceError) as refused:
            curator.perform(plan)
        assert "+\n" in refused.value.detail
        assert journal.deeds() == []
    key = str(journal.path)
    assert contents(root, other) == {**before, key: before[key] + b"\n"}


def test_a_line_of_the_index_that_is_written_after_it_was_read_stays(tmp_path: Path) -> None:
    root = write_documents(tmp_path / "project/.claude/memory", [document("alpha")])
    index = IndexFile(str(root), writing_of(str(root)))
    change = Edit(str(root), summary(root, "alpha"), Changes(title="Ours")).plan("2026-05-01T10:00:00Z").effect.files[0]
    index.apply(index.planned([change]))
    (root / "index.md").write_text("A line of another program\n", encoding="utf-8")
    with pytest.raises(ChangedSinceError):
        index.save()
    assert (root / "index.md").read_text("utf-8") == "A line of another program\n"
