"""The running app in tests: keys to press, screens to wait for, texts to read."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.app import App
from textual.events import Key
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, TextArea

import tui
from tui.app import MemsiftApp
from tui.widgets.ranking_table import RankingTable
from tui.workspace.workspace import Workspace

DEADLINE_S = 20.0
QUIET_ROUNDS, MAX_ROUNDS = 3, 100
SIZE = (110, 32)
SMALL, TINY = (60, 20), (30, 8)
CHARACTERS = {"space": " ", "slash": "/"}
SCREENS = {mode: f"f{key}" for key, mode in enumerate("browse replay label report whatif inbox activity".split(), 2)}


def starting_in(mode: str, workspace: Workspace) -> MemsiftApp:
    """An app that shows the screen *mode* first, which is quicker than going there from Browse."""
    own = {"DEFAULT_MODE": mode, "CSS_PATH": Path(tui.__file__).parent / "app.tcss"}
    started: MemsiftApp = type("MemsiftApp", (MemsiftApp,), own)(workspace)
    return started


async def until(_: Pilot[None], condition: Callable[[], object], what: str = "") -> None:
    """Let the app work until *condition* holds; AssertionError after DEADLINE_S."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"never came true: {what or condition}"
        await asyncio.sleep(0.01)


async def judged(pilot: Pilot[None], prompt_id: str) -> None:
    """Wait for the judge's answer to a prompt, and for the screen that shows it."""
    app = app_of(pilot)
    await until(pilot, lambda: app.workspace.retrieval(prompt_id, "memsift+judge"), f"the judge answers {prompt_id}")
    await settled(pilot)


async def card_shown(pilot: Pilot[None]) -> None:
    """Wait until Label asks about a card, shows a reveal, or is done."""
    screen: Any = app_of(pilot).screen
    await until(pilot, lambda: screen.position is not None or screen.prompt is None, "a card")
    await settled(pilot)


async def checked(pilot: Pilot[None]) -> None:
    """Wait until the checks of the Inbox are done."""
    screen = screen_of(pilot)
    await until(pilot, lambda: screen._checked is not None and not screen.listing.progress, "the checks are done")


@asynccontextmanager
async def running(mode: str, workspace: Workspace, size: tuple[int, int] = SIZE) -> AsyncIterator[Pilot[None]]:
    """The app on the screen *mode*, once nothing is under way in its widgets."""
    async with starting_in(mode, workspace).run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        yield pilot


@asynccontextmanager
async def labelling(workspace: Workspace) -> AsyncIterator[Pilot[None]]:
    """The app on Label, which has a card."""
    async with running("label", workspace) as pilot:
        await card_shown(pilot)
        yield pilot


def app_of(pilot: Pilot[None]) -> MemsiftApp:
    assert isinstance(pilot.app, MemsiftApp)
    return pilot.app


def screen_of(pilot: Pilot[None]) -> Any:
    """The screen or dialog on top, of whatever class."""
    return pilot.app.screen


def widget(pilot: Pilot[None], selector: str) -> Any:
    """The only widget of the screen or dialog on top that matches *selector*, of whatever class."""
    return pilot.app.screen.query_one(selector)


def listed(pilot: Pilot[None], kind: str = "MemoryList") -> list[str]:
    """The ids of the rows of a list, also while a dialog lies over it."""
    rows: Any = pilot.app.screen_stack[0].query_one(kind)
    return [one.id for one in rows.records]


def table(pilot: Pilot[None]) -> RankingTable:
    """The ranking of Replay or of a reveal."""
    return widget(pilot, "RankingTable")  # type: ignore[no-any-return]


def current_prompt(pilot: Pilot[None]) -> str:
    return str(widget(pilot, "PromptList").current.id)


def text_of(widget: Widget) -> str:
    """The lines that a widget shows now, with its title, without the sides of its frame."""
    lines = widget.render_lines(Region(0, 0, *widget.outer_size))
    return "\n".join(strip.text.replace("│", " ").rstrip() for strip in lines)


def flat(text: str) -> str:
    """*text* on one line, without the line breaks of wrapping."""
    return " ".join(text.split())


def shown(pilot: Pilot[None], selector: str) -> str:
    """The text of the only widget that matches *selector*, on one line."""
    return flat(text_of(pilot.app.screen.query_one(selector)))


def help_lines(app: App[Any]) -> str:
    """The lines of the open help, on one line."""
    found: Any = app.screen.query_one("Options")
    return flat("\n".join(str(option.prompt) for option in found.options))


def footer(app: App[Any]) -> str:
    """The keys of the footer with their names."""
    found: Any = app.screen.query("KeyFooter FooterKey")
    return " · ".join(f"{key.key_display} {key.description}" for key in found)


async def reads(pilot: Pilot[None], selector: str, text: str) -> None:
    """Wait until the only widget that matches *selector* shows *text*."""

    def there() -> bool:
        return bool(pilot.app.screen.query(selector)) and text in shown(pilot, selector)

    await until(pilot, there, f"{selector} reads {text!r}")


def toasts(pilot: Pilot[None]) -> list[str]:
    """The messages of all visible toasts, oldest first."""
    return [notification.message for notification in app_of(pilot)._notifications]


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one after the other, as `pilot.press` does, but without its pauses, and letters of a text at once."""
    for key, following in zip(keys, (*keys[1:], ""), strict=True):
        type_ahead(pilot, key)
        is_typing = isinstance(pilot.app.focused, Input | TextArea) and len(key) == 1
        if not (is_typing and len(following) == 1):
            await settled(pilot)


def type_ahead(pilot: Pilot[None], *keys: str) -> None:
    """Press all keys at once, as a person does who types while the app is busy."""
    for key in keys:
        pilot.app.post_message(Key(key, CHARACTERS.get(key, key if len(key) == 1 else None)))


async def settled(pilot: Pilot[None]) -> None:
    """Wait until no widget has had a message for a few rounds, and all is painted: a message may lead to others."""
    await _quiet(pilot)


async def at_rest(pilot: Pilot[None]) -> None:
    """Wait until all workers are done, too.

    `pilot.pause` waits until the process uses little time of the CPU, which is also so while other programs use it.
    """
    await _quiet(pilot, lambda: all(worker.is_finished for worker in app_of(pilot).workers))


async def _quiet(pilot: Pilot[None], is_over: Callable[[], bool] = lambda: True) -> None:
    quiet = 0
    async with asyncio.timeout(DEADLINE_S):
        while quiet < QUIET_ROUNDS:
            quiet = quiet + 1 if is_over() and is_quiet(pilot.app) else 0
            await asyncio.sleep(0 if quiet else 0.002)


def is_quiet(app: App[Any]) -> bool:
    """Whether every widget waits for its next message, and the screen is laid out and painted."""
    screen = app.screen
    pending = (screen._layout_required, screen._scroll_required, screen._repaint_required)
    if any(pending) or screen._dirty_widgets or screen._callbacks:
        return False
    queues = [widget._message_queue for widget in (app, *screen.walk_children(with_self=True))]
    return all(queue.ready_event._waiters and queue.empty() for queue in queues)


async def told(pilot: Pilot[None], text: str) -> None:
    """Wait for a toast that holds *text*."""
    await until(pilot, lambda: any(text in one for one in toasts(pilot)), f"a toast with {text!r}: {toasts(pilot)}")
    await at_rest(pilot)
