"""What hooks really injected, replayed, labelled and reported beside the systems of memsift."""

import io
import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.agents.registry import agent_of
from engine.conversations.activity import LOG_FILE
from engine.hook.process import respond
from engine.paths import state_dir
from labels.store import LabelStore
from tests.engine.builders import memory, write_root
from tests.labels.samples import card, known
from tests.tui.cli.command_line import jsonl, memsift, printed, rows
from tui.workspace import opening
from tui.workspace.judging import JudgeOptions

ASK, OTHER = "how long does the token cache live?", "and what is for lunch in the canteen?"
NEW = "the kitchen is closed in August"
MEMORIES = [
    memory("Token cache rule", "cache", memory_id="cache-rule", body="fifteen minutes"),
    memory("Lunch in the canteen", "lunch", memory_id="lunch", body="at noon"),
]


def user(text: str, number: int) -> dict[str, Any]:
    uuid = f"{number:08}-0000-0000-0000-000000000000"
    return {"type": "user", "uuid": uuid, "sessionId": "s", "message": {"role": "user", "content": text}}


def added(text: str, command: str = "") -> dict[str, Any]:
    hook = {"type": "hook_success", "hookEvent": "UserPromptSubmit", "content": text, "command": command}
    return {"type": "attachment", "attachment": hook}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_cutoff: None) -> Path:  # noqa: ARG001
    project = tmp_path / "project"
    made = write_root(project / ".claude/memory", MEMORIES)
    monkeypatch.chdir(project)
    return made


@pytest.fixture
def transcript(tmp_path: Path, root: Path) -> Path:
    """Two prompts. memsift's own hook ran for the first; its log tells of it. A plugin injected for both."""
    payload = {"prompt": ASK, "session_id": "s", "cwd": str(root.parent.parent)}
    assert "Token cache rule" in respond(json.dumps(payload).encode(), os.environ, io.StringIO())
    notes = ("- Token cache rule: fifteen minutes\n- " + NEW, "Lunch in the canteen")
    first, second = (added(text, "/plugins/notes/recall.sh") for text in notes)
    return jsonl(tmp_path / "s.jsonl", user(ASK, 1), first, user(OTHER, 2), second)


def test_injections_are_rows_of_a_replay(transcript: Path) -> None:
    done = memsift("replay", "--prompts", transcript, "--systems", "memsift,injected,injected:recall.sh")
    found = [(row["prompt_id"][:8], row["system"], [one["id"] for one in row["injected"]]) for row in rows(done)]
    unknown = found[2][2][1]
    assert unknown.startswith("text-")
    assert found == [
        ("00000001", "memsift", ["cache-rule"]),
        ("00000001", "injected", ["cache-rule"]),
        ("00000001", "injected:recall.sh", ["cache-rule", unknown]),
        ("00000002", "memsift", ["lunch"]),
        ("00000002", "injected:recall.sh", ["lunch"]),
    ]
    assert done.stderr.splitlines() == [
        "memsift: injected: 1 memory for 1 prompt. Without a record, so without a row: 1 prompt.",
        "memsift: injected:recall.sh: 3 memories for 2 prompts. Not in an open root: 1 text; each counts as a memory.",
    ]


def test_a_hook_without_a_record_is_refused_with_those_that_there_are(transcript: Path, tmp_path: Path) -> None:
    done = memsift("replay", "--prompts", transcript, "--systems", "injected:x")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "has a record 'injected:x' of these prompts" in done.stderr
    assert "There are records of injected, injected:recall.sh." in done.stderr
    plain = jsonl(tmp_path / "plain.jsonl", {"prompt": "something else"})
    assert "Name transcripts" in memsift("replay", "--prompts", plain, "--systems", "injected").stderr


def test_the_hooks_log_tells_the_prompts_of_an_agent_whose_sessions_are_not_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the person lets prompts be logged: typed ones only, and not again those of other agents."""
    payload = {"prompt": OTHER, "session_id": "s", "cwd": str(root.parent.parent)}
    respond(json.dumps(payload).encode(), os.environ, io.StringIO(), agent_of("opencode"))
    assert "The hook's log has 1 prompt of opencode without text" in memsift("prompts").stderr
    monkeypatch.setenv("MEMSIFT_LOG_PROMPTS", "true")
    for name, prompt in (("opencode", ASK), ("opencode", "/share it"), ("qwen", OTHER)):
        payload["prompt"] = prompt
        respond(json.dumps(payload).encode(), os.environ, io.StringIO(), agent_of(name))
    (row,) = rows(memsift("prompts"))
    assert (row["prompt"], row["source"], row["session_id"]) == (ASK, "opencode:s", "s")
    log = Path(state_dir(str(root), os.environ), LOG_FILE)
    (found,) = rows(memsift("replay", "--prompts", log, "--systems", "injected"))
    assert [one["id"] for one in found["injected"]] == ["cache-rule"]
    with closing(opening.open_workspace(str(root), (), JudgeOptions(is_off=True), None, os.environ)) as workspace:
        assert [prompt.text for prompt in workspace.lists.sample] == [ASK]


def test_the_same_labels_grade_what_was_injected(transcript: Path, root: Path, tmp_path: Path) -> None:
    """Also a label on a text that no root holds: it does not count as deleted."""
    store = tmp_path / "labels.db"
    systems = "memsift,injected,injected:recall.sh"
    memsift("replay", "--prompts", transcript, "--systems", systems, "--save", "--db", store)
    with LabelStore.open(store) as opened:
        for outcome in opened.outcomes(str(root)):
            for memory_id, digest in outcome.digests.items():
                verdict = "not" if memory_id.startswith("text-") else "relevant"
                opened.label(
                    "me", outcome.prompt_id, card(memory_id, digest), verdict, seed=1, blind=True, elapsed_ms=1
                )
    report = printed(memsift("report", "--db", store, "--format", "json"))
    precision = {one["system"]: (one["precision"]["part"], one["precision"]["whole"]) for one in report["systems"]}
    assert precision == {"memsift": (2, 2), "injected": (1, 1), "injected:recall.sh": (2, 3)}
    assert report["stale"] == 0
    text = " ".join(memsift("report", "--db", store, "--full").stdout.split())
    assert "injected:NAME is what another hook injected." in text
    assert " injected 1 0 1 injected:recall.sh 2 0 3 memsift " in text, "no time: nothing was searched"
    options = ["--allow-undecided", "--system", "injected", "--db", store, "--format", "json"]
    gate = memsift("gate", "--min-precision", "0.5", *options)
    assert printed(gate)["system"] == "injected"


def test_injected_texts_are_cards_of_the_pool(transcript: Path, root: Path) -> None:
    judge = JudgeOptions(is_off=True)
    with closing(opening.open_workspace(str(root), [str(transcript)], judge, None, os.environ)) as workspace:
        first, second = workspace.prompts
        for system in workspace.systems:
            workspace.keep(workspace.run(first, system))
        titles = {one.memory.title: one.memory for one in known(workspace.pool(first.id)).cards}
        assert {*titles} == {"Token cache rule", NEW}
        text = known(workspace.memory(titles[NEW].id))
        assert (text.summary, text.body) == (titles[NEW], NEW)
        assert workspace.digests()[titles[NEW].id] == titles[NEW].digest
        with pytest.raises(KeyError):
            workspace.run(second, "injected")
        workspace.reload()
        assert workspace.memory(titles[NEW].id) == text, "a text of an earlier start is found again"
