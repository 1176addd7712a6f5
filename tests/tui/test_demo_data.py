"""The example that `memsift demo` opens: a life already lived, and consistent with itself."""

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.conversations.activity_log import read_log
from engine.paths import state_dir
from engine.phrases.file import read_phrases
from engine.phrases.writing import is_old
from engine.prompt import typed_prompt
from engine.search.phrases import words_of
from engine.stores.roots import read_corpus
from tests.tui.cli.command_line import memsift, printed, read_rows
from tests.tui.demo import DEMO
from tui.demo import FILES, open_demo
from tui.workspace.workspace import Workspace

NOW = datetime(2026, 12, 3, 18, tzinfo=UTC)


@pytest.fixture
def demo(private_home: Path) -> Iterator[Workspace]:
    """The demo of a person whose own settings must not change it: the package trusts it."""
    file = private_home / ".config/memsift/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[retrieval]\nmax_inject = 1\n", encoding="utf-8")
    with closing(open_demo(dict(os.environ), fresh=True, now=NOW)) as workspace:
        yield workspace


@pytest.mark.parametrize("folder", [FILES, DEMO], ids=["shipped", "of the tests"])
def test_every_label_names_a_prompt_and_a_memory_and_every_prompt_has_an_answer_of_the_judge(folder: Path) -> None:
    prompts = {row["id"]: row["prompt"] for row in read_rows(folder / "prompts.jsonl")}
    memories = {memory.summary.id: memory.summary for memory in read_corpus(str(folder / "memory")).memories}
    pairs = [line.split() for line in (folder / "qrels.txt").read_text("utf-8").splitlines()]
    assert {pair[0] for pair in pairs} == set(prompts)
    assert {pair[2] for pair in pairs} <= set(memories)
    assert len({(pair[0], pair[2]) for pair in pairs}) == len(pairs)
    assert not [pair for pair in pairs if memories[pair[2]].status == "retired" and pair[3] != "0"]
    script = read_rows(folder / "judge.jsonl")
    assert sorted(row["prompt"] for row in script) == sorted(prompts.values())
    titles = {memory.title for memory in memories.values() if memory.status == "active"}
    assert {title for row in script for title in row.get("keep", ())} <= titles


@pytest.mark.slow
def test_the_demo_has_three_weeks_of_log_labels_of_two_people_four_findings_and_settings_of_its_own(
    demo: Workspace,
) -> None:
    """A second start finds the same labels."""
    decisions = read_log(state_dir(demo.index.root, os.environ)).decisions
    times = [datetime.fromisoformat(decision.time) for decision in decisions]
    assert len(times) == len(demo.prompts)
    assert times == sorted(times)
    assert NOW - timedelta(days=22) < times[0] < NOW - timedelta(days=20)
    assert times[-1] < NOW
    assert {label.annotator for label in demo.store.labels()} == {"ines", "mirko"}
    assert demo.store.disputes()
    found = printed(memsift("quality", "check", "--root", demo.index.root, "--format", "json"))
    assert sorted(finding["check"] for finding in found["findings"]) == ["duplicates", "safety", "secrets", "staleness"]
    assert (demo.config.max_inject, demo.notice) == (3, "")
    before = len(demo.store.labels())
    with closing(open_demo(dict(os.environ), fresh=False)) as again:
        assert len(again.store.labels()) == before


@pytest.mark.slow
def test_the_demo_has_a_prompt_that_only_a_phrase_finds_and_a_phrase_that_says_nothing(demo: Workspace) -> None:
    written = read_phrases(demo.index.root, os.environ)
    digests = {memory.id: memory.digest for memory in demo.index.summaries()}
    assert written.problems == ()
    assert [name for name, phrases in written.rows.items() if is_old(phrases, digests[name])] == []
    (prompt,) = (one for one in demo.prompts if one.text.startswith("the laptop is nearly full"))
    found = {
        system: [candidate.memory.id for candidate in demo.run(prompt, system).injected]
        for system in ("memsift+default", "memsift+default-phrases")
    }
    assert found["memsift+default"][:1] == ["feedback_no_rm_rf_tile_data"]
    assert found["memsift+default-phrases"] == []
    vague = demo.run(typed_prompt("do the usual before you start on the tiles"), "memsift+default")
    assert "feedback_verified_means_seen" in [candidate.memory.id for candidate in vague.candidates]
    # no prompt of the sample is as good as a phrase: it would leave the sample
    for one in demo.prompts:
        stems = words_of(one.text).keys()
        for phrase in (phrase for phrases in written.counted.values() for phrase in phrases):
            assert len(stems & words_of(phrase).keys()) < 0.8 * len(stems) or not stems, (one.text, phrase)


@pytest.mark.slow
def test_false_fires_are_the_same_number_in_the_report_and_in_tune(demo: Workspace) -> None:
    root, db = demo.index.root, demo.store.path
    report = " ".join(memsift("report", "--root", root, "--db", db).stdout.split())
    said = report.partition("%), ")[2].partition(" that need nothing")[0]
    tuned = memsift("tune", "--root", root, "--db", db, "--target-precision", "0.6").stdout
    assert f"{said} today" in " ".join(tuned.split())
