"""Labelling orders: strata, the facts they come from, and how long they last."""

import pytest

from engine.errors import MemsiftError
from engine.settings.sources import read_config
from labels.labelling_order import (
    AGREE,
    ALL,
    DIFFER,
    DISAGREEMENT_FIRST,
    FAR,
    NEAR,
    RANDOM,
    STRATIFIED,
    UNCERTAIN_FIRST,
)
from tests.engine.models import cutoff
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO_ROOT, demo_prompts
from tui.workspace.labelling import LabelQueue
from tui.workspace.labelling_plan import Planning, make_order, require_possible
from tui.workspace.workspace import Workspace


def plan(workspace: Workspace, order: str | None = None) -> dict[str, str]:
    """Choose an order as the Label screen does. Returns the saved strata."""
    workspace.order = order or workspace.order
    make_order(workspace)
    return workspace.store.strata(workspace.index.root)


def keep(workspace: Workspace, prompt_id: str, *systems: str) -> None:
    prompt = workspace.lists.find(prompt_id)
    assert prompt is not None
    for system in systems:
        workspace.keep(workspace.run(prompt, system))


def label_first(workspace: Workspace) -> str:
    """Label a card of the first prompt that has a card. Returns the prompt's id."""
    for prompt in LabelQueue(workspace).order:
        keep(workspace, prompt.id, *workspace.systems)
        pool = workspace.pool(prompt.id)
        if pool and pool.cards:
            workspace.store.label("me", prompt.id, pool.cards[0], "not", seed=1, blind=True, elapsed_ms=1)
            return prompt.id
    raise AssertionError("no prompt has a card")


def injected(workspace: Workspace, prompt_id: str, system: str) -> set[str]:
    prompt = workspace.lists.find(prompt_id)
    assert prompt is not None
    return {one.memory.id for one in workspace.run(prompt, system).injected}


