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
from tests.engine.builders import memory, write_memory, write_root
from tests.tui.conftest import Opener
from tests.tui.demo import demo_prompts
from tui.widgets.bars import where_facts
from tui.workspace.curate.memory_facts import root_name


def test_the_systems_are_those_there_is_a_judge_for(open_workspace: Opener) -> None:
    assert open_workspace(prompts=()).systems == ("memsift", "memsift+judge")
    assert open_workspace(prompts=(), judge=None).systems == ("memsift",)


def test_a_kept_retrieval_is_recorded_with_root_and_corpus(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"))
    retrieval = workspace.run(workspace.prompts[0], "memsift+judge")
    assert workspace.retrieval("p01", "memsift+judge") is None
    workspace.keep(retrieval)
    assert workspace.retrieval("p01", "memsift+judge") is retrieval
    (outcome,) = workspace.store.outcomes(workspace.index.root)
    assert outcome.injected == tuple(one.memory.id for one in retrieval.injected)
    assert workspace.store.outcomes("/another/root") == ()


def test_a_pool_is_there_when_every_system_has_run_and_goes_into_the_frame(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"))
    prompt = workspace.prompts[0]
    workspace.keep(workspace.run(prompt, "memsift"))
    assert workspace.pool("p01") is None
    assert workspace.earlier_pools() == {}
    workspace.keep(workspace.run(prompt, "memsift+judge"))
    pool = workspace.pool("p01")
    assert pool is not None
    assert workspace.earlier_pools()["p01"] == {card.pair for card in pool.cards}
    found = [workspace.retrieval("p01", system) for system in workspace.systems]
    assert {card.memory.id for card in pool.cards} == {one.memory.id for own in found if own for one in own.injected}


def test_a_prompt_is_blind_until_its_ranks_were_shown(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    workspace.show("p01")
    assert not workspace.is_blind("p01")
    assert workspace.is_blind("p02")


def test_what_was_seen_is_remembered_from_one_start_to_the_next_for_each_person(open_workspace: Opener) -> None:
    before = open_workspace(prompts=demo_prompts("p01", "p02"))
    before.show("p01")
    before.show("p01")
    assert not open_workspace(prompts=demo_prompts("p01", "p02")).is_blind("p01")
    assert open_workspace(prompts=demo_prompts("p01", "p02")).is_blind("p02")
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


def test_forgetting_lets_a_prompt_be_run_again(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01", "p02"))
    for prompt in workspace.prompts:
        workspace.keep(workspace.run(prompt, "memsift"))
    workspace.forget("p01")
    assert workspace.retrieval("p01", "memsift") is None
    assert workspace.retrieval("p02", "memsift") is not None


def test_reloading_forgets_retrievals_and_a_reload_that_fails_changes_nothing(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    prompt = typed_prompt("signing")
    workspace = open_workspace(root=root, judge=None, prompts=[prompt])
    workspace.keep(workspace.run(prompt, "memsift"))
    write_memory(root, memory("signing people"))
    workspace.reload()
    assert len(workspace.index) == 2
    assert len(workspace.finished) == 0
    workspace.keep(workspace.run(prompt, "memsift"))
    root.rename(tmp_path / "moved")
    with pytest.raises(RootNotFoundError):
        workspace.reload()
    assert len(workspace.index) == 2
    assert len(workspace.finished) == 1
    assert workspace.reading == 2


def test_after_a_reload_injections_are_matched_to_the_memories_as_they_are(
    open_workspace: Opener, tmp_path: Path
) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    prompt = replace(typed_prompt("signing"), injections=(Injection("", ids=("people",)),))
    workspace = open_workspace(root=root, judge=None, prompts=[prompt])

    def matched() -> list[str]:
        found = workspace.injections.retrieval(prompt, INJECTED)
        return [candidate.memory.title for candidate in found.injected] if found else []

    before = matched()
    write_memory(root, memory("signing people", memory_id="people"))
    workspace.reload()
    assert (before, matched()) == (["people"], ["signing people"])


def test_a_retrieval_under_way_survives_a_reload(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), judge=None)
    index = workspace.index
    workspace.reload()
    assert len(index) == len(index.summaries())
    assert index.matching(()) == index.summaries()
    assert len(index.matching(_terms("queue"))) > 0


def _terms(text: str) -> tuple[Any, ...]:
    from engine.search.query import filter_terms

    return filter_terms(text)


def test_undo_is_about_these_prompts_only(open_workspace: Opener) -> None:
    elsewhere = open_workspace(prompts=demo_prompts("p02"), judge=None)
    elsewhere.keep(elsewhere.run(elsewhere.prompts[0], "memsift"))
    pool = elsewhere.pool("p02")
    assert pool is not None
    elsewhere.store.label("me", "p02", pool.cards[0], "not", seed=1, blind=True, elapsed_ms=1)
    here = open_workspace(prompts=demo_prompts("p01"), judge=None)
    assert here.undo() is None
    undone = elsewhere.undo()
    assert undone is not None
    assert undone.memory_id == pool.cards[0].memory.id


def test_a_label_of_an_edited_memory_is_stale_in_the_report(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys", body="old")])
    prompt = typed_prompt("signing keys", source="file:prompts.txt")
    workspace = open_workspace(root=root, judge=None, prompts=[prompt])
    workspace.keep(workspace.run(prompt, "memsift"))
    pool = workspace.pool(prompt.id)
    assert pool is not None
    workspace.store.label("me", prompt.id, pool.cards[0], "relevant", seed=1, blind=True, elapsed_ms=1)
    assert workspace.report().systems[0].precision.value == 1.0
    write_memory(root, memory("signing keys", body="new"))
    workspace.reload()
    workspace.keep(workspace.run(prompt, "memsift"))
    report = workspace.report()
    assert report.stale == 1
    assert report.systems[0].precision.value is None


def test_a_prompt_id_with_labels_for_another_text_is_refused(open_workspace: Opener) -> None:
    workspace = open_workspace(prompts=demo_prompts("p01"), judge=None)
    workspace.keep(workspace.run(workspace.prompts[0], "memsift"))
    pool = workspace.pool("p01")
    assert pool is not None
    workspace.store.label("me", "p01", pool.cards[0], "not", seed=1, blind=True, elapsed_ms=1)
    from engine.lean.record import replace

    changed = replace(workspace.prompts[0], text="how does the queue work?")
    with pytest.raises(LabelStoreError, match="another text"):
        workspace.keep(workspace.run(changed, "memsift"))


def test_the_top_line_names_the_project_and_what_was_skipped(open_workspace: Opener, tmp_path: Path) -> None:
    root = write_root(tmp_path / "shelf" / ".claude" / "memory", [memory("one")])
    assert where_facts(open_workspace(root=root, prompts=()), "s") == ["shelf"]
    (root / "decisions" / "bad.json").write_text(json.dumps([1]), encoding="utf-8")
    skipped = (Skipped("history.jsonl:2", "is not JSON"),)
    workspace = open_workspace(root=root, prompts=(), unread_prompts=skipped)
    assert where_facts(workspace, "s") == ["shelf", "2 skipped (s)"]
    assert [one.where for one in workspace.skipped] == ["decisions/bad.json", "history.jsonl:2"]


@pytest.mark.parametrize(
    ("root", "name"),
    [("/home/me/shelf/.claude/memory", "shelf"), ("/home/me/notes", "notes"), ("/memory", "/memory"), ("/", "/")],
)
def test_a_root_is_called_after_its_project(root: str, name: str) -> None:
    assert root_name(root) == name
