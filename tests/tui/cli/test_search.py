"""`memsift search`: results, and with --explain and --memory the reasons for and against a memory."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.engine.builders import memory, write_root
from tests.tui.cli.command_line import RESULT_KEYS, memsift, printed, refused
from tests.tui.demo import DEMO_ROOT
from tui.cli import main

EXPLAIN_KEYS = [
    *("system", "outcome", "reason", "gap", "rank", "strength", "bm25", "bonus"),
    *("gain", "phrase", "floor", "least", "cutoff", "pool", "matched", "missing", "nearest", "advice"),
]
QUERY = "background job queue"


def test_search_prints_the_documented_shape_best_first() -> None:
    asked = ("search", "postgres job_queue worker", "--root", DEMO_ROOT)
    found = printed(memsift(*asked))
    assert list(found) == ["query", "total_results", "results"]
    assert found["query"] == "postgres job_queue worker"
    assert found["total_results"] == len(found["results"]) == 10
    assert all(list(one) == RESULT_KEYS for one in found["results"])
    first = found["results"][0]
    assert {name: first[name] for name in ("id", "path", "category", "tags", "status", "confidence")} == {
        "id": "job-queue-skip-locked",
        "path": ".claude/memory/decisions/job-queue-skip-locked.json",
        "category": "decision",
        "tags": ["queue", "worker", "postgres", "job_queue"],
        "status": "active",
        "confidence": "high",
    }
    assert "job_queue" in first["snippet"]
    scores = [one["score"] for one in found["results"]]
    assert scores == sorted(scores)
    assert scores[-1] < 0
    text = memsift(*asked, "--format", "text", "--max-results", "1").stdout
    parts = ("high", "Run background jobs from a Postgres job_queue table", "job-queue-skip-locked.json")
    assert [part for part in parts if part not in text] == []


def test_limits_and_retired_memories_follow_the_options_and_the_mode() -> None:
    asked = ("search", "postgres job_queue worker", "--root", DEMO_ROOT, "--mode")
    for options, found in ((("search", "--max-results", "2"), 2), (("auto", "--max-results", "1"), 1), (("auto",), 2)):
        assert printed(memsift(*asked, *options))["total_results"] == found, options
    query = ("search", "Celery beat schedule drift on old brokers", "--root", DEMO_ROOT)
    assert {one["status"] for one in printed(memsift(*query))["results"]} == {"active"}
    found = printed(memsift(*query, "--include-retired"))["results"]
    assert [one["status"] for one in found if one["id"] == "rq-on-redis"] == ["retired"]
    assert printed(memsift(*query, "--include-retired", "--mode", "auto"))["results"] == [], "too weak for the hook"
    asked = ("search", "RQ Redis background jobs", "--root", DEMO_ROOT, "--mode", "auto", "--memory", "rq-on-redis")
    for options, outcome in (((), "status"), (("--include-retired",), "injected")):
        assert printed(memsift(*asked, *options))["memory"]["explain"]["outcome"] == outcome


def test_a_query_that_finds_nothing_is_an_empty_result() -> None:
    for query in ("", "   ", "the of and", '"*()^:-', "AND OR NOT", "\x1b[2J", "zzzqqq", "🦆"):
        found = printed(memsift("search", query, "--root", DEMO_ROOT))
        assert found == {"query": query.strip(), "total_results": 0, "results": []}, query


def test_the_cutoffs_probability_stands_in_the_place_of_the_confidence() -> None:
    asked = ["search", "why do we compute queue_position on read?", "--root", DEMO_ROOT, "--mode", "auto"]
    (found,) = printed(memsift(*asked))["results"]
    assert found["probability"] == pytest.approx(0.59, abs=0.01)
    assert found["confidence"] == "high"
    lines = memsift(*asked, "--format", "text", "--explain").stdout.splitlines()
    assert lines[0].startswith("58 %   decision")
    sentence = "memsift+default injects it: rank 1 in its order, 58 % likely to be relevant; 24 % is enough."
    assert sentence in "\n".join(lines)
    without = printed(memsift(*asked, MEMSIFT_CUTOFF="off"))["results"]
    assert {one["probability"] for one in without} == {None}


def test_the_matches_of_a_snippet_are_character_offsets_and_bold_in_a_terminal(tmp_path: Path) -> None:
    body = "🦆 the response is cached; caching it twice \x07 is שלום"
    root = write_root(tmp_path / "root", [memory("Replies", body=body, memory_id="one")])
    asked = ["search", "cache שלום", "--root", str(root)]
    (found,) = printed(memsift(*asked))["results"]
    assert [found["snippet"][start:end] for start, end in found["matches"]] == ["cached", "caching", "שלום"]
    assert "caching it twice · is" in memsift(*asked, "--format", "text").stdout
    in_terminal = CliRunner().invoke(main, [*asked, "--format", "text"], prog_name="memsift", color=True)
    assert "\x1b[1mcaching\x1b[0m it twice · is" in in_terminal.stdout
    (found,) = printed(memsift("search", "resp", "--root", root))["results"]
    assert [found["snippet"][start:end] for start, end in found["matches"]] == ["response"]


# --explain and --memory


def test_each_result_says_why_and_auto_says_what_was_dropped() -> None:
    asked = ("search", QUERY, "--root", DEMO_ROOT, "--mode", "auto", "--explain")
    found = printed(memsift(*asked))
    assert list(found) == ["query", "total_results", "results", "dropped"]
    for one in (*found["results"], *found["dropped"]):
        assert list(one) == [*RESULT_KEYS, "explain"]
        assert list(one["explain"]) == EXPLAIN_KEYS
        assert one["explain"]["strength"] == -one["score"]
    assert {one["explain"]["outcome"] for one in found["results"]} == {"injected"}
    stages = {one["explain"]["outcome"] for one in found["dropped"]}
    assert {"floor", "cutoff"} <= stages <= {"status", "floor", "cutoff", "cap"}
    short = [one["explain"] for one in found["dropped"] if one["explain"]["outcome"] in ("floor", "cutoff")]
    assert all(one["gap"] < 0 for one in short)
    text = memsift(*asked, "--format", "text").stdout
    parts = ("memsift+default injects it: rank ", "strength", "score  share  memories  weight  word", "dropped memory")
    assert [part for part in parts if part not in text] == []
    assert "\x1b" not in text


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


def test_an_unknown_id_is_refused_with_those_that_are_near() -> None:
    for given in ("rq-on-redi", "RQ-ON", "rq-no-redis"):
        line = refused(memsift("search", QUERY, "--root", DEMO_ROOT, "--memory", given))
        assert given in line
        assert "'rq-on-redis'" in line, given
    for given in ("", "zzzzzzzz", "\x1b[31m"):
        line = refused(memsift("search", QUERY, "--root", DEMO_ROOT, "--memory", given))
        assert "`memsift search` prints the ids" in line
        assert "\x1b" not in line
