"""Browse changes memories: each key writes files, says how to undo it, and is undone from the journal."""

import json
import os
import shlex
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from engine.curation.curator import Curator
from engine.curation.journal import text_hash
from engine.curation.operations import Archive
from engine.stores.claude_memory_writing import LOCK_FOLDER
from tests.engine.curation.roots import document, perform, write_documents
from tests.tui.apps import at_rest, footer, press, reads, running, shown, toasts, told, type_ahead, until, widget
from tests.tui.conftest import Opener
from tui.dialogs.dialog import FullText
from tui.dialogs.memories import MemoryForm
from tui.keys import active_keys
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

HOSTILE = "closing [/b] tag [/ [b + x [link=http://x]y \u202eleft"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root of four valid memories."""
    others = [document(name, title=f"Memory {name}") for name in ("beta", "delta", "gamma")]
    return write_documents(tmp_path / "own", [document("alpha", title=f"Alpha {HOSTILE}"), *others])


@pytest.fixture
def workspace(open_workspace: Opener, place: Path) -> Workspace:
    return open_workspace(root=place, prompts=(), judge=None)


def stored(place: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "decisions" / f"{name}.json").read_text("utf-8"))
    return found


def statuses(pilot: Pilot[None]) -> dict[str, str]:
    """Memory id -> status, as the list shows them."""
    rows: Any = pilot.app.screen_stack[0].query_one("MemoryList")
    return {one.id: one.status for one in rows.records}


async def test_x_retires_or_archives_r_restores_t_changes_tags_and_u_takes_it_back(
    workspace: Workspace, place: Path
) -> None:
    before = (place / "decisions" / "alpha.json").read_bytes(), (place / "index.md").read_bytes()
    async with running("browse", workspace) as pilot:
        await press(pilot, "x", "1")
        await told(pilot, "Retired alpha: stale. u takes it back.")
        assert stored(place, "alpha")["record_status"] == "retired"
        assert stored(place, "alpha")["retired_reason"] == "stale"
        assert "alpha" not in (place / "index.md").read_text("utf-8")
        assert statuses(pilot)["alpha"] == "retired"
        await reads(pilot, "#detail-text", "retired")
        for key, said, status in (("u", "Took back", "active"), ("U", "Did again", "retired"), ("u", "Took", "active")):
            await press(pilot, key)
            await told(pilot, said)
            assert statuses(pilot)["alpha"] == status
        assert ((place / "decisions" / "alpha.json").read_bytes(), (place / "index.md").read_bytes()) == before
        await press(pilot, "x", "7")
        await told(pilot, "Archived alpha")
        assert stored(place, "alpha")["record_status"] == "archived"
        assert "change.retire" not in active_keys(pilot.app.screen), "a key that cannot act is not in the footer"
        await press(pilot, "r")
        await told(pilot, "Restored alpha")
        assert statuses(pilot)["alpha"] == "active"
        await press(pilot, "t")
        line = widget(pilot, "Input")
        assert line.value == "tag-alpha, shared"
        line.value = "shared, [b new"
        await press(pilot, "enter")
        await told(pilot, "Changed the tags of alpha")
        assert stored(place, "alpha")["tags"] == ["shared", "[b new"]
        await press(pilot, "E")
        await told(pilot, "e opens a form")
        await press(pilot, "x", "escape", "x", "0", *"[b", "escape")
        assert statuses(pilot)["alpha"] == "active", "escape retires nothing"
        await press(pilot, "x", "0", *"[/b", "enter")
        await told(pilot, "Retired alpha: [/b")
        assert stored(place, "alpha")["retired_reason"] == "[/b"
        memory: Any = workspace.memory("beta")
        await press(pilot, "down", "x", "2")
        await told(pilot, "Retired beta: wrong")
    curator = Curator(os.environ)
    assert curator.journal.tombstone(text_hash(memory.summary.title, memory.body)), "wrong leaves a tombstone"
    curator.close()


async def test_the_form_shows_mistakes_keeps_the_text_and_changes_only_what_was_typed(
    workspace: Workspace, place: Path
) -> None:
    before = stored(place, "alpha")
    async with running("browse", workspace) as pilot:
        await press(pilot, "e", "ctrl+s")
        await reads(pilot, "#told", "Nothing is changed")
        form: Any = pilot.app.screen
        assert form.query_one("VerticalScroll").scroll_y == 0, "the name of the first field is seen"
        title, _, status, *_ = form.query("TextArea")
        title.text, status.text = "", "perhaps"
        await press(pilot, "ctrl+s")
        await reads(pilot, "#told", "title must be a text")
        await reads(pilot, "#told", "status must be one of proposed, accepted")
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, MemoryForm)
        await reads(pilot, "#told", "esc again")
        await press(pilot, "escape")
        assert not isinstance(pilot.app.screen, MemoryForm)
        assert stored(place, "alpha") == before
        await press(pilot, "e")
        form = pilot.app.screen
        areas = dict(zip([field.name for field in form._form], form.query("TextArea"), strict=True))
        assert areas["rationale"].text == "It is less."
        areas["rationale"].text = f"One reason.\n{HOSTILE}\n[b + x"
        await press(pilot, "ctrl+s")
        await told(pilot, "Edited alpha")
    after = stored(place, "alpha")
    assert after["content"]["rationale"] == ["One reason.", HOSTILE, "[b + x"]
    assert after["title"] == before["title"]
    assert {**after["content"], "rationale": 0} == {**before["content"], "rationale": 0}


async def test_the_change_of_another_program_is_refused_with_its_difference(workspace: Workspace, place: Path) -> None:
    async with running("browse", workspace) as pilot:
        await reads(pilot, "#detail-text", "Alpha")
        await at_rest(pilot)  # the findings come later, and show the memory once more, as its file is then
        path = place / "decisions" / "alpha.json"
        path.write_text(path.read_text("utf-8").replace("Use one.", f"Use [/b] two {'long ' * 50}."), encoding="utf-8")
        await press(pilot, "x", "1")
        await until(pilot, lambda: isinstance(pilot.app.screen, FullText), "the difference")
        await at_rest(pilot)
        await reads(pilot, "FullText Static", "Use [/b] two")
        assert stored(place, "alpha")["record_status"] == "active"
        await press(pilot, "escape")
        await reads(pilot, "#detail-text", "Use [/b] two")
        await press(pilot, "x", "1")
        await told(pilot, "Retired alpha")


async def test_a_read_only_format_says_so(open_workspace: Opener, tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "one.md").write_text("# One\n\nText.\n", encoding="utf-8")
    (root / "two.md").write_text("# Two\n\nText.\n", encoding="utf-8")
    async with running("browse", open_workspace(root=root, prompts=())) as pilot:
        for key in ("x", "t", "e", "E"):
            pilot.app.clear_notifications()
            await press(pilot, key)
            await told(pilot, "which memsift only reads")
            assert len(pilot.app.screen_stack) == 1


class SuspendableDriver(HeadlessDriver):
    """A driver without a terminal that can be given to an editor, as a real terminal can."""

    can_suspend = True

    def suspend_application_mode(self) -> None:
        """There is no terminal to give away."""

    resume_application_mode = suspend_application_mode


def with_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", shlex.quote(str(editor)))
    monkeypatch.setattr("textual.drivers.headless_driver.HeadlessDriver", SuspendableDriver)


async def test_the_editor_of_the_person_changes_the_file(
    workspace: Workspace, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_editor(monkeypatch, tmp_path, 'sed -i "s/We had two/We had [b three/" "$1"')
    async with running("browse", workspace) as pilot:
        await press(pilot, "E")
        await told(pilot, "Edited alpha. u takes it back.")
        assert stored(place, "alpha")["content"]["context"] == "We had [b three."
        await reads(pilot, "#detail-text", "We had [b three.")


async def test_a_fact_of_memory_md_offers_the_editor_only_which_gets_the_file_itself(
    open_workspace: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_editor(monkeypatch, tmp_path, 'sed -i "s/at noon/at six/" "$1"')
    root = tmp_path / "projects/x/memory"
    root.mkdir(parents=True)
    (root / "MEMORY.md").write_text("# Facts\n\n- The gate opens at noon.\n- The bell is broken.\n", encoding="utf-8")
    (root / "zebra.md").write_text("A zebra.\n", encoding="utf-8")
    async with running("browse", open_workspace(root=root, prompts=(), judge=None)) as pilot:
        assert "x Retire" in footer(pilot.app), "notes come first"
        await press(pilot, "end", "up")
        assert "Retire" not in footer(pilot.app)
        assert "E Editor" in footer(pilot.app)
        await press(pilot, "question_mark", *"tags", "enter")
        await told(pilot, "It is a part of MEMORY.md: E opens the file in your editor.")
        await press(pilot, "E")
        await reads(pilot, "MemoryList", "at six")


async def test_a_text_that_the_schema_refuses_is_kept_for_its_writer(
    workspace: Workspace, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private_home: Path
) -> None:
    with_editor(monkeypatch, tmp_path, 'sed -i "s/accepted/perhaps/" "$1"')
    async with running("browse", workspace) as pilot:
        await press(pilot, "E")
        await told(pilot, "status must be one of")
        await told(pilot, "Your text is in")
    assert stored(place, "alpha")["content"]["status"] == "accepted"
    assert "perhaps" in (private_home / ".local/state/memsift/refused-alpha.json").read_text("utf-8")


async def test_keys_act_on_all_selected_memories_and_u_takes_back_all_of_it(workspace: Workspace) -> None:
    async with running("browse", workspace) as pilot:
        await press(pilot, "space", "down", "space")
        await reads(pilot, "#list", "2 selected")
        await press(pilot, "slash", *"delta", "enter")
        await reads(pilot, "#list", "1 of 4 memories · 1 selected")
        await press(pilot, "escape", "escape", "home", "space", "down", "space")
        await press(pilot, "x", "3")
        await told(pilot, "Retired 2 memories. u takes all of it back.")
        assert statuses(pilot) == {"alpha": "retired", "beta": "active", "delta": "retired", "gamma": "active"}
        assert "selected" not in shown(pilot, "#list")
        await press(pilot, "u")
        await told(pilot, "Took back: Retired delta: duplicate, and 1 more.")
        assert set(statuses(pilot).values()) == {"active"}
        # the asterisk selects all that the filter shows, and escape none
        await press(pilot, "slash", *"memory", "enter", "asterisk")
        await reads(pilot, "#list", "3 of 4 memories · 3 selected")
        await press(pilot, "asterisk")
        assert "selected" not in shown(pilot, "#list")
        await press(pilot, "ctrl+a", "escape")
        assert "selected" not in shown(pilot, "#list")
        await press(pilot, "asterisk", "x", "7")
        await told(pilot, "Archived 3 memories")
        await press(pilot, "escape")
        assert statuses(pilot) == {"alpha": "active", "beta": "archived", "delta": "archived", "gamma": "archived"}


@pytest.mark.slow
async def test_tags_of_many_are_changed_those_whose_status_does_not_fit_are_left_out_and_u_reaches_commands(
    workspace: Workspace, place: Path
) -> None:
    memory: Any = workspace.memory("beta")
    perform(Archive(str(place), memory.summary, "old"))
    workspace.reload()
    async with running("browse", workspace) as pilot:
        await press(pilot, "asterisk", "x", "7")
        await told(pilot, "1 of 4 are left out: already archived.")
        await told(pilot, "Archived 3 memories")
        await press(pilot, "asterisk", "t", *"new,-shared", "enter")
        await told(pilot, "Changed the tags of 4 memories")
        assert stored(place, "alpha")["tags"] == ["tag-alpha", "new"]
        assert stored(place, "gamma")["tags"] == ["tag-gamma", "new"]
        for said in ("and 3 more.", "and 2 more.", "Took back: Archived beta: old.", "There is no change to take back"):
            await press(pilot, "u")
            await told(pilot, said)
        assert stored(place, "beta")["record_status"] == "active"


def lock_after_a_change(root: Path) -> None:
    """Take the lock as another program does, between two of many changes, so that the rest of them has to wait."""
    while not any('"archived"' in file.read_text("utf-8") for file in root.rglob("m*.json")):
        time.sleep(0.001)
    while True:
        try:
            (root / LOCK_FOLDER).mkdir()
        except FileExistsError:
            continue
        return


@pytest.mark.slow
async def test_escape_stops_a_long_change_and_keeps_what_is_done(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_documents(tmp_path / "many", [document(f"m{number:03}") for number in range(60)])
    async with running("browse", open_workspace(root=root, prompts=(), judge=None)) as pilot:
        await press(pilot, "asterisk")
        other = threading.Thread(target=lock_after_a_change, args=(root,), daemon=True)
        other.start()
        await press(pilot, "x")
        type_ahead(pilot, "7")
        await reads(pilot, "#list", "of 60 changed · esc stops")
        await until(pilot, lambda: not other.is_alive(), "the lock in the hands of the other program")
        await press(pilot, "escape")
        (root / LOCK_FOLDER).rmdir()
        await told(pilot, "of 60. u takes")
        done = [name for name, status in statuses(pilot).items() if status == "archived"]
        assert 0 < len(done) < 60
        assert any(f"Archived {len(done)} memories of 60" in one for one in toasts(pilot))
        await press(pilot, "u")
        await told(pilot, "Took back")
        assert set(statuses(pilot).values()) == {"active"}


async def test_m_shows_what_a_merge_writes_and_the_text_is_edited_there(workspace: Workspace, place: Path) -> None:
    """The difference is what is written: also the text that a person changes there."""
    async with running("browse", workspace) as pilot:
        await press(pilot, "space", "space", "m")
        await reads(pilot, "#difference-text", '+ "tag-beta"')
        await reads(pilot, "#difference-text", '+ "record_status": "retired"')
        await press(pilot, "escape")
        assert stored(place, "beta")["record_status"] == "active"
        await press(pilot, "m", "ctrl+o", *"New ")
        await reads(pilot, "#difference-text", '+ "title": "New Memory beta"')
        await press(pilot, "escape", "ctrl+s")
        await told(pilot, "Merged alpha into beta. u takes it back.")
        assert stored(place, "beta")["title"] == "New Memory beta"
        assert stored(place, "alpha")["retired_reason"] == "superseded by beta"
        assert stored(place, "beta")["tags"] == ["tag-beta", "shared", "tag-alpha"]
        await press(pilot, "u")
        await told(pilot, "Took back: Merged alpha into beta.")
        assert set(statuses(pilot).values()) == {"active"}
        # on a single memory, it asks for the other
        await press(pilot, "home", "m", *"gamma", "enter")
        await reads(pilot, "#difference-text", '+ "tag-gamma"')
        await press(pilot, "ctrl+s")
        await told(pilot, "Merged gamma into alpha")
        assert stored(place, "gamma")["record_status"] == "retired"


async def test_a_merge_suggests_the_lines_that_only_the_others_have(open_workspace: Opener, tmp_path: Path) -> None:
    root = tmp_path / "projects/x/memory"
    root.mkdir(parents=True)
    (root / "MEMORY.md").touch()
    for name, body in (("a", "One.\nShared."), ("b", "Shared.\n\nTwo.")):
        (root / f"{name}.md").write_text(f"---\nname: {name}\ndescription: The {name}\ntype: user\n---\n{body}\n")
    async with running("browse", open_workspace(root=root, prompts=(), judge=None)) as pilot:
        await press(pilot, "space", "space", "m")
        await reads(pilot, "#difference-text", "+Two.")
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "superseded by a" in (root / "b.md").read_text())
    assert (root / "a.md").read_text().endswith("---\nOne.\nShared.\n\nTwo.\n\nMerged with [[b]].\n")


async def test_a_memory_moves_to_another_root_and_back(workspace: Workspace, tmp_path: Path) -> None:
    target = write_documents(tmp_path / "[b target", [document("omega")])
    async with running("browse", workspace) as pilot:
        await press(pilot, "M", *"nowhere", "enter")
        await told(pilot, "nowhere")
        await press(pilot, "M")
        widget(pilot, "Input").value = str(target)
        await press(pilot, "enter")
        await told(pilot, "Moved alpha to")
        assert (target / "decisions" / "alpha.json").exists()
        assert "alpha" not in statuses(pilot)
        await press(pilot, "u")
        await told(pilot, "Took back: Moved alpha")
        assert not (target / "decisions" / "alpha.json").exists()
        assert statuses(pilot)["alpha"] == "active"
