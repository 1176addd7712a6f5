"""Run files that stop in the middle: what counts as there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.errors import ExchangeError
from labels.exchange.unfinished import UnfinishedRun, read_unfinished

if TYPE_CHECKING:
    from pathlib import Path


def row(prompt_id: str, system: str = "memsift+judge", **more: object) -> str:
    return json.dumps({"prompt_id": prompt_id, "system": system, "injected": [], "candidates": [], **more})


ASKED = {"provider": "anthropic", "model": "claude", "template_hash": "0123"}


def test_no_file_is_an_empty_run(tmp_path: Path) -> None:
    assert read_unfinished(tmp_path / "none.jsonl") == UnfinishedRun()


@pytest.mark.parametrize(
    "cut", ["", '{"pro', '{"prompt_id": "p9", "sys', row("p9"), "\n"], ids=["none", "start", "half", "whole", "blank"]
)
def test_only_what_ends_in_a_newline_counts(tmp_path: Path, cut: str) -> None:
    whole = f"{row('p1', 'memsift')}\n{row('p1', judgement=ASKED)}\n"
    path = tmp_path / "run.jsonl"
    path.write_text(whole + cut, encoding="utf-8")
    found = read_unfinished(path)
    assert found.pairs == {("p1", "memsift"), ("p1", "memsift+judge")}
    assert found.judges == {("anthropic", "claude", "0123")}
    assert found.size == len(whole) + (cut == "\n")


def test_a_cut_within_a_character_is_a_cut(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(f"{row('p1')}\n".encode() + '{"prompt_id": "é'.encode()[:-1])
    assert read_unfinished(path).pairs == {("p1", "memsift+judge")}


def test_a_whole_line_that_is_no_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(f"{row('p1')}\nsomething else\n", encoding="utf-8")
    with pytest.raises(ExchangeError, match="line 2"):
        read_unfinished(path)
    with pytest.raises(ExchangeError):
        read_unfinished(tmp_path)


@pytest.mark.parametrize("text", ["notes of mine", '{"other": "json"}', " "])
def test_a_file_that_is_not_ours_is_not_taken_for_a_cut_row(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ExchangeError, match="line 1"):
        read_unfinished(path)
