"""Several roots that are open together: lists, ids, searches and explanations."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from engine.config import Config
from engine.cutoff import default_cutoff
from engine.errors import RootNotFoundError
from engine.explaining.explain import explainer_of
from engine.judge.verdict import APPROVED, OK, REJECTED, TIMEOUT, Judgement, Verdict
from engine.lean.record import replace
from engine.memory import MemorySummary
from engine.paths import root_key
from engine.pipeline import OpenSystem, Query
from engine.prompt import Prompt, typed_prompt
from engine.roots import JointIndex, OpenRoot, open_together, retrieve
from engine.search.query import filter_terms
from engine.stores.roots import roots_in
from tests.engine.builders import fillers, memory, write_root

ASK = typed_prompt("how long does the token cache live?")


class Keeps:
    """A judge that keeps memories with a word in the title, or does not answer."""

    def __init__(self, word: str, status: str = OK) -> None:
        self.word, self.status = word, status
        self.asked: list[tuple[str, ...]] = []

    def evaluate(self, prompt: Prompt, candidates: Sequence[MemorySummary], mode: str) -> Judgement:  # noqa: ARG002
        self.asked.append(tuple(one.title for one in candidates))
        verdicts = [
            Verdict(one.id, APPROVED if self.word in one.title else REJECTED, self.status) for one in candidates
        ]
        return Judgement(self.status, tuple(verdicts), "", "", "", 1.0)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of claude-memory, and a folder of notes with a file of the same id."""
    first = write_root(tmp_path / "web/.claude/memory", [memory("token cache rule", memory_id="cache"), *fillers(4)])
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, title in (("cache", "token cache note"), ("lunch", "what is for lunch")):
        (vault / f"{name}.md").write_text(f"# {title}\n\nA text about {title}.\n", encoding="utf-8")
    return first, vault


@pytest.fixture
def index(folders: tuple[Path, Path]) -> Iterator[JointIndex]:
    opened = open_together([OpenRoot(str(one), Config(), None) for one in folders], os.environ)
    assert isinstance(opened, JointIndex)
    yield opened
    opened.close()


def other(folders: tuple[Path, Path]) -> str:
    return f"cache@{root_key(str(folders[1]))}"


def test_all_memories_are_listed_and_read_under_ids_of_their_own(folders: tuple[Path, Path], index: JointIndex) -> None:
    ids = [one.id for one in index.summaries()]
    assert (len(index), len(set(ids))) == (7, 7)
    assert {"cache", other(folders), "lunch"} < set(ids)
    titles = {name: found.summary.title for name in ids if (found := index.memory(name))}
    assert (titles["cache"], titles[other(folders)]) == ("token cache rule", "token cache note")
    assert index.memory("nowhere") is None
    assert roots_in(index.root) == [str(one) for one in folders]
    assert [index.homes[name].place for name in ("cache", other(folders))] == [0, 1]
    assert index.word_counts()[other(folders)] > 0
    assert [one.id for one in index.matching(filter_terms("token"))] == ["cache", other(folders)]


def test_a_changed_file_is_listed_after_its_root_was_read_again(folders: tuple[Path, Path], index: JointIndex) -> None:
    from engine.opening import reread

    before = index.corpus_hash
    (folders[1] / "new.md").write_text("# a new note\n", encoding="utf-8")
    reread(str(folders[1]), os.environ)
    assert "new" in [one.id for one in index.summaries()]
    assert index.corpus_hash != before


def test_skipped_files_and_notices_have_whole_paths(folders: tuple[Path, Path]) -> None:
    (folders[1] / "bad.md").write_bytes(b"\xff\xfe")
    opened = open_together([OpenRoot(str(one), Config(), None) for one in folders], os.environ)
    assert [one.where for one in opened.skipped] == [str(folders[1] / "bad.md")]
    opened.close()


def test_one_injected_set_is_chosen_from_all_roots(folders: tuple[Path, Path], index: JointIndex) -> None:
    found = retrieve(Query(ASK), index, OpenSystem(Config()))
    assert {one.memory.id for one in found.injected} == {"cache", other(folders)}
    one = retrieve(Query(ASK), index, OpenSystem(Config(max_inject=1)))
    assert [each.dropped_by for each in one.candidates][:2] == [None, "cap"]
    assert found.system == "memsift"


def test_each_root_has_the_default_cutoff_that_the_first_has(index: JointIndex) -> None:
    found = retrieve(Query(ASK), index, OpenSystem(Config(), cutoff=default_cutoff(Config())))
    assert found.system == "memsift+default"
    assert all(one.probability is not None for one in found.candidates)


def test_the_judge_is_asked_once_and_its_verdicts_have_the_ids_of_all_roots(
    folders: tuple[Path, Path], index: JointIndex
) -> None:
    judge = Keeps("note")
    found = retrieve(Query(ASK), index, OpenSystem(Config(), judge=judge))
    assert judge.asked == [("token cache rule", "token cache note")]
    assert [one.memory.id for one in found.injected] == [other(folders)]
    assert found.judgement is not None
    assert {one.memory_id: one.decision for one in found.judgement.verdicts} == {
        "cache": REJECTED,
        other(folders): APPROVED,
    }


def test_a_judge_that_does_not_answer_is_told_of_also_where_the_first_root_has_no_candidate(
    folders: tuple[Path, Path],
) -> None:
    """Its failure must not look like an answer."""
    turned = [OpenRoot(str(one), Config(), None) for one in reversed(folders)]
    opened = open_together(turned, os.environ)
    found = retrieve(Query(typed_prompt("zz1 filler")), opened, OpenSystem(Config(), judge=Keeps("", TIMEOUT)))
    assert (found.fallback, found.judgement and found.judgement.status) == (TIMEOUT, TIMEOUT)
    opened.close()


def test_a_memory_is_explained_within_its_root(folders: tuple[Path, Path], index: JointIndex) -> None:
    found = retrieve(Query(ASK), index, OpenSystem(Config(max_inject=1)))
    explained = explainer_of(found, index, Config())
    outcomes = {
        name: explanation and (explanation.memory.id, explanation.outcome)
        for name in ("cache", other(folders), "lunch", "nowhere")
        for explanation in [explained(name)]
    }
    first, second = (one.memory.id for one in found.candidates)
    assert outcomes[first] == (first, "injected")
    assert outcomes[second] == (second, "cap")
    assert outcomes["lunch"] == ("lunch", "unmatched")
    assert outcomes["nowhere"] is None


def test_a_root_that_is_turned_off_is_not_searched(folders: tuple[Path, Path]) -> None:
    first, second = (str(one) for one in folders)
    off = replace(Config(), enabled=False)
    opened = open_together([OpenRoot(first, Config(), None), OpenRoot(second, off, None)], os.environ)
    assert [one.memory.id for one in retrieve(Query(ASK), opened, OpenSystem(Config())).candidates] == ["cache"]
    opened.close()


def test_a_root_that_is_not_there_is_named(folders: tuple[Path, Path], tmp_path: Path) -> None:
    roots = [OpenRoot(str(one), Config(), None) for one in (*folders, tmp_path / "gone")]
    with pytest.raises(RootNotFoundError, match="gone"):
        open_together(roots, os.environ)
