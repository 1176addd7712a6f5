"""Several samples of the judge: their number, and --strict, which checks that they agree."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from labels.store import LabelStore
from tests.engine.judge.api_server import ApiServer, kept
from tests.tui.cli.command_line import ASK, HTTP, jsonl, memsift, printed, rows


@pytest.fixture
def replay(tmp_path: Path, root: Path) -> tuple[str | Path, ...]:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    return ("replay", "--root", root, "--prompts", prompts, "--systems", "memsift+judge", *HTTP)


def test_replay_asks_up_to_three_times_and_judge_once(
    root: Path, server: ApiServer, replay: tuple[str | Path, ...]
) -> None:
    (row,) = rows(memsift(*replay))
    assert len(server.requests) == 2  # the third could not change anything
    assert {(one["verdict"]["samples"], one["verdict"]["agreement"]) for one in row["candidates"]} == {(2, 1.0)}
    printed(memsift("judge", ASK, "--root", root, *HTTP, "--format", "json", "--judge-refresh"))
    assert len(server.requests) == 3


def test_the_number_of_samples_has_a_flag_and_a_variable(
    root: Path, server: ApiServer, replay: tuple[str | Path, ...]
) -> None:
    memsift(*replay, "--judge-samples", "1")
    assert len(server.requests) == 1
    memsift("judge", ASK, "--root", root, *HTTP, MEMSIFT_JUDGE_SAMPLES="5")
    assert len(server.requests) == 3  # the first is known
    assert memsift("judge", ASK, "--root", root, *HTTP, "--judge-samples", "0").exit_code == 2


@pytest.mark.usefixtures("server")
def test_a_replay_with_other_samples_does_not_overwrite_the_first(
    tmp_path: Path, replay: tuple[str | Path, ...]
) -> None:
    store = tmp_path / "labels.db"
    for count in ("1", "3"):
        rows(memsift(*replay, "--judge-samples", count, "--save", "--db", store))
    with closing(sqlite3.connect(store)) as kept:
        samples = "SELECT max(samples) FROM judge_verdict GROUP BY call_id ORDER BY call_id"
        assert kept.execute(samples).fetchall() == [(1,), (2,)]  # of three, the third could not change anything
        assert kept.execute("SELECT count(DISTINCT run_id) FROM retrieval").fetchone() == (2,)
    with LabelStore.open(store) as opened:
        assert len(opened.outcomes()) == 1


def test_strict_fails_where_samples_disagree(server: ApiServer, replay: tuple[str | Path, ...]) -> None:
    agreed = memsift(*replay, "--strict")
    assert (agreed.exit_code, agreed.stderr) == (0, "")
    server.answers.extend([kept(), kept(*range(5)), kept()])
    disputed = memsift(*replay, "--strict", "--judge-refresh")
    assert disputed.exit_code == 1
    assert len(disputed.stdout.splitlines()) == 1
    assert "disagrees with itself on 5 memories" in disputed.stderr
    assert memsift(*replay).exit_code == 0


def test_a_judgement_of_several_samples_says_how_far_they_agree(root: Path, server: ApiServer) -> None:
    server.answers.extend([kept(*range(5)), kept()])
    result = memsift("judge", ASK, "--root", root, *HTTP, "--judge-samples", "2", "--strict")
    assert result.exit_code == 1
    assert result.stdout.count("flagged (50% agree)") == 5
    assert result.stdout.count("The samples disagree: 1 approved, 1 rejected.") == 5
    assert "disagrees with itself on 5 memories" in result.stderr


def test_a_wrong_value_of_the_variable_names_the_variable(root: Path) -> None:
    ask = ("judge", ASK, "--root", root, *HTTP)
    assert "Invalid value for MEMSIFT_JUDGE_SAMPLES" in memsift(*ask, MEMSIFT_JUDGE_SAMPLES="many").stderr
    flag = memsift(*ask, "--judge-samples", "0", MEMSIFT_JUDGE_SAMPLES="3")
    assert (flag.exit_code, "Invalid value for '--judge-samples'" in flag.stderr) == (2, True)
