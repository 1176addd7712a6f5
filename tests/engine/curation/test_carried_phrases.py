"""Phrases go where their memories go, and come back with an undo."""

import os
from pathlib import Path

import pytest

from engine.curation.operations import Merge, Move, Rename, Retire, Together
from engine.errors import ChangedSinceError
from engine.phrases.file import read_phrases
from engine.phrases.writing import add_phrases
from engine.stores.files import write_whole
from tests.engine.builders import put
from tests.engine.curation.roots import curator, document, perform, summary, undo, write_documents


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = write_documents(
        tmp_path / "project/.claude/memory", [document(name) for name in ("alpha", "beta", "gamma")]
    )
    give(found, alpha=("how do we start",), beta=("how do we stop", "shared"), gamma=("shared", "gamma by hand"))
    return found


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    put(folder / "MEMORY.md", "- [Tabs](tabs.md) — Use tabs\n")
    put(folder / "tabs.md", "---\nname: tabs\ndescription: Use tabs\n---\n\nText.\n")
    give(folder, tabs=("wrong indentation again",))
    return folder


def give(root: Path, **phrases: tuple[str, ...]) -> None:
    for name, texts in phrases.items():
        add_phrases(str(root), os.environ, [(summary(root, name), texts)], "ana")


def counted(root: Path) -> dict[str, set[str]]:
    return {memory_id: set(own) for memory_id, own in read_phrases(str(root), os.environ).counted.items()}


def test_a_merge_gives_the_kept_memory_the_phrases_and_an_undo_only_takes_back_these(root: Path) -> None:
    before = counted(root)
    perform(Retire(str(root), summary(root, "alpha"), "too old"))
    assert counted(root) == before
    undo()
    perform(Merge(str(root), summary(root, "beta"), (summary(root, "gamma"),)))
    assert counted(root)["beta"] == {"how do we stop", "shared", "gamma by hand"}
    undo()
    assert counted(root) == before, "it keeps a phrase that it had before"
    merged = perform(Merge(str(root), summary(root, "alpha"), (summary(root, "beta"), summary(root, "gamma"))))
    assert counted(root)["alpha"] == {"how do we start", "how do we stop", "shared", "gamma by hand"}
    give(root, alpha=("written later",))
    undo()
    assert counted(root) == {**before, "alpha": {"how do we start", "written later"}}
    undo(merged.number + 1)
    assert counted(root)["alpha"] >= {"written later", "how do we stop", "shared"}


def test_a_moved_memory_takes_its_phrases_along_and_brings_later_ones_back(root: Path, tmp_path: Path) -> None:
    other = write_documents(tmp_path / "other/.claude/memory", [document("omega")])
    both = Together(tuple(Move(str(root), summary(root, name), str(other)) for name in ("alpha", "beta")))
    perform(both)
    assert counted(other) == {"alpha": {"how do we start"}, "beta": {"how do we stop", "shared"}}
    assert counted(root) == {"gamma": {"shared", "gamma by hand"}}
    give(other, alpha=("written later",))
    undo()
    assert counted(other) == {}
    assert counted(root)["alpha"] == {"how do we start", "written later"}


def test_a_renamed_memory_takes_its_phrases_along(notes: Path) -> None:
    perform(Rename(str(notes), summary(notes, "tabs"), "indentation"))
    assert counted(notes) == {"indentation": {"wrong indentation again"}}
    (row,) = read_phrases(str(notes), os.environ).rows["indentation"]
    assert row.digest == summary(notes, "indentation").digest[:16], "a new id makes no phrase old"
    undo()
    (row,) = read_phrases(str(notes), os.environ).rows["tabs"]
    assert row.digest == summary(notes, "tabs").digest[:16]
    assert counted(notes) == {"tabs": {"wrong indentation again"}}
    undo(2)
    assert counted(notes) == {"indentation": {"wrong indentation again"}}


def test_an_operation_that_is_refused_carries_nothing(root: Path) -> None:
    before = counted(root)
    one = curator()
    plan = one.plan(Merge(str(root), summary(root, "alpha"), (summary(root, "beta"),)))
    write_whole(str(root / "decisions/beta.json"), b"{}")
    with pytest.raises(ChangedSinceError):
        one.perform(plan)
    one.close()
    assert counted(root) == before


def test_an_interrupted_rename_is_finished_with_its_phrases(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = curator()
    plan = one.plan(Rename(str(notes), summary(notes, "tabs"), "indentation"))

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr("engine.curation.curator.carry", die)
        with pytest.raises(KeyboardInterrupt):
            one.perform(plan)
    one.close()
    assert counted(notes) == {"tabs": {"wrong indentation again"}}
    curator().close()
    assert counted(notes) == {"indentation": {"wrong indentation again"}}
