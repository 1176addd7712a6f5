"""The sample and the scratch prompts beside it, from one start to the next."""

from pathlib import Path
from typing import Any

import pytest

from engine.errors import LabelStoreError
from engine.prompt import typed_prompt
from labels.records import CHOSEN
from tests.labels.samples import known
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, replay
from tui.workspace.report import read_report, summed_up

TYPED = typed_prompt("why is the queue stuck")


def test_a_typed_prompt_is_scratch_first_and_only_once(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"))
    for prompt in (typed_prompt("another"), TYPED, demo_prompts("p01")[0], typed_prompt("another"), TYPED):
        workspace.lists.add(prompt)
    assert [prompt.text for prompt in workspace.lists.scratch] == [TYPED.text, "another"]
    assert workspace.prompts == demo_prompts("p01")
    assert workspace.lists.find(TYPED.id) == TYPED
    assert workspace.lists.find("nobody") is None


def test_typing_the_text_of_a_prompt_of_a_file_leaves_it_in_the_sample(open_workspace: Opener) -> None:
    from_file = typed_prompt(TYPED.text, source="file:prompts.txt")
    replay(open_workspace(prompts=[]), TYPED)
    workspace = open_workspace(prompts=[*demo_prompts("p01"), from_file])
    workspace.lists.add(TYPED)
    assert workspace.prompts == (*demo_prompts("p01"), from_file)
    assert workspace.lists.scratch == ()


def test_a_scratch_prompt_is_never_offered_for_labels_and_a_chosen_one_is_offered_first(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p04"), judge=None)
    order = workspace.labelling_order()
    workspace.lists.add(TYPED)
    assert workspace.labelling_order() == order
    replay(workspace, TYPED)
    workspace.lists.choose(TYPED)
    assert [prompt.id for prompt in workspace.labelling_order()] == [TYPED.id, *(prompt.id for prompt in order)]
    workspace.show(order[0].id)
    seen_last = [TYPED, *order[1:], order[0]]
    assert [prompt.id for prompt in workspace.labelling_order()] == [prompt.id for prompt in seen_last]


def test_scratch_and_chosen_prompts_come_back_at_the_next_start_and_removed_ones_do_not(open_workspace: Opener) -> None:
    before = open_workspace(prompts=demo_prompts("p01"))
    chosen, removed = typed_prompt("[b] chosen"), typed_prompt("removed")
    for prompt in (TYPED, chosen, removed):
        before.lists.add(prompt)
        replay(before, prompt)
    before.lists.choose(chosen)
    before.lists.remove(removed)
    after = open_workspace(prompts=demo_prompts("p01"))
    assert after.lists.scratch == (TYPED,)
    assert (after.prompts[0].text, after.prompts[0].source) == ("[b] chosen", CHOSEN)
    after.lists.choose(after.prompts[0])
    assert [prompt.text for prompt in after.lists.scratch] == ["[b] chosen", TYPED.text]
    assert after.prompts == demo_prompts("p01")
    assert after.store.prompts_by_hand() == {TYPED.id, chosen.id, removed.id}, "all of them are reported apart"


def test_a_chosen_prompt_stays_chosen_when_its_retrievals_from_before_are_labelled(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=(), judge=None)
    workspace.lists.add(TYPED)
    replay(workspace, TYPED)
    workspace.lists.choose(TYPED)
    pool = known(workspace.pool(TYPED.id))
    workspace.store.label(workspace.annotator, TYPED.id, pool.cards[0], "relevant", seed=1, blind=True, elapsed_ms=1)
    assert [prompt.source for prompt in open_workspace(prompts=(), judge=None).prompts] == [CHOSEN]
    reading = read_report(workspace)
    assert (reading.gate, reading.step.place) == (None, ""), "to replay it again would show the same"
    assert summed_up(workspace) == "1 labelled prompt was chosen by hand; the report counts only others."


def test_a_store_that_cannot_be_written_changes_no_list(open_workspace: Opener, locked: Any, tmp_path: Path) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), busy_timeout_s=0.01)
    workspace.lists.add(TYPED)
    with locked(tmp_path / "labels.db"):
        for change in (workspace.lists.choose, workspace.lists.remove):
            with pytest.raises(LabelStoreError):
                change(TYPED)
    assert workspace.lists.all == (TYPED, *demo_prompts("p01"))
