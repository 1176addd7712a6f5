"""A person at the app who changes memories and labels cards until the process is killed."""

import asyncio
import os
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.tui.apps import app_of, card_shown, press, settled, until
from tui.app import MemsiftApp
from tui.workspace import opening
from tui.workspace.judging import JudgeOptions

READY = "ready"
CHANGES = (
    ("x", "1"),
    ("x", "3"),
    ("a",),
    ("r",),
    ("t", "n", "e", "w", "enter"),
    ("e", "Z", "ctrl+s"),
    ("space", "space", "m", "ctrl+s"),
    ("u",),
    ("u",),
)
"""Keys in Browse: retire for a reason, archive, restore, tag, edit, merge two, take back."""


CARDS = 4
"""Cards that are labelled after a change."""


def say(out: int, *words: str) -> None:
    """Acknowledge: the reader of the pipe may rely on it from now on."""
    os.write(out, (" ".join(words) + "\n").encode())


async def change(pilot: Pilot[None], chance: random.Random) -> None:
    """Change memories with keys, and wait until the app is done."""
    await press(pilot, "f2", *("j",) * chance.randrange(7), *chance.choice(CHANGES))
    screen: Any = pilot.app.screen_stack[0]
    await until(pilot, lambda: not screen.changes.is_under_way)
    await press(pilot, *("escape",) * (len(pilot.app.screen_stack) - 1), "escape", "home")


async def label(pilot: Pilot[None], chance: random.Random, out: int) -> None:
    """Label a card in Label, and acknowledge it once the app shows the next. Sometimes take the last label back."""
    await card_shown(pilot)
    screen: Any = pilot.app.screen
    card, workspace = screen.card, app_of(pilot).workspace
    before = len(workspace.store.events(workspace.annotator))
    other = "x" if screen.is_listing else "space"
    await press(pilot, chance.choice("axu" if chance.random() < 0.8 else "z") if card else other)
    await settled(pilot)
    if card is None or screen.card == card:
        return
    for event in workspace.store.events(workspace.annotator)[before:]:
        say(out, event.action, event.uid)


async def use(roots: Sequence[Path], prompts: Path, labels: Path, seed: int, out: int) -> None:
    chance = random.Random(seed)
    first, *others = map(str, roots)
    judge = JudgeOptions(is_off=True)
    workspace = opening.open_workspace(first, [str(prompts)], judge, str(labels), os.environ, others=others)
    async with MemsiftApp(workspace).run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        say(out, READY)
        while True:
            await change(pilot, chance)
            await press(pilot, "f4")
            for _ in range(CARDS):
                await label(pilot, chance, out)


def kill_a_person(roots: Sequence[Path], prompts: Path, labels: Path, seed: int, seconds: float) -> list[list[str]]:
    """Let a person use the app for some *seconds*. The acknowledgements, without a line that the kill cut off."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            asyncio.run(use(roots, prompts, labels, seed, writing))
        finally:
            os._exit(1)
    os.close(writing)
    said = os.read(reading, 4096)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        said += pipe.read()
    assert os.WIFSIGNALED(status), "the app ended by itself"
    ready, *lines = (line.split() for line in said.decode().split("\n")[:-1])
    assert ready == [READY]
    return lines
