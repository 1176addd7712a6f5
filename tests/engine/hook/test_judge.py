"""The hook with a judge, as the process that Claude Code starts: every status, every row of the fallback table."""

import json
import os
import sys

import pytest

from tests.engine.hook.world import ASK, FORMS, NO_FTS5, RUN_HOOK, Prompted, World
from tests.engine.judge.api_server import KEY, ApiServer, Reply, failed, kept, kept_titles, late, said

WITHOUT_FTS5 = [sys.executable, "-c", f"{NO_FTS5}; {RUN_HOOK}"]
NO_JUDGE = 3
"""Memories that are injected where no judge was asked."""


@pytest.fixture
def world(judged: World) -> World:
    judged.configure(judge={"enabled": True})
    return judged


class Answer(Prompted):
    """The same with the numbers of the rules that were injected, and all of stderr. No key is in it."""

    def __init__(self, world: World, command: list[str] = FORMS["launcher"], **payload: object) -> None:
        super().__init__(world, command, **payload)
        self.rules = [number for number in range(5) if f"cache rule {number}" in self.context]
        self.said = "\n".join(self.stderr)
        assert KEY not in self.context + self.said + json.dumps(world.log())


@pytest.mark.parametrize("form", FORMS)
def test_what_the_judge_keeps_is_injected_in_bm25_order(world: World, server: ApiServer, form: str) -> None:
    server.answer = kept_titles("cache rule 4", "cache rule 2")
    answer = Answer(world, FORMS[form])
    assert (answer.rules, answer.said) == ([2, 4], "")
    assert (answer.row["fallback"], answer.row["system"]) == ("", "memsift+judge")
    judge = answer.row["judge"]
    assert (judge["provider"], judge["status"], judge["depth"]) == ("anthropic-http", "ok", "keep")
    assert (judge["input_tokens"], judge["output_tokens"], judge["cost_usd"]) == (120, 9, pytest.approx(0.000165))
    assert len(server.requests) == 1


def test_a_judge_that_keeps_nothing_silences_the_hook(world: World) -> None:
    answer = Answer(world)
    assert (answer.rules, answer.said, answer.row["fallback"]) == ([], "", "")


FAILURES: list[tuple[Reply, str, str]] = [
    (late(4, kept(0)), "timeout", "No answer within 0.5 s from http"),
    (failed(401, f"bad key {KEY}"), "http_error", " answered 401: bad key [hidden]"),
    (said("The first one."), "parse_error", "The answer holds no keep-list: The first one."),
    (said("", stop_reason="refusal"), "refused", "The model refused to answer."),
]
"""One for each status; the providers' tests have the others."""


def test_a_judge_that_cannot_answer_leaves_bm25s_best_two(world: World, server: ApiServer) -> None:
    world.configure(judge={"enabled": True, "timeout_per_call": 0.5})
    for reply, status, says in FAILURES:
        server.answers.append(reply)
        answer = Answer(world, session_id=status)
        assert answer.rules == [0, 1], status
        assert (answer.row["fallback"], answer.row["judge"]["status"]) == (status, status)
        (line,) = answer.stderr
        assert line.startswith("memsift-hook: ")
        assert says in line
        if status == "timeout":
            assert 500 <= answer.row["judge"]["ms"] < 1000
    assert len(server.requests) == len(FAILURES)


def test_without_a_key_it_is_bm25s_best_three_and_says_what_to_set(world: World, server: ApiServer) -> None:
    del world.environ["ANTHROPIC_API_KEY"]
    answer = Answer(world)
    assert len(answer.rules) == NO_JUDGE
    (line,) = answer.stderr
    assert "ANTHROPIC_API_KEY" in line
    assert answer.row["judge"]["status"] == "no_key"
    assert server.requests == []


