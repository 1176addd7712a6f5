"""The label queue: order, progress, finished prompts and repeats."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.lean.record import replace
from engine.prompt import Prompt, typed_prompt
from labels.records import Card
from tests.engine.builders import memory, write_memory, write_root
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.workspace.labelling import LabelQueue, Position, workspace_pace
from tui.workspace.workspace import Workspace

MANY = ("p01", "p02", "p04", "p05", "p07")


def progress(queue: LabelQueue, at: Position | None) -> str:
    return " · ".join(queue.parts(at))


def run_all(workspace: Workspace, *prompts: Prompt) -> None:
    for prompt in prompts or workspace.prompts:
        for system in workspace.systems:
            workspace.keep(workspace.run(prompt, system))


def label(workspace: Workspace, prompt: Prompt, card: Card, verdict: str = "not") -> None:
    workspace.store.label(workspace.annotator, prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=2000)


def skip(workspace: Workspace, prompt: Prompt, card: Card) -> None:
    workspace.store.skip(workspace.annotator, prompt.id, card, seed=1, blind=True, elapsed_ms=2000)


def go_through(
    workspace: Workspace, queue: LabelQueue, prompt: Prompt, press: Callable[[Workspace, Prompt, Card], None] = label
) -> int:
    """Press once for each open card. Returns their number."""
    pressed = 0
    while (at := queue.position(prompt)) and at.card:
        press(workspace, prompt, at.card)
        pressed += 1
    return pressed


def test_the_order_is_random_but_the_same_for_a_seed(open_workspace: Opener) -> None:
    prompts = demo_prompts()
    orders = [
        LabelQueue(open_workspace(prompts=given, seed=seed)).order
        for given, seed in [(prompts, 1), (tuple(reversed(prompts)), 1), (prompts, 2)]
    ]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert orders[0] != prompts
    assert set(orders[0]) == set(prompts)


def test_the_cards_of_a_prompt_come_in_an_order_that_is_not_the_ranking(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None)
    run_all(workspace)
    first = []
    for prompt in workspace.prompts:
        at = LabelQueue(workspace).position(prompt)
        retrieval = workspace.retrieval(prompt.id, "memsift")
        if at and at.card and retrieval and len(retrieval.injected) == 3:
            first.append([one.memory.id for one in retrieval.injected].index(at.card.memory.id))
    assert len(first) > 15
    assert all(0 < first.count(place) < len(first) / 2 for place in range(3))


def test_a_prompt_has_no_position_until_every_system_has_run_it(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"))
    queue, (prompt,) = LabelQueue(workspace), workspace.prompts
    assert queue.position(prompt) is None
    workspace.keep(workspace.run(prompt, "memsift"))
    assert queue.position(prompt) is None
    workspace.keep(workspace.run(prompt, "memsift+judge"))
    at = queue.position(prompt)
    assert at is not None
    assert at.card_number == 1
    injected = {one.memory.id for name in workspace.systems for one in _injected(workspace, prompt, name)}
    assert injected <= {card.memory.id for card in at.pool.cards}


def _injected(workspace: Workspace, prompt: Prompt, system: str) -> tuple[object, ...]:
    retrieval = workspace.retrieval(prompt.id, system)
    assert retrieval is not None
    return retrieval.injected


def test_each_card_is_asked_once_and_then_the_prompt_is_finished(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts(*MANY))
    run_all(workspace)
    queue = LabelQueue(workspace)
    prompt = queue.order[0]
    at = queue.position(prompt)
    assert at is not None
    assert not queue.is_finished(prompt)
    assert go_through(workspace, queue, prompt) == len(at.pool.cards)
    assert queue.is_finished(prompt)
    labels = workspace.store.labels(prompt_id=prompt.id)
    assert [one.memory_id for one in labels] == [card.memory.id for card in at.pool.cards]


def test_the_first_unfinished_prompt_comes_next_wherever_one_is(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p04"))
    run_all(workspace)
    queue = LabelQueue(workspace)
    first, second, third = queue.order
    assert queue.after(None) is first
    assert queue.after(third) is first
    go_through(workspace, queue, first)
    assert queue.after(third) is second
    go_through(workspace, queue, second)
    assert queue.after(first) is third
    assert queue.after(third) is None
    go_through(workspace, queue, third)
    assert queue.after(first) is None


def test_a_new_start_goes_on_at_the_same_card(open_workspace: Opener) -> None:
    before = open_workspace(prompts=demo_prompts(*MANY))
    run_all(before)
    queue = LabelQueue(before)
    first, second = queue.order[:2]
    go_through(before, queue, first)
    at = queue.position(second)
    assert at is not None
    label(before, second, at.open[0])
    expected = [card.memory.id for card in at.open[1:]]
    before.close()

    after = open_workspace(prompts=demo_prompts(*MANY))
    queue = LabelQueue(after)
    assert queue.is_finished(first)
    assert queue.after(None) is not None
    assert queue.after(None).id == second.id  # type: ignore[union-attr]
    run_all(after, second)
    at = queue.position(second)
    assert at is not None
    assert [card.memory.id for card in at.open] == expected


def test_a_finished_prompt_is_known_after_a_restart_without_asking_the_judge(open_workspace: Opener) -> None:
    before = open_workspace(prompts=demo_prompts("p01", "p02"))
    run_all(before)
    queue = LabelQueue(before)
    for prompt in queue.order:
        go_through(before, queue, prompt)
    before.close()
    after = open_workspace(prompts=demo_prompts("p01", "p02"), judge=None)
    assert LabelQueue(after).after(None) is None
    assert not after.finished


@pytest.mark.parametrize("restart", [False, True])
def test_a_prompt_whose_cards_were_all_skipped_twice_is_passed(open_workspace: Opener, restart: bool) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    run_all(workspace)
    queue = LabelQueue(workspace)
    first, second = queue.order
    at = queue.position(first)
    assert at is not None
    assert go_through(workspace, queue, first, skip) == 2 * len(at.pool.cards)
    if restart:
        workspace.close()
        workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
        queue = LabelQueue(workspace)
    assert queue.is_finished(first)
    assert queue.after(None) is not None
    assert queue.after(None).id == second.id  # type: ignore[union-attr]


def test_a_skipped_card_comes_after_those_that_were_not(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"))
    run_all(workspace)
    queue, (prompt,) = LabelQueue(workspace), workspace.prompts
    at = queue.position(prompt)
    assert at is not None
    first, *others = at.open
    skip(workspace, prompt, first)
    at = queue.position(prompt)
    assert at is not None
    assert list(at.open) == [*others, first]


def test_undo_reopens_the_prompt_also_after_a_restart(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    run_all(workspace)
    queue = LabelQueue(workspace)
    first, second = queue.order
    given = go_through(workspace, queue, first)
    go_through(workspace, queue, second)
    workspace.close()
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    event = workspace.undo()
    assert event is not None
    assert event.prompt_id == second.id
    queue = LabelQueue(workspace)
    assert queue.is_finished(first)
    assert not queue.is_finished(second)
    while (event := workspace.undo()) and event.prompt_id == second.id:
        pass
    assert event is not None
    assert event.prompt_id == first.id
    assert len(workspace.store.labels()) == given - 1
    assert not LabelQueue(workspace).is_finished(first)


def test_another_person_finds_nothing_finished(open_workspace: Opener) -> None:
    mine = open_workspace(prompts=demo_prompts("p01"), annotator="me")
    run_all(mine)
    go_through(mine, LabelQueue(mine), mine.prompts[0])
    theirs = open_workspace(prompts=demo_prompts("p01"), annotator="you")
    queue = LabelQueue(theirs)
    assert not queue.is_finished(theirs.prompts[0])
    assert "0 labels" in progress(queue, None)


def test_an_edited_memory_opens_its_prompt_again_with_that_card_alone(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys", body="old"), memory("signing wallets", body="x")])
    prompts = [typed_prompt("signing keys wallets ledgers")]
    workspace = open_workspace(root=root, judge=None, prompts=prompts)
    run_all(workspace)
    queue = LabelQueue(workspace)
    assert go_through(workspace, queue, prompts[0]) == 2
    write_memory(root, memory("signing keys", body="new"))
    workspace.reload()
    queue = LabelQueue(workspace)
    assert not queue.is_finished(prompts[0])
    run_all(workspace)
    at = queue.position(prompts[0])
    assert at is not None
    assert [card.memory.id for card in at.open] == ["signing-keys"]


def test_a_memory_that_is_gone_leaves_its_prompt_finished(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys"), memory("signing wallets")])
    prompts = [typed_prompt("signing keys wallets ledgers")]
    workspace = open_workspace(root=root, judge=None, prompts=prompts)
    run_all(workspace)
    go_through(workspace, LabelQueue(workspace), prompts[0])
    (root / "decisions" / "signing-keys.json").unlink()
    workspace.reload()
    assert LabelQueue(workspace).is_finished(prompts[0])


def test_a_prompt_that_brings_nothing_up_is_finished_when_it_was_run(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=[typed_prompt("zzzz")], judge=None)
    run_all(workspace)
    queue = LabelQueue(workspace)
    at = queue.position(workspace.prompts[0])
    assert at is not None
    assert at.pool.cards == ()
    assert at.card is None
    assert queue.is_finished(workspace.prompts[0])
    assert LabelQueue(workspace).is_finished(workspace.prompts[0])


def test_a_prompt_that_brought_nothing_up_is_finished_after_a_restart_until_there_are_new_memories(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    prompts = [typed_prompt("zzzz")]
    workspace = open_workspace(root=root, prompts=prompts)
    run_all(workspace)
    workspace.close()
    workspace = open_workspace(root=root, prompts=prompts, judge=None)
    assert progress(LabelQueue(workspace), None) == "1 of 1 prompts done · 0 labels"
    write_memory(root, memory("zzzz at last"))
    workspace.reload()
    assert not LabelQueue(workspace).is_finished(prompts[0])


def test_a_prompt_that_brought_nothing_up_with_other_settings_is_open(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    prompts = [typed_prompt("signing keys")]
    workspace = open_workspace(root=root, judge=None, prompts=prompts)
    workspace.config = replace(workspace.config, max_inject=0)
    run_all(workspace)
    assert LabelQueue(workspace).is_finished(prompts[0])
    workspace.config = replace(workspace.config, max_inject=3)
    assert not LabelQueue(workspace).is_finished(prompts[0])


def test_progress_says_prompts_labels_pace_and_what_is_left(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p04"), judge=None)
    run_all(workspace)
    queue = LabelQueue(workspace)
    first = queue.order[0]
    assert progress(queue, queue.position(first)).startswith("0 of 3 prompts done · 0 labels")
    given = go_through(workspace, queue, first)
    text = progress(queue, queue.position(first))
    assert text.startswith(f"1 of 3 prompts done · {given} labels")
    assert text.endswith("min left")
    assert workspace_pace(workspace) == 2.0


def test_that_people_differ_is_told_at_the_end_of_the_prompt_and_not_by_a_card(open_workspace: Opener) -> None:
    prompts = demo_prompts("p01", "p02")
    theirs, mine = (open_workspace(judge=None, prompts=prompts, annotator=name) for name in ("you", "me"))
    run_all(theirs)
    run_all(mine)
    prompt = LabelQueue(mine).order[0]
    for verdict, workspace in (("relevant", theirs), ("not", mine)):
        queue = LabelQueue(workspace)
        while (at := queue.position(prompt)) and at.card:
            assert "settles" not in progress(queue, at) + progress(LabelQueue(workspace), at)
            label(workspace, prompt, at.card, verdict)
    assert at is not None
    for one in (queue, LabelQueue(mine), LabelQueue(theirs)):
        assert f"{{label.settle}} settles {len(at.pool.cards)} disputes" in progress(one, at)
    mine.store.adjudicate("me", prompt.id, at.pool.cards[0], "not", seed=1, elapsed_ms=1)
    assert f"{{label.settle}} settles {len(at.pool.cards) - 1} dispute" in progress(LabelQueue(mine), at)


def test_labels_of_the_same_prompt_over_another_root_are_not_counted(open_workspace: Opener, tmp_path: Path) -> None:
    prompts = [typed_prompt("signing keys wallets ledgers")]
    there = write_root(tmp_path / "there", [memory("signing wallets"), memory("signing ledgers")])
    here = write_root(tmp_path / "here", [memory("signing keys")])
    for root, labels in ((there, 2), (here, 1)):
        workspace = open_workspace(root=root, judge=None, prompts=prompts)
        run_all(workspace)
        queue = LabelQueue(workspace)
        assert progress(queue, queue.position(prompts[0])).startswith("0 of 1 prompts done · 0 labels")
        assert go_through(workspace, queue, prompts[0]) == labels
        assert progress(queue, None) == progress(LabelQueue(workspace), None)
        assert f"{labels} label" in progress(queue, None)


def test_the_time_left_takes_the_other_prompts_to_be_like_the_finished_ones(open_workspace: Opener) -> None:
    """Unlike the prompt on the screen, whose cards would make the time left jump from prompt to prompt."""
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p04", "p06"), judge=None)
    run_all(workspace)
    queue = LabelQueue(workspace)

    def slowly(workspace: Workspace, prompt: Prompt, card: Card) -> None:
        workspace.store.label(workspace.annotator, prompt.id, card, "not", seed=1, blind=True, elapsed_ms=60_000)

    first, second, *others = queue.order
    given = go_through(workspace, queue, first, slowly)
    at = queue.position(second)
    assert at is not None
    assert f"about {len(at.open) + len(others) * given} min left" in progress(queue, at)


def test_labels_that_were_given_beside_a_ranking_do_not_count_for_the_pace(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"), judge=None)
    run_all(workspace)
    queue = LabelQueue(workspace)
    first, second = queue.order
    go_through(workspace, queue, first)
    for card in queue.position(second).pool.cards:  # type: ignore[union-attr]
        workspace.store.label(workspace.annotator, second.id, card, "not", seed=1, blind=False, elapsed_ms=0)
        workspace.store.label(workspace.annotator, second.id, card, "relevant", seed=1, blind=False, elapsed_ms=0)
    workspace.undo()
    assert workspace_pace(workspace) == 2.0
