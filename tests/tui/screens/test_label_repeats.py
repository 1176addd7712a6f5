"""Hidden repeats: when a card is shown again, how it looks, and the events on disk."""

from typing import Any

import pytest
from textual.pilot import Pilot

from engine.prompt import Prompt
from labels.pooling import MIN_REPEAT_GAP
from labels.records import Event
from tests.labels.samples import known
from tests.tui.apps import SIZE, card_shown, press, screen_of, shown, starting_in
from tests.tui.conftest import Opener
from tests.tui.demo import replay
from tui.workspace.labelling import LabelQueue, Position
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


def presses(workspace: Workspace) -> list[Event]:
    return [event for event in workspace.store.events() if event.action == "label"]


def label_prompt(workspace: Workspace, queue: LabelQueue, prompt: Prompt) -> None:
    replay(workspace, prompt)
    while (at := queue.position(prompt)) and at.card:
        blind = workspace.is_blind(prompt.id)
        how = {"seed": 1, "blind": blind, "elapsed_ms": 1, "reason": "stale", "note": "because"}
        workspace.store.label("me", prompt.id, at.card, "not", **how)


def label_until_a_repeat(workspace: Workspace) -> Position:
    """Label as a person does until a card is shown again, and give its position."""
    queue = LabelQueue(workspace)
    prompt = queue.after(None)
    while prompt and not queue.due(prompt):
        label_prompt(workspace, queue, prompt)
        prompt = queue.after(prompt)
    return known(queue.due(prompt))


def test_a_card_comes_back_after_ten_others_while_its_text_is_the_same(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None)
    at = label_until_a_repeat(workspace)
    (card,) = at.open
    given = presses(workspace)
    place = [(event.prompt_id, event.pair) for event in given].index((at.prompt.id, card.pair))
    assert len(given) - place - 1 >= MIN_REPEAT_GAP
    assert given[-1].prompt_id != at.prompt.id
    queue = LabelQueue(workspace)
    assert queue.repeat(at.prompt, [card.pair]).open == at.open
    assert queue.repeat(at.prompt, [(card.memory.id, "edited")]).open == ()
    assert queue.repeat(at.prompt, [("gone", "d")]).open == ()


async def repeat_shown(pilot: Pilot[None]) -> Any:
    await card_shown(pilot)
    assert screen_of(pilot).position.is_repeat
    return screen_of(pilot)


@pytest.mark.slow
async def test_it_looks_like_any_other_card_and_its_answer_is_kept_beside_the_label(open_workspace: Opener) -> None:
    """It waits while another screen is shown, can be taken back, and a new prompt follows."""
    workspace = open_workspace(judge=None)
    at = label_until_a_repeat(workspace)
    labels = workspace.store.labels()
    async with starting_in("label", workspace).run_test(size=SIZE) as pilot:
        await repeat_shown(pilot)
        await press(pilot, "f2", "f4")
        screen = await repeat_shown(pilot)
        assert (screen.prompt, screen.card) == (at.prompt, at.open[0])
        told = " ".join(shown(pilot, f"#{name}") for name in ("progress", "recent"))
        assert not any(word in told.lower() for word in ("repeat", "again"))
        assert "Memory 1 of 1 · Inject it for this prompt?" in shown(pilot, "#card")
        assert not screen.query_one("#reveal").display
        assert not screen.query_one("RemarkLine").display
        await press(pilot, "a")
        await card_shown(pilot)
        event = workspace.store.events()[-1]
        assert (event.prompt_id, event.pair, event.verdict) == (at.prompt.id, at.open[0].pair, "relevant")
        assert (event.repeat, event.blind, event.supersedes) == (True, True, None)
        assert workspace.store.labels() == labels
        assert [(repeat.first, repeat.again) for repeat in workspace.store.repeats()] == [("not", "relevant")]
        assert screen.prompt.id != at.prompt.id
        assert not screen.position.is_repeat
        assert shown(pilot, "#recent").count("+") == 1
        await press(pilot, "z")
        await card_shown(pilot)
        assert (screen.prompt, screen.card, screen.position.is_repeat) == (at.prompt, at.open[0], True)
        assert workspace.store.repeats() == ()
        await press(pilot, "s")
        assert [repeat.again for repeat in workspace.store.repeats()] == ["unsure"]
        await press(pilot, "z")
        screen = await repeat_shown(pilot)
        await press(pilot, "space")
        await card_shown(pilot)
        assert workspace.store.repeated("me", at.prompt.id) == {at.open[0].pair}, "a skip ends it"
        assert workspace.store.skips("me", at.prompt.id) == {}
        assert not screen.position.is_repeat
