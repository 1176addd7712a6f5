"""The app follows the files behind it: memories, settings, the cutoff and prompts that other programs change."""

import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.config import CONFIG_FILE, DEFAULT
from engine.errors import MemsiftError
from engine.paths import config_file, state_dir, transcripts_dir
from engine.settings.trust import trust
from tests.engine import models
from tests.engine.agents.test_sessions import FIRST, FOLDER, PLACES, session
from tests.engine.curation.roots import document, rebuilt_index, write_documents
from tests.labels.samples import known
from tests.tui.apps import SIZE, app_of, at_rest, listed, press, reads, shown, starting_in, toasts, until, widget
from tui.dialogs.choices import ChooseOne
from tui.widgets.labels import NoteInput
from tui.workspace import opening
from tui.workspace.judging import JudgeOptions
from tui.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

NAMES = ("alpha", "beta", "delta", "gamma", "kappa")
PROMPT = '{{"prompt": "{}"}}\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root of five memories."""
    return write_documents(tmp_path / "own", [document(name, title=f"Memory {name} cache") for name in NAMES])


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    file = tmp_path / "prompts.jsonl"
    file.write_text(PROMPT.format("why is the alpha cache slow"), "utf-8")
    return file


@asynccontextmanager
async def opened(place: Path, prompts: Path | None, screen: str = "browse") -> AsyncIterator[Pilot[None]]:
    """The app as `memsift --root` opens it, with nothing under way."""
    named, store, judge = [str(prompts)] if prompts else [], str(place.parent / "l.db"), JudgeOptions(is_off=True)
    with closing(opening.open_workspace(str(place), named, judge, store, os.environ)) as workspace:
        app = starting_in(screen, workspace)
        app.NOTIFICATION_TIMEOUT = 0.3  # news waits until a toast has gone
        async with app.run_test(size=SIZE, notifications=True) as pilot:
            await at_rest(pilot)
            yield pilot


def cursor(pilot: Pilot[None]) -> str:
    return str(widget(pilot, "MemoryList").current.id)


def workspace_of(pilot: Pilot[None]) -> Workspace:
    return app_of(pilot).workspace


def file_of(place: Path, name: str) -> Path:
    return place / "decisions" / f"{name}.json"


def write(place: Path, name: str, **others: Any) -> None:
    """Write a memory as another program does: the file, and then the list of memories."""
    file_of(place, name).write_text(json.dumps(document(name, **others)), "utf-8")
    (place / "index.md").write_text(rebuilt_index(place), "utf-8")


def remove(place: Path, name: str) -> None:
    file_of(place, name).unlink()
    (place / "index.md").write_text(rebuilt_index(place), "utf-8")


async def told(pilot: Pilot[None], text: str) -> None:
    await until(pilot, lambda: any(text in one for one in toasts(pilot)), f"a toast with {text!r}")


@pytest.mark.slow
async def test_the_list_follows_files_and_keeps_cursor_selection_filter_and_dialog(place: Path, prompts: Path) -> None:
    async with opened(place, prompts) as pilot:
        await press(pilot, "slash", *"cache", "enter", "space", "j")
        assert cursor(pilot) == "delta"
        await press(pilot, "o")
        assert isinstance(pilot.app.screen, ChooseOne)
        write(place, "aaron", title="Memory aaron cache")
        await until(pilot, lambda: "aaron" in listed(pilot), "a new memory is listed")
        write(place, "beta", title="No such word")
        await until(pilot, lambda: "beta" not in listed(pilot), "the filter holds for the new text")
        file_of(place, "gamma").rename(file_of(place, "omega"))
        write(place, "omega", title="Memory omega cache")
        await until(pilot, lambda: "omega" in listed(pilot) and "gamma" not in listed(pilot), "a renamed memory")
        assert isinstance(pilot.app.screen, ChooseOne), "the dialog stays open"
        await press(pilot, "escape")
        assert cursor(pilot) == "delta"
        assert widget(pilot, "MemoryList").selected == {"alpha"}
        remove(place, "delta")
        await until(pilot, lambda: "delta" not in listed(pilot))
        await press(pilot, "escape", "escape", "f3")
        await reads(pilot, "RankingTable", "alpha")
        remove(place, "alpha")
        await until(pilot, lambda: "alpha" not in shown(pilot, "RankingTable"), "a deleted memory does not rank")


@pytest.mark.slow
async def test_thousands_of_changes_are_one_reload_and_own_changes_none(place: Path, prompts: Path) -> None:
    async with opened(place, prompts) as pilot:
        readings = workspace_of(pilot).reading
        await press(pilot, "x", "1")
        await told(pilot, "u takes it back")
        await press(pilot, "j")
        other = write_documents(place.parent / "other", [document(f"m{number}") for number in range(2000)])
        assert workspace_of(pilot).reading == readings + 1, "the app has read its own change once"
        shutil.copytree(other, place, dirs_exist_ok=True)
        await until(pilot, lambda: len(listed(pilot)) >= 2000, f"all of them are listed, not {len(listed(pilot))}")
        assert workspace_of(pilot).reading <= readings + 3