def test_without_a_judge_it_is_bm25s_best_three_and_nothing_is_asked(world: World, server: ApiServer) -> None:
    cases: list[tuple[dict[str, object], str]] = [
        ({}, ""),
        ({"judge": {"enabled": True}}, "none"),
        ({"judge": {"enabled": True, "provider": "none"}}, ""),
        ({"judge": {"enabled": True}, "match_strategy": "title_tags"}, ""),
    ]
    for number, (config, variable) in enumerate(cases):
        world.configure(**config)
        world.environ["MEMSIFT_JUDGE"] = variable
        answer = Answer(world, session_id=str(number))
        assert (len(answer.rules), answer.said, answer.row["fallback"]) == (NO_JUDGE, "", ""), config
        assert "judge" not in answer.row
    assert server.requests == []


def test_without_fts5_it_is_keywords_and_one_warning_and_no_judge(world: World, server: ApiServer) -> None:
    answer = Answer(world, WITHOUT_FTS5)
    assert (len(answer.rules), answer.row["fallback"], "judge" in answer.row) == (NO_JUDGE, "no_fts5", False)
    (line,) = answer.stderr
    assert line.startswith("memsift-hook: SQLite has no FTS5 here")
    assert server.requests == []


def test_neither_a_script_nor_claude_code_is_asked_from_the_hook(world: World, server: ApiServer) -> None:
    (world.folder / "script.jsonl").write_text(json.dumps({"prompt": ASK, "keep": ["cache rule 4"]}), encoding="utf-8")
    os.mkfifo(world.folder / "pipe")
    scripts = [f"scripted:{world.folder / file}" for file in ("script.jsonl", "pipe", "/dev/zero")]
    for judge in (*scripts, "claude-cli"):
        world.environ["MEMSIFT_JUDGE"] = judge
        answer = Answer(world, session_id=judge)
        assert (answer.rules, answer.row["fallback"]) == ([0, 1], "refused"), judge
        assert (answer.row["judge"]["status"], answer.row["ms"] < 1000) == ("refused", True)
        (line,) = answer.stderr
        assert f"{judge.partition(':')[0]} is not asked from the hook" in line
        assert "anthropic-http" in line
    assert server.requests == []


def test_what_is_flagged_is_not_injected(world: World, server: ApiServer) -> None:
    world.configure(judge={"enabled": True, "depth": "explained"})
    decisions = ["approved", "flagged", "rejected", "flagged", "flagged"]
    entries = [
        {"index": index, "reasoning": "r", "decision": decision, "confidence": 0.5}
        for index, decision in enumerate(decisions)
    ]
    server.answers.append(said(json.dumps({"verdicts": entries})))
    answer = Answer(world)
    assert (len(answer.rules), answer.row["judge"]["depth"]) == (1, "explained")


def test_within_a_judge_of_ours_the_hook_stays_silent(world: World, server: ApiServer) -> None:
    world.environ["MEMSIFT_INSIDE_JUDGE"] = "1"
    answer = Answer(world)
    assert (answer.rules, answer.said, answer.row, server.requests) == ([], "", {}, [])


def test_the_conversation_goes_along_but_no_other_file(world: World, server: ApiServer) -> None:
    row = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "the blue one"}}
    transcript = world.home / ".claude/projects/p/session.jsonl"
    transcript.parent.mkdir(parents=True)
    for path in (transcript, world.transcript):
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    link = transcript.with_name("link.jsonl")
    link.symlink_to(world.transcript)
    for path in (transcript, world.transcript, link):
        Answer(world, transcript_path=str(path), session_id=path.name)
    shown = ["the blue one" in request.body["messages"][0]["content"] for request in server.requests]
    assert shown == [True, False, False]


def test_a_key_is_in_no_file_that_the_hook_writes(world: World, server: ApiServer) -> None:
    server.answers.extend([failed(401, f"bad key {KEY}"), failed(500, KEY), said(KEY)])
    for _ in range(3):
        Answer(world)
    files = [path for path in world.home.rglob("*") if path.is_file()]
    assert any(path.name == "activity.jsonl" for path in files)
    assert all(KEY.encode() not in path.read_bytes() for path in files)
