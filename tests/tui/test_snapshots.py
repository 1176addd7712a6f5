"""Pictures of the screens at three sizes, dark and light. Unusual sizes, and most dialogs, are slow tests.

Look at each picture before you accept a change.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.judge.judge import Judge
from engine.judge.providers.registry import RefusingProvider
from engine.judge.providers.scripted import ScriptedProvider
from engine.prompt import typed_prompt
from tests.tui.apps import at_rest, pressing, until
from tests.tui.demo import DEMO, DEMO_ROOT, fresh_cutoff, make_workspace
from tui.app import MemsiftApp
from tui.workspace.replay.background_run import RunProgress
from tui.workspace.spending import Spending

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from engine.config import Config
    from engine.retrieval import Retrieval
    from tui.workspace.workspace import Workspace

    Compare = Callable[..., bool]
    Opener = Callable[..., Workspace]
    Size = tuple[int, int]

BROWSE = ("slash", *"idemp", "enter", "down")
BROWSE_SORTED = ("o", *["down"] * 4, "enter", "slash", *"kiosk", "enter", "space", "down", "space")
RETIRE, FORM, MERGE = ("x", "down"), ("e", "tab"), ("space", "space", "m")
REPLAY = ("f3", "down", "down", "down", "right", "a")
EXPLAIN = ("f3", "right", "down", "down", "e")
LABEL = ("f4", "a", "x")
REVEAL = ("f4", "a", "x", "a")
REPORT = (*REVEAL, "enter", "a", "x", "f5", "r")
NARROW = pytest.param((60, 20), id="60x20", marks=pytest.mark.slow)
USUAL = pytest.param((80, 24), id="80x24")
WIDE = pytest.param((160, 48), id="160x48", marks=pytest.mark.slow)
SIZES = (NARROW, USUAL, WIDE)
THEMES = [
    pytest.param("textual-dark", id="dark"),
    pytest.param("textual-light", id="light", marks=pytest.mark.slow),
]


def stopped_clock() -> float:
    return 0.0


def instant_judge(config: Config) -> Judge:
    """The demo's judge, on a clock that stands still."""
    provider = ScriptedProvider.from_file(str(DEMO / "judge.jsonl"), sleep=lambda _: None)
    return Judge(provider, config.judge, clock=stopped_clock)


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
    """The example data with all answers of the judge, on a clock that stands still."""
    home, retrievals = replayed
    shutil.copytree(home, private_home, dirs_exist_ok=True)
    made = demo_workspace(private_home / "labels.db", apart, open_workspace)
    for retrieval in retrievals:
        made.adopt(retrieval)
    return made


@pytest.fixture
def without_judge(open_workspace: Opener) -> Workspace:
    """The example data after a fresh install, on a clock that stands still."""
    return open_workspace(judge=None, annotator="ana", clock=stopped_clock, cutoff=fresh_cutoff())


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "keys", [BROWSE, REPLAY, LABEL, REVEAL, REPORT], ids=["browse", "replay", "label", "reveal", "report"]
)
def test_a_screen_looks_as_it_did(
    snap_compare: Compare, workspace: Workspace, keys: tuple[str, ...], size: Size, theme: str
) -> None:
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=pressing(theme, *keys))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("keys", [BROWSE_SORTED, RETIRE, FORM, MERGE], ids=["sorted", "retire", "form", "merge"])
def test_changing_memories_looks_as_it_did(
    snap_compare: Compare, workspace: Workspace, keys: tuple[str, ...], size: Size, theme: str
) -> None:
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=pressing(theme, *keys))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
def test_replay_without_a_judge_looks_as_it_did(
    snap_compare: Compare, without_judge: Workspace, size: Size, theme: str
) -> None:
    """The first stage beside the system of the hook."""
    assert snap_compare(MemsiftApp(without_judge), terminal_size=size, run_before=pressing(theme, *REPLAY))


@pytest.mark.parametrize("size", SIZES)
def test_an_explanation_of_the_cutoff_looks_as_it_did(
    snap_compare: Compare, without_judge: Workspace, size: Size
) -> None:
    run = pressing("textual-dark", *EXPLAIN)
    assert snap_compare(MemsiftApp(without_judge), terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES)
