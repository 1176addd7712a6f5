"""What a session was given is remembered, while the conversation holds it."""

import json
import os

from tests.engine.hook.world import World

ALL, NONE = 3, 0
"""Memories that a prompt gets, the first time and the second."""


def given(world: World, prompt_id: str = "", **changes: object) -> int:
    return world.send(prompt_id=prompt_id or os.urandom(4).hex(), **changes).count("<result ")


def test_a_memory_is_given_while_the_conversation_holds_its_prompt(world: World) -> None:
    """After /rewind, /compact, or when another program blocked the prompt, it does not."""
    boundary = {"type": "system", "subtype": "compact_boundary"}
    assert given(world, "p1") == ALL
    for number, (prompts, expected) in enumerate(
        [
            *((["p1"], NONE), (["p0", "p1", "p2"], NONE), (["p0", "p2"], ALL)),
            *((["new 2", "compacted", "p3"], ALL), (["new 2", "compacted", "new 3"], NONE)),
        ]
    ):
        rows = [
            {"parentUuid": before, "type": "user", "message": {"content": "go"}, "promptId": prompt, "uuid": prompt}
            | (boundary if prompt == "compacted" else {})
            for before, prompt in zip([None, *prompts], prompts, strict=False)
        ]
        world.transcript.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert given(world, f"new {number}") == expected, prompts
    for path in ("", str(world.folder / "missing.jsonl")):
        assert given(world, transcript_path=path) == NONE


def test_a_session_that_begins_removes_the_old_ones_in_its_folder(world: World) -> None:
    assert given(world) == ALL
    (path,) = world.state.glob("sessions/??/*.json")
    now, month = path.stat().st_mtime, 30 * 86400
    young, old = path.with_name("young.json"), path.with_name("old.json")
    for beside, age in ((young, month - 3600), (old, month + 3600)):
        beside.write_text("{}", encoding="utf-8")
        os.utime(beside, (now - age, now - age))
    assert given(world) == NONE
    assert old.exists(), "a session that goes on looks after none"
    path.unlink()
    assert given(world) == ALL
    assert {*path.parent.iterdir()} == {path, young}


def test_no_session_id_leads_out_of_the_folder(world: World) -> None:
    session_ids = ["../../etc/x", "/abs", "a\0b", "\ud800", "x" * 10_000, "."]
    for session_id in session_ids:
        assert [given(world, session_id=session_id) for _ in range(2)] == [ALL, NONE]
    assert {path.name for path in world.state.iterdir()} == {"activity.jsonl", "sessions"}
    assert len([*world.state.glob("sessions/??/*.json")]) == len([*world.home.rglob("*.json")]) == len(session_ids)


def test_a_broken_file_is_a_new_session(world: World) -> None:
    assert given(world) == ALL
    (path,) = world.state.glob("sessions/??/*.json")
    old = '{"transcript_bytes": 0, "injected": {"A": "digest"}}'
    values = ("[1]", "null", '{"A": null}', '{"A": ["digest"]}')
    for content in ("", "[]", "{", old, *(f'{{"given": {value}}}' for value in values)):
        path.write_text(content, encoding="utf-8")
        assert [given(world), given(world)] == [ALL, NONE], content
