"""`memsift quality judge`: ratings, their cost, cache, limits, and the agreement with a person."""

import os
import re
from pathlib import Path

import pytest
from click.testing import Result

from engine.paths import decisions_file
from engine.quality.judging.rating import parse_entries
from tests.engine.builders import memory, write_root
from tests.engine.judge.api_server import ApiServer, failed
from tests.engine.quality.judging.answers import rated, rated_by_title, searched, title_in
from tests.tui.cli.command_line import HTTP, configure, memsift, printed, refused

PRICE = (120 * 1 + 9 * 5) / 1e6
SCORES = {"Use WAL": 8.0, "Be careful": 2.0, "Cache for an hour": 4.5}
RATE = ("quality", "judge", "--format", "json")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_root(
        tmp_path / "root",
        [
            memory("Use WAL", "sqlite", body="Else a reader blocks the writer."),
            memory("Be careful", body="Take care.", category="preference"),
            memory("Cache for an hour", body="The schema changes at night."),
            memory("## Executive Summary", body="All is well.", memory_id="summary"),
            memory("Old rule", body="gone", status="retired"),
        ],
    )


@pytest.fixture
def server(server: ApiServer) -> ApiServer:
    server.answer = rated_by_title(SCORES)
    return server


def decisions(result: Result) -> dict[str, str]:
    return {row["id"]: row["decision"] for row in printed(result)["memories"]}


ALL = {"Use-WAL": "accepted", "Be-careful": "rejected", "Cache-for-an-hour": "rejected", "summary": "rejected"}


# A rating


def test_active_memories_are_rated_and_the_cost_is_told_before_and_after(server: ApiServer, root: Path) -> None:
    result = memsift(*RATE, "--root", root, *HTTP)
    found = printed(result)
    assert decisions(result) == ALL
    assert found["summary"]["cost_usd"] == pytest.approx(3 * PRICE)
    assert (found["summary"]["accepted"], found["summary"]["by_rule"]) == (1, 1)
    assert {title_in(request) for request in server.requests} == set(SCORES)
    before, after = result.stderr.splitlines()
    assert "anthropic-http (claude-haiku-4-5) is asked about 3 memories, besides 1 rejected by rule. Cost: " in before
    assert after == ("memsift: 4 memories: 1 accepted, 3 rejected (1 by rule). 360 tokens in and 27 out, $0.0005.")


def test_people_see_score_reasons_points_and_suggestion(server: ApiServer, root: Path) -> None:
    server.answers.append(rated(4.0, suggested_title="Take [b]backups", suggested_tags=["backup"]))
    wanted = ["Be careful", "4.0", "It names no version.", "It names the file.", "Take [b]backups", "backup"]
    for form in ("text", "markdown"):
        result = memsift("quality", "judge", "Be-careful", "--root", root, *HTTP, "--format", form)
        assert (result.exit_code, [text for text in wanted if text not in result.stdout]) == (0, [])
    (entry,) = parse_entries(result.stdout)
    assert (entry.is_rejected, entry.memory_id, entry.rating.title) == (True, "Be-careful", "Take [b]backups")


def test_nobody_is_asked_unless_a_judge_is_named_and_the_options_make_sense(server: ApiServer, root: Path) -> None:
    assert "There is no judge to ask. Name one with --judge" in refused(memsift(*RATE, "--root", root))
    assert "There is no memory 'Use-WALL'" in refused(memsift(*RATE, "Use-WALL", "--root", root, *HTTP))
    result = memsift(*RATE, "--root", root, *HTTP, "--judge-depth", "keep")
    assert (result.exit_code, "--judge-depth has no effect here" in result.stderr) == (2, True)
    assert server.requests == []
    configure(root, judge={"enabled": True, "provider": "anthropic-http"})
    assert decisions(memsift(*RATE, "--root", root)) == ALL


