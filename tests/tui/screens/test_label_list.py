"""Label: the list card at the end of a prompt, its keys, undo, and what another start or another person finds."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.prompt import Prompt, typed_prompt
from labels.pooling import draw
from labels.store import LabelStore
from tests.engine.builders import memory, write_memory, write_root
from tests.labels.samples import known
from tests.tui.apps import footer, labelling, press, reads, screen_of, shown, toasts, type_ahead, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, replay
from tui.app import MemsiftApp
from tui.workspace.app_settings import AppSettings
from tui.workspace.labelling import LabelQueue
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

ONE = demo_prompts("p01")


def opened(open_workspace: Opener, **options: Any) -> Workspace:
    return open_workspace(**{"prompts": ONE, "judge": None, "draw": draw, **options})


async def to_the_list(pilot: Pilot[None]) -> Any:
    """Answer the cards of the prompt with no. Gives the list of titles."""
    screen = screen_of(pilot)
    while screen.card:
        await press(pilot, "x")
    assert screen.is_listing
    return screen.titles


def said(workspace: Workspace) -> dict[str, str]:
    """Title -> verdict, of the answer to the list card."""
    found = {label.memory_id: label.verdict for label in workspace.store.labels() if label.titles}
    return {memory.title: found[memory.id] for memory in workspace.index.summaries() if memory.id in found}


async def test_the_titles_come_after_the_cards_without_a_hint_and_one_key_says_that_none_helps(
    open_workspace: Opener, tmp_path: Path
) -> None:
    workspace = opened(open_workspace)
    async with labelling(workspace) as pilot:
        titles = await to_the_list(pilot)
        text = shown(pilot, "#titles")
        assert "Would any of these have helped?" in text
        assert titles.has_focus
        candidates = known(workspace.retrieval("p01", "memsift")).candidates
        best = [found.memory.id for found in candidates if not found.injected]
        assert [card.memory.id for card in titles.records] != best[: titles.count]
        assert sorted(card.memory.id for card in titles.records) == sorted(best[:10])
        bare = text
        for card in titles.records:
            bare = bare.replace(card.memory.name[:20], "").replace(card.memory.about[:20], "")
        for hint in ("weak", "unlikely", "strength", "memsift", "%", "rank"):
            assert hint not in bare, hint
        assert "None" in footer(pilot.app)
        assert "Not" not in footer(pilot.app).replace("None", "")
        assert "Relevant" not in footer(pilot.app)
        before = len(workspace.store.events())
        for key in ("a", "s", "e", "w"):
            await press(pilot, key)
            assert toasts(pilot)[-1] == "Mark titles, or press x for none.", key
        assert len(workspace.store.events()) == before, "keys of a card do not answer the list"
        await press(pilot, "x")
        with LabelStore.open(tmp_path / "labels.db") as other:
            events = other.events()[before:]
        assert {(event.verdict, event.titles, event.blind) for event in events} == {("not", titles.count, True)}
        assert screen_of(pilot).query_one("#reveal").display


async def test_digits_and_space_mark_titles_and_a_answers_with_the_marks(open_workspace: Opener) -> None:
    """Also where digits are grades."""
    workspace = opened(open_workspace)
    app = MemsiftApp(workspace, "label", settings=AppSettings(has_grades=True))
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: pilot.app.current_mode == "label" and screen_of(pilot).card, "a card")
        titles = await to_the_list(pilot)
        await press(pilot, "2", "1", "1", "j", "j", "space", "x")
        assert (said(workspace), toasts(pilot)[-1]) == ({}, "a answers with the marked titles."), "x is for no mark"
        chosen = [titles.records[place].memory for place in (1, 2)]
        await press(pilot, "enter")
        await reads(pilot, "#text", chosen[1].title[:30])
        await press(pilot, "escape", "a")
        answer = said(workspace)
        assert {title for title, verdict in answer.items() if verdict == "relevant"} == {one.title for one in chosen}
        assert len(answer) == titles.count


async def test_the_mark_of_a_title_goes_with_its_text(open_workspace: Opener, tmp_path: Path) -> None:
    words = ("keys", "wallets", "ledgers", "tables", "people")
    root = write_root(tmp_path / "root", [memory(f"signing {word}") for word in words])
    prompts = [Prompt("p1", f"signing {' '.join(words)}")]
    async with labelling(opened(open_workspace, root=root, prompts=prompts)) as pilot:
        titles = await to_the_list(pilot)
        first, second = (card.memory for card in titles.records)
        await press(pilot, "1", "2")
        write_memory(root, memory(first.title, body="new"))
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: first.digest not in {card.memory.digest for card in titles.records})
        assert {memory_id for memory_id, _ in titles.marked} == {second.id}


@pytest.mark.slow
async def test_undo_brings_the_whole_list_back_and_another_start_goes_on_there(open_workspace: Opener) -> None:
    workspace = opened(open_workspace, prompts=demo_prompts("p01", "p02"))
    async with labelling(workspace) as pilot:
        titles = await to_the_list(pilot)
        count = titles.count
        await press(pilot, "3", "a", "z")
        assert said(workspace) == {}
        await reads(pilot, "#progress", "Taken back")
        assert screen_of(pilot).is_listing
    workspace.close()
    again = opened(open_workspace, prompts=demo_prompts("p01", "p02"))
    async with labelling(again) as pilot:
        titles = await to_the_list(pilot)
        assert (titles.count, titles.marked) == (count, set())
        screen = screen_of(pilot)
        first = screen.prompt.id
        type_ahead(pilot, "4", "a")
        await until(pilot, lambda: again.store.labels() and screen.prompt.id != first, "the next prompt comes at once")
        assert list(said(again).values()).count("relevant") == 1
    other = opened(open_workspace, prompts=demo_prompts("p01", "p02"), annotator="you")
    assert len(LabelQueue(other).unfinished()) == 2, "another person is asked, too"


async def test_a_silent_prompt_has_its_list_alone_and_costs_one_key(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys rotate", body="of wallets"), memory("other thing")])
    (root / "memory-config.json").write_text('{"retrieval": {"min_strength": 1000}}', encoding="utf-8")
    prompts = [Prompt("p1", "wallets"), Prompt("p2", "zzz")]
    workspace = opened(open_workspace, root=root, prompts=prompts)
    async with labelling(workspace) as pilot:
        await until(pilot, lambda: screen_of(pilot).is_listing)
        await press(pilot, "x")
        done = "no ranks are shown, and the prompt without candidates is passed"
        await until(pilot, lambda: screen_of(pilot).is_done, done)
    assert [label.titles for label in workspace.store.labels()] == [1]
    assert not LabelQueue(workspace).unfinished()


def test_ranks_that_were_seen_forbid_a_list_and_an_edited_title_comes_again_alone(
    open_workspace: Opener, tmp_path: Path
) -> None:
    notes = [memory(f"signing {word}") for word in ("keys", "wallets", "ledgers", "tables", "people")]
    root = write_root(tmp_path / "root", notes)
    prompt, seen = Prompt("p1", "signing keys wallets ledgers tables people"), Prompt("p2", "signing people")
    typed = typed_prompt("signing wallets")
    workspace = opened(open_workspace, root=root, prompts=[prompt, seen, typed])
    workspace.show(seen.id)
    replay(workspace)
    queue = LabelQueue(workspace)
    at = known(queue.position(prompt))
    assert (len(at.pool.cards), len(at.listed)) == (3, 2)
    for other in (known(queue.position(one)).pool for one in (seen, typed)):
        assert (other.listed, other.drawn) == ((), 0.0)
    for card in at.pool.cards:
        workspace.store.label("me", prompt.id, card, "not", seed=1, blind=True, elapsed_ms=1)
    workspace.store.answer_list("me", prompt.id, at.listed, (), seed=1, blind=True, elapsed_ms=1)
    at = known(queue.position(prompt))
    assert (at.asked, queue.is_finished(prompt)) == ((), True)
    title = at.pool.listed[0].memory
    write_memory(root, memory(title.title, body="new"))
    workspace.reload()
    queue = LabelQueue(workspace)
    assert not queue.is_finished(prompt)
    replay(workspace, prompt)
    at = known(queue.position(prompt))
    assert [card.memory.id for card in at.asked] == [title.id]
    assert at.card is None


@pytest.mark.slow
async def test_a_list_that_another_app_answered_goes_away_and_marks_stay_while_it_does_not(
    open_workspace: Opener, tmp_path: Path
) -> None:
    workspace = opened(open_workspace, prompts=demo_prompts("p01", "p02"))
    async with labelling(workspace) as pilot:
        titles = await to_the_list(pilot)
        screen = screen_of(pilot)
        await press(pilot, "2", "f2", "f4")
        assert len(titles.marked) == 1, "marks wait during a visit to another screen"
        here, cards = screen.prompt.id, tuple(titles.records)
        with LabelStore.open(tmp_path / "labels.db") as other:
            other.answer_list("me", here, cards, (), seed=1, blind=True, elapsed_ms=1)
        await until(pilot, lambda: not screen.is_listing, "the other app answered")


async def test_a_store_that_cannot_be_written_keeps_the_list_with_its_marks(
    open_workspace: Opener, locked: Any, tmp_path: Path
) -> None:
    workspace = opened(open_workspace, busy_timeout_s=0.01)
    async with labelling(workspace) as pilot:
        titles = await to_the_list(pilot)
        await press(pilot, "2")
        with locked(tmp_path / "labels.db"):
            await press(pilot, "a")
            assert (len(titles.marked), said(workspace)) == (1, {})
        await press(pilot, "a")
        assert list(said(workspace).values()).count("relevant") == 1
