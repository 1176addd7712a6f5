"""Run files that stop in the middle: what counts as there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.errors import ExchangeError
from labels.exchange.unfinished import UnfinishedRun, read_unfinished

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def row(prompt_id: str, system: str = "memsift+judge", **more: object) -> str:
    return json.dumps({"prompt_id": prompt_id, "system": system, "injected": [], "candidates": [], **more})


SYSTEMS = ("memsift", "memsift+judge")
ASKED = {"provider": "anthropic", "model": "claude", "template_hash": "0123"}


def test_no_file_is_an_empty_run(tmp_path: Path) -> None:
    assert read_unfinished(tmp_path / "none.jsonl", SYSTEMS) == UnfinishedRun()


@pytest.mark.parametrize(
    "cut", ["", '{"pro', '{"prompt_id": "p9", "sys', row("p9"), "\n"], ids=["none", "start", "half", "whole", "blank"]
)
def test_only_what_ends_in_a_newline_counts(tmp_path: Path, cut: str) -> None:
    whole = f"{row('p1', 'memsift')}\n{row('p1', judgement=ASKED)}\n"
    path = tmp_path / "run.jsonl"
    path.write_text(whole + cut, encoding="utf-8")
    found = read_unfinished(path, SYSTEMS)
    assert found.pairs == {("p1", "memsift"), ("p1", "memsift+judge")}
    assert found.judges == {("anthropic", "claude", "0123")}
    assert (found.content, found.failed) == (whole.encode(), 0)


def test_a_cut_within_a_character_is_a_cut(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(f"{row('p1')}\n".encode() + '{"prompt_id": "é'.encode()[:-1])
    assert read_unfinished(path, SYSTEMS).pairs == {("p1", "memsift+judge")}


@pytest.mark.parametrize(
    ("fallback", "systems", "counts"),
    [
        ("", SYSTEMS, True),
        ("no_fts5", SYSTEMS, True),
        ("timeout", SYSTEMS, False),
        ("refused", SYSTEMS, False),
        ("timeout", ["memsift"], True),
    ],
)
def test_a_row_whose_judge_did_not_answer_does_not_count_where_its_system_goes_on(
    tmp_path: Path, fallback: str, systems: Collection[str], counts: bool
) -> None:
    path = tmp_path / "run.jsonl"
    asked = row("p2", judgement=ASKED, fallback=fallback)
    path.write_text(f"{row('p1')}\n{asked}\n{row('p3')}\n", encoding="utf-8")
    found = read_unfinished(path, systems)
    assert (("p2", "memsift+judge") in found.pairs, found.failed) == (counts, 0 if counts else 1)
    assert found.content.decode() == "\n".join([row("p1"), *([asked] if counts else []), row("p3"), ""])


def test_a_whole_line_that_is_no_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(f"{row('p1')}\nsomething else\n", encoding="utf-8")
    with pytest.raises(ExchangeError, match="line 2"):
        read_unfinished(path, SYSTEMS)
    with pytest.raises(ExchangeError):
        read_unfinished(tmp_path, SYSTEMS)


@pytest.mark.parametrize("text", ["notes of mine", '{"other": "json"}', " "])
def test_a_file_that_is_not_ours_is_not_taken_for_a_cut_row(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ExchangeError, match="line 1"):
        read_unfinished(path, SYSTEMS)
