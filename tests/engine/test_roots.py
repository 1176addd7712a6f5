"""Several roots that are open together: lists, ids, searches and explanations."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.config import CONFIG_FILE, TUNED, Config, JudgeConfig, OtherRoot
from engine.cutoff import default_cutoff
from engine.errors import RootNotFoundError
from engine.explaining.explain import Explainer
from engine.judge.verdict import APPROVED, REJECTED, TIMEOUT
from engine.lean.record import replace
from engine.memory import Corpus, Memory
from engine.opening import index_of, reread
from engine.paths import root_key, state_dir
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.roots import JointIndex, open_together, together
from engine.search.query import filter_terms
from engine.search.strategies.memsift import idf
from engine.settings.sources import read_config
from engine.settings.trust import trust
from engine.stores.roots import read_corpus, roots_in
from tests.engine.builders import FakeJudge, fillers, memory, put, write_root
from tests.engine.models import content, write_model

ASK = typed_prompt("how long does the token cache live?")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of claude-memory, and a folder of notes with a file of the same id."""
    first = write_root(tmp_path / "web/.claude/memory", [memory("token cache rule", memory_id="cache"), *fillers(4)])
    vault = tmp_path / "vault"
    for name, title in (("cache", "token cache note"), ("lunch", "what is for lunch")):
        put(vault / f"{name}.md", f"# {title}\n\nA text about {title}.\n")
    return first, vault


@pytest.fixture
def index(folders: tuple[Path, Path]) -> Iterator[JointIndex]:
    opened = opened_with(folders)
    yield opened
    opened.close()


def opened_with(folders: tuple[Path, Path], other: OtherRoot | None = None) -> JointIndex:
    """The index of both, with the settings of the second."""
    opened = open_together([*map(str, folders)], os.environ, {str(folders[1]): other} if other else {})
    assert isinstance(opened, JointIndex)
    return opened


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
    (second,) = [one for one in index.summaries() if one.id == other(folders)]
    assert (second.root, second.own.id) == (str(folders[1]), "cache")
    assert index.word_counts()[other(folders)] > 0
    assert [one.id for one in index.matching(filter_terms("token"))] == ["cache", other(folders)]


def test_a_changed_file_is_listed_after_its_root_was_read_again(folders: tuple[Path, Path], index: JointIndex) -> None:
    before = index.corpus_hash
    (folders[1] / "new.md").write_text("# a new note\n", encoding="utf-8")
    reread(str(folders[1]), os.environ)
    assert "new" in [one.id for one in index.summaries()]
    assert index.corpus_hash != before


def test_skipped_files_and_notices_have_whole_paths(folders: tuple[Path, Path]) -> None:
    (folders[1] / "bad.md").write_bytes(b"\xff\xfe")
    opened = opened_with(folders)
    assert [one.where for one in opened.skipped] == [str(folders[1] / "bad.md")]
    opened.close()


def test_one_injected_set_is_chosen_from_all_roots_by_one_cutoff(folders: tuple[Path, Path], index: JointIndex) -> None:
    found = retrieve(Query(ASK), index, OpenSystem(Config()))
    assert {one.memory.id for one in found.injected} == {"cache", other(folders)}
    one = retrieve(Query(ASK), index, OpenSystem(Config(max_inject=1)))
    assert [each.dropped_by for each in one.candidates][:2] == [None, "cap"]
    assert found.system == "memsift"
    found = retrieve(Query(ASK), index, OpenSystem(Config(), cutoff=default_cutoff(Config())))
    assert found.system == "memsift+default"
    assert all(one.probability is not None for one in found.candidates)


def test_a_word_is_as_rare_as_in_all_roots_together(folders: tuple[Path, Path]) -> None:
    """Several roots are searched as one root with all their memories is."""
    joint, alone = opened_with(folders), tuple(read_corpus(str(folder)) for folder in folders)
    one = index_of(Corpus("/root", tuple(renamed(memory) for corpus in alone for memory in corpus.memories)))
    for system in (OpenSystem(Config()), OpenSystem(Config(), cutoff=default_cutoff(Config()))):
        for text in ("how long does the token cache live?", "what is for lunch", "rule or note"):
            found, expected = (retrieve(Query(typed_prompt(text)), index, system) for index in (joint, one))
            assert [(each.memory.title, each.score, each.probability) for each in found.candidates] == [
                (each.memory.title, each.score, each.probability) for each in expected.candidates
            ]
    joint.close()
    one.close()


def renamed(memory: Memory) -> Memory:
    return replace(memory, summary=replace(memory.summary, id=memory.summary.file))


def test_the_judge_is_asked_once_and_its_verdicts_have_the_ids_of_all_roots(
    folders: tuple[Path, Path], index: JointIndex
) -> None:
    judge = FakeJudge([other(folders)])
    found = retrieve(Query(ASK), index, OpenSystem(Config(), judge=judge))
    assert [sorted(ids) for ids in judge.asked] == [["cache", other(folders)]]
    assert [one.memory.id for one in found.injected] == [other(folders)]
    assert {one.memory_id: one.decision for one in found.judgement.verdicts} == {
        "cache": REJECTED,
        other(folders): APPROVED,
    }


def test_a_judge_that_does_not_answer_is_told_of_also_where_the_first_root_has_no_candidate(
    folders: tuple[Path, Path],
) -> None:
    """Its failure must not look like an answer."""
    opened = open_together([*map(str, reversed(folders))], os.environ)
    found = retrieve(Query(typed_prompt("zz1 filler")), opened, OpenSystem(Config(), judge=FakeJudge(status=TIMEOUT)))
    assert (found.fallback, found.judgement and found.judgement.status) == (TIMEOUT, TIMEOUT)
    opened.close()


