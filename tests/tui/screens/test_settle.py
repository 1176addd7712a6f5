"""Settle: the memories on which people disagree, without the names of these people."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.prompt import typed_prompt
from tests.engine.builders import memory, write_memory, write_root
from tests.labels.samples import known
from tests.tui.apps import app_of, press, reads, running, screen_of, shown, toasts
from tests.tui.conftest import Opener
from tests.tui.demo import replay
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


@pytest.fixture
def disputed(open_workspace: Opener, tmp_path: Path) -> Workspace:
    """Two memories on which ann and bob disagree, and a third on which they agree."""
    root = write_root(tmp_path / "root", [memory(f"quasar signing {word}") for word in ("keys", "people", "tables")])
    prompt = typed_prompt("who is quasar signing what?")
    workspace = open_workspace(root=root, judge=None, prompts=[prompt], annotator="cat", busy_timeout_s=0.01)
    replay(workspace)
    cards = known(workspace.pool(prompt.id)).cards
    for card, said in zip(cards, [("relevant", "not"), ("not", "relevant"), ("not", "not")], strict=True):
        for who, verdict in zip(("ann", "bob"), said, strict=True):
            why = {"note": "[/b] mine", "reason": "stale"} if verdict == "not" else {}
            workspace.store.label(who, prompt.id, card, verdict, seed=1, blind=True, elapsed_ms=1, **why)
    return workspace


def titles(workspace: Workspace) -> set[str]:
    return {one.memory_id for one in workspace.disputes()}


def here(pilot: Pilot[None]) -> str:
    return str(screen_of(pilot).dispute.memory_id)


async def test_it_shows_what_was_said_and_not_by_whom(disputed: Workspace) -> None:
    """It is reached from Label, also about a prompt that is not open now, and escape leads back."""
    async with running("label", disputed) as pilot:
        disputed.lists.read([])
        await press(pilot, "d")
        await reads(pilot, "#labels", "Not relevant: stale, [/b] mine Relevant")
        await reads(pilot, "#prompt", "who is quasar signing what?")
        await reads(pilot, "#progress", "2 to settle")
        for place in ("#prompt", "#card", "#card-text", "#labels", "#progress"):
            assert not any(name in shown(pilot, place) for name in ("ann", "bob")), place
        await press(pilot, "enter")
        await reads(pilot, "FullText Static", "signing")
        await press(pilot, "escape", "i")
        await reads(pilot, "FullText Static", "who is quasar signing what?")
        await press(pilot, "escape", "escape")
        assert app_of(pilot).current_mode == "label"


async def test_a_verdict_settles_the_pair_is_taken_back_or_left_for_later_and_nobodys_label_changes(
    disputed: Workspace,
) -> None:
    labels = disputed.store.labels()
    async with running("settle", disputed) as pilot:
        first = here(pilot)
        await press(pilot, "z")
        assert toasts(pilot) == ["There is nothing to take back."]
        await press(pilot, "space")
        second = here(pilot)
        assert second != first
        await press(pilot, "s")
        assert here(pilot) == first
        await press(pilot, "z")
        assert here(pilot) == second
        assert disputed.store.adjudications() == ()
        assert titles(disputed) == {first, second}
        await press(pilot, "a")
        assert titles(disputed) == {first}
        (settled,) = disputed.store.adjudications()
        assert (settled.annotator, settled.memory_id, settled.verdict) == ("cat", second, "relevant")
        assert disputed.store.labels() == labels
        await press(pilot, "x")
        await reads(pilot, "#card-text", "No disagreement is left.")
        await reads(pilot, "#progress", "0 to settle · 2 settled just now")
        await press(pilot, "a", "x", "s", "space", "enter", "i")
        assert len(disputed.store.adjudications()) == 2


def test_a_memory_that_was_edited_is_no_longer_to_be_settled(disputed: Workspace, tmp_path: Path) -> None:
    edited, other = sorted(titles(disputed))
    write_memory(tmp_path / "root", memory(edited.replace("-", " "), body="new"))
    disputed.reload()
    assert titles(disputed) == {other}


async def test_a_store_that_cannot_be_written_is_told(disputed: Workspace, locked: Any, tmp_path: Path) -> None:
    async with running("settle", disputed) as pilot:
        first = here(pilot)
        with locked(tmp_path / "labels.db"):
            await press(pilot, "a")
            assert any("another program is writing" in toast for toast in toasts(pilot))
            assert here(pilot) == first
        await press(pilot, "a")
        assert len(disputed.store.adjudications()) == 1
