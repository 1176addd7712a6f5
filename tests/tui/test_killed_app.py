"""An app that is killed at any moment leaves whole memories and every label it acknowledged, and undo works."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.curation.files import text_at
from labels.store import LabelStore
from tests.engine.curation.roots import document, write_documents
from tests.engine.curation.test_killed_writer import NAMES, UNKNOWN, check, opened, recover
from tests.engine.faults.answers import tries
from tests.tui.killed_app import kill_a_person

KILLS = tries(200, 12)
LONGEST_S = 4.0


def undo_last(roots: list[Path]) -> bool:
    """Take the last operation back, and compare its files with their texts before it. False if there is none."""
    with closing(opened()) as curator:
        last = curator.journal.last()
        if last is None:
            return False
        plan, effect = curator.plan_undo(), curator.journal.effect(last.number)
        curator.perform(plan)
        assert {one.path: text_at(one.path) for one in effect.files} == {one.path: one.before for one in effect.files}
    check(roots)
    return True


@pytest.mark.long
@pytest.mark.slow
def test_memories_stay_whole_and_acknowledged_labels_stay_when_the_app_is_killed(tmp_path: Path) -> None:
    first = [document(name, "decision", title=f"Memory {name} cache", unknown=UNKNOWN) for name in NAMES]
    other = [document("zeta", "preference", title="Memory zeta cache", unknown=UNKNOWN)]
    folders = (tmp_path / "one/.claude/memory", tmp_path / "two/.claude/memory")
    roots = [write_documents(folder, docs) for folder, docs in zip(folders, (first, other), strict=True)]
    prompts, labels = tmp_path / "prompts.jsonl", tmp_path / "labels.db"
    asked = [json.dumps({"prompt": f"why is the {NAMES[number % 6]} cache slow {number}"}) for number in range(2000)]
    prompts.write_text("\n".join(asked), encoding="utf-8")
    opened().close()
    chance = random.Random(20260601)
    given: set[str] = set()
    undone = 0
    for seed in range(KILLS):
        said = kill_a_person(roots, prompts, labels, seed, chance.uniform(0, LONGEST_S))
        for root in roots:
            for path in root.rglob("*.json"):
                json.loads(path.read_text("utf-8"))
        recover(roots)
        check(roots)
        undone += undo_last(roots)
        given |= {uid for _, uid in said}
        with LabelStore.open(labels) as store:
            assert given <= {event.uid for event in store.events()}
    with closing(sqlite3.connect(labels)) as db:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
    print(f"{KILLS} kills, {len(given)} acknowledged events of Label, {undone} changes undone")  # noqa: T201
    assert len(given) >= KILLS // 2
    assert undone >= KILLS // 4
