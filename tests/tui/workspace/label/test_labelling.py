"""The label queue: order, progress, finished prompts and repeats."""

from collections.abc import Callable
from pathlib import Path

from engine.lean.record import replace
from engine.prompt import Prompt, typed_prompt
from labels.records import Card
from tests.engine.builders import memory, write_memory, write_root
from tests.labels.samples import known
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, replay
from tui.workspace.labelling import FEWEST_TIMED, LabelQueue, Position, workspace_pace
from tui.workspace.workspace import Workspace


def progress(queue: LabelQueue, at: Position | None) -> str:
    return " · ".join(queue.parts(at))


def label(workspace: Workspace, prompt: Prompt, card: Card, verdict: str = "not") -> None:
    workspace.store.label(workspace.annotator, prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=2000)


def skip(workspace: Workspace, prompt: Prompt, card: Card) -> None:
    workspace.store.skip(workspace.annotator, prompt.id, card, seed=1, blind=True, elapsed_ms=2000)


def position(queue: LabelQueue, prompt: Prompt) -> Position:
    return known(queue.position(prompt))


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
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != prompts
    assert set(orders[0]) == set(prompts)


def test_the_cards_of_a_prompt_come_in_an_order_that_is_not_the_ranking(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None)
    replay(workspace)
    first = []
    for prompt in workspace.prompts:
        at = LabelQueue(workspace).position(prompt)
        retrieval = workspace.retrieval(prompt.id, "memsift")
        if at and at.card and retrieval and len(retrieval.injected) == 3:
            first.append([one.memory.id for one in retrieval.injected].index(at.card.memory.id))
    assert len(first) > 15
    assert all(0 < first.count(place) < len(first) / 2 for place in range(3))