def test_a_rubric_of_ones_own_is_used_and_a_mistake_in_it_is_named(
    server: ApiServer, root: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text("purpose = 'Rate it.'\n[criteria]\nfunny = 'Is it?'\n", encoding="utf-8")
    line = refused(memsift(*RATE, "--root", root, *HTTP, "--rubric", own))
    assert line == f"memsift: The rubric {own}: bands: a table is needed."
    bands = "".join(f"'{band}' = 'x'\n" for band in ("0-2", "3-4", "5-6", "7-8", "9-10"))
    own.write_text(f"{own.read_text(encoding='utf-8')}[bands]\n{bands}", encoding="utf-8")
    assert printed(memsift(*RATE, "--root", root, *HTTP, "--rubric", own))["rubric"] == "own"
    assert "- funny: Is it?" in server.requests[0].body["system"]


# Limits


def test_fail_under_fails_for_a_low_score_or_no_answer(server: ApiServer, root: Path) -> None:
    rate = (*RATE, "Use-WAL", "Cache-for-an-hour", "--root", root, *HTTP, "--retries", "0", "--fail-under")
    assert memsift(*rate, "4.5").exit_code == 0
    low = memsift(*rate, "4.6")
    assert (low.exit_code, "1 memory scored below 4.6 or got no answer." in low.stderr) == (1, True)
    server.answer = lambda _: failed(500)
    dead = memsift(*rate, "0", "--judge-refresh")
    assert (dead.exit_code, "The judge answered none of 2 questions" in dead.stderr) == (2, True)


def test_the_cost_limit_holds_for_several_roots_together_and_the_rest_is_rated_later(
    server: ApiServer, root: Path, tmp_path: Path
) -> None:
    more = write_root(tmp_path / "more", [memory(f"Rule {number}", body="It is cold.") for number in range(3)])
    rate = (*RATE, "--root", root, "--root", more, *HTTP, "--concurrency", "1", "--max-cost")
    low = memsift(*rate, "0.0001")
    assert (low.exit_code, len(server.requests)) == (1, 0)
    assert re.search(r"--max-cost is reached after \d of 4 memories. Give the same command again to go on", low.stderr)
    told = re.search(r"at most \$(\d\.\d+)", low.stderr)
    assert told
    limit = float(told[1]) / 3 + 2.4 * PRICE  # enough for three calls in the first root, and for none after them
    result = memsift(*rate, str(limit))
    assert (result.exit_code, "--max-cost is reached" in result.stderr, len(server.requests)) == (1, True, 3)
    assert decisions(memsift(*rate, "0.1")) == {**ALL, **{f"Rule-{number}": "accepted" for number in range(3)}}
    assert len(server.requests) == 6
    web = ("quality", "judge", "Use-WAL", "--root", root, *HTTP, "--web-search", "--max-cost")
    assert memsift(*web, "0.8").exit_code == 1  # four times 200,000 tokens cost 0.8, and three searches 0.03
    assert len(server.requests) == 6
    server.answers.append(searched("### IDEA: Use WAL\n**Quality Score**: 9/10\n"))
    assert memsift(*web, "0.9").exit_code == 0


# The person


@pytest.mark.usefixtures("server")
def test_the_agreement_with_the_persons_decisions_is_counted_by_category(root: Path) -> None:
    agreement = ("quality", "judge", "--agreement", "--root", root)
    assert "No memory has both a rating and a decision yet." in memsift(*agreement).stdout
    printed(memsift(*RATE, "--root", root, *HTTP))
    printed(memsift(*RATE, "summary", "--root", root, *HTTP))  # by the rule, which is no model
    memsift("quality", "accept", "Use-WAL", "Cache-for-an-hour", "summary", "--root", root)
    memsift("quality", "reject", "Be-careful", "--root", root)
    found = printed(memsift(*agreement, "--format", "json"))
    groups = {group.pop("group"): list(group.values())[:4] for group in found["groups"]}
    assert groups == {
        "all": [1, 0, 1, 1],
        "decision": [1, 0, 1, 0],
        "preference": [0, 0, 0, 1],
        "up to 30 words": [1, 0, 1, 1],
    }
    assert [(one["id"], one["model"], one["person"]) for one in found["differing"]] == [
        ("Cache-for-an-hour", "rejected", "accepted")
    ]
    # kappa by hand: observed 2/3, by chance (1/3)(2/3) + (2/3)(1/3) = 4/9, so (2/3 - 4/9) / (5/9) = 0.4
    assert "all             1            0           1         1            0.40 ±" in memsift(*agreement).stdout


@pytest.mark.usefixtures("server")
def test_decisions_about_an_earlier_text_and_ratings_of_another_model_do_not_count(root: Path) -> None:
    memsift("quality", "accept", "Use-WAL", "--root", root)
    write_root(root, [memory("Use WAL", body="Another text.")])
    printed(memsift(*RATE, "--root", root, *HTTP))
    agreement = ("quality", "judge", "--agreement", "--root", root)
    assert "No memory has both a rating" in memsift(*agreement).stdout
    printed(memsift(*RATE, "Use-WAL", "--root", root, *HTTP, "--judge-model", "claude-sonnet-4-5"))
    for name in ("Use-WAL", "Be-careful"):
        memsift("quality", "accept", name, "--root", root)
    groups = printed(memsift(*agreement, "--format", "json"))["groups"]
    assert [group["both_accept"] + group["only_person"] for group in groups if group["group"] == "all"] == [1]


@pytest.mark.usefixtures("server")
def test_a_damaged_file_of_ratings_is_named_also_that_of_1_0_0(root: Path) -> None:
    file = Path(decisions_file(os.environ))
    old = file.with_name("ratings.db")
    memsift("quality", "accept", "Use-WAL", "--root", root)
    old.write_bytes(b"no database" * 100)
    assert f"{old} cannot be read" in refused(memsift("quality", "judge", "--agreement", "--root", root))
    assert old.exists()
    assert memsift("quality", "reject", "Use-WAL", "--root", root).exit_code == 0
    old.unlink()
    printed(memsift(*RATE, "--root", root, *HTTP))
    file.write_bytes(b"no database" * 100)
    assert f"The decisions and ratings in {file} cannot be used" in refused(memsift(*RATE, "--root", root, *HTTP))