def test_an_explanation_looks_as_it_did(snap_compare: Compare, workspace: Workspace, size: Size) -> None:
    """A memory that a floor drops in one system and the judge in the other."""
    run = pressing("textual-dark", *EXPLAIN)
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
def test_a_note_and_a_reason_look_as_they_did(
    snap_compare: Compare, workspace: Workspace, size: Size, theme: str
) -> None:
    """The first card has both and is labelled, the second has a reason while a note is typed."""
    first = ("r", "1", "m", *"ended", "enter", "x")
    run = pressing(theme, "f4", *first, "r", "4", "m", *"no", "space", *"table")
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_typing_a_prompt_looks_as_it_did(snap_compare: Compare, workspace: Workspace, size: Size) -> None:
    """The ranking of what was typed stands below it."""

    async def run(pilot: Pilot[Any]) -> None:
        await pressing("textual-dark", "f3", "n", "w", "h", "y", "enter", "enter", *"queue")(pilot)
        ranking: Any = pilot.app.screen.query_one("RankingTable")
        best = workspace.run(typed_prompt("why\n\nqueue"), "memsift").candidates[0]
        await until(pilot, lambda: ranking.records and ranking.records[0].candidates == (best,))
        await at_rest(pilot)

    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_progress_of_a_run_looks_as_it_did(snap_compare: Compare, workspace: Workspace, size: Size) -> None:
    async def run(pilot: Pilot[Any]) -> None:
        await pressing("textual-dark", "f5")(pilot)
        pilot.app._show_progress(RunProgress(1_204, 10_000, 0.0123, 720.0))  # type: ignore[attr-defined]
        await at_rest(pilot)

    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


def waiting_for_agreement(open_workspace: Opener) -> Workspace:
    """A workspace with a judge that may not be asked yet."""
    spending = Spending()
    refusing = RefusingProvider("anthropic", "claude-haiku-4-5", "Nobody agreed.")
    return open_workspace(
        judge=lambda config: Judge(spending.around(refusing), config.judge), spending=spending, clock=stopped_clock
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_question_about_money_looks_as_it_did(snap_compare: Compare, open_workspace: Opener, size: Size) -> None:
    workspace = waiting_for_agreement(open_workspace)
    run = pressing("textual-dark", "f3", "dollar_sign")
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_a_judge_that_waits_for_an_agreement_looks_as_it_did(
    snap_compare: Compare, open_workspace: Opener, size: Size
) -> None:
    workspace = waiting_for_agreement(open_workspace)
    run = pressing("textual-dark", "f3", "down")
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES[:2])
def test_choosing_a_reason_looks_as_it_did(snap_compare: Compare, workspace: Workspace, size: Size) -> None:
    run = pressing("textual-dark", "f4", "r", "down", "down")
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES)
def test_settling_looks_as_it_did(snap_compare: Compare, workspace: Workspace, size: Size) -> None:
    """A memory on which two people differ, one of them with a note."""
    let_people_differ(workspace)
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=pressing("textual-dark", "f4", "d"))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES[:2])
def test_labelling_where_people_differ_looks_as_it_did(snap_compare: Compare, workspace: Workspace, size: Size) -> None:
    """The line at the bottom names the number of disputes and the key that settles them."""
    let_people_differ(workspace)
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=pressing("textual-dark", "f4", "a"))


def let_people_differ(workspace: Workspace) -> None:
    for system in ("memsift", "memsift+default"):
        workspace.keep(workspace.run(workspace.prompts[0], system))
    pool = workspace.pool(workspace.prompts[0].id)
    assert pool is not None
    for who, verdict, note in [("bea", "not", "That is about the old kiosks."), ("cem", "relevant", "")]:
        how = {"seed": 1, "blind": True, "elapsed_ms": 1, "note": note}
        workspace.store.label(who, pool.prompt.id, pool.cards[0], verdict, **how)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES[:2])
def test_choosing_an_order_looks_as_it_did(snap_compare: Compare, workspace: Workspace, size: Size) -> None:
    run = pressing("textual-dark", "f4", "o", "down", "down")
    assert snap_compare(MemsiftApp(workspace), terminal_size=size, run_before=run)


@pytest.mark.slow
def test_an_order_that_is_not_random_looks_as_it_did(snap_compare: Compare, workspace: Workspace) -> None:
    run = pressing("textual-light", "f4", "a", "o", "down", "down", "enter", "x")
    assert snap_compare(MemsiftApp(workspace), terminal_size=(80, 24), run_before=run)


def test_the_readme_shows_what_replay_looks_like(snap_compare: Compare, workspace: Workspace) -> None:
    """Its picture is this snapshot, so it stays true."""
    run = pressing("textual-dark", *REPLAY, "down", "x")
    assert snap_compare(MemsiftApp(workspace), terminal_size=(120, 32), run_before=run)
