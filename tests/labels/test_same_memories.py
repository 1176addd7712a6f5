"""Labels follow text: they count over each folder that holds the memories, wherever they were given."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.stores.roots import joint_name
from labels.store import LabelStore
from tests.labels.samples import ROOT, memory, record, retrieval, say

CLONE = "/clone/.claude/memory"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    """Labels of three memories, given over ROOT."""
    with LabelStore.open(tmp_path / "labels.db") as opened:
        record(opened, retrieval(["a", "b", "c"]))
        for name in ("a", "b", "c"):
            say(opened, f"p1 {name}")
        yield opened


def texts(*names: str) -> set[tuple[str, str]]:
    return {(name, memory(name).digest) for name in names}


def test_a_folder_with_most_of_the_labelled_texts_has_their_labels_and_replays(store: LabelStore) -> None:
    for few in (set(), texts("a", "d", "e"), {(name, "edited") for name in "abc"}):
        store.recognise(CLONE, lambda few=few: few)
        assert (store.labels(root=CLONE), store.outcomes(CLONE)) == ((), ())
    store.recognise(CLONE, lambda: texts("a", "b", "d"))
    assert store.labels(root=CLONE) == store.labels(root=ROOT) != ()
    assert store.gold(CLONE) == store.gold(ROOT)
    assert store.outcomes(CLONE) == store.outcomes(ROOT) != ()
    assert store.prompts(CLONE) == store.prompts(ROOT) != ()
    assert store.names_with(CLONE) == (CLONE,)
    assert store.labels(root="/another") == ()


def test_the_memories_are_asked_for_only_where_other_folders_have_labels(store: LabelStore) -> None:
    store.recognise(ROOT, lambda: pytest.fail("no other folder has labels"))
    store.recognise(CLONE, lambda: texts("a", "b", "c"))
    store.recognise(CLONE, lambda: pytest.fail("known already"))


def test_a_clone_that_was_replayed_and_looked_at_before_there_were_labels_gets_them(tmp_path: Path) -> None:
    with LabelStore.open(tmp_path / "new.db") as store:
        for root, prompt_id in ((CLONE, "p2"), (ROOT, "p1")):
            record(store, retrieval(["a", "b"], prompt_id=prompt_id), root=root)
            store.recognise(root, lambda: texts("a", "b"))
        say(store, "p1 a")
        store.recognise(CLONE, lambda: texts("a", "b"))
        assert {outcome.prompt_id for outcome in store.outcomes(CLONE)} == {"p1", "p2"}
        assert store.labels(root=CLONE) == store.labels(root=ROOT) != ()


def test_a_folder_keeps_its_own_runs_beside_those_over_it_together_with_others(store: LabelStore) -> None:
    joint = joint_name([ROOT, "/notes"])
    record(store, retrieval(["a", "n"], prompt_id="p2"), root=joint)
    say(store, "p2 a")
    store.recognise(ROOT, lambda: texts("a", "b", "c"))
    assert [outcome.prompt_id for outcome in store.outcomes(ROOT)] == ["p1"]
    store.recognise(joint, lambda: texts("a", "b", "c", "n"))
    assert [outcome.prompt_id for outcome in store.outcomes(joint)] == ["p2"]
