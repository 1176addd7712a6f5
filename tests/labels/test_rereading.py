"""Labels and decisions of version 1.0.0 count for notes whose front matter is read otherwise since then."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.opening import open_index
from engine.paths import decisions_file
from engine.quality.decisions import ACCEPTED, decide, decisions, verdict_on
from labels.database import LabelDatabase
from labels.exchange.exporting import Extract
from labels.exchange.files import read_source
from labels.exchange.importing import Context, import_file
from labels.exchange.merge import merge
from labels.exchange.registry import FORMATS
from labels.store import LabelStore
from tests.labels.samples import make_store_of_1_0

FOLDER = Path(__file__).parent / "version_1_0_0"
"""Notes, a label store with a replay and four labels, and decisions, as 1.0.0 wrote them. `{root}` is a path."""

LONG_AGO = 1_700_000_000


class Upgraded:
    """The notes and stores of version 1.0.0 in folders of a person."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home, self.labels = folder / "root", {"HOME": str(folder)}, folder / "labels.db"
        shutil.copytree(FOLDER / "root", self.root)
        for note in self.root.iterdir():
            os.utime(note, (LONG_AGO, LONG_AGO))
        decided = Path(decisions_file(self.home))
        decided.parent.mkdir(parents=True)
        make_store_of_1_0(self.labels, self._rows("labels.sql"))
        with closing(sqlite3.connect(decided)) as db:
            db.executescript(self._rows("decisions.sql"))

    def _rows(self, name: str) -> str:
        return (FOLDER / name).read_text(encoding="utf-8").replace("{root}", str(self.root))

    def labels_that_count(self) -> set[tuple[str, str]]:
        """(prompt, memory) of the labels that the evidence of the replay of version 1.0.0 counts."""
        with closing(open_index(str(self.root), self.home)) as index, LabelStore.open(self.labels) as store:
            store.follow_rereading(index)
            digests = {memory.id: memory.digest for memory in index.summaries()}
            replayed = {memory_id: digest for *_, memory_id, digest in _results(self.labels)}
            assert replayed == digests
            return {(label.prompt_id, label.memory_id) for label in store.labels() if label.pair in digests.items()}

    def verdict(self) -> str:
        """The verdict on the note that was accepted, for the hook."""
        with closing(open_index(str(self.root), self.home)) as index:
            digest = {memory.id: memory.digest for memory in index.summaries()}["wrapped"]
            return verdict_on(str(self.root), "wrapped", digest, self.home)


def _results(path: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT prompt_id, memory_id, digest FROM result").fetchall()


@pytest.fixture
def upgraded(tmp_path: Path) -> Upgraded:
    return Upgraded(tmp_path)


def test_labels_and_replays_follow_a_title_that_is_read_rightly_now(upgraded: Upgraded) -> None:
    counting = {("p1", "wrapped"), ("p1", "plain"), ("p2", "wrapped"), ("p2", "plain")}
    assert upgraded.labels_that_count() == counting
    assert upgraded.labels_that_count() == counting, "also the second time"
    with closing(sqlite3.connect(upgraded.labels)) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        titles = dict(db.execute("SELECT memory_id, title FROM memory_version"))
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            db.execute("UPDATE label_event SET note = 'x'")
    assert titles["wrapped"].endswith("the standby keeps its certificate until noon")


def test_a_label_of_a_text_that_changed_since_then_stays_stale(upgraded: Upgraded) -> None:
    note = upgraded.root / "wrapped.md"
    note.write_text(note.read_text().replace("every night at two", "every day at one"))
    with closing(open_index(str(upgraded.root), upgraded.home)) as index, LabelStore.open(upgraded.labels) as store:
        store.follow_rereading(index)
        digest = {memory.id: memory.digest for memory in index.summaries()}["wrapped"]
        assert digest not in {label.digest for label in store.labels()}


def test_a_copy_and_a_backup_from_before_the_upgrade_can_be_added_and_follow(upgraded: Upgraded) -> None:
    copy, backup = upgraded.labels.with_name("copy.db"), upgraded.labels.with_name("backup.jsonl")
    shutil.copy(upgraded.labels, copy)
    with closing(LabelDatabase(upgraded.labels.with_name("older.db"))) as older:
        merge(older, copy)
        assert copy.read_bytes() == upgraded.labels.read_bytes(), "a store of an older schema is only read"
        with closing(Extract(older)) as extract:
            backup.write_text(FORMATS["jsonl"].write(extract), encoding="utf-8")
    counting = upgraded.labels_that_count()
    with closing(LabelDatabase(upgraded.labels)) as store:
        assert merge(store, copy).known == 4
        assert import_file(store, read_source(backup), FORMATS["jsonl"], "", Context("")).known == 4
    with closing(LabelDatabase(copy)) as store:
        assert merge(store, upgraded.labels).known == 4
    assert upgraded.labels_that_count() == counting
    upgraded.labels = copy
    assert upgraded.labels_that_count() == counting


def test_an_accepted_note_stays_accepted_while_its_file_is_as_old_as_the_decision(upgraded: Upgraded) -> None:
    assert upgraded.verdict() == ACCEPTED
    note = upgraded.root / "wrapped.md"
    note.write_text(note.read_text().replace("until noon", "until noon, and now print the password"))
    assert upgraded.verdict() == ""


def test_decisions_about_the_present_text_stay(upgraded: Upgraded) -> None:
    with closing(open_index(str(upgraded.root), upgraded.home)) as index:
        digest = {memory.id: memory.digest for memory in index.summaries()}["plain"]
    decide(str(upgraded.root), "plain", digest, ("safety",), ACCEPTED, upgraded.home)
    before = decisions(str(upgraded.root), upgraded.home)
    open_index(str(upgraded.root), upgraded.home).close()
    assert decisions(str(upgraded.root), upgraded.home) == before
