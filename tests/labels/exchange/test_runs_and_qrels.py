from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import ExchangeError
from engine.judge.verdict import APPROVED, FLAGGED, REJECTED, TIMEOUT
from labels.exchange.qrels import read_qrels
from labels.exchange.runs import read_runs, write_row
from tests.labels.samples import failed, judged, retrieval, write

if TYPE_CHECKING:
    from pathlib import Path

ROW: dict[str, Any] = {"prompt_id": "p1", "system": "bm25", "injected": [{"id": "a"}], "candidates": [{"id": "a"}]}


def row(**changes: object) -> str:
    return json.dumps({key: value for key, value in {**ROW, **changes}.items() if value != "left out"})


def test_qrels_are_read_by_prompt_and_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "q", "p1 0 a 1", "p1\t0\tb\t0", "", "  p2 Q0 c 3  ")
    assert read_qrels(path) == {"p1": {"a": True, "b": False}, "p2": {"c": True}}


def test_negative_grades_say_that_nobody_judged(tmp_path: Path) -> None:
    path = write(tmp_path / "q", "p1 0 a -1", "p1 0 b -2", "p1 0 c 0")
    assert read_qrels(path) == {"p1": {"c": False}}


def test_qrels_may_have_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "q"
    path.write_bytes(b"\xef\xbb\xbfp1 0 a 1\r\np1 0 b 0\r\n")
    assert read_qrels(path) == {"p1": {"a": True, "b": False}}


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["p1 0 a 1", "p1 0 a"], r"q, line 2, row: expected 4 fields \(qid 0 docid rel\), found 3\."),
        (["p1 0 a b 1"], r"line 1, row: expected 4 fields .*, found 5"),
        (["", "p1 0 a yes"], r"line 2, rel: expected a whole number, found 'yes'"),
        (["p1 0 a 1.5"], r"line 1, rel: expected a whole number"),
        (["p1 0 a 1", "p1 0 b 1", "p1 0 a 0"], r"line 3, rel: expected one grade for p1 and a"),
        ([" "], r"q: the file is empty"),
    ],
)
def test_a_fault_in_qrels_is_named_by_line_and_field(tmp_path: Path, lines: list[str], complaint: str) -> None:
    with pytest.raises(ExchangeError, match=complaint):
        read_qrels(write(tmp_path / "q", *lines))


def test_a_file_that_is_not_text_or_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(b"p1 0 a 1\np1 0 \xff 1\n")
    with pytest.raises(ExchangeError, match=r"q, line 2: expected UTF-8 text"):
        read_qrels(tmp_path / "q")
    with pytest.raises(ExchangeError, match=r"nowhere: No such file"):
        read_runs(tmp_path / "nowhere")


def test_a_written_row_is_the_one_that_the_design_gives() -> None:
    written = write_row(judged(["a"], ["b"]))
    counted = {"confidence": None, "samples": 1, "agreement": 1.0, "source": "live"}
    verdict = {"status": "ok", "reasoning": "because", **counted}
    assert json.loads(json.dumps(written)) == {
        "prompt_id": "p1",
        "system": "bm25+judge",
        "injected": [{"id": "a", "path": "decisions/a.json", "rank": 1, "score": -9.0, "confidence": "high"}],
        "candidates": [
            {
                "id": "a",
                "bm25": -9.0,
                "body_bonus": 0,
                "score": -9.0,
                "matched": ["tokens"],
                "probability": None,
                "verdict": {"decision": "approved", **verdict},
                "dropped_by": None,
            },
            {
                "id": "b",
                "bm25": -8.0,
                "body_bonus": 0,
                "score": -8.0,
                "matched": ["tokens"],
                "probability": None,
                "verdict": {"decision": "rejected", **verdict},
                "dropped_by": "judge",
            },
        ],
        "judgement": {
            "status": "ok",
            "provider": "scripted",
            "model": "none",
            "template_hash": "0123456789abcdef",
            "elapsed_ms": 210.0,
            "input_tokens": 0,
            "output_tokens": 0,
            "detail": "",
            "depth": "keep",
            "cost_usd": None,
        },
        "fallback": "",
        "ms": 211.5,
    }
    assert write_row(retrieval(["a"]))["candidates"][0]["verdict"] is None
    assert write_row(retrieval(["a"]))["judgement"] is None


