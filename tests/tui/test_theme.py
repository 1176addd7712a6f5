"""The theme: chosen once, there at the next start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.paths import theme_file
from tests.tui.apps import SIZE, press, settled, toasts, until
from tui.app import MemsiftApp, ThemeFile

if TYPE_CHECKING:
    from tests.tui.conftest import Opener

pytestmark = pytest.mark.anyio

USUAL, OTHER = "textual-dark", "textual-light"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(theme_file({"XDG_STATE_HOME": str(tmp_path / "state")}))


async def test_a_chosen_theme_is_there_at_the_next_start(open_workspace: Opener, file: Path) -> None:
    async with MemsiftApp(open_workspace(prompts=()), None, ThemeFile(str(file))).run_test(size=SIZE) as pilot:
        assert pilot.app.theme == USUAL
        await settled(pilot)
        assert not file.exists()
        await press(pilot, "ctrl+t", *OTHER, "enter")
        await until(pilot, lambda: pilot.app.theme == OTHER)
    for theme in (OTHER, USUAL):
        async with MemsiftApp(open_workspace(prompts=()), None, ThemeFile(str(file))).run_test(size=SIZE) as pilot:
            await settled(pilot)
            assert pilot.app.theme == theme
            pilot.app.theme = USUAL
            await settled(pilot)


@pytest.mark.parametrize(
    "content", [b"", b"no-such-theme\n", b"\xff\xfe\x00", b"textual-light" * 10_000, b"[/b]\ntextual-light"]
)
async def test_a_broken_file_is_ignored_and_the_next_choice_mends_it(
    open_workspace: Opener, file: Path, content: bytes
) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    async with MemsiftApp(open_workspace(prompts=()), None, ThemeFile(str(file))).run_test(
        size=SIZE, notifications=True
    ) as pilot:
        await settled(pilot)
        assert (pilot.app.theme, toasts(pilot)) == (USUAL, [])
        pilot.app.theme = OTHER
        await settled(pilot)
    assert ThemeFile(str(file)).read() == OTHER


async def test_where_no_theme_can_be_written_it_is_told_and_holds_for_now(open_workspace: Opener, file: Path) -> None:
    file.mkdir(parents=True)
    async with MemsiftApp(open_workspace(prompts=()), None, ThemeFile(str(file))).run_test(
        size=SIZE, notifications=True
    ) as pilot:
        pilot.app.theme = OTHER
        await until(pilot, lambda: toasts(pilot))
        assert "cannot be remembered" in toasts(pilot)[0]
        assert pilot.app.theme == OTHER


def test_it_lies_in_the_state_folder_beside_those_of_the_roots() -> None:
    assert theme_file({"XDG_STATE_HOME": "/s"}) == "/s/memsift/theme"
    assert theme_file({"HOME": "/h"}) == "/h/.local/state/memsift/theme"