def test_a_memory_of_any_root_is_explained(folders: tuple[Path, Path], index: JointIndex) -> None:
    found = retrieve(Query(ASK), index, OpenSystem(Config(max_inject=1)))
    explained = Explainer(found, index, Config()).of
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
    opened = opened_with(folders, OtherRoot(Config(enabled=False), is_limited=False))
    found = retrieve(Query(ASK), opened, OpenSystem(Config()))
    assert [one.memory.id for one in found.candidates] == ["cache"]
    explained = Explainer(found, opened, Config()).of(other(folders))
    assert explained.reason == "the settings of its root switch it off"
    opened.close()


STRICT = {
    "max_inject": (Config(max_inject=0), "cap"),
    "max_risk": (Config(max_risk=0.0), "status"),
    "min_strength": (Config(min_strength=50), "floor"),
    "cutoff_threshold": (Config(cutoff_threshold=0.999), "cutoff"),
}


@pytest.mark.parametrize(("strict", "stage"), STRICT.values(), ids=STRICT)
def test_settings_of_a_root_that_nobody_trusts_make_only_its_own_memories_rarer(
    folders: tuple[Path, Path], strict: Config, stage: str
) -> None:
    system = OpenSystem(Config(), cutoff=default_cutoff(Config(cutoff_threshold=0.01)))
    loose = Config(max_inject=20, min_strength=0, noise_floor=0, cutoff_threshold=0)
    for own, is_limited, wanted in ((strict, True, stage), (strict, False, None), (loose, True, None)):
        opened = opened_with(folders, OtherRoot(own, is_limited))
        found = {one.memory.id: one.dropped_by for one in retrieve(Query(ASK), opened, system).candidates}
        assert found == {"cache": None, other(folders): wanted}
        opened.close()


def test_the_limits_of_one_root_do_not_depend_on_those_of_another(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """A memory that its own root holds back is still the best one, from which the others are measured."""
    more = [write_root(tmp_path / f"root{number}", [memory(f"token notes {number}")]) for number in range(5)]
    (folders[1] / "cache.md").unlink()
    places = [*map(str, (folders[1], folders[0], *more))]
    weak = Config(min_strength=0, noise_floor=0)
    limits = (replace(weak, min_strength=50), replace(weak, noise_floor=0.99))
    strict, floored = (OtherRoot(limit, is_limited=True) for limit in limits)
    opened = open_together(places, os.environ, {**dict.fromkeys(places[2:], floored), places[1]: strict})
    found = retrieve(Query(ASK), opened, OpenSystem(weak)).candidates
    assert [one.dropped_by for one in found] == ["floor"] * 6
    opened.close()


def test_the_judge_is_not_asked_about_a_root_whose_settings_name_another(folders: tuple[Path, Path]) -> None:
    judge = FakeJudge(["cache"])
    opened = opened_with(folders, OtherRoot(Config(judge=JudgeConfig(model="another")), is_limited=False))
    found = retrieve(Query(ASK), opened, OpenSystem(Config(), judge=judge))
    assert judge.asked == [["cache"]]
    assert {one.memory.id for one in found.injected} == {"cache", other(folders)}
    (strength,) = (-one.score for one in found.candidates if one.memory.id == other(folders))
    config = Config(min_strength=1.01 * strength / idf(1, len(opened)))  # before a judge, half of it is enough
    high = retrieve(Query(ASK), opened, OpenSystem(config, judge=judge))
    assert {one.memory.id: one.dropped_by for one in high.candidates} == {"cache": None, other(folders): "floor"}
    explained = Explainer(high, opened, config).of(other(folders))
    assert explained.least.gap < 0
    opened.close()


def test_settings_come_from_the_nearest_root_whose_own_the_user_trusts_or_which_has_none(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    names = ("near", "far", "vault")
    roots = [write_root(tmp_path / name, [memory(name)]) for name in names]
    for number, root in enumerate(roots, 1):
        settings = {"retrieval": {"max_inject": number}}
        (root / CONFIG_FILE).write_text(json.dumps(settings), encoding="utf-8")
    vault = roots[2]
    put(tmp_path / ".config/memsift/config.toml", f'roots = ["{vault}"]\n')
    readings = [read_config(str(root), environ) for root in roots]
    found = together(readings, environ)
    assert (found.main, found.config.max_inject) == (str(vault), 3)
    assert {Path(root).name: (one.config.max_inject, one.is_limited) for root, one in found.others.items()} == {
        "near": (1, True),
        "far": (2, True),
    }
    trust(str(roots[1]), environ)
    assert together(readings, environ).main == str(roots[1])
    (roots[0] / CONFIG_FILE).unlink()
    assert together([read_config(str(root), environ) for root in roots], environ).main == str(roots[0])


def test_the_tuned_cutoff_is_that_of_the_nearest_root_with_one(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    roots = [write_root(tmp_path / name, [memory(name)]) for name in ("near", "middle", "far")]
    for root, threshold in zip(roots[1:], (0.7, 0.8), strict=True):
        write_model(Path(state_dir(str(root), environ)), content(threshold=threshold))
    found = together([read_config(str(root), environ) for root in roots], environ)
    assert (found.main, found.cutoff.kind, found.cutoff.threshold) == (str(roots[0]), TUNED, 0.7)
    write_model(Path(state_dir(str(roots[0]), environ)), content(Config(max_inject=7)))
    again = together([read_config(str(root), environ) for root in roots], environ)
    assert (again.cutoff.threshold, again.problem) == (0.7, ""), "one that does not fit is passed over"


def test_a_root_that_is_not_there_is_named(folders: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(RootNotFoundError, match="gone"):
        open_together([*map(str, folders), str(tmp_path / "gone")], os.environ)
