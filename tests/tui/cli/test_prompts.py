"""`memsift prompts`: the prompts of people in transcripts and files."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING

from tests.engine.builders import write_root
from tests.tui.cli.command_line import ASK, MAIN, PROJECT, RULES, jsonl, memsift, refused, rows
from tests.tui.demo import DEMO, DEMO_ROOT

if TYPE_CHECKING:
    from pathlib import Path

PROMPT_KEYS = ["id", "prompt", "context", "session_id", "cwd", "timestamp", "source"]


def test_prompts_of_a_transcript_are_what_a_person_typed(tmp_path: Path) -> None:
    common = {"sessionId": "s1", "cwd": "/p", "version": "2.1.330", "isSidechain": False, "userType": "external"}
    transcript = jsonl(
        tmp_path / "session.jsonl",
        {**common, "type": "user", "uuid": "u1", "parentUuid": None, "timestamp": "2026-01-01T10:00:00Z",
         "message": {"role": "user", "content": "how do tokens expire?"}},
        {**common, "type": "assistant", "uuid": "u2", "parentUuid": "u1", "timestamp": "2026-01-01T10:00:01Z",
         "message": {"role": "assistant", "content": [{"type": "text", "text": "After an hour."}]}},
        {**common, "type": "user", "uuid": "u3", "parentUuid": "u2", "timestamp": "2026-01-01T10:00:02Z",
         "message": {"role": "user", "content": "and sessions?"}},
    )  # fmt: skip
    found = rows(memsift("prompts", transcript))
    assert [list(row) for row in found] == [PROMPT_KEYS, PROMPT_KEYS]
    assert [row["prompt"] for row in found] == ["how do tokens expire?", "and sessions?"]
    assert found[1]["context"] == [
        {"role": "user", "text": "how do tokens expire?"},
        {"role": "assistant", "text": "After an hour."},
    ]
    assert {row["session_id"] for row in found} == {"s1"}


def test_prompts_of_real_transcripts_come_once_each(shared_data: Path) -> None:
    result = memsift("prompts", shared_data / "transcripts")
    found = rows(result)
    assert len(found) == 24
    assert len({row["id"] for row in found}) == 24
    assert not [row for row in found if row["prompt"].startswith(("<", "[Request interrupted"))]
    assert len(rows(memsift("prompts", "--include-sdk", shared_data / "transcripts"))) == 29


def test_what_prompts_prints_can_be_read_again(tmp_path: Path) -> None:
    first = memsift("prompts", DEMO / "prompts.jsonl")
    assert len(rows(first)) == 52
    again = tmp_path / "again.jsonl"
    again.write_text(first.stdout, encoding="utf-8")
    for before, after in zip(rows(first), rows(memsift("prompts", again)), strict=True):
        assert {**after, "source": ""} == {**before, "source": ""}


def test_a_prompt_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    assert "gone.jsonl" in refused(memsift("prompts", tmp_path / "gone.jsonl"))
    assert "gone.jsonl" in refused(memsift("replay", "--root", DEMO_ROOT, "--prompts", tmp_path / "gone.jsonl"))


def test_rows_that_are_no_prompts_are_told_on_stderr(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "prompts.jsonl", {"prompt": "how do tokens expire?"}, {"text": "no prompt"}, "{broken")
    result = memsift("prompts", file)
    assert [row["prompt"] for row in rows(result)] == ["how do tokens expire?"]
    assert result.stderr.count("skipped") >= 1
    replayed = memsift("replay", "--root", DEMO_ROOT, "--prompts", file)
    assert [row["system"] for row in rows(replayed)] == ["memsift", "memsift+default"]
    assert "skipped" in replayed.stderr


def test_the_output_of_another_command_is_read_where_a_person_names_it(tmp_path: Path) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    script = jsonl(tmp_path / "judge.jsonl", {"prompt": ASK, "keep": ["cache rule 3"]})
    root = write_root(tmp_path / "root", RULES)
    command = shlex.join([*MAIN, "replay", "--root", str(root), "--systems", "memsift+judge"])
    line = f"{command} --prompts <(cat '{prompts}') --judge scripted:<(cat '{script}')"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=PROJECT, timeout=60, check=True)
    assert [one["id"] for one in json.loads(done.stdout)["injected"]] == ["cache-rule-3"]
    assert done.stderr == ""