def test_the_random_order_needs_to_know_nothing_and_gives_every_prompt_a_place(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    assert Planning(workspace).unknown == ()
    assert plan(workspace) == {"p01": ALL, "p02": ALL}


def test_what_was_recorded_says_where_systems_differ(open_workspace: Opener) -> None:
    workspace = open_workspace()
    for prompt in workspace.prompts:
        keep(workspace, prompt.id, "memsift", "memsift+judge")
    strata = plan(workspace, DISAGREEMENT_FIRST)
    assert set(strata.values()) == {DIFFER, AGREE}
    for prompt_id in strata:
        same = injected(workspace, prompt_id, "memsift") == injected(workspace, prompt_id, "memsift+judge")
        assert strata[prompt_id] == (AGREE if same else DIFFER)


def test_without_a_record_the_first_stages_are_compared_and_no_judge_is_asked(open_workspace: Opener) -> None:
    workspace = open_workspace()
    strata = plan(workspace, STRATIFIED)
    assert workspace.store.outcomes() == ()
    for prompt_id in strata:
        same = injected(workspace, prompt_id, "memsift") == injected(workspace, prompt_id, "bm25")
        assert strata[prompt_id] == (AGREE if same else DIFFER)


def test_uncertain_prompts_are_those_with_a_candidate_near_the_cutoffs_threshold(open_workspace: Opener) -> None:
    made = cutoff(read_config(str(DEMO_ROOT), {}).config)
    workspace = open_workspace(judge=None, cutoff=made)
    strata = plan(workspace, UNCERTAIN_FIRST)
    assert set(strata.values()) == {NEAR, FAR}
    for prompt in workspace.prompts:
        candidates = workspace.run(prompt, "memsift+cutoff").candidates
        probabilities = [one.probability for one in candidates if one.probability is not None]
        assert (strata[prompt.id] == NEAR) == any(0.4 <= one <= 0.6 for one in probabilities)
    order = [strata[prompt.id] for prompt in LabelQueue(workspace).order]
    assert order[: len(order) // 2].count(NEAR) > order[len(order) // 2 :].count(NEAR) > 0


def test_without_a_cutoff_that_order_is_refused(open_workspace: Opener) -> None:
    with pytest.raises(MemsiftError, match="memsift tune --apply"):
        require_possible(open_workspace(), UNCERTAIN_FIRST)
    require_possible(open_workspace(cutoff=cutoff()), UNCERTAIN_FIRST)


def test_a_tuned_cutoff_is_what_the_first_stage_is_compared_with(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, cutoff=cutoff(read_config(str(DEMO_ROOT), {}).config))
    strata = plan(workspace, DISAGREEMENT_FIRST)
    for prompt_id in strata:
        same = injected(workspace, prompt_id, "memsift") == injected(workspace, prompt_id, "memsift+cutoff")
        assert strata[prompt_id] == (AGREE if same else DIFFER)


def test_the_order_is_that_of_last_time_at_the_next_start(open_workspace: Opener) -> None:
    workspace = open_workspace()
    plan(workspace, DISAGREEMENT_FIRST)
    order = LabelQueue(workspace).order
    workspace.close()
    again = open_workspace()
    assert again.order == DISAGREEMENT_FIRST
    assert Planning(again).unknown == ()
    assert LabelQueue(again).order == order
    assert open_workspace(annotator="you").order == RANDOM
    assert open_workspace(order=STRATIFIED).order == STRATIFIED


def test_a_new_prompt_joins_its_stratum_and_the_others_keep_their_place(open_workspace: Opener) -> None:
    some = demo_prompts()[:20]
    workspace = open_workspace(prompts=some)
    before = plan(workspace, DISAGREEMENT_FIRST)
    order = LabelQueue(workspace).order
    workspace.close()
    workspace = open_workspace()
    assert {prompt.id for prompt in Planning(workspace).unknown} == {one.id for one in workspace.prompts} - set(before)
    after = plan(workspace)
    assert before.items() <= after.items()
    for stratum in (DIFFER, AGREE):
        now = [one for one in LabelQueue(workspace).order if one in some and after[one.id] == stratum]
        assert now == [one for one in order if before[one.id] == stratum]


def test_before_the_first_label_a_change_of_order_looks_anew(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    plan(workspace, STRATIFIED)
    assert set(plan(workspace, RANDOM).values()) == {ALL}
    assert len(Planning(workspace).unknown) == 0
    workspace.order = DISAGREEMENT_FIRST
    assert len(Planning(workspace).unknown) == 2


def test_strata_by_which_something_was_labelled_last(open_workspace: Opener) -> None:
    workspace = open_workspace()
    strata = plan(workspace, DISAGREEMENT_FIRST)
    label_first(workspace)
    assert plan(workspace, RANDOM) == strata
    workspace.order = STRATIFIED
    assert Planning(workspace).unknown == ()
    crossings = plan(workspace, UNCERTAIN_FIRST)
    assert set(crossings.values()) == {f"{FAR} × {DIFFER}", f"{FAR} × {AGREE}"}


@pytest.mark.parametrize("is_labelled", [False, True])
def test_another_persons_strata_are_taken_over(open_workspace: Opener, is_labelled: bool) -> None:
    """Otherwise the newest strata would lack those by which the other person continues to label."""
    mine = open_workspace()
    strata = plan(mine, DISAGREEMENT_FIRST)
    if is_labelled:
        label_first(mine)
    theirs = open_workspace(annotator="you")
    assert plan(theirs, RANDOM) == strata


@pytest.mark.parametrize(("order", "says"), [(RANDOM, False), (DISAGREEMENT_FIRST, True)])
def test_progress_says_which_order_is_on_unless_it_is_random(open_workspace: Opener, order: str, says: bool) -> None:
    workspace = open_workspace(order=order)
    plan(workspace)
    progress = " · ".join(LabelQueue(workspace).parts(None))
    assert progress.endswith(" · disagreements first") is says
