"""Ten thousand prompts: keys are dealt with while they are replayed, and no key reads what was recorded before."""

from collections.abc import Callable

import pytest

from engine.lean.record import replace
from engine.prompt import Prompt
from tests.tui.apps import app_of, press, running, screen_of, until
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.workspace.workspace import Workspace

STEPS, FEW = 50, 500
"""Steps of SQLite's machine between two counts, and at most for a question that looks at no replayed prompt."""


def many(number: int) -> tuple[Prompt, ...]:
    base = demo_prompts()
    prompts = (base[at % len(base)] for at in range(number))
    return tuple(replace(one, id=f"q{at}", text=f"{one.text} {at}") for at, one in enumerate(prompts))


def sqlite_steps(workspace: Workspace, act: Callable[[], object]) -> int:
    """The work of the label store for *act*, counted in steps of SQLite's machine."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    connection = workspace.store._db._db.conn
    connection.set_progress_handler(count, STEPS)
    act()
    connection.set_progress_handler(None, 0)
    return counted * STEPS


def test_the_work_of_the_store_for_a_card_of_label_does_not_rise_with_the_replayed_prompts(
    open_workspace: Opener,
) -> None:
    workspace = open_workspace(judge=None, prompts=many(140))

    def replayed(prompts: tuple[Prompt, ...]) -> int:
        with workspace.store.together():
            for prompt in prompts:
                workspace.keep(workspace.run(prompt, "memsift"))
        return sqlite_steps(workspace, lambda: workspace.disputes("q1"))

    assert replayed(workspace.prompts[:40]) <= FEW
    assert replayed(workspace.prompts[40:]) <= FEW


@pytest.mark.slow
@pytest.mark.anyio
async def test_prompts_are_searched_filtered_and_sorted_while_ten_thousand_are_replayed(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None, prompts=many(10_000))
    async with running("replay", workspace) as pilot:
        app, screen = app_of(pilot), screen_of(pilot)
        await until(pilot, lambda: screen.prompt_list.count == 10_000, "the list")
        await press(pilot, "R", "G")
        assert app.progress is not None
        assert screen.prompt.id == screen.prompt_list.records[-1].id
        await press(pilot, "slash", *"9999", "enter")
        assert screen.prompt_list.count == 1
        await press(pilot, "escape", "v", "end", "up", "enter")  # unlabelled: all of them
        assert screen.prompt_list.count == 10_000
        await press(pilot, "escape", "o", "end", "enter", "j", "O")
        await until(pilot, lambda: app.progress and app.progress.done > 40, "some prompts are done")
        await press(pilot, "ctrl+x")
        await until(pilot, lambda: app.progress is None, "the run is over")
        done = len(workspace.finished)
        assert done < 10_000
        assert {(one.prompt_id, one.system) for one in workspace.store.outcomes()} == set(workspace.finished)
        await press(pilot, "R", "ctrl+x")
        assert len(workspace.finished) >= done, "finished prompts are kept"
