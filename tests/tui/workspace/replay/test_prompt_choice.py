"""The choice of prompts: by words, by what is recorded about them, in an order."""

import pytest

from engine.lean.record import replace
from engine.prompt import typed_prompt
from labels.records import Card
from tests.labels.samples import known
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.workspace.filtering import RowChoice, WordFilter
from tui.workspace.prompts import (
    DIFFER,
    FAILED,
    IN_VAIN,
    LABELLED,
    NOTHING,
    RULES,
    UNLABELLED,
    PromptFacts,
    chosen,
    read_known,
)

SYSTEMS = ("memsift", "bm25")
AGREEING = PromptFacts({"memsift": frozenset("ab"), "bm25": frozenset("ba"), "other": frozenset("z")})
DIFFERING = PromptFacts({"memsift": frozenset("ab"), "bm25": frozenset("a")}, frozenset({"bm25"}))


@pytest.mark.parametrize(
    ("facts", "kinds"),
    [
        (NOTHING, {UNLABELLED}),
        (AGREEING, {UNLABELLED}),
        (DIFFERING, {DIFFER, FAILED, UNLABELLED}),
        (PromptFacts(AGREEING.injected, verdicts={"a": "not"}), {LABELLED}),
        (PromptFacts(AGREEING.injected, verdicts={"a": "not", "b": "unsure"}), {LABELLED, IN_VAIN}),
        (PromptFacts(AGREEING.injected, verdicts={"a": "not", "b": "not", "c": "relevant"}), {LABELLED}),
        (PromptFacts({"memsift": frozenset()}, frozenset({"other"}), {"a": "not"}), {LABELLED}),
    ],
)
def test_filters_ask_about_the_systems_side_by_side(facts: PromptFacts, kinds: set[str]) -> None:
    assert {kind for kind, rule in RULES.kinds.items() if rule.fits(facts, SYSTEMS)} == {"", *kinds}


def test_words_and_order() -> None:
    texts = ["Why is the QUEUE stuck [b]?", "Straße", "the stuck queue of the kiosk"]
    times = ("2026-01-01", "", "2026-01-03")
    prompts = [replace(typed_prompt(text), timestamp=time) for text, time in zip(texts, times, strict=True)]

    def texts_of(choice: RowChoice) -> list[int]:
        return [prompts.index(prompt) for prompt in chosen(prompts, choice, {}, SYSTEMS)]

    assert texts_of(RowChoice()) == [2, 0, 1]
    assert texts_of(RowChoice(is_turned=True)) == [1, 0, 2]
    assert texts_of(RowChoice(order="file")) == [0, 1, 2]
    assert texts_of(RowChoice(order="longest")) == [2, 0, 1]
    assert texts_of(RowChoice(order="text", is_turned=True)) == [2, 0, 1]
    assert texts_of(RowChoice(WordFilter("  stuck QUEUE "))) == [2, 0]
    assert texts_of(RowChoice(WordFilter("STRASSE"))) == [1]
    assert texts_of(RowChoice(WordFilter("[b]"))) == [0]
    assert WordFilter("queue [b]").places(texts[0]) == [(11, 16), (23, 26)]


def test_what_is_recorded_is_read_from_the_store_without_labels_of_another_text(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p04", "p39"))
    for prompt in workspace.prompts:
        for system in ("memsift", "bm25", "memsift+judge"):
            workspace.keep(workspace.run(prompt, system))
    first, second, *_ = workspace.run(workspace.prompts[0], "memsift").injected
    how = {"seed": 1, "blind": False, "elapsed_ms": 0}
    for memory in (first.memory, replace(second.memory, digest="another text")):
        workspace.store.label("me", "p04", Card(memory, 1), "relevant", **how)
    found = read_known(workspace.store.path, workspace.index.root, "me", workspace.digests())
    for system in ("memsift", "bm25"):
        answer = known(workspace.retrieval("p04", system))
        assert found["p04"].injected[system] == {one.memory.id for one in answer.injected}
    assert found["p04"].verdicts == {first.memory.id: "relevant"}
    assert (found["p04"].failed, found["p39"].failed) == (frozenset(), {"memsift+judge"})
    assert read_known(workspace.store.path, workspace.index.root, "you", workspace.digests())["p04"].verdicts == {}
