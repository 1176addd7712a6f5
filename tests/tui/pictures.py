"""Pictures of screens that tests keep: their sizes and the keys that lead to them. `test_contrast` measures light ones.

A screen is kept in all three sizes, a dialog or another state of a screen in one or two. Look at a picture before you
accept its change.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from textual.pilot import Pilot

from engine.config import Config
from engine.judge.judge import Judge
from engine.judge.providers.scripted import ScriptedProvider
from tests.tui.apps import at_rest, type_ahead
from tests.tui.demo import DEMO

Compare = Callable[..., bool]
Size = tuple[int, int]
NARROW, USUAL, WIDE = (60, 20), (80, 24), (160, 48)
EVERY_SIZE = (NARROW, USUAL, WIDE)


def pictures(states: dict[str, Any], *sizes: Size, is_slow: bool = False) -> list[ParameterSet]:
    """The parameters (state, size) of a test that draws each state in each size. Only the usual size may be quick."""
    return [
        pytest.param(
            state,
            size,
            id=f"{name}-{size[0]}x{size[1]}",
            marks=pytest.mark.slow if is_slow or size != USUAL else (),
        )
        for name, state in states.items()
        for size in sizes
    ]


def pressing(*keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    """Press *keys*, each when the screen is at rest."""

    async def run(pilot: Pilot[Any]) -> None:
        await at_rest(pilot)
        for key in keys:
            type_ahead(pilot, key)
            await at_rest(pilot)

    return run


def stopped_clock() -> float:
    return 0.0


def instant_judge(config: Config) -> Judge:
    """The demo's judge, on a clock that stands still."""
    provider = ScriptedProvider.from_file(str(DEMO / "judge.jsonl"), sleep=lambda _: None)
    return Judge(provider, config.judge, clock=stopped_clock)
