"""`memsift search --explain` and `--memory`: why a memory is there, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.builders import memory, write_root
from tests.tui.apps import DEMO_ROOT
from tests.tui.cli.command_line import memsift, printed, refused
from tests.tui.cli.test_commands import HEAVY, RESULT_KEYS, top_level_modules

if TYPE_CHECKING:
    from pathlib import Path

EXPLAIN_KEYS = [
    *("system", "outcome", "reason", "gap", "rank", "strength", "bm25", "coordination", "bonus"),
    *("floor", "least", "cutoff", "pool", "matched", "missing", "nearest", "advice"),
]
QUERY = "background job queue"


def test_each_result_says_why_and_auto_says_what_was_dropped() -> None:
    found = printed(memsift("search", QUERY, "--root", DEMO_ROOT, "--mode", "auto", "--explain"))
    assert list(found) == ["query", "total_results", "results", "dropped"]
    for one in (*found["results"], *found["dropped"]):
        assert list(one) == [*RESULT_KEYS, "explain"]
        assert list(one["explain"]) == EXPLAIN_KEYS
        assert one["explain"]["strength"] == -one["score"]
    assert {one["explain"]["outcome"] for one in found["results"]} == {"injected"}
    stages = {one["explain"]["outcome"] for one in found["dropped"]}
    assert "floor" in stages
    assert stages <= {"status", "floor", "cap"}
    assert all(one["explain"]["gap"] < 0 for one in found["dropped"] if one["explain"]["outcome"] == "floor")


def test_without_explain_nothing_is_explained() -> None:
    found = printed(memsift("search", QUERY, "--root", DEMO_ROOT))
    assert list(found) == ["query", "total_results", "results"]
    assert list(found["results"][0]) == RESULT_KEYS


def test_explained_text_shows_sums_words_and_what_was_dropped() -> None:
    result = memsift("search", QUERY, "--root", DEMO_ROOT, "--mode", "auto", "--explain", "--format", "text")
    assert result.exit_code == 0
    for part in ("memsift injects it: rank ", "strength", "BM25  share  memories   IDF  word", "dropped memory"):
        assert part in result.stdout
    assert "\x1b" not in result.stdout


def test_one_memory_is_explained_although_it_does_not_match() -> None:
    asked = ["search", "bakground jbo", "--root", DEMO_ROOT, "--memory", "job-queue-skip-locked"]
    found = printed(memsift(*asked))
    assert list(found) == ["query", "memory"]
    one = found["memory"]
    assert list(one) == [*RESULT_KEYS, "explain"]
    assert (one["id"], one["score"], one["explain"]["outcome"]) == ("job-queue-skip-locked", 0.0, "unmatched")
    assert one["explain"]["nearest"][0] == {
        "term": "bakground", "prompt": "bakground", "memory": "background", "how": "spelling", "field": "title"
    }  # fmt: skip
    assert one["explain"]["advice"] == "The prompt says 'bakground', the memory 'background'."
    assert "memsift does not find it" in memsift(*asked, "--format", "text", "--explain").stdout


def test_a_retired_memory_is_explained_by_its_status() -> None:
    asked = ["search", "RQ Redis background jobs", "--root", DEMO_ROOT, "--mode", "auto", "--memory", "rq-on-redis"]
    assert printed(memsift(*asked))["memory"]["explain"]["outcome"] == "status"
    with_retired = printed(memsift(*asked, "--include-retired"))["memory"]["explain"]
    assert with_retired["outcome"] == "injected"


@pytest.mark.parametrize("given", ["rq-on-redi", "RQ-ON", "rq-no-redis"])
def test_an_unknown_id_is_refused_with_those_that_are_near(given: str) -> None:
    line = refused(memsift("search", QUERY, "--root", DEMO_ROOT, "--memory", given))
    assert given in line
    assert "'rq-on-redis'" in line


@pytest.mark.parametrize("given", ["", "zzzzzzzz", "\x1b[31m"])
def test_an_id_that_nothing_is_near_to_is_refused_too(given: str) -> None:
    line = refused(memsift("search", QUERY, "--root", DEMO_ROOT, "--memory", given))
    assert "`memsift search` prints the ids" in line
    assert "\x1b" not in line


def test_hostile_text_cannot_command_the_terminal(tmp_path: Path) -> None:
    one = memory("red \x1b[31m alert", "\x9b1m", body="\x1b]0;owned\x07 red", memory_id="red")
    root = write_root(tmp_path / "root", [one])
    for arguments in (["--explain"], ["--explain", "--mode", "auto"], ["--memory", "red"]):
        result = memsift("search", "red \x1b[2J", "--root", root, "--format", "text", *arguments)
        assert "alert" in result.stdout
        assert not {"\x1b", "\x07", "\x9b"} & set(result.stdout)


def test_an_empty_root_has_nothing_to_explain(tmp_path: Path) -> None:
    found = printed(memsift("search", "anything", "--root", tmp_path, "--explain"))
    assert found == {"query": "anything", "total_results": 0, "results": [], "dropped": []}


def test_explaining_loads_no_screen() -> None:
    loaded = top_level_modules("search", QUERY, "--root", DEMO_ROOT, "--explain", "--format", "text")
    assert loaded & set(HEAVY) == set()
