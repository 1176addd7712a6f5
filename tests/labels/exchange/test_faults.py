"""What is wrong in a file is named by place and field."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ExchangeError
from labels.exchange.files import FileText, read_source
from labels.exchange.registry import recognise
from tests.labels.exchange.datasets import event, read


def line(**changes: Any) -> str:
    return json.dumps({"record": "event", **event("a", **changes)._asdict()})


def task(field: str = '"blind": true') -> str:
    """A task of Label Studio whose annotation has *field*."""
    result = '[{"from_name": "relevance", "value": {"choices": ["not"]}}]'
    return f'[{{"data": {{"prompt": "q", "memory_id": "m"}}, "annotations": [{{"result": {result}, {field}}}]}}]'


def asked(text: str) -> str:
    return json.dumps({"record": "prompt", "id": "p", "text": text})


RESULTS = [{"memory_id": "m", "digest": digest, "rank": 1, "score": 1} for digest in "de"]
TWICE = json.dumps({"record": "retrieval", "run_id": "r", "prompt_id": "p", "results": RESULTS})
NOTES = "prompt_id,memory_id,label:a,note:a\np,m,not,"
ANSWER = '{{"text": "t", "prompt": "q", "memory_id": "m", "answer": {}}}'


def test_a_fault_is_named_by_place_and_field() -> None:
    for name, text, complaint in [
        ("jsonl", '{"record": "event"', "line 1, row: expected a JSON object"),
        ("jsonl", '\n{"record": "what"}', "line 2, record: expected one of memsift, prompt,"),
        ("jsonl", '{"record": "memsift", "version": 3}', "line 1, version: expected at most 2: a newer memsift"),
        ("jsonl", '{"record": "event"}', "line 1, annotator: expected a text, not empty"),
        ("jsonl", line(verdict="yes"), "line 1, verdict: expected one of"),
        ("jsonl", line(grade=4), "line 1, grade: expected null or 0 to 3"),
        ("jsonl", line(ts="now"), "line 1, ts: expected a time such as"),
        ("jsonl", line(ts="0001-01-01T00:00:00+12:00"), "line 1, ts: expected a time such as"),
        ("jsonl", line(seed=2**63), "line 1, seed: expected a whole"),
        ("jsonl", line(elapsed_ms=float("nan")), "line 1, elapsed_ms: expected a whole number"),
        ("jsonl", line(elapsed_ms="5"), "line 1, elapsed_ms: expected a whole number"),
        ("jsonl", f"{line()}\n{line()[:40]}", "line 2, row: expected a JSON object"),
        ("jsonl", f'{line()[:-1]}, "verdict": "not"}}', "line 1, row: expected a JSON object .the key 'verdict' comes"),
        ("jsonl", f"{asked('a')}\n{asked('b')}", "line 2, text: expected one text for the prompt 'p'"),
        ("jsonl", TWICE, "line 1, results: expected each memory_id once"),
        ("jsonl", '{"record": "prompt", "id": "", "text": ""}', "line 1, id: expected a text, not empty"),
        ("qrels", "p1 0 m1 1\np1 0 m1 0\n", "line 2, rel: expected one grade for p1 and m1"),
        ("qrels", "p1 0 m1 1\np1 0 m2", "line 2, row: expected 4 fields"),
        ("qrels", "p1 0 m1 1_0\n", "line 1, rel: expected a whole number, found '1_0'"),
        ("qrels-graded", "p1 0 m1 4\n", "line 1, rel: expected a grade up to 3, found 4"),
        ("run", "p1 Q0 m1 1 2.5\n", "line 1, row: expected 6 fields"),
        ("run", "p1 Q0 m1 1 nan x\n", "line 1, score: expected a number, found 'nan'"),
        ("run", "p1 Q0 m1 1 1_0 x\n", "line 1, score: expected a number, found '1_0'"),
        ("run", "p1 Q0 m1 1 1 x\np1 Q0 m1 2 0 x\n", "line 2, docid: expected each document once"),
        ("csv", "prompt_id,label:jan\n", "line 1, memory_id: expected a column of this name"),
        ("csv", "memory_id,label:jan\n", "line 1, prompt_id: expected a column of this name"),
        ("csv", "prompt_id,memory_id\n", "line 1, label:NAME: expected a column of labels"),
        ("csv", "prompt_id,memory_id,label:a,label:a\n", "line 1, label:a: expected each column once"),
        ("csv", 'prompt_id,memory_id,label:a\np,m,not\n"p\n2",m,maybe\n', "line 4, label:a: expected one of relevant"),
        ("csv", "prompt_id,memory_id,label:a,grade:a\np,m,not,9\n", "line 2, grade:a: expected nothing, or 0 to 3"),
        ("csv", "prompt_id,memory_id,label:a\np,m,not,more\n", "line 2: expected 3 cells, found 4"),
        ("csv", "prompt_id,memory_id,label:a,note:a\np,m,not,ok\np,n,not", "line 3: expected 4 cells, found 3"),
        (
            "csv",
            f'{NOTES}"two\nlines"\np,n,not,"a note that\nis cut',
            "the row from line 4 on: expected CSV .unexpected end",
        ),
        ("csv", f'{NOTES}"a"b\n', "the row from line 2 on: expected CSV"),
        ("label-studio", "[{}]", r"\$\[0\], data: expected an object"),
        ("label-studio", task()[:-9], "line 1: expected JSON"),
        ("label-studio", task('"lead_time": 1e300'), r"\$\[0\]\.annotations\[0\], lead_time: expected a number of sec"),
        ("label-studio", task('"lead_time": -1'), "lead_time: expected a number of seconds from 0 to 1,000,000,000"),
        ("label-studio", task('"lead_time": NaN'), "lead_time: expected a number"),
        ("label-studio", task('"lead_time": "12"'), "lead_time: expected a number"),
        ("label-studio", task('"created_at": "9999-12-31T23:59:59-12:00"'), "created_at: expected a time such as"),
        ("label-studio", task('"blind": true, "blind": false'), "expected JSON .the key 'blind' comes twice"),
        ("label-studio", "{", "line 1: expected JSON"),
        ("label-studio", "{}", r"\$: expected a JSON array"),
        ("prodigy", ANSWER.format('"yes"'), "line 1, answer: expected one of"),
        ("prodigy", ANSWER.format('"accept", "_timestamp": 1e300'), "line 1, _timestamp: expected a whole number"),
    ]:
        with pytest.raises(ExchangeError, match=rf"^file[,:] .*{complaint}|^file, {complaint}"):
            read(name, text)


def test_a_file_of_no_known_format_and_a_device_which_may_never_end_are_refused() -> None:
    for text in ("hello there", "{}", "[]", '{"a": 1}\n{"a": 2}', "1 2 3"):
        with pytest.raises(ExchangeError, match=r"no known format begins like this\. Name it with --format"):
            recognise(FileText(Path("file"), text))
    with pytest.raises(ExchangeError, match=r"^/dev/zero: is not a file"):
        read_source(Path("/dev/zero"))
