"""Prompts out of the rows of one file, whatever kind of file it is."""

import os
from pathlib import Path
from typing import Any

import pytest

from engine.conversations.prompt_files import read_prompts
from engine.conversations.prompt_rows import BadRow, FoundPrompt, prompts_in
from engine.memory import Skipped
from engine.prompt import Prompt, Turn, prompt_id
from tests.engine.agents.claude_code.rows import SESSION, remembered, texts, user, write


def assistant(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}


def test_turns_are_five_and_cut_and_a_prompt_row_needs_only_a_prompt(tmp_path: Path) -> None:
    rows = [row for number in range(4) for row in (user(f"question {number}"), assistant("y" * 3000))]
    prompt = read_prompts([write(tmp_path / "t.jsonl", *rows, user("last"))]).prompts[-1]
    assert [turn.role for turn in prompt.turns] == ["assistant", "user", "assistant", "user", "assistant"]
    assert [len(turn.text) for turn in prompt.turns] == [2000, 10, 2000, 10, 2000]
    turns = (Turn("user", "hi"), Turn("assistant", "hello"))
    context = [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hello"}]
    full = {"id": "q1", "session_id": "s", "cwd": "/p", "timestamp": "2026-01-02T03:04:05Z", "kind": "specific"}
    rows = [{"prompt": "fix it"}, {"prompt": "fix that", "context": context, "source": "mine", **full}]
    reading = read_prompts([write(tmp_path / "prompts.jsonl", *rows, {"prompt": "fix it", "context": context[:1]})])
    assert reading.prompts[2].id == prompt_id("fix it", turns[:1]), "it depends on the context"
    assert reading.prompts[:2] == (
        Prompt("q1", "fix that", turns, "s", "/p", "2026-01-02T03:04:05Z", "mine", "specific"),
        Prompt(prompt_id("fix it"), "fix it", source="file:prompts.jsonl"),
    )


def test_a_history_row_carries_its_session_project_time_and_pastes_and_commands_are_none(tmp_path: Path) -> None:
    rows = [remembered(text) for text in ("/compact", "/hello big world", "!ls -a", "  ", "look at /etc/hosts")]
    (prompt,) = read_prompts([write(tmp_path / "h.jsonl", *rows)]).prompts
    assert prompt.text == "look at /etc/hosts"
    assert (prompt.session_id, prompt.cwd, prompt.timestamp) == (SESSION, "/p", "2026-11-21T20:53:12.714Z")
    assert prompt.source == f"history:{SESSION}"
    (tmp_path / "paste-cache").mkdir()
    (tmp_path / "paste-cache" / "0a1b.txt").write_text("alpha\nbeta")
    (tmp_path / "secret.txt").write_text("secret")
    pasted = {"1": {"type": "text", "contentHash": "0a1b"}, "2": {"type": "text", "contentHash": "../secret"}}
    row = remembered("[Pasted text #1 +2 lines] and [Pasted text #2 +9 lines]", pastedContents=pasted)
    reading = read_prompts([write(tmp_path / "history.jsonl", row)])
    assert texts(reading) == ["alpha\nbeta and [Pasted text #2 +9 lines]"]
    (tmp_path / "paste-cache/0a1b.txt").unlink()
    os.mkfifo(tmp_path / "paste-cache/0a1b.txt")
    lost = "[Pasted text #1 +2 lines] and [Pasted text #2 +9 lines]"
    assert texts(read_prompts([str(tmp_path / "history.jsonl")])) == [lost]


@pytest.mark.parametrize("name", ["transcript.json", "rows", "rows.txt", "x.ndjson"])
def test_a_file_is_what_its_rows_are_and_not_what_it_is_called(tmp_path: Path, name: str) -> None:
    assert texts(read_prompts([write(tmp_path / name, user("fix it"))])) == ["fix it"]
    assert texts(read_prompts([write(tmp_path / name, remembered("look"))])) == ["look"]
    assert texts(read_prompts([write(tmp_path / name, {"prompt": "ask"})])) == ["ask"]


def test_a_text_file_holds_a_prompt_per_line(tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_bytes(b"\xef\xbb\xbffix it\r\n\n  /etc is full  \n[1]\n\xff\nlast")
    reading = read_prompts([str(path)])
    assert texts(reading) == ["fix it", "/etc is full", "[1]", "last"]
    assert reading.prompts[0] == Prompt(prompt_id("fix it"), "fix it", source="file:prompts.txt")
    assert reading.skipped == (Skipped(f"{path}:5", "not UTF-8"),)


def test_rows_that_cannot_be_read_are_named_by_line_with_what_is_wrong(tmp_path: Path) -> None:
    bad = [42, [1], "massive error", user(["x"]), {"type": "user", "message": "error"}, b"\xff", b'{"a":' * 100_000]
    path = write(tmp_path / "t.jsonl", *bad, user("fix it"), b"", b'{"type": "us', end=b"")
    reading = read_prompts([path])
    assert texts(reading) == ["fix it"]
    assert [skipped.where for skipped in reading.skipped] == [f"{path}:{line}" for line in (1, 2, 3, 4, 5, 6, 7, 10)]
    assert [skipped.reason for skipped in reading.skipped] == [
        *("not a JSON object", "not a JSON object", "not a JSON object"),
        *("the message's content is neither text nor blocks", "the message is not an object", "not UTF-8"),
        *("nested too deeply", "cut off: the file ends within this row"),
    ]
    rows = [{"prompt": "ok"}, {"prompt": " "}, {"query": "x"}, {"prompt": "x", "context": "y"}]
    path = write(tmp_path / "scores.jsonl", {"score": 1})
    assert read_prompts([path]).skipped == (Skipped(f"{path}:1", "not a row of a transcript, history or prompt file"),)
    roles = {"prompt": "x", "context": [{"role": "system", "text": "y"}]}
    reading = read_prompts([write(tmp_path / "p.jsonl", *rows, roles)])
    assert texts(reading) == ["ok"]
    assert [skipped.reason for skipped in reading.skipped] == [
        "the row has no prompt",
        "the row has no prompt",
        "the context is not a list of {role, text}",
        "the context is not a list of {role, text}",
    ]


@pytest.mark.slow
def test_a_row_of_fifty_megabytes_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", user("x" * 50_000_000), user("fix it"))
    assert [len(text) for text in texts(read_prompts([path]))] == [50_000_000, 6]


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_row_that_is_too_long_to_hold_is_skipped(tmp_path: Path, end: bytes) -> None:
    path = write(tmp_path / "t.jsonl", user("first"), user("x" * 3_000_000), user("last"), user("y" * 999_999), end=end)
    found = list(prompts_in(path, max_line_bytes=1_000_000))
    assert [item.prompt.text for item in found if isinstance(item, FoundPrompt)] == ["first", "last"]
    reason = "too long to hold in memory"
    assert [item for item in found if isinstance(item, BadRow)] == [BadRow(2, reason), BadRow(4, reason)]
