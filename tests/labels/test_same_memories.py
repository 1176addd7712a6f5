"""Labels follow text: they count over each folder that holds the memories, wherever they were given."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from labels.records import RELEVANT
from labels.store import LabelStore
from tests.labels.samples import ROOT, card, memory, record, retrieval

CLONE = "/clone/.claude/memory"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    """Labels of three memories, given over ROOT."""
    with LabelStore.open(tmp_path / "labels.db") as opened:
        record(opened, retrieval(["a", "b", "c"]))
        for name in ("a", "b", "c"):
            opened.label("ann", "p1", card(name), RELEVANT, seed=1, blind=True, elapsed_ms=1)
        yield opened


def texts(*names: str) -> set[tuple[str, str]]:
    return {(name, memory(name).digest) for name in names}


def test_a_folder_with_the_labelled_memories_has_their_labels_and_replays(store: LabelStore) -> None:
    assert store.labels(root=CLONE) == ()
    store.recognise(CLONE, lambda: texts("a", "b", "d"))
    assert store.labels(root=CLONE) == store.labels(root=ROOT) != ()
    assert store.gold(CLONE) == store.gold(ROOT)
    assert store.outcomes(CLONE) == store.outcomes(ROOT) != ()
    assert store.prompts(CLONE) == store.prompts(ROOT) != ()
    assert store.names_with(CLONE) == (CLONE,)
    assert store.labels(root="/another") == ()


@pytest.mark.parametrize("here", [set(), texts("a", "d", "e"), {(name, "edited") for name in "abc"}])
def test_a_folder_with_few_of_the_labelled_texts_is_another(store: LabelStore, here: set[tuple[str, str]]) -> None:
    store.recognise(CLONE, lambda: here)
    assert store.labels(root=CLONE) == ()
    assert store.outcomes(CLONE) == ()


def test_the_memories_are_asked_for_only_before_the_first_replay(store: LabelStore) -> None:
    store.recognise(ROOT, lambda: pytest.fail("known already"))
    store.recognise(CLONE, lambda: texts("a", "b", "c"))
    store.recognise(CLONE, lambda: pytest.fail("known already"))