@pytest.mark.slow
async def test_changed_settings_count_and_mistakes_are_named(place: Path, prompts: Path, private_home: Path) -> None:
    config = place / CONFIG_FILE
    async with opened(place, prompts, "replay") as pilot:
        workspace = workspace_of(pilot)
        config.write_text('{"retrieval": {"max_inject": 1}}', "utf-8")
        await until(pilot, lambda: workspace.config.max_inject == 1)
        await told(pilot, "count from now on")
        config.write_text('{"retrieval": {"max_injekt": 2, "max_results": 3}}', "utf-8")
        await told(pilot, "Did you mean 'max_inject'?")
        await until(pilot, lambda: (workspace.config.max_inject, workspace.config.max_results) == (3, 3))
        config.write_text('{"retrieval": ', "utf-8")
        await told(pilot, "is not valid JSON")
        await until(pilot, lambda: workspace.config.max_results == 10, "as in the hook, the defaults count")
        config.unlink()
        assert known(workspace.cutoff).kind == DEFAULT
        models.write_model(Path(state_dir(str(place), os.environ)), models.content(threshold=0.9))
        await until(pilot, lambda: workspace.cutoff and workspace.cutoff.threshold == 0.9, "the tuned cutoff")
        user = Path(config_file(os.environ))
        user.parent.mkdir(parents=True)
        user.write_text("[retrieval]\nmax_inject = 2\n", "utf-8")
        await until(pilot, lambda: workspace.config.max_inject == 2, "the user's file, which was not there")
        assert private_home in user.parents


def test_a_misspelt_key_is_named_before_the_app_opens(place: Path) -> None:
    (place / CONFIG_FILE).write_text('{"retrieval": {"max_injekt": 2}}', "utf-8")
    with pytest.raises(MemsiftError, match=r"max_injekt.*Did you mean 'max_inject'\?"):
        opening.open_workspace(str(place), [], JudgeOptions(), str(place.parent / "l.db"), os.environ)


async def test_new_prompts_appear_and_typed_prompts_stay(place: Path, prompts: Path) -> None:
    async with opened(place, prompts, "replay") as pilot:
        await press(pilot, "n", *"typed", "enter", "escape")
        with prompts.open("a", encoding="utf-8") as file:
            file.write(PROMPT.format("why is the beta cache slow"))
        await reads(pilot, "PromptList", "beta cache")
        assert [one.text for one in workspace_of(pilot).lists.scratch] == ["typed"]


@pytest.mark.slow
async def test_sessions_that_begin_later_are_in_the_sample(
    place: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an agent that was used here before, of one that was not, and of Claude Code."""
    monkeypatch.chdir(place)
    names = ("codex", "copilot")
    recorded = {name: Path(session(name)).read_text("utf-8").replace(FOLDER, str(place)) for name in names}
    files = {name: private_home / PLACES[name] for name in recorded}
    files["copilot"].parent.mkdir(parents=True)
    files["copilot"].write_text(recorded["copilot"].replace(FIRST, "an earlier session"), "utf-8")
    async with opened(place, None, "replay") as pilot:
        await reads(pilot, "PromptList", "an earlier session")
        files["codex"].parent.mkdir(parents=True)
        files["codex"].write_text(recorded["codex"].replace(FIRST, "a later session"), "utf-8")
        await reads(pilot, "PromptList", "a later session")
        folder = Path(transcripts_dir(str(place), os.environ))
        folder.mkdir(parents=True)
        (folder / "s.jsonl").write_text('{"type": "user", "message": {"content": "of the first agent"}}\n', "utf-8")
        await reads(pilot, "PromptList", "of the first agent")
        assert len(workspace_of(pilot).lists.sample) == 5


@pytest.mark.slow
async def test_a_replay_goes_on_while_files_change_and_settings_wait_for_its_end(place: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text("".join(PROMPT.format(f"why is the alpha cache slow {number}") for number in range(3000)), "utf-8")
    async with opened(place, many, "report") as pilot:
        workspace = workspace_of(pilot)
        await press(pilot, "R")
        await until(pilot, lambda: len(workspace.finished) > 20)
        (place / CONFIG_FILE).write_text('{"retrieval": {"max_inject": 1}}', "utf-8")
        write(place, "aaron", title="Memory aaron cache")
        await until(pilot, lambda: workspace.reading > 1, "the memories are read again")
        assert app_of(pilot).progress is not None, "the run goes on"
        assert workspace.config.max_inject == 3
        await told(pilot, "when this replay is over")
        await press(pilot, "ctrl+x")
        await until(pilot, lambda: app_of(pilot).progress is None)
        await until(pilot, lambda: workspace.config.max_inject == 1)


@pytest.mark.slow
async def test_a_note_that_is_typed_keeps_its_focus_and_text_while_the_memory_changes(
    place: Path, prompts: Path
) -> None:
    async with opened(place, prompts, "label") as pilot:
        await reads(pilot, "#card-text", "cache")
        before = workspace_of(pilot).reading
        await press(pilot, "e", "a", "b")
        for name in NAMES:
            write(place, name, title=f"Another {name} cache")
        await until(pilot, lambda: workspace_of(pilot).reading > before, "the memories are read again")
        await press(pilot, "c")
        assert isinstance(pilot.app.focused, NoteInput)
        assert "Another" not in shown(pilot, "#card-text")
        await press(pilot, "enter")
        await reads(pilot, "#card-text", "Another")
        assert workspace_of(pilot).store.labels() == ()
        await press(pilot, "e", "d", "enter", "x")
        (label,) = workspace_of(pilot).store.labels()
        assert label.note.endswith("d")


async def test_phrases_of_another_program_and_trust_are_followed(place: Path, private_home: Path) -> None:  # noqa: ARG001
    async with opened(place, None) as pilot:
        row = {"id": "beta", "phrase": "why is it so slow", "digest": "", "by": "model tiny", "at": "2026-01-01"}
        (place / ".memsift").mkdir()
        (place / ".memsift/phrases.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
        await press(pilot, "slash", *"beta", "enter")
        await press(pilot, "ctrl+r")
        await reads(pilot, "#detail-text", "do not count until you trust")
        trust(str(place), os.environ)
        await until(pilot, lambda: workspace_of(pilot).has_phrases, "the phrase counts")
        await until(pilot, lambda: "do not count" not in shown(pilot, "#detail-text"))
        await reads(pilot, "#detail-text", "why is it so slow model tiny")