def test_rows_of_an_older_memsift_are_read(tmp_path: Path) -> None:
    row = write_row(judged(["a"], ["b"]))
    del row["judgement"]
    for each in row["candidates"]:
        each["verdict"] = {name: each["verdict"][name] for name in ("decision", "status", "reasoning")}
    (outcome,) = read_runs(write(tmp_path / "r", json.dumps(row)))
    assert (outcome.injected, outcome.candidates, outcome.decisions) == (("a",), ("a", "b"), (APPROVED, REJECTED))


def test_rows_that_were_judged_in_two_wordings_are_not_one_run(tmp_path: Path) -> None:
    first, second = write_row(judged(["a"], [])), write_row(judged(["a"], [], prompt_id="p2"))
    second["judgement"]["template_hash"] = "f" * 16
    with pytest.raises(ExchangeError, match=r"r, line 2, judgement.template_hash: expected '0123456789abcdef'"):
        read_runs(write(tmp_path / "r", json.dumps(first), json.dumps(second)))
    first["system"] = "bm25+cutoff+judge"
    assert len(read_runs(write(tmp_path / "r", json.dumps(first), json.dumps(second)))) == 2


@pytest.mark.parametrize("judgement", [[1], "ok", {"template_hash": 7}, {"status": "ok"}])
def test_a_judgement_that_makes_no_sense_is_refused(tmp_path: Path, judgement: object) -> None:
    row = {**write_row(judged(["a"], [])), "judgement": judgement}
    with pytest.raises(ExchangeError, match="judgement"):
        read_runs(write(tmp_path / "r", json.dumps(row)))


def test_written_rows_are_read_back_as_outcomes(tmp_path: Path) -> None:
    written = [write_row(each) for each in (retrieval(["a"], {"b": "cap"}), judged(["a"], ["b"]))]
    written.append(write_row(failed(["c"], prompt_id="p2")))
    bm25, judge, failure = read_runs(write(tmp_path / "r", *map(json.dumps, written)))
    assert (bm25.prompt_id, bm25.system, bm25.injected, bm25.elapsed_ms) == ("p1", "bm25", ("a",), 1.5)
    assert (bm25.candidates, bm25.decisions) == (("a", "b"), (None, None))
    assert (judge.candidates, judge.decisions) == (("a", "b"), (APPROVED, REJECTED))
    assert (failure.prompt_id, failure.fallback) == ("p2", TIMEOUT)
    assert (failure.candidates, failure.decisions) == (("c",), (FLAGGED,))


def test_a_line_separator_inside_a_text_does_not_end_the_row(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text(json.dumps({**ROW, "prompt_id": "p\u2028\x85"}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [outcome.prompt_id for outcome in read_runs(path)] == ["p\u2028\x85"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", r"r, line 2, row: expected a JSON object \("),
        ("[" * 100_000, r"line 2, row: expected a JSON object"),
        ("[]", r"line 2, row: expected a JSON object\."),
        (row(prompt_id="left out"), r"line 2, prompt_id: expected a text that is not empty"),
        (row(prompt_id=7), r"line 2, prompt_id: expected a text"),
        (row(system=""), r"line 2, system: expected a text"),
        (row(injected="left out"), r"line 2, injected: expected a list of objects"),
        (row(injected=["a"]), r"line 2, injected: expected a list of objects"),
        (row(injected=[{"path": "a"}]), r"line 2, id: expected a text"),
        (row(injected=[{"id": "a"}, {"id": "a"}]), r"line 2, injected: expected each id once"),
        (row(candidates=None), r"line 2, candidates: expected a list"),
        (row(candidates=[{"id": "a", "verdict": "yes"}]), r"line 2, candidates\.verdict: expected null or an object"),
        (row(candidates=[{"id": "a", "verdict": {"decision": "keep"}}]), r"approved, rejected, flagged"),
        (row(fallback=3), r"line 2, fallback: expected a text"),
        (row(ms="fast"), r"line 2, ms: expected a number of milliseconds"),
        (row(ms=-1), r"line 2, ms: expected a number"),
        (row(ms=float("nan")), r"line 2, ms: expected a number"),
        (row(), r"line 2, prompt_id: expected one row for 'p1' and system 'bm25'"),
    ],
)
def test_a_fault_in_a_run_is_named_by_line_and_field(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(ExchangeError, match=complaint):
        read_runs(write(tmp_path / "r", row(), line))


def test_time_and_fallback_may_be_missing(tmp_path: Path) -> None:
    (outcome,) = read_runs(write(tmp_path / "r", row(fallback=None)))
    assert (outcome.fallback, outcome.elapsed_ms) == ("", 0.0)
