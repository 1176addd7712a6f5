"""Sessions of Codex, Gemini CLI, Qwen Code and Copilot CLI: prompts that a person typed, and turns for the hook.

The files in `sessions` were recorded in the agents' terminals with two prompts and `/help`, with other texts and paths.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.agents.registry import agent_in, agent_of
from engine.agents.sessions import last_turns, living_prompts
from engine.conversations.prompt_files import agent_sessions, read_prompts
from engine.inject import HEADER
from engine.lean.sha256 import hex_digest
from engine.prompt import Turn
from tests.engine.agents.test_forms import sent
from tests.engine.builders import fillers, memory, write_root
from tests.engine.hook.world import World

SESSIONS = Path(__file__).parent / "sessions"
NAMES = ("codex", "gemini", "qwen", "copilot")
FIRST, SECOND = "why does the nightly import skip rows?", "and after a failed night?"
ANSWER = "Rows without a shelf mark are skipped."
PLACES = {
    "codex": ".codex/sessions/2026/11/28/rollout-1.jsonl",
    "gemini": ".gemini/tmp/library/chats/session-1.jsonl",
    "qwen": ".qwen/projects/-home-ann-library/chats/1.jsonl",
    "copilot": ".copilot/session-state/in place/events.jsonl",
}
FOLDER = "/home/ann/library"


def session(name: str) -> str:
    return str(SESSIONS / f"{name}.jsonl")


def written(folder: Path, name: str, *more: dict[str, Any]) -> str:
    """The recorded session with rows behind it."""
    path = folder / f"{name}.jsonl"
    path.write_text(Path(session(name)).read_text("utf-8") + "".join(json.dumps(row) + "\n" for row in more), "utf-8")
    return str(path)


def test_the_prompts_of_a_session_are_the_typed_ones_and_the_hook_reads_its_turns() -> None:
    for name in NAMES:
        first, second = read_prompts([session(name)]).prompts
        assert [first.text, second.text] == [FIRST, SECOND], name
        assert (first.turns, second.turns) == ((), (Turn("user", FIRST), Turn("assistant", ANSWER))), name
        assert [injection.hook for injection in (*first.injections, *second.injections)] == ["", ""], name
        assert first.injections[0].text.startswith(HEADER), name
        assert "nightly-import-skips.json #tags" in first.injections[0].text, name
        assert second.injections[0].text == "", name
        assert first.session_id == second.session_id, name
        assert first.source == f"{name}:{first.session_id}", name
        assert agent_in(first.source) == agent_of(name).title, name
        assert first.timestamp.startswith("2026-11-28T06:3"), name
        assert read_prompts([session(name)]).skipped == (), name
        turns = (Turn("user", FIRST), Turn("assistant", ANSWER), Turn("user", SECOND), Turn("assistant", ANSWER))
        assert last_turns(session(name)) == turns, name
        assert last_turns(session(name), 1) == turns[-1:], name
        assert {hex_digest(FIRST), hex_digest(SECOND)} <= (living_prompts(session(name)) or set()), name
        assert living_prompts(session(name), 100) is None, name


@pytest.mark.parametrize("name", NAMES)
def test_only_sessions_of_the_named_folders_are_found(tmp_path: Path, name: str) -> None:
    file = tmp_path / PLACES[name]
    file.parent.mkdir(parents=True)
    shutil.copy(session(name), file)
    environ = {"HOME": str(tmp_path)}
    assert agent_sessions([FOLDER], environ) == [str(file)]
    assert agent_sessions(["/home/ann/lib", "/home/ann"], environ) == []


def test_a_prompt_that_was_taken_back_is_no_turn_and_a_summary_takes_all_out(tmp_path: Path) -> None:
    rollback = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    rows = [json.loads(line) for line in Path(session("gemini")).read_text("utf-8").splitlines()]
    second = next(row["id"] for row in reversed(rows) if row.get("type") == "user")
    chain = [json.loads(line) for line in Path(session("qwen")).read_text("utf-8").splitlines()]
    answer = next(row for row in chain if row["type"] == "assistant")
    other = {**chain[0], "uuid": "other", "parentUuid": answer["uuid"], "message": {"parts": [{"text": "instead"}]}}
    before = (Turn("user", FIRST), Turn("assistant", ANSWER))
    assert last_turns(written(tmp_path, "codex", rollback)) == before
    assert last_turns(written(tmp_path, "gemini", {"$rewindTo": second})) == before
    assert last_turns(written(tmp_path, "qwen", other)) == (*before, Turn("user", "instead"))
    assert hex_digest(SECOND) not in (living_prompts(str(tmp_path / "gemini.jsonl")) or ())
    codex = written(tmp_path, "codex", {"type": "compacted", "payload": {"message": "so far"}})
    assert living_prompts(codex) == frozenset()
    assert living_prompts(written(tmp_path, "gemini", {"$set": {"messages": []}})) == frozenset()
    copilot = written(tmp_path, "copilot", {"type": "session.compaction_complete", "data": {"success": True}})
    assert living_prompts(copilot) == frozenset()


def test_prompts_of_scripts_and_sub_agents_are_left_out(tmp_path: Path) -> None:
    text = Path(session("codex")).read_text("utf-8")
    script, sub_agent = tmp_path / "script.jsonl", tmp_path / "sub.jsonl"
    script.write_text(text.replace('"source":"cli"', '"source":"exec"'), "utf-8")
    sub_agent.write_text(text.replace('"source":"cli"', '"source":{"subagent":"review"}'), "utf-8")
    assert read_prompts([str(script)]).prompts == read_prompts([str(sub_agent)], include_sdk=True).prompts == ()
    assert len(read_prompts([str(script)], include_sdk=True).prompts) == 2


BROKEN = [
    *({"payload": {}}, {"$set": 3}, {"projectHash": 1}, {"message": {"parts": [1, {}]}}),
    {"payload": {"type": "thread_rolled_back", "num_turns": "many"}},
    {"payload": {"type": "thread_rolled_back", "num_turns": -1}},
    {"payload": {"type": "message", "role": "user", "content": [{"text": 9}, 3]}},
    {"uuid": ["u"], "parentUuid": {"p": 1}, "message": {"parts": []}},
]


@pytest.mark.parametrize("row", BROKEN)
def test_a_broken_row_costs_only_itself(tmp_path: Path, row: dict[str, Any]) -> None:
    for name in NAMES:
        path = written(tmp_path, name, row, {**row, "type": "user"}, {**row, "type": "response_item"})
        assert [prompt.text for prompt in read_prompts([path]).prompts] == [FIRST, SECOND]
        assert len(last_turns(path)) == 4


@pytest.mark.parametrize("name", NAMES)
def test_the_turns_of_an_agents_session_count_in_the_query(tmp_path: Path, name: str) -> None:
    world = World(tmp_path)
    write_root(world.root, [memory("Nightly import skips rows", memory_id="skips"), *fillers(40)])
    world.configure(min_strength=0.1)
    file = world.home / PLACES[name]
    file.parent.mkdir(parents=True)
    shutil.copy(session(name), file)

    def answer(session_id: str, transcript: Path) -> str:
        ids = {"session_id": session_id, "sessionId": session_id}
        return sent(name, world, prompt="please fix that", transcript_path=str(transcript), **ids)

    elsewhere = world.folder / "elsewhere.jsonl"
    shutil.copy(file, elsewhere)
    assert "Nightly import" in answer("in place", file)
    assert answer("elsewhere", elsewhere) == ""
