"""A writer that is killed at any moment leaves whole files, and its operation is finished or never was."""

import json
import os
import random
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from engine.curation.curator import Curator
from engine.curation.files import text_at
from engine.curation.journal import DONE, PENDING, Journal
from engine.curation.operations import Archive, Edit, Merge, Move, Operation, Restore, Retire, Tag
from engine.errors import CurationError
from engine.paths import journal_file
from engine.stores.claude_memory_writing import LOCK_FOLDER
from engine.stores.lock import locked
from engine.stores.roots import read_corpus
from engine.stores.writing import Changes
from tests.engine.curation.roots import document, rebuilt_index, write_documents
from tests.engine.faults.answers import tries

KILLS = tries(500, 60)
KEPT = 300
"""Operations that the journal keeps here, so that the check of each kill stays quick."""

NAMES = ("alpha", "beta", "gamma", "delta", "omega", "sigma")
UNKNOWN = {"from": "another program"}


@pytest.fixture
def roots(tmp_path: Path) -> list[Path]:
    one = [document(name, "decision", unknown=UNKNOWN) for name in NAMES]
    two = [document("zeta", "preference", unknown=UNKNOWN)]
    folders = [tmp_path / "one/.claude/memory", tmp_path / "two/.claude/memory"]
    return [write_documents(folder, documents) for folder, documents in zip(folders, (one, two), strict=True)]


def opened() -> Curator:
    return Curator(os.environ, journal=Journal(journal_file(os.environ), most=KEPT))


def random_operation(roots: list[Path], chance: random.Random) -> Operation:
    number = chance.randrange(2)
    root, other = str(roots[number]), str(roots[1 - number])
    one, *others = chance.sample([one.summary for one in read_corpus(root).memories] or [None], 1)
    if one is None:
        return random_operation(roots, chance)
    others = [each.summary for each in read_corpus(root).memories if each.summary.id != one.id][:2]
    return chance.choice(
        [
            Retire(root, one, "old", is_wrong=chance.random() < 0.5),
            Archive(root, one, "aside"),
            Restore(root, one),
            Edit(root, one, Changes(title=f"Title {chance.randrange(1000)}")),
            Tag(root, one, (f"new-{chance.randrange(9)}",), (f"new-{chance.randrange(9)}",)),
            Merge(root, one, tuple(others), "same"),
            Move(root, one, other),
        ]
    )


def write_until_killed(roots: list[Path], seed: int) -> None:
    """Perform operations and undos, each with a start of its own, as the commands do."""
    chance = random.Random(seed)
    while True:
        with closing(opened()) as curator:
            try:
                plan = curator.plan_undo() if chance.random() < 0.2 else curator.plan(random_operation(roots, chance))
                curator.perform(plan)
            except CurationError:
                continue


def kill_a_writer(roots: list[Path], seed: int, delay_s: float) -> None:
    child = os.fork()
    if child == 0:
        try:
            write_until_killed(roots, seed)
        finally:
            os._exit(1)
    time.sleep(delay_s)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the writer ended by itself"


def recover(roots: list[Path]) -> int:
    """Start memsift once more; how many operations it finished. For a lock that it cannot know, a minute passes."""
    with closing(opened()) as curator:
        found = len(curator.recovered)
        is_done = not curator.journal.pending()
    if is_done:
        return found
    let_a_minute_pass(roots)
    return found + recover(roots)


def let_a_minute_pass(roots: list[Path]) -> None:
    """A lock older than that is taken over: its writer may have been killed before it noted that it is its own."""
    for lock in (root / LOCK_FOLDER for root in roots):
        if lock.exists():
            os.utime(lock, (time.time() - 61,) * 2)


def check(roots: list[Path]) -> None:
    """Nothing is lost, the index is in step, and each file is as the journal's newest operation on it left it."""
    files = [path for root in roots for path in root.rglob("*.json")]
    documents = [json.loads(path.read_text("utf-8")) for path in files]
    assert sorted(one["id"] for one in documents) == sorted([*NAMES, "zeta"])
    assert all(one["unknown"] == UNKNOWN for one in documents)
    for root in roots:
        assert (root / "index.md").read_text("utf-8") == rebuilt_index(root)
    newest: dict[str, str | None] = {}
    with closing(opened()) as curator:
        for deed in curator.journal.deeds():
            assert deed.state == DONE
            newest |= {change.path: change.after for change in curator.journal.effect(deed.number).files}
    assert {path: text_at(path) for path in newest} == newest


@pytest.mark.long
@pytest.mark.slow
def test_nothing_is_lost_when_a_writer_is_killed_very_often(roots: list[Path]) -> None:
    opened().close()
    chance = random.Random(20260501)
    finished = interrupted = 0
    for seed in range(KILLS):
        kill_a_writer(roots, seed, chance.uniform(0.001, 0.12))
        for root in roots:
            for path in root.rglob("*.json"):
                json.loads(path.read_text("utf-8"))
        with closing(sqlite3.connect(journal_file(os.environ))) as db:
            interrupted += db.execute("select count(*) from operation where state = ?", (PENDING,)).fetchone()[0]
        finished += recover(roots)
        check(roots)
    with closing(sqlite3.connect(journal_file(os.environ))) as db:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        (count,) = db.execute("select max(number) from operation").fetchone()
    assert count > KILLS // 5
    assert finished == interrupted > 0
    let_a_minute_pass(roots)
    for root in roots:
        with locked(str(root), LOCK_FOLDER, os.environ):
            pass
    assert not [path for root in roots for path in root.rglob(".*")]
