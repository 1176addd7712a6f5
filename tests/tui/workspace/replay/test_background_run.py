"""Runs beside the app: batches, refused prompts, and the line about the progress."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.config import SYSTEMS
from engine.errors import LabelStoreError
from engine.lean.record import replace
from engine.retrieval import Retrieval
from tests.labels.samples import known
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts, replay
from tui.workspace.replay.background_run import BackgroundRun, RunProgress
from tui.workspace.replay.replaying import jobs_left
from tui.workspace.workspace import Workspace


def run(workspace: Workspace) -> list[tuple[RunProgress, list[str]]]:
    """Run every prompt without a judge; the progress and the prompts of each batch."""
    told: list[tuple[RunProgress, list[str]]] = []

    def tell(progress: RunProgress, batch: Sequence[Retrieval]) -> None:
        told.append((progress, [one.prompt.id for one in batch]))

    jobs = jobs_left(workspace.prompts, [SYSTEMS["memsift"]], workspace.finished)
    BackgroundRun(workspace, jobs, lambda *_: True, tell, lambda _: None).run()
    return told


def test_batches_are_small_and_the_last_one_says_that_it_is_the_end(open_workspace: Opener) -> None:
    workspace = open_workspace(judge=None)
    told = run(workspace)
    ids = [prompt_id for _, batch in told for prompt_id in batch]
    assert ids == [prompt.id for prompt in workspace.prompts]
    assert max(len(batch) for _, batch in told) <= 5
    assert [progress.is_over for progress, _ in told] == [False] * (len(told) - 1) + [True]
    assert told[-1][0].done == len(ids) == len(workspace.store.outcomes())


def test_a_prompt_that_the_store_refuses_stops_no_other(open_workspace: Opener) -> None:
    before = open_workspace(prompts=demo_prompts("p02"), judge=None)
    replay(before)
    (card, *_) = known(before.pool("p02")).cards
    before.store.label("me", "p02", card, "relevant", seed=1, blind=True, elapsed_ms=1)
    first, second, third = demo_prompts("p01", "p02", "p03")
    workspace = open_workspace(prompts=[first, replace(second, text="another text"), third], judge=None)
    told = run(workspace)
    assert "p02" in told[-1][0].problem
    assert workspace.store.prompt("p02") == second
    assert {outcome.prompt_id for outcome in workspace.store.outcomes()} == {"p01", "p02", "p03"}


def test_a_store_that_cannot_be_written_ends_the_run(open_workspace: Opener, tmp_path: Path) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), judge=None)
    (tmp_path / "labels.db").rename(tmp_path / "elsewhere.db")
    (tmp_path / "labels.db").write_text("no database")
    with pytest.raises(LabelStoreError):
        run(workspace)


def test_what_is_written_together_is_written_whole_or_not_at_all(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"), judge=None)
    with pytest.raises(RuntimeError), workspace.store.together():
        replay(workspace)
        raise RuntimeError
    assert workspace.store.outcomes() == ()
    with workspace.store.together():
        replay(workspace)
    assert len(workspace.store.outcomes()) == 2


def test_the_line_about_the_progress() -> None:
    lines = {
        "Replayed 0/10,000": RunProgress(0, 10_000),
        "Replayed 1,204/10,000 · 12 min left · $0.01": RunProgress(1_204, 10_000, 0.0123, 720.0),
        "Replayed 9/10 · 3 s left · $0.0004": RunProgress(9, 10, 0.0004, 3.2),
    }
    for text, progress in lines.items():
        assert (progress.text, len(text) <= 43) == (text, True)
