"""Run files: written, read, and resumed after an interruption."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ExchangeError
from engine.judge.verdict import APPROVED, FLAGGED, REJECTED, TIMEOUT
from labels.exchange.replay_file import UnfinishedRun, read_outcomes, read_unfinished, run_row
from labels.records import JudgeCall
from tests.labels.samples import failed, judged, retrieval, write

ROW: dict[str, Any] = {"prompt_id": "p1", "system": "bm25", "injected": [{"id": "a"}], "candidates": [{"id": "a"}]}


def row(**changes: object) -> str:
    return json.dumps({key: value for key, value in {**ROW, **changes}.items() if value != "left out"})


def test_a_file_that_is_not_text_or_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(b"p1 0 a 1\np1 0 \xff 1\n")
    with pytest.raises(ExchangeError, match=r"q, line 2: expected UTF-8 text"):
        read_outcomes(tmp_path / "q")
    with pytest.raises(ExchangeError, match=r"nowhere: No such file"):
        read_outcomes(tmp_path / "nowhere")


def test_a_written_row_is_the_one_that_the_design_gives() -> None:
    how = {"status": "ok", "reasoning": "because", "confidence": None, "samples": 1, "agreement": 1.0, "source": "live"}
    found = {"body_bonus": 0, "matched": ["tokens"], "probability": None}
    kept = {"bm25": -9.0, "score": -9.0, "verdict": {"decision": "approved", **how}, "dropped_by": None}
    dropped = {"bm25": -8.0, "score": -8.0, "verdict": {"decision": "rejected", **how}, "dropped_by": "judge"}
    asked = {"status": "ok", "provider": "scripted", "model": "none", "template_hash": "0123456789abcdef"}
    spent = {"elapsed_ms": 210.0, "input_tokens": 0, "output_tokens": 0, "detail": "", "depth": "keep"}
    assert json.loads(json.dumps(run_row(judged(["a"], ["b"])))) == {
        "prompt_id": "p1",
        "system": "bm25+judge",
        "injected": [{"id": "a", "path": "decisions/a.json", "rank": 1, "score": -9.0, "confidence": "high"}],
        "candidates": [{"id": "a", **kept, **found}, {"id": "b", **dropped, **found}],
        "judgement": {**asked, **spent, "cost_usd": None},
        "fallback": "",
        "ms": 211.5,
    }
    assert run_row(retrieval(["a"]))["candidates"][0]["verdict"] is None
    assert run_row(retrieval(["a"]))["judgement"] is None


def test_rows_that_were_judged_in_two_wordings_are_not_one_run(tmp_path: Path) -> None:
    first, second = run_row(judged(["a"], [])), run_row(judged(["a"], [], prompt_id="p2"))
    second["judgement"]["template_hash"] = "f" * 16
    with pytest.raises(ExchangeError, match=r"r, line 2, judgement.template_hash: expected '0123456789abcdef'"):
        read_outcomes(write(tmp_path / "r", json.dumps(first), json.dumps(second)))
    first["system"] = "bm25+cutoff+judge"
    assert len(read_outcomes(write(tmp_path / "r", json.dumps(first), json.dumps(second)))) == 2


def test_written_rows_are_read_back_as_outcomes_also_those_of_an_older_memsift(tmp_path: Path) -> None:
    written = [run_row(each) for each in (retrieval(["a"], {"b": "cap"}), judged(["a"], ["b"]))]
    written.append(run_row(failed(["c"], prompt_id="p2")))
    bm25, judge, failure = read_outcomes(write(tmp_path / "r", *map(json.dumps, written)))
    assert (bm25.prompt_id, bm25.system, bm25.injected, bm25.elapsed_ms) == ("p1", "bm25", ("a",), 1.5)
    assert (bm25.candidates, bm25.decisions) == (("a", "b"), (None, None))
    assert (judge.candidates, judge.decisions) == (("a", "b"), (APPROVED, REJECTED))
    assert (failure.prompt_id, failure.fallback) == ("p2", TIMEOUT)
    assert (failure.candidates, failure.decisions) == (("c",), (FLAGGED,))
    row = run_row(judged(["a"], ["b"]))
    del row["judgement"]
    for each in row["candidates"]:
        each["verdict"] = {name: each["verdict"][name] for name in ("decision", "status", "reasoning")}
    (outcome,) = read_outcomes(write(tmp_path / "r", json.dumps(row)))
    assert (outcome.injected, outcome.candidates, outcome.decisions) == (("a",), ("a", "b"), (APPROVED, REJECTED))


def test_a_line_separator_inside_a_text_does_not_end_the_row(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text(json.dumps({**ROW, "prompt_id": "p\u2028\x85"}, ensure_ascii=False) + "\n", encoding="utf-8")
    (outcome,) = read_outcomes(path)
    assert (outcome.prompt_id, outcome.fallback, outcome.elapsed_ms) == ("p\u2028\x85", "", 0.0)


def test_a_fault_in_a_run_is_named_by_line_and_field(tmp_path: Path) -> None:
    for line, complaint in [
        ("{", r"r, line 2, row: expected a JSON object \("),
        ("[" * 100_000, r"line 2, row: expected a JSON object"),
        ("[]", r"line 2, row: expected a JSON object\."),
        (row(prompt_id="left out"), r"line 2, prompt_id: expected a text, not empty"),
        (row(prompt_id=7), r"line 2, prompt_id: expected a text"),
        (row(system=""), r"line 2, system: expected a text"),
        (row(injected="left out"), r"line 2, injected: expected a list of objects"),
        (row(injected=["a"]), r"line 2, injected: expected a list of objects"),
        (row(injected=[{"path": "a"}]), r"line 2\.injected\[0\], id: expected a text"),
        (row(injected=[{"id": "a"}, {"id": "a"}]), r"line 2, injected: expected each id once"),
        (row(candidates=None), r"line 2, candidates: expected a list"),
        (row(candidates=[{"id": "a", "verdict": "yes"}]), r"line 2\.candidates\[0\], verdict: expected an object"),
        (row(candidates=[{"id": "a", "verdict": {"decision": "keep"}}]), r"approved, rejected, flagged"),
        (row(fallback=3), r"line 2, fallback: expected a text"),
        *(
            (row(prompt_id="p2", judgement=each), "judgement")
            for each in ([1], "ok", {"template_hash": 7}, {"status": "ok"})
        ),
        (row(ms="fast"), r"line 2, ms: expected a number"),
        (row(ms=-1), r"line 2, ms: expected a number"),
        (row(ms=float("nan")), r"line 2, ms: expected a number"),
        (row(), r"line 2, prompt_id: expected one row for 'p1' and system 'bm25'"),
    ]:
        with pytest.raises(ExchangeError, match=complaint):
            read_outcomes(write(tmp_path / "r", row(), line))


def test_run_files_tell_the_calls(tmp_path: Path) -> None:
    verdict = {"decision": "approved", "samples": 3}
    judged = [
        ({**verdict, "source": "live"}, {"elapsed_ms": 900, "cost_usd": 0.003}, JudgeCall(900, 0.003, 3, True)),
        ({**verdict, "source": "cache"}, {"elapsed_ms": 1, "cost_usd": None}, JudgeCall(1, None, 3, False)),
        (None, None, None),
        (None, {"elapsed_ms": "soon"}, None),
        (None, {"elapsed_ms": 3000}, JudgeCall(3000, None, 0, True)),
    ]
    lines = [
        row(prompt_id=f"p{number}", candidates=[{"id": "a", "verdict": said}], judgement=asked and {**ASKED, **asked})
        for number, (said, asked, _) in enumerate(judged)
    ]
    assert [found.call for found in read_outcomes(write(tmp_path / "r", *lines))] == [call for *_, call in judged]


# Unfinished runs


def judged_row(prompt_id: str, system: str = "memsift+judge", **more: object) -> str:
    return row(prompt_id=prompt_id, system=system, injected=[], candidates=[], **more)


SYSTEMS = ("memsift", "memsift+judge")
ASKED = {"provider": "anthropic", "model": "claude", "template_hash": "0123"}


def test_no_file_is_an_empty_run_and_only_what_ends_in_a_newline_counts(tmp_path: Path) -> None:
    assert read_unfinished(tmp_path / "none.jsonl", SYSTEMS) == UnfinishedRun()
    for cut in ["", '{"pro', '{"prompt_id": "p9", "sys', judged_row("p9"), "\n"]:
        whole = f"{judged_row('p1', 'memsift')}\n{judged_row('p1', judgement=ASKED)}\n"
        path = tmp_path / "run.jsonl"
        path.write_text(whole + cut, encoding="utf-8")
        found = read_unfinished(path, SYSTEMS)
        assert found.pairs == {("p1", "memsift"), ("p1", "memsift+judge")}, cut
        assert found.judges == {("anthropic", "claude", "0123")}, cut
        assert (found.content, found.failed) == (whole.encode(), 0), cut
    path.write_bytes(f"{judged_row('p1')}\n".encode() + '{"prompt_id": "é'.encode()[:-1])  # within a character
    assert read_unfinished(path, SYSTEMS).pairs == {("p1", "memsift+judge")}


def test_a_row_whose_judge_did_not_answer_does_not_count_where_its_system_goes_on(tmp_path: Path) -> None:
    for fallback, systems, counts in [
        ("", SYSTEMS, True),
        ("no_fts5", SYSTEMS, True),
        ("timeout", SYSTEMS, False),
        ("refused", SYSTEMS, False),
        ("timeout", ["memsift"], True),
    ]:
        path = tmp_path / "run.jsonl"
        asked = judged_row("p2", judgement=ASKED, fallback=fallback)
        path.write_text(f"{judged_row('p1')}\n{asked}\n{judged_row('p3')}\n", encoding="utf-8")
        found = read_unfinished(path, systems)
        assert (("p2", "memsift+judge") in found.pairs, found.failed) == (counts, 0 if counts else 1), fallback
        assert found.content.decode() == "\n".join(
            [judged_row("p1"), *([asked] if counts else []), judged_row("p3"), ""]
        ), fallback


def test_a_whole_line_that_is_no_row_and_a_file_that_is_not_ours_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    theirs = [("notes of mine", 1), ('{"other": "json"}', 1), (" ", 1), (f"{judged_row('p1')}\nsomething else\n", 2)]
    for text, number in theirs:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ExchangeError, match=f"line {number}"):
            read_unfinished(path, SYSTEMS)
    with pytest.raises(ExchangeError):
        read_unfinished(tmp_path, SYSTEMS)
