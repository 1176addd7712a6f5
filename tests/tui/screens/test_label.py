"""Label: cards, keys, the reveal, undo, and the events on disk."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.judge.judge import Judge
from engine.prompt import Turn, typed_prompt
from labels.records import Card
from labels.store import LabelStore
from tests.engine.builders import memory, write_root
from tests.labels.samples import known
from tests.tui.apps import card_shown, labelling, press, reads, running, screen_of, shown, table, toasts, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import GatedProvider, demo_prompts

pytestmark = pytest.mark.anyio


def card(pilot: Pilot[None]) -> Card | None:
    return screen_of(pilot).card  # type: ignore[no-any-return]


def prompt_id(pilot: Pilot[None]) -> str:
    return str(screen_of(pilot).prompt.id)


async def label_prompt(pilot: Pilot[None], key: str = "x") -> int:
    """Label every card of the prompt, and give their number."""
    given = 0
    while card(pilot):
        await press(pilot, key)
        given += 1
    return given


async def test_a_card_gives_no_hint_a_key_is_on_disk_at_once_and_after_the_last_comes_the_reveal(
    open_workspace: Opener, tmp_path: Path
) -> None:
    async with labelling(open_workspace(prompts=demo_prompts("p01"))) as pilot:
        first = known(card(pilot))
        shown_card = " ".join(shown(pilot, f"#{name}") for name in ("card", "card-text", "progress", "recent"))
        assert first.memory.title in shown_card
        await reads(pilot, "#prompt", demo_prompts("p01")[0].text)
        assert not widget(pilot, "#reveal").display
        for hint in ("kept", "dropped", "fallback", "strength", "high", "medium", "judge"):
            assert hint not in shown_card.replace(first.memory.title, "")
        for key, verdict in (("a", "relevant"), ("1", "relevant"), ("x", "not"), ("0", "not"), ("s", "unsure")):
            await press(pilot, key)
            second = known(card(pilot))
            assert second.memory.id != first.memory.id
            with LabelStore.open(tmp_path / "labels.db") as other:
                event = other.events()[-1]
            assert (event.memory_id, event.verdict, event.blind) == (first.memory.id, verdict, True), key
            assert (event.position, event.seed) == (1, screen_of(pilot).app.workspace.seed)
            await press(pilot, "z")
        await press(pilot, "enter")
        await reads(pilot, "#text", first.memory.title)
        await press(pilot, "escape")
        given = await label_prompt(pilot)
        assert given >= 4
        assert sum(row.verdict == "not" for row in table(pilot).records) == given
        await press(pilot, "v")
        assert table(pilot).has_focus
        await reads(pilot, "#judge", "scripted")
        assert not widget(pilot, "#body").region


async def test_the_ranks_of_a_prompt_stand_above_the_next_card_until_its_label(open_workspace: Opener) -> None:
    """Also after a dialog or another screen was opened over it. No key is needed to go on."""
    prompts = demo_prompts("p20", "p44")
    workspace = open_workspace(prompts=prompts)
    async with labelling(workspace) as pilot:
        (done,) = (prompt for prompt in prompts if prompt.id == prompt_id(pilot))
        await press(pilot, "v")
        assert toasts(pilot)[-1] == "Ranks are hidden until all memories of a prompt have a label."
        while prompt_id(pilot) == done.id:
            await press(pilot, "x")
            await card_shown(pilot)
        reveal, first = widget(pilot, "#reveal"), card(pilot)
        given = len(workspace.store.events())
        for keys in (["ctrl+p", "escape"], ["f5", "f4"], ["ctrl+r"], ["v", "v"], ["v", "space"], ["v", "escape"]):
            await press(pilot, *keys)
            await card_shown(pilot)
            assert (card(pilot), reveal.display) == (first, True), keys
        await reads(pilot, "#reveal", f"Done · v all ranks · {done.text[:30]}")
        await press(pilot, "v", "a")
        assert toasts(pilot)[-1] == "Go back to the card with space first."
        assert len(workspace.store.events()) == given, "no key labelled or skipped"
        await press(pilot, "space", "a")
        assert (len(workspace.store.events()), reveal.display) == (given + 1, False)
        assert all(event.blind for event in workspace.store.events())


async def test_undo_leads_back_to_the_card_and_i_reads_the_prompt_with_its_turns(open_workspace: Opener) -> None:
    turns = (Turn("user", "the [/b] hold expiry"), Turn("assistant", "which one"))
    workspace = open_workspace(prompts=[typed_prompt("fix that function", turns)], judge=None)
    async with labelling(workspace) as pilot:
        first = card(pilot)
        await press(pilot, "i")
        await reads(pilot, "#above", "the [/b] hold expiry assistant which one")
        await reads(pilot, "#text", "prompt fix that function")
        await press(pilot, "escape", "z")
        assert toasts(pilot), "there is nothing to undo"
        await press(pilot, "a", "space", "z", "backspace")
        assert card(pilot) == first
        await reads(pilot, "#progress", "Taken back · 0 of 1 prompts done · 0 labels")
        assert [event.action for event in workspace.store.events()] == ["label", "skip", "retract", "retract"]
        assert workspace.store.labels() == ()
        await press(pilot, "x")
        assert [label.blind for label in workspace.store.labels()] == [True]


async def test_at_the_end_keys_change_no_label_and_say_where_to_go_and_what_is_said_anew_is_not_blind(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p20"))
    async with labelling(workspace) as pilot:
        given = await label_prompt(pilot)
        await reads(pilot, "#card-text", "Press space or T for the report, or u to take the last label back.")
        for key in ("a", "1", "x", "0", "s", "e", "w"):
            await press(pilot, key)
            assert toasts(pilot)[-1].startswith("Everything is labelled. space shows the report"), key
        await press(pilot, "v", "down", "a", "v")
        assert [event.verdict for event in workspace.store.events()] == ["not"] * given
        await press(pilot, "z")
        assert card(pilot)
        await press(pilot, "a")
        blind = [event.blind for event in workspace.store.events() if event.action == "label"]
        assert blind == [True] * given + [False]


@pytest.mark.slow
async def test_a_prompt_whose_ranks_were_seen_in_replay_is_not_blind(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p04"))
    async with running("label", workspace) as pilot:
        await press(pilot, "f3", "f4")
        await card_shown(pilot)
        while card(pilot):
            await press(pilot, "x")
            await card_shown(pilot)
        labels = workspace.store.labels()
        assert {(label.prompt_id, label.blind) for label in labels} == {("p01", False), ("p04", True)}
        await press(pilot, "f5")
        seen = sum(not label.blind for label in labels)
        await reads(pilot, "#answer", f"{seen} of {len(labels)} labels came after the ranks were seen")


async def test_prompts_that_bring_nothing_up_are_passed_however_many(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys rotate"), memory("other thing")])
    prompts = [typed_prompt(f"nothing{number}") for number in range(150)] + [typed_prompt("rotate the signing keys")]
    workspace = open_workspace(root=root, judge=None, prompts=prompts)
    async with running("label", workspace) as pilot:
        await until(pilot, lambda: card(pilot), "the one prompt that has a card")
        await label_prompt(pilot, "a")
        await until(pilot, lambda: "T" in shown(pilot, "#card-text"), "it says that all is done")
        assert [label.memory_id for label in workspace.store.labels()] == ["signing-keys-rotate"]


async def test_while_the_judge_thinks_no_key_labels_and_the_next_prompt_is_judged_during_labelling(
    open_workspace: Opener,
) -> None:
    provider, prompts = GatedProvider(), demo_prompts("p01", "p04")
    gates = [provider.hold(prompt.text) for prompt in prompts]
    workspace = open_workspace(judge=lambda config: Judge(provider, config.judge), prompts=prompts)
    async with running("label", workspace) as pilot:
        await press(pilot, "a", "x", "space", "enter")
        assert workspace.store.events() == ()
        for gate in gates:
            gate.set()
        await card_shown(pilot)
        assert card(pilot)
        other = {"p01": "p04", "p04": "p01"}[prompt_id(pilot)]
        await until(pilot, lambda: workspace.retrieval(other, "memsift+judge"))
        assert len(provider.asked) == 2


@pytest.mark.slow
async def test_a_store_that_cannot_be_written_is_told_and_no_label_is_lost(
    open_workspace: Opener, locked: Any, tmp_path: Path
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p20", "p44"), busy_timeout_s=0.01)
    async with running("browse", workspace) as pilot:
        with locked(tmp_path / "labels.db"):
            await press(pilot, "f4")
            await until(pilot, lambda: "another program is writing" in shown(pilot, "#card-text"))
            await press(pilot, "a", "x", "f2", "f4")
        await press(pilot, "enter")
        await until(pilot, lambda: card(pilot))
        await press(pilot, "a")
        here = known(card(pilot))
        with locked(tmp_path / "labels.db"):
            await press(pilot, "x", "z", "space")
            assert sum("another program is writing" in toast for toast in toasts(pilot)[-3:]) == 3
            assert card(pilot) == here
            assert len(workspace.store.labels()) == 1
        await press(pilot, "x")
        assert [label.verdict for label in workspace.store.labels()] == ["relevant", "not"]