def test_a_prompt_has_a_position_when_every_system_has_run_it_and_a_skipped_card_comes_last(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"))
    queue, (prompt,) = LabelQueue(workspace), workspace.prompts
    for system in workspace.systems:
        assert queue.position(prompt) is None
        workspace.keep(workspace.run(prompt, system))
    at = position(queue, prompt)
    assert at.card_number == 1
    first, *others = at.open
    skip(workspace, prompt, first)
    assert list(position(queue, prompt).open) == [*others, first]


def test_each_card_is_asked_once_then_the_prompt_is_finished_and_the_first_unfinished_one_is_next(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p04"))
    replay(workspace)
    queue = LabelQueue(workspace)
    first, second, third = queue.order
    at = position(queue, first)
    assert not queue.is_finished(first)
    assert queue.after(None) is queue.after(third) is first
    assert go_through(workspace, queue, first) == len(at.pool.cards)
    assert queue.is_finished(first)
    labels = workspace.store.labels(prompt_id=first.id)
    assert [one.memory_id for one in labels] == [card.memory.id for card in at.pool.cards]
    assert queue.after(third) is second
    go_through(workspace, queue, second)
    assert (queue.after(first), queue.after(third)) == (third, None)
    go_through(workspace, queue, third)
    assert queue.after(first) is None


def test_a_new_start_goes_on_at_the_same_card_without_asking_the_judge_about_finished_prompts(
    open_workspace: Opener,
) -> None:
    before = open_workspace(prompts=demo_prompts("p01", "p02"))
    replay(before)
    queue = LabelQueue(before)
    first, second = queue.order
    go_through(before, queue, first)
    at = position(queue, second)
    label(before, second, at.open[0])
    before.close()

    after = open_workspace(prompts=demo_prompts("p01", "p02"))
    queue = LabelQueue(after)
    assert (queue.is_finished(first), queue.after(None)) == (True, second)
    replay(after, second)
    assert [card.memory.id for card in position(queue, second).open] == [card.memory.id for card in at.open[1:]]
    go_through(after, queue, second)
    after.close()
    again = open_workspace(prompts=demo_prompts("p01", "p02"), judge=None)
    assert (LabelQueue(again).after(None), len(again.finished)) == (None, 0)
    theirs = open_workspace(prompts=demo_prompts("p01", "p02"), annotator="you")
    queue = LabelQueue(theirs)
    assert not queue.is_finished(first), "another person finds nothing finished"
    assert "0 labels" in progress(queue, None)


def test_a_prompt_whose_cards_were_all_skipped_twice_is_passed(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    replay(workspace)
    queue = LabelQueue(workspace)
    first, second = queue.order
    assert go_through(workspace, queue, first, skip) == 2 * len(position(queue, first).pool.cards)
    for one in (queue, LabelQueue(open_workspace(prompts=demo_prompts("p01", "p02")))):
        assert (one.is_finished(first), one.after(None)) == (True, second)


def test_undo_reopens_the_prompt_also_after_a_restart(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    replay(workspace)
    queue = LabelQueue(workspace)
    first, second = queue.order
    given = go_through(workspace, queue, first)
    go_through(workspace, queue, second)
    workspace.close()
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    assert known(workspace.undo()).prompt_id == second.id
    queue = LabelQueue(workspace)
    assert (queue.is_finished(first), queue.is_finished(second)) == (True, False)
    while (undone := known(workspace.undo()).prompt_id) == second.id:
        pass
    assert undone == first.id
    assert len(workspace.store.labels()) == given - 1
    assert not LabelQueue(workspace).is_finished(first)


def test_an_edited_memory_opens_its_prompt_again_with_that_card_alone_and_one_that_is_gone_does_not(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys", body="old"), memory("signing wallets", body="x")])
    prompt = typed_prompt("signing keys wallets ledgers")
    workspace = open_workspace(root=root, judge=None, prompts=[prompt])
    replay(workspace)
    assert go_through(workspace, LabelQueue(workspace), prompt) == 2
    (root / "decisions" / "signing-wallets.json").unlink()
    workspace.reload()
    assert LabelQueue(workspace).is_finished(prompt)
    write_memory(root, memory("signing keys", body="new"))
    workspace.reload()
    queue = LabelQueue(workspace)
    assert not queue.is_finished(prompt)
    replay(workspace)
    assert [card.memory.id for card in position(queue, prompt).open] == ["signing-keys"]


def test_a_prompt_that_brings_nothing_up_is_finished_until_there_are_new_memories_or_settings(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    prompts = [typed_prompt("zzzz")]
    workspace = open_workspace(root=root, prompts=prompts)
    replay(workspace)
    queue = LabelQueue(workspace)
    at = position(queue, prompts[0])
    assert (at.pool.cards, at.card, queue.is_finished(prompts[0])) == ((), None, True)
    workspace.close()
    workspace = open_workspace(root=root, prompts=prompts, judge=None)
    assert progress(LabelQueue(workspace), None) == "1 of 1 prompts done · 0 labels"
    write_memory(root, memory("zzzz at last"))
    workspace.reload()
    assert not LabelQueue(workspace).is_finished(prompts[0])
    workspace.config = replace(workspace.config, max_inject=0)
    replay(workspace)
    assert LabelQueue(workspace).is_finished(prompts[0])
    workspace.config = replace(workspace.config, max_inject=3)
    assert not LabelQueue(workspace).is_finished(prompts[0])


def test_progress_says_prompts_labels_pace_and_what_is_left(open_workspace: Opener) -> None:
    """The time is told from ten labels on. The other prompts are taken to be like the finished ones."""
    workspace = open_workspace(prompts=demo_prompts("p01", "p02", "p04", "p06", "p08", "p20", "p44"), judge=None)
    replay(workspace)
    queue = LabelQueue(workspace)

    def slowly(workspace: Workspace, prompt: Prompt, card: Card) -> None:
        workspace.store.label(workspace.annotator, prompt.id, card, "not", seed=1, blind=True, elapsed_ms=60_000)

    assert progress(queue, queue.position(queue.order[0])).startswith("0 of 7 prompts done · 0 labels")
    given = done = 0
    while given < FEWEST_TIMED:
        assert "min left" not in progress(queue, None)
        given += go_through(workspace, queue, queue.order[done], slowly)
        done += 1
    second = queue.order[done]
    at = position(queue, second)
    text = progress(queue, at)
    assert text.startswith(f"{done} of 7 prompts done · {given} labels")
    left = len(at.open) + (6 - done) * given / done
    assert f"about {5 * round(left / 5) if left >= 10 else left:.0f} min left" in text
    for card in at.pool.cards:  # labels beside a ranking have no time
        for verdict in ("not", "relevant"):
            workspace.store.label(workspace.annotator, second.id, card, verdict, seed=1, blind=False, elapsed_ms=0)
    workspace.undo()
    assert workspace_pace(workspace) == 60.0


def test_that_people_differ_is_told_at_the_end_of_the_prompt_and_not_by_a_card(open_workspace: Opener) -> None:
    prompts = demo_prompts("p01", "p02")
    theirs, mine = (open_workspace(judge=None, prompts=prompts, annotator=name) for name in ("you", "me"))
    replay(theirs)
    replay(mine)
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
        replay(workspace)
        queue = LabelQueue(workspace)
        assert progress(queue, queue.position(prompts[0])).startswith("0 of 1 prompts done · 0 labels")
        assert go_through(workspace, queue, prompts[0]) == labels
        assert progress(queue, None) == progress(LabelQueue(workspace), None)
        assert f"{labels} label" in progress(queue, None)
