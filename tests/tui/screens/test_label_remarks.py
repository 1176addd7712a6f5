"""Label: the note and the reason of a label."""

import pytest
from textual.pilot import Pilot

from labels.records import Card, Event
from tests.labels.samples import known
from tests.tui.apps import card_shown, labelling, press, reads, screen_of, settled, type_ahead, widget
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


@pytest.fixture
def workspace(open_workspace: Opener) -> Workspace:
    return open_workspace(prompts=demo_prompts("p01"), judge=None)


def card(pilot: Pilot[None]) -> Card:
    return screen_of(pilot).card  # type: ignore[no-any-return]


def last(workspace: Workspace) -> Event:
    return workspace.store.events()[-1]


def is_shown(pilot: Pilot[None]) -> bool:
    return bool(widget(pilot, "RemarkLine").display)


async def test_a_note_goes_with_the_label_and_no_letter_of_it_is_a_key(workspace: Workspace) -> None:
    """Escape leaves it as it was, and an empty one is none."""
    async with labelling(workspace) as pilot:
        first = card(pilot)
        assert not is_shown(pilot)
        await press(pilot, "e", *"axu10z!mrqs", "space", "o", "backspace", "enter")
        assert workspace.store.events() == ()
        assert card(pilot) == first
        await reads(pilot, "NoteInput", "axu10z!mrqs")
        await press(pilot, "x")
        event = last(workspace)
        assert (event.memory_id, event.verdict, event.note) == (first.memory.id, "not", "axu10z!mrqs")
        assert event.blind
        assert not is_shown(pilot)
        await reads(pilot, "#recent", "− note: ")
        await press(pilot, "e", "h", "i", "enter", "e", "x", "escape")
        await reads(pilot, "NoteInput", "hi")
        await press(pilot, "e", "ctrl+u", "space", "enter")
        assert not is_shown(pilot)
        await press(pilot, "exclamation_mark")
        assert (last(workspace).verdict, last(workspace).note) == ("unrateable", "")


async def test_what_is_typed_ahead_behind_a_note_labels_after_it(workspace: Workspace) -> None:
    """A note that is typed ahead behind a label is about the next card."""
    async with labelling(workspace) as pilot:
        names = [one.memory.id for one in known(workspace.pool("p01")).cards[:3]]
        type_ahead(pilot, "e", *"max", "backspace", "enter", "x", "a", "e", *"xaz", "escape", "s")
        await settled(pilot)
        said = [(event.memory_id, event.verdict, event.note) for event in workspace.store.events()]
        assert said == [*zip(names, ("not", "relevant", "unsure"), ("ma", "", ""), strict=True)]
        type_ahead(pilot, "z", "z", "a", "e", *"xaz", "enter")
        await settled(pilot)
        assert (last(workspace).verdict, last(workspace).note) == ("relevant", "")
        assert card(pilot).memory.id == names[2]
        await reads(pilot, "NoteInput", "xaz")


@pytest.mark.slow
async def test_a_reason_is_chosen_by_its_digit_or_from_the_list(workspace: Workspace) -> None:
    async with labelling(workspace) as pilot:
        type_ahead(pilot, "w", "1", "x")
        await settled(pilot)
        await settled(pilot)
        assert [(event.verdict, event.reason) for event in workspace.store.events()] == [("not", "stale")]
        await press(pilot, "w", "down", "down", "enter")
        await reads(pilot, "RemarkLine", "Wrong")
        await press(pilot, "w", "escape", "w", "enter", "x")
        assert last(workspace).reason == "wrong"
        await press(pilot, "z", "w", "0", "x")
        assert [event.reason for event in workspace.store.events()] == ["stale", "wrong", "", ""]


@pytest.mark.slow
async def test_a_remark_waits_for_its_card(workspace: Workspace) -> None:
    """After a skip, after a visit to another screen, and when its label is taken back."""
    async with labelling(workspace) as pilot:
        first = card(pilot)
        await press(pilot, "e", "h", "i", "f2", "f4")
        await card_shown(pilot)
        await reads(pilot, "NoteInput", "hi")
        await press(pilot, "w", "2", "space")
        assert not is_shown(pilot)
        while card(pilot) != first:
            await press(pilot, "a")
        await reads(pilot, "NoteInput", "hi")
        await press(pilot, "x")
        assert (last(workspace).reason, last(workspace).note) == ("wrong", "hi")
        await press(pilot, "z")
        assert card(pilot) == first
        await reads(pilot, "RemarkLine", "Wrong")
        await press(pilot, "a")
        (said,) = (label for label in workspace.store.labels() if label.memory_id == first.memory.id)
        assert (said.verdict, said.reason, said.note) == ("relevant", "wrong", "hi")
