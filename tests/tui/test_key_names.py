"""Sentences of the app name the keys that are in force."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tui
from tests.engine.builders import memory, write_root
from tests.tui.apps import SIZE, footer, help_lines, press, reads, screen_of, told
from tests.tui.conftest import Opener
from tui.app import MemsiftApp
from tui.keys import KEYS, NAMED, keyed
from tui.widgets.bars import Tab
from tui.workspace.app_settings import AppSettings

pytestmark = pytest.mark.anyio

CHOSEN = {
    "go.browse": "f12",
    "go.replay": "f11",
    "go.label": "f10",
    "go.report": "f9",
    "list.order": "[",
    "list.filter": "ctrl+f",
    "pick.leave": "ctrl+g",
    "replay.type": "ctrl+n",
    "replay.choose": "=",
    "report.replay": "delete",
    "app.skipped": "%",
}
NO_KEYS = ("ctrl+d", "ctrl+u", "k shows the turns", 'such as "ctrl+k"')
"""Texts with keys that move in every list and cannot be changed, and with an example."""

PLACES = ("app.py", "runner.py", "screens", "dialogs", "widgets", "workspace", "workspace/no_rows.txt")
USUAL = re.compile(r"\bF[2-9]\b|\bctrl\+[a-oq-z]\b|[Pp]ress [a-zA-Z$/]\b|(?:^|[.;·,] )[b-zB-Z] [a-z]+s\b")
"""A key that is named by itself, and not by its id: "F4", "ctrl+r", "Press s", "u takes it back"."""


def texts(file: Path) -> Iterator[str]:
    """The strings of a module, without its docstrings."""
    whole = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        yield from whole.splitlines()
        return
    tree = ast.parse(whole)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_no_sentence_of_the_app_names_a_key_that_a_person_can_change() -> None:
    home = Path(tui.__file__).parent
    found = []
    for place in PLACES:
        files = [home / place] if place.endswith((".py", ".txt")) else sorted((home / place).rglob("*.py"))
        found += [(str(file.relative_to(home)), text) for file in files for text in texts(file) if USUAL.search(text)]
    assert [one for one in found if not any(word in one[1] for word in NO_KEYS)] == []


@pytest.mark.slow
async def test_titles_hints_empty_screens_and_toasts_name_the_chosen_keys(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("one"), memory("two")])
    (root / "decisions" / "bad.json").write_text("[", encoding="utf-8")
    app = MemsiftApp(open_workspace(root=root, prompts=(), judge=None), settings=AppSettings(keys=CHOSEN))
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        assert app.key_mistakes == ()
        await reads(pilot, "#where", "skipped (%)")
        tabs = " ".join(str(one.content) for one in pilot.app.screen.query(Tab))
        assert tabs == "F12 Browse F11 Replay F10 Label F9 Report W What-if I Inbox A Activity"
        assert "[ sort," in str(pilot.app.screen.query_one("#list").border_title)
        assert screen_of(pilot).listing.filter_line.placeholder.startswith("Press ctrl+f and type")
        await press(pilot, "left_square_bracket")
        assert footer(app) == "⏎ Choose · ^g Close"
        await press(pilot, "ctrl+g", "x", "1")
        await told(pilot, "u takes it back.")
        await press(pilot, "f11")
        await reads(pilot, "#prompt", "No prompts yet. ctrl+n types one")
        await press(pilot, "f10")
        await reads(pilot, "#card-text", "Press ctrl+n to type one")
        await press(pilot, "f9")
        await reads(pilot, "#answer", "ctrl+n shows what a prompt of yours would get")
        await press(pilot, "question_mark")
        assert "Press del to replay all prompts first." in help_lines(app)


def test_every_id_in_a_sentence_is_a_key_and_texts_of_people_stay_as_they_are() -> None:
    home = Path(tui.__file__).parent
    named = [
        one
        for file in (*home.rglob("*.py"), *home.rglob("*.txt"))
        for text in texts(file)
        for one in re.findall(r"\{([a-z]+\.[a-z0-9]+)\}", text)
    ]
    assert [one for one in named if one not in KEYS] == []
    assert len(named) > 60
    assert NAMED.fullmatch("{go.label}")
    assert keyed(AppSettings(), "{no.such} {0} {go.label} {whatif.more}") == "{no.such} {0} L →"  # type: ignore[arg-type]
