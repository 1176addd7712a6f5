"""The workspace: retrievals, pools, blind labels, reloads."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.config import INJECTED
from engine.errors import LabelStoreError, RootNotFoundError
from engine.lean.record import replace
from engine.memory import Skipped
from engine.prompt import Injection, typed_prompt
from engine.search.query import filter_terms
from tests.engine.builders import memory, write_memory, write_root
from tests.labels.samples import known
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.widgets.bars import where_facts


def test_a_kept_retrieval_is_recorded_and_when_every_system_has_run_there_is_a_pool(open_workspace: Opener) -> None:
    assert open_workspace(prompts=(), judge=None).systems == ("memsift",)
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    first, second = workspace.prompts
    assert workspace.systems == ("memsift", "memsift+judge")
    retrieval = workspace.run(first, "memsift")
    assert workspace.retrieval("p01", "memsift") is None
    workspace.keep(retrieval)
    assert workspace.retrieval("p01", "memsift") is retrieval
    (outcome,) = workspace.store.outcomes(workspace.index.root)
    assert outcome.injected == tuple(one.memory.id for one in retrieval.injected)
    assert workspace.store.outcomes("/another/root") == ()
    assert (workspace.pool("p01"), workspace.earlier_pools()) == (None, {})
    workspace.keep(workspace.run(first, "memsift+judge"))
    pool = known(workspace.pool("p01"))
    assert workspace.earlier_pools()["p01"] == {card.pair for card in pool.cards}
    found = [workspace.retrieval("p01", system) for system in workspace.systems]
    assert {card.memory.id for card in pool.cards} == {one.memory.id for own in found if own for one in own.injected}
    workspace.keep(workspace.run(second, "memsift"))
    workspace.forget("p01")
    assert workspace.retrieval("p01", "memsift") is None
    assert workspace.retrieval("p02", "memsift") is not None


def test_a_prompt_is_blind_until_its_ranks_were_shown_to_the_person_also_at_the_next_start(
    open_workspace: Opener,
) -> None:
    before = open_workspace(prompts=demo_prompts("p01", "p02"))
    for _ in range(2):
        before.show("p01")
    for workspace in (before, open_workspace(prompts=demo_prompts("p01", "p02"))):
        assert (workspace.is_blind("p01"), workspace.is_blind("p02")) == (False, True)
    assert open_workspace(prompts=demo_prompts("p01", "p02"), annotator="ann").is_blind("p01")


def test_what_could_not_be_written_down_as_seen_is_written_with_the_next(
    open_workspace: Opener, locked: Any, tmp_path: Path
) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"), busy_timeout_s=0.01)
    with locked(tmp_path / "labels.db"), pytest.raises(LabelStoreError):
        workspace.show("p01")
    assert not workspace.is_blind("p01")
    assert workspace.store.seen_prompts("me") == frozenset()
    workspace.show("p02")
    assert workspace.store.seen_prompts("me") == {"p01", "p02"}


def test_reloading_forgets_retrievals_and_a_reload_that_fails_changes_nothing(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    prompt = replace(typed_prompt("signing"), injections=(Injection("", ids=("people",)),))
    workspace = open_workspace(root=root, judge=None, prompts=[prompt])
    old = workspace.index

    def matched() -> list[str]:
        found = workspace.injections.retrieval(prompt, INJECTED)
        return [candidate.memory.title for candidate in found.injected] if found else []

    workspace.keep(workspace.run(prompt, "memsift"))
    assert matched() == ["people"]
    write_memory(root, memory("signing people", memory_id="people"))
    workspace.reload()
    assert (len(workspace.index), len(workspace.finished), matched()) == (2, 0, ["signing people"])
    assert len(old.matching(filter_terms("signing"))) > 0, "a retrieval may still be under way"
    workspace.keep(workspace.run(prompt, "memsift"))
    root.rename(tmp_path / "moved")
    with pytest.raises(RootNotFoundError):
        workspace.reload()
    assert (len(workspace.index), len(workspace.finished), workspace.reading) == (2, 1, 2)


def test_undo_is_about_these_prompts_only_and_labels_belong_to_a_text(open_workspace: Opener) -> None:
    elsewhere = open_workspace(prompts=demo_prompts("p02"), judge=None)
    (prompt,) = elsewhere.prompts
    elsewhere.keep(elsewhere.run(prompt, "memsift"))
    pool = known(elsewhere.pool("p02"))
    elsewhere.store.label("me", "p02", pool.cards[0], "not", seed=1, blind=True, elapsed_ms=1)
    with pytest.raises(LabelStoreError, match="another text"):
        elsewhere.keep(elsewhere.run(replace(prompt, text="how does the queue work?"), "memsift"))
    assert open_workspace(prompts=demo_prompts("p01"), judge=None).undo() is None
    undone = known(elsewhere.undo())
    assert undone.memory_id == pool.cards[0].memory.id


def test_a_label_of_an_edited_memory_is_stale_in_the_report(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys", body="old")])
    prompt = typed_prompt("signing keys", source="file:prompts.txt")
    workspace = open_workspace(root=root, judge=None, prompts=[prompt])
    workspace.keep(workspace.run(prompt, "memsift"))
    pool = known(workspace.pool(prompt.id))
    workspace.store.label("me", prompt.id, pool.cards[0], "relevant", seed=1, blind=True, elapsed_ms=1)
    assert workspace.report().systems[0].precision.value == 1.0
    write_memory(root, memory("signing keys", body="new"))
    workspace.reload()
    workspace.keep(workspace.run(prompt, "memsift"))
    report = workspace.report()
    assert report.stale == 1
    assert report.systems[0].precision.value is None


def test_the_top_line_names_the_project_and_what_was_skipped(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "shelf" / ".claude" / "memory", [memory("one")])
    assert where_facts(open_workspace(root=root, prompts=()), "s") == ["shelf"]
    (root / "decisions" / "bad.json").write_text(json.dumps([1]), encoding="utf-8")
    skipped = (Skipped("history.jsonl:2", "is not JSON"),)
    workspace = open_workspace(root=root, prompts=(), unread_prompts=skipped)
    assert where_facts(workspace, "s") == ["shelf", "2 skipped (s)"]
    assert [one.where for one in workspace.skipped] == ["decisions/bad.json", "history.jsonl:2"]
