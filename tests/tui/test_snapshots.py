"""Pictures of Browse, Replay and Label, and of their dialogs, over the example data with all answers of the judge."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.judge.judge import Judge
from engine.judge.limits import Limits
from engine.judge.providers.registry import RefusingProvider
from engine.retrieval import Retrieval
from labels.pooling import draw
from tests.labels.samples import known
from tests.tui.apps import at_rest
from tests.tui.conftest import Opener
from tests.tui.demo import DEMO_ROOT, fresh_cutoff, make_workspace
from tests.tui.pictures import (
    EVERY_SIZE,
    NARROW,
    USUAL,
    Compare,
    Size,
    instant_judge,
    pictures,
    pressing,
    stopped_clock,
)
from tui.app import MemsiftApp
from tui.workspace.replay.background_run import RunProgress
from tui.workspace.workspace import Workspace

REPLAY = ("f3", "down", "down", "down", "right", "a")
EXPLAIN = ("f3", "right", "down", "down", "w")
REVEAL = ("f4", "a", "x", "a")
SCREENS = {
    "browse": ("slash", *"idemp", "enter", "down"),
    "live": ("f3", "n", "escape"),
    "replay": REPLAY,
    "label": ("f4", "a", "x"),
    "reveal": REVEAL,
    "report": (*REVEAL, "a", "x", "f5"),
}
DIALOGS = {
    "sorted": ("o", *["down"] * 4, "enter", "slash", *"kiosk", "enter", "space", "down", "space"),
    "retire": ("x", "down"),
    "form": ("e", "tab"),
    "merge": ("space", "space", "m"),
    "explain": EXPLAIN,
}
LIST = ("f4", "a", "x", "x", "2", "5", "up")
"""Labels the cards of a prompt, and marks two titles of its list card."""

FIRST_CARD = ("f4", "w", "1", "e", *"ended", "enter", "x")
"""Labels the first card with a reason and a note."""

STATES = {
    "note-and-reason": (*FIRST_CARD, "w", "4", "e", *"no", "space", *"table"),
    "choosing-a-reason": ("f4", "w", "down", "down"),
}


@pytest.fixture(scope="session")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example memories outside of every repository, so that no finding is about files of this one."""
    folder = tmp_path_factory.mktemp("apart") / "demo" / "memory"
    return Path(shutil.copytree(DEMO_ROOT, folder))


@pytest.fixture(scope="module")
def replayed(apart: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Retrieval]]:
    """A home folder with the label store and the index of a replay, and the retrievals."""
    home = tmp_path_factory.mktemp("replayed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.delenv("XDG_CACHE_HOME", raising=False)
        with closing(demo_workspace(home / "labels.db", apart)) as made:
            retrievals = [made.run(prompt, "memsift+default+judge") for prompt in made.prompts]
            for retrieval in retrievals:
                made.keep(retrieval)
    return home, retrievals


def demo_workspace(store: Path, root: Path, opener: Opener = make_workspace) -> Workspace:
    return opener(
        store=store, root=root, judge=instant_judge, annotator="ana", clock=stopped_clock, cutoff=fresh_cutoff()
    )


@pytest.fixture
def workspace(
    open_workspace: Opener, apart: Path, replayed: tuple[Path, list[Retrieval]], private_home: Path
) -> Workspace:
    home, retrievals = replayed
    shutil.copytree(home, private_home, dirs_exist_ok=True)
    made = demo_workspace(private_home / "labels.db", apart, open_workspace)
    for retrieval in retrievals:
        made.adopt(retrieval)
    return made


@pytest.mark.parametrize(
    ("keys", "size"),
    [
        *pictures(SCREENS, *EVERY_SIZE),
        *pictures(DIALOGS, NARROW),
        *pictures(STATES, USUAL, is_slow=True),
    ],
)
def test_a_screen_looks_as_it_did(
    snap_compare: Compare, workspace: Workspace, keys: tuple[str, ...], size: Size
) -> None:
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=pressing(*keys))


@pytest.mark.parametrize(("keys", "size"), pictures({"list": LIST}, *EVERY_SIZE))
def test_a_list_card_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, apart: Path, keys: tuple[str, ...], size: Size
) -> None:
    workspace = open_workspace(root=apart, judge=None, annotator="ana", clock=stopped_clock, draw=draw)
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=pressing(*keys))


@pytest.mark.slow
def test_the_progress_of_a_run_looks_as_it_did(snap_compare: Compare, workspace: Workspace) -> None:
    async def run(pilot: Pilot[Any]) -> None:
        await pressing("f5")(pilot)
        pilot.app._show_progress(RunProgress(1_204, 10_000, 0.0123, 720.0))  # type: ignore[attr-defined]
        await at_rest(pilot)

    assert snap_compare(MemsiftApp(workspace), terminal_size=USUAL, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize(("key", "size"), pictures({"question": "dollar_sign", "waits": "down"}, USUAL))
def test_a_judge_that_costs_money_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, key: str, size: Size
) -> None:
    spending = Limits(asks_first=True)
    refusing = RefusingProvider("anthropic", "claude-haiku-4-5", "Nobody agreed.")
    workspace = open_workspace(
        judge=lambda config: Judge(spending.around(refusing), config.judge), spending=spending, clock=stopped_clock
    )
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=pressing("f3", key))


@pytest.mark.parametrize(
    ("key", "size"), [*pictures({"settle": "d"}, *EVERY_SIZE), *pictures({"label": "a"}, USUAL, is_slow=True)]
)
def test_a_difference_of_people_looks_as_it_did(
    snap_compare: Compare, workspace: Workspace, key: str, size: Size
) -> None:
    """Two people differ on a memory, one of them with a note. Label names the number of disputes and the key."""
    for system in ("memsift", "memsift+default"):
        workspace.keep(workspace.run(workspace.prompts[0], system))
    pool = known(workspace.pool(workspace.prompts[0].id))
    for who, verdict, note in [("bea", "not", "That is about the old kiosks."), ("cem", "relevant", "")]:
        how = {"seed": 1, "blind": True, "elapsed_ms": 1, "note": note}
        workspace.store.label(who, pool.prompt.id, pool.cards[0], verdict, **how)
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=pressing("f4", key))
