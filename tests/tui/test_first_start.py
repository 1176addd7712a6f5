"""A start in a project without memories: those of other projects and the demo are offered, and one key opens one."""

import json
import os
import shlex
import sys
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from textual.widgets import ProgressBar, Static

from engine.errors import RootNotFoundError
from engine.opening import files_to_build, index_file, open_index
from engine.paths import projects_dir
from engine.settings.roots import own_users
from tests.engine.curation.roots import document, write_documents
from tests.tui.apps import help_lines, text_of, until
from tui.cli import main
from tui.cli.app import open_other
from tui.dialogs.choices import Options
from tui.starting import INSTALL, INSTALLED, NO_AGENT, BuildingApp, FirstStartApp
from tui.workspace import opening
from tui.workspace.app_settings import AppSettings
from tui.workspace.judging import JudgeOptions
from tui.workspace.opening import DEMO, places

HOSTILE = "closing [/b] tag [link=http"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A project with memories and one with auto memory, both known to Claude Code. The start is in a third one."""
    root = write_documents(tmp_path / HOSTILE / ".claude" / "memory", [document("one"), document("two")])
    projects = Path(projects_dir(os.environ))
    first, second = projects / "-first", projects / "-second"
    auto = second / "memory"
    for folder in (first, auto):
        folder.mkdir(parents=True)
    row = json.dumps({"type": "user", "cwd": str(tmp_path / HOSTILE)})
    (first / "a.jsonl").write_text(f'{{"type": "summary"}}\n{row}\n', "utf-8")
    (first / "b.jsonl").write_text("not JSON\n", "utf-8")
    (auto / "MEMORY.md").write_text("- [Note](note.md)\n", "utf-8")
    (auto / "note.md").write_text("---\nname: note\ndescription: A note\n---\nText\n", "utf-8")
    start = tmp_path / "start"
    start.mkdir()
    monkeypatch.chdir(start)
    return root, auto


def test_roots_of_other_projects_are_found_with_counts(machine: tuple[Path, Path]) -> None:
    found = {one.root: (one.memories, one.transcripts) for one in places(os.environ)}
    assert found == {str(machine[0]): (2, 2), str(machine[1]): (1, 0)}


def test_a_folder_of_another_user_is_not_offered(machine: tuple[Path, Path]) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    other = max(own_users(os.environ)) + 1
    os.chown(machine[0], other, other)
    os.chown(machine[1], other, other)
    assert places(os.environ) == ()


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["enter", "1", "i", "d"])
async def test_one_key_opens_a_root_the_hook_or_the_demo_and_help_names_it(
    machine: tuple[Path, Path], key: str
) -> None:
    found = places(os.environ)
    app = FirstStartApp(found, {"Claude Code": True, "Codex": False}, 3, AppSettings())
    async with app.run_test(size=(60, 20)) as pilot:
        seen = " ".join(str(one.render()) for one in app.screen.query(Static))
        assert "Coding agents on this machine: Claude Code and Codex." in seen
        assert "The hook is in Claude Code." in seen
        assert "This project has 3 prompts." in seen
        listed = text_of(app.query_one(Options))
        assert HOSTILE in listed.replace("\n", "")
        assert "2 memories · 2 transcripts · " in listed
        await pilot.press("question_mark")
        shown = help_lines(app)
        assert "Try the example data" in shown
        assert "ctrl+p" not in shown
        await pilot.press("question_mark", key)
        await until(pilot, lambda: app._exit)
    assert found[0].root in {str(one) for one in machine}
    assert app.return_value == {"i": INSTALL, "d": DEMO}.get(key, found[0].root)


@pytest.mark.anyio
@pytest.mark.parametrize(("agents", "why"), [({}, NO_AGENT), ({"Codex": True}, INSTALLED)])
async def test_the_hook_is_not_offered_where_it_cannot_be_installed(agents: dict[str, bool], why: str) -> None:
    app = FirstStartApp((), agents, 0, AppSettings())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("i", "2", "question_mark")
        assert why in help_lines(app)
        assert not app._exit
        await pilot.press("question_mark", "enter")
        await until(pilot, lambda: app._exit)
    assert app.return_value == DEMO, "the first row where there is no root"


@pytest.mark.usefixtures("machine")
def test_a_choice_of_the_hook_installs_it(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the only agent without it, so that nothing is asked."""
    monkeypatch.setattr("shutil.which", lambda *_, **_options: None)
    monkeypatch.setattr(FirstStartApp, "run", lambda _: INSTALL)
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    with click.Context(main):
        open_other(RootNotFoundError("none"), JudgeOptions(is_off=True), None, is_plain=False)
    assert "UserPromptSubmit" in (private_home / ".claude" / "settings.json").read_text("utf-8")


def test_without_a_terminal_the_list_is_printed(machine: tuple[Path, Path]) -> None:
    result = CliRunner().invoke(main, [])
    assert result.exit_code == 2
    assert "There are no memories here" in result.stderr
    assert f"memsift --root {shlex.quote(str(machine[1]))}  (1 memory · 0 transcripts · " in result.stderr
    assert result.stdout == ""


# The first reading of many memories: a bar in the app and on stderr, and a quit that leaves nothing half done


COUNT = 1100


@pytest.fixture
def many(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "many", [document(f"m{number}") for number in range(COUNT)])


@pytest.mark.anyio
async def test_the_app_shows_a_bar_and_a_quit_keeps_nothing(many: Path) -> None:
    assert files_to_build(str(many), os.environ) == COUNT
    left = BuildingApp(str(many), COUNT)
    async with left.run_test(size=(60, 20)) as pilot:
        assert "1,100 memories" in str(left.query_one(Static).render())
        await until(pilot, lambda: left.query_one(ProgressBar).progress > 0, "the bar moves")
        await pilot.press("q")
        await until(pilot, lambda: left._exit, "q leaves")
    assert left.return_value is None
    done = BuildingApp(str(many), COUNT)
    async with done.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: done._exit, "the end")
    assert done.return_value is True
    with closing(open_index(str(many), os.environ)) as index:
        assert len(index) == COUNT


def test_a_command_shows_a_bar_where_somebody_watches(
    many: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with opening.opened_index(str(many)) as index:
        assert len(index) == COUNT
    said = capsys.readouterr().err
    assert "Reading 1,100 memories for the first time" in said
    assert "1100/1100" in said
    with opening.opened_index(str(many)):
        assert capsys.readouterr().err == "", "once"
    assert Path(index_file(os.path.realpath(many), os.environ)).exists()
