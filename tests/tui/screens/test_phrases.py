"""Phrases in the app: Browse shows and changes them, and a prompt becomes one where a memory was missed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.paths import state_dir
from engine.phrases.file import read_phrases
from engine.prompt import typed_prompt
from engine.settings.trust import trust
from tests.engine.builders import fillers, memory, write_root
from tests.tui.apps import checked, labelling, press, reads, running, screen_of, shown, table, told, until, widget
from tests.tui.conftest import Opener
from tests.tui.demo import fresh_cutoff
from tui.dialogs.memories import MemoryForm
from tui.dialogs.questions import AskLine
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

LEDGER = memory("Idempotency keys of the ledger", memory_id="ledger", body="Every write carries a key.")
ASK = typed_prompt("why was the customer charged twice")
HOSTILE = "customer charged [b]twice[/b] [/"


@pytest.fixture
def root(tmp_path: Path, private_home: Path) -> Path:  # noqa: ARG001
    """A trusted root."""
    made = write_root(tmp_path / "project/.claude/memory", [LEDGER, *fillers(9)]).resolve()
    trust(str(made), os.environ)
    return made


def opened(open_workspace: Opener, root: Path, *prompts: Any) -> Workspace:
    return open_workspace(root=root, prompts=prompts, judge=None, annotator="ana", cutoff=fresh_cutoff())


def write(
    file: Path, *phrases: str, memory_id: str = "ledger", by: str = "model tiny", digest: str = LEDGER.summary.digest
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = ({"id": memory_id, "phrase": text, "digest": digest[:16], "by": by, "at": "2026-01-01"} for text in phrases)
    with file.open("a", encoding="utf-8") as opened_file:
        opened_file.writelines(f"{json.dumps(row)}\n" for row in rows)


def phrases(root: Path) -> dict[str, str]:
    """Phrase -> its writer."""
    return {row.phrase: row.by for row in read_phrases(str(root), os.environ).rows.get("ledger", ())}


def found(pilot: Pilot[None], check: str) -> list[str]:
    """The memories that a check of the Inbox found."""
    return [one.finding.memory_id for one in widget(pilot, "InboxList").records if one.finding.check == check]


def form(pilot: Pilot[None]) -> MemoryForm:
    assert isinstance(pilot.app.screen, MemoryForm)
    return pilot.app.screen


async def test_browse_shows_phrases_with_their_writer_and_whether_they_fit_a_prompt(
    open_workspace: Opener, root: Path
) -> None:
    write(root / ".memsift/phrases.jsonl", HOSTILE, "a payment came two times")
    workspace = opened(open_workspace, root, ASK)
    workspace.keep(workspace.run(ASK, "memsift+default"))
    workspace.show(ASK.id)
    async with running("browse", workspace) as pilot:
        await press(pilot, "slash", *"ledger", "enter")
        await reads(pilot, "#detail-text", "Asked as · p changes them")
        await reads(pilot, "#detail-text", f"{HOSTILE} model tiny · fits 1 prompt")
        await reads(pilot, "#detail-text", "a payment came two times model tiny · fits no prompt yet")
        assert "trust" not in shown(pilot, "#detail-text")


async def test_phrases_of_a_root_that_nobody_trusts_are_shown_with_the_words_that_they_do_not_count(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "cloned/.claude/memory", [LEDGER, *fillers(9)]).resolve()
    write(root / ".memsift/phrases.jsonl", HOSTILE)
    async with running("browse", opened(open_workspace, root)) as pilot:
        await press(pilot, "slash", *"ledger", "enter")
        await reads(pilot, "#detail-text", f"do not count until you trust these memories: memsift trust {root}")
        await press(pilot, "p")
        first = str(form(pilot).query(".name").first().render())
        assert f"It does not count until you trust these memories: memsift trust {root}" in first


async def test_p_adds_edits_and_removes_phrases_and_u_takes_it_back(open_workspace: Opener, root: Path) -> None:
    write(root / ".memsift/phrases.jsonl", "first phrase here", "second phrase here", digest="0" * 16)
    before = phrases(root)
    async with running("browse", opened(open_workspace, root)) as pilot:
        await press(pilot, "slash", *"ledger", "enter")
        await reads(pilot, "#detail-text", "Asked as, older than its text")
        await press(pilot, "p")
        area = widget(pilot, "TextArea")
        assert (area.text.split("\n"), area.cursor_location) == ([*sorted(before), ""], (2, 0)), "for a new phrase"
        area.text = f"second phrase here\n\n  {HOSTILE}  \n{'word ' * 21}"
        await press(pilot, "ctrl+s")
        assert "more than 20 words" in str(form(pilot).told.render())
        area.text = f"second phrase here\n\n  {HOSTILE}  "
        await press(pilot, "ctrl+s")
        await told(pilot, "1 phrase added and 1 phrase removed")
        assert phrases(root) == {"second phrase here": "model tiny", HOSTILE: "ana"}
        assert "older" not in shown(pilot, "#detail-text")
        await reads(pilot, "#detail-text", f"{HOSTILE} ana")
        await press(pilot, "u")
        await told(pilot, "The change of phrases is taken back.")
        assert phrases(root) == before
        # after a change of the memory, u takes that change back
        await press(pilot, "x", "1")
        await told(pilot, "Retired ledger")
        await press(pilot, "u")
        await told(pilot, "Took back: Retired ledger")


async def test_in_replay_a_prompt_becomes_a_phrase_of_any_memory_after_a_question(
    open_workspace: Opener, root: Path
) -> None:
    async with running("replay", opened(open_workspace, root, ASK)) as pilot:
        assert not table(pilot).records
        await press(pilot, "p", *"ledger", "enter")
        dialog = pilot.app.screen
        assert isinstance(dialog, AskLine)
        assert dialog.line.value == ASK.text
        file = root / ".memsift/phrases.jsonl"
        assert str(file) in dialog._hint
        await press(pilot, "escape")
        assert not file.exists()
        await press(pilot, "p", *"ledger", "enter", "enter")
        await told(pilot, f"1 phrase added: {file}.")
        await until(pilot, lambda: table(pilot).records, "the memory is found")
        assert phrases(root) == {ASK.text: "ana"}
        (row,) = table(pilot).records
        assert (row.memory.id, row.is_injected) == ("ledger", True)
        await press(pilot, "right", "p")
        assert not isinstance(pilot.app.screen, AskLine), "the hook injects it"


async def test_a_relevant_memory_that_was_missed_names_the_key_and_its_row_needs_no_choice(
    open_workspace: Opener, root: Path
) -> None:
    write(root / ".memsift/phrases.jsonl", "charged [b]twice[/b] [/")
    async with running("replay", opened(open_workspace, root, ASK)) as pilot:
        await press(pilot, "right", "a")
        await told(pilot, "It is relevant, and was left out: p adds the prompt as its phrase.")
        await press(pilot, "p", "enter")
        await told(pilot, "1 phrase added")
        await until(pilot, lambda: table(pilot).records and table(pilot).records[0].is_injected, "it is injected")


async def test_in_label_a_prompt_becomes_a_phrase_once_its_ranks_are_shown(open_workspace: Opener, root: Path) -> None:
    write(root / ".memsift/phrases.jsonl", "charged [b]twice[/b] [/")
    async with labelling(opened(open_workspace, root, ASK)) as pilot:
        screen = screen_of(pilot)
        assert "hidden" in screen.why_off("phrase", ())
        await press(pilot, "a")
        await reads(pilot, "#revealed", "p adds the prompt as a phrase of “")
        assert screen.why_off("phrase", ()) == ""
        await press(pilot, "p", "enter")
        await told(pilot, "In Browse, p takes it out again.")
        assert phrases(root)[ASK.text] == "ana"


async def test_new_phrases_of_a_root_go_to_the_users_folder_where_the_others_are(
    open_workspace: Opener, root: Path
) -> None:
    file = Path(state_dir(str(root), os.environ), "phrases.jsonl")
    write(file, "first phrase here")
    async with running("replay", opened(open_workspace, root, ASK)) as pilot:
        await press(pilot, "p", *"ledger", "enter", "enter")
        await told(pilot, f"1 phrase added: {file}.")
        assert not (root / ".memsift").exists()


async def test_the_inbox_names_phrases_that_say_nothing(open_workspace: Opener, tmp_path: Path) -> None:
    notes = [memory(f"Note {name}", memory_id=name, body=f"All about {name}.") for name in "abcdef"]
    root = write_root(tmp_path / "root", [*notes, *fillers(20)])
    for note in notes:
        write(root / ".memsift/phrases.jsonl", "do the usual before we merge", memory_id=note.summary.id)
    async with running("inbox", opened(open_workspace, root), size=(160, 48)) as pilot:
        await checked(pilot)
        assert sorted(found(pilot, "phrases")) == [*"abcdef"]


@pytest.mark.slow
async def test_the_inbox_names_memories_without_phrases_only_where_most_have_some(
    open_workspace: Opener, tmp_path: Path, root: Path
) -> None:
    async with running("inbox", opened(open_workspace, root)) as pilot:
        await checked(pilot)
        assert "no memory has phrases: memsift phrases write" in str(widget(pilot, "#list").border_title)
        assert found(pilot, "asked") == []
    two = write_root(tmp_path / "two", [LEDGER, memory("Another", memory_id="another", body="Text.")])
    write(two / ".memsift/phrases.jsonl", "first phrase here", digest="0" * 16)
    async with running("inbox", opened(open_workspace, two)) as pilot:
        await checked(pilot)
        assert found(pilot, "asked") == ["ledger", "another"], "old ones first"
        assert "have phrases" not in str(widget(pilot, "#list").border_title)
        screen = screen_of(pilot)
        screen.tasks.go_to(next(one.id for one in screen.tasks.records[::-1] if one.finding.check == "asked"))
        await reads(pilot, "#detail-text", "p change the phrases · a accept it")
        await press(pilot, "p", *"some", "space", *"words", "ctrl+s")
        await told(pilot, "1 phrase added")
        await checked(pilot)
        assert found(pilot, "asked") == ["ledger"]
        await press(pilot, "u")
        await told(pilot, "The change of phrases is taken back.")
        await checked(pilot)
        assert found(pilot, "asked") == ["ledger", "another"]
