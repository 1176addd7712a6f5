"""Labels that another program writes for the same person while Label is open."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from labels.store import LabelStore
from tests.tui.apps import app_of, labelling, press, reads, screen_of, until
from tests.tui.cli.command_line import memsift
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO, DEMO_ROOT, demo_prompts

pytestmark = pytest.mark.anyio

HOW: dict[str, Any] = {"seed": 1, "blind": True, "elapsed_ms": 1}


def pair(pilot: Pilot[None]) -> Any:
    card = screen_of(pilot).card
    return card.pair if card else None


async def test_a_label_of_another_app_takes_the_card_away_and_its_reveal_ends_blindness(
    open_workspace: Opener, tmp_path: Path
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), annotator="ana")
    async with labelling(workspace) as pilot:
        screen = screen_of(pilot)
        first, card = pair(pilot), screen.card
        with LabelStore.open(tmp_path / "labels.db") as other:
            other.label("ana", "p01", card, "not", **HOW)
            app_of(pilot).look_for_labels()
            await until(pilot, lambda: pair(pilot) != first)
            await reads(pilot, "#recent", card.memory.title[:20])
            await reads(pilot, "#progress", "1 label")
            second = pair(pilot)
            other.label("bea", "p01", screen.card, "not", **HOW)
            app_of(pilot).look_for_labels()
            await press(pilot, "e", *"why")
            other.label("ana", "p01", screen.card, "unsure", **HOW)
            app_of(pilot).look_for_labels()
            await press(pilot, "x")
            assert pair(pilot) == second
            await press(pilot, "enter")
            await until(pilot, lambda: pair(pilot) not in (first, second))
            third = screen.card
            other.record_seen("ana", "p01")
            await press(pilot, "a")
            (label,) = [one for one in other.labels("ana") if one.pair == third.pair]
            assert label.blind is False


@pytest.mark.slow
async def test_imported_labels_are_there_within_a_moment(open_workspace: Opener, tmp_path: Path) -> None:
    workspace = open_workspace(prompts=demo_prompts("p20"), annotator="ana", judge=None)
    async with labelling(workspace) as pilot:
        qrels, prompts = DEMO / "qrels.txt", DEMO / "prompts.jsonl"
        where = ("--root", DEMO_ROOT, "--db", tmp_path / "labels.db")
        assert memsift("import", qrels, "--prompts", prompts, "--annotator", "ana", *where).exit_code == 0
        await reads(pilot, "#progress", "1 of 1 prompts done")
        assert pair(pilot) is None
