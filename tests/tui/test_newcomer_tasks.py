"""What a newcomer does in the first hour, on the example data, with the keys of the footer: how many keys it takes.

Copying with the mouse and everything else that it does is in `test_mouse`, an empty project in `test_first_start`.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot

from engine.paths import config_file
from labels.records import LABEL
from tests.tui.apps import app_of, at_rest, footer, help_lines, shown, toasts, type_ahead
from tui.app import MemsiftApp
from tui.demo import open_demo

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class Step(NamedTuple):
    """Keys, and what must be true after them. *typed*: key -> the letters after it, which are no keys of the app."""

    keys: tuple[str, ...]
    holds: Callable[[Any], bool]
    typed: Mapping[str, str] = {}


def current(pilot: Pilot[None]) -> Any:
    screen: Any = pilot.app.screen_stack[0]
    return screen.current_memory


def own_labels(pilot: Pilot[None]) -> int:
    store, me = app_of(pilot).workspace.store, app_of(pilot).workspace.annotator
    return sum(event.action == LABEL and event.annotator == me and not event.titles for event in store.events())


def is_renamed(pilot: Pilot[None]) -> bool:
    return (current(pilot).tags[0][:5], current(pilot).title[:5]) == ("fresh", "New: ")


def is_merged(pilot: Pilot[None]) -> bool:
    return any("Merged" in said for said in toasts(pilot))


def is_remapped(pilot: Pilot[None]) -> bool:
    written = Path(config_file(dict(os.environ))).read_text(encoding="utf-8")
    return "K Change the tags" in help_lines(pilot.app) and '"change.tags" = "K"' in written


LABELS = 20
TASKS: dict[str, list[Step]] = {
    "why was it injected": [Step(("w",), lambda pilot: "injects it: rank 1" in shown(pilot, "#text"))],
    "why not this memory": [Step(("f", "enter"), lambda pilot: "hook " in shown(pilot, "#text"))],
    "retire it, and take that back": [
        Step(("x", "1"), lambda pilot: current(pilot).status == "retired"),
        Step(("u",), lambda pilot: current(pilot).status == "active"),
    ],
    "twenty labels, with ranks": [Step(("L", *"a" * LABELS), lambda pilot: own_labels(pilot) == LABELS)],
    "strict, and its effect": [Step(("W", "s"), lambda pilot: "0 change" not in shown(pilot, "#numbers"))],
    "where people disagree": [Step(("L", "d"), lambda pilot: "People differ" in shown(pilot, "#card"))],
    "tags and title": [Step(("e", "tab", "ctrl+s"), is_renamed, {"e": "fresh ", "tab": "New: "})],
    "duplicates, and merge with another text": [Step(("I", "m", "ctrl+s"), is_merged, {"m": "Merged "})],
    "is it worth it": [Step(("T",), lambda pilot: "memories the hook added," in shown(pilot, "#answer"))],
    "another theme": [Step(("ctrl+t", "down", "enter"), lambda pilot: pilot.app.theme != "memsift")],
    "another key": [Step(("question_mark", "ctrl+n", "K"), is_remapped, {"question_mark": "change the tags"})],
    "copy": [Step(("y",), lambda pilot: pilot.app.clipboard.startswith(current(pilot).category))],
    "copy the path": [Step(("Y",), lambda pilot: pilot.app.clipboard == current(pilot).path)],
}
"""Task -> its keys: as few as the table has."""


@pytest.mark.parametrize("task", TASKS)
async def test_a_newcomer_needs_few_keys(task: str) -> None:
    """Questions of why are asked on the first screen, the live prompt."""
    start = "live" if task.startswith("why") else None
    with closing(open_demo(dict(os.environ), fresh=True)) as workspace:
        async with MemsiftApp(workspace, start).run_test(size=(80, 24), notifications=True) as pilot:
            await at_rest(pilot)
            for step in TASKS[task]:
                for key in step.keys:
                    while getattr(pilot.app.screen, "is_listing", False):  # list cards are counted apart
                        type_ahead(pilot, "x")
                        await at_rest(pilot)
                    type_ahead(pilot, key)
                    await at_rest(pilot)
                    type_ahead(pilot, *("space" if letter == " " else letter for letter in step.typed.get(key, "")))
                    await at_rest(pilot)
                assert step.holds(pilot), footer(pilot.app)
