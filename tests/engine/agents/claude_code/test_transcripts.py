"""What a transcript's rows say, the last turns the hook sees, and where transcripts are."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agents.claude_code.transcripts import is_sdk, last_turns, living_prompts, read_row, turn_of, typed_of
from engine.lean.sha256 import hex_digest
from engine.prompt import Turn
from tests.engine.agents.claude_code.rows import user, write
from tests.engine.hook.world import NOT_TYPED

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)
FIELDS = ("type", "message", "attachment", "origin", "promptSource", "uuid", "promptId", "turnPosition", "isMeta")
TYPES = st.sampled_from(["user", "assistant", "attachment", "system"])
BLOCKS = st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use"]), "text": JSON}) | JSON)
MESSAGES = st.fixed_dictionaries({"content": st.text() | BLOCKS | JSON}) | JSON
HOSTILE_ROWS = st.fixed_dictionaries({"type": TYPES, "message": MESSAGES}) | st.dictionaries(
    st.sampled_from(FIELDS), JSON
)


def assistant(*texts: str, **fields: object) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text} for text in texts]
    return {"type": "assistant", "message": {"role": "assistant", "content": blocks}, **fields}


def queued(prompt: object, **fields: object) -> dict[str, Any]:
    return {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt, **fields}}


def text_of(row: dict[str, Any]) -> str | None:
    turn = turn_of(row)
    return turn.text if turn else None


INTERRUPTED, IMAGE = "[Request interrupted by user]", {"type": "image", "source": {}}


def test_a_typed_prompt_is_what_the_person_typed_without_what_editor_and_client_put_around_it() -> None:
    row = user("  fix the user_id field\n", origin={"kind": "human"}, promptSource="typed")
    assert turn_of(row) == Turn("user", "fix the user_id field")
    for content, text in [
        ([{"type": "text", "text": "first"}, IMAGE, {"type": "text", "text": "second"}], "first\nsecond"),
        ([IMAGE], None),
        ([{"type": "text", "text": INTERRUPTED}, {"type": "text", "text": "use tabs"}], "use tabs"),
        (f"{INTERRUPTED} is what I saw]", f"{INTERRUPTED} is what I saw]"),
        (
            'explain: \n\n<pasted_content id="12cd">\nalpha\nbeta\n</pasted_content id="12cd">\nand this',
            "explain: \n\nalpha\nbeta\nand this",
        ),
        ("<pasted_content>\nalpha\n</pasted_content>", "alpha"),
        *(
            (about, about)
            for about in ("what is <pasted_content>?", 'a </pasted_content id="1"> b', "<pasted_contents>x")
        ),
        ("a\ud800b", "a\ufffdb"),
    ]:
        assert text_of(user(content)) == text, content
    text = "<ide_opened_file>The user opened a.py</ide_opened_file>fix it<ide_selection>x = 1</ide_selection>"
    assert text_of(user(text)) == "fix it"
    assert turn_of(user("<system-reminder>cwd changed</system-reminder>")) is None
    assert text_of(user("why <ide_selection> stays")) == "why <ide_selection> stays"
    assert typed_of(user(text))[1] == (Turn("user", "The user opened a.py\nx = 1"),)


def test_rows_are_said_by_someone_unless_the_client_marks_them_as_its_own() -> None:
    marks = "isMeta isSidechain agentId isCompactSummary isVisibleInTranscriptOnly isVirtual toolUseResult"
    for mark in marks.split():
        assert turn_of(user("hello", **{mark: "x"})) is None, mark
        assert turn_of(assistant("hello", **{mark: "x"})) is None, mark
        assert turn_of(queued("hello", commandMode="prompt", **{mark: "x"})) is None, mark
    assert text_of(queued("use tabs", commandMode="prompt", origin={"kind": "human"})) == "use tabs"
    assert text_of(queued([{"type": "text", "text": "use tabs"}], commandMode="prompt")) == "use tabs"
    assert turn_of(queued("ls", commandMode="bash")) is None
    assert turn_of(queued("done", commandMode="prompt", origin={"kind": "task-notification"})) is None
    assert turn_of({"type": "attachment", "attachment": {"type": "hook_success", "content": "MARK"}}) is None
    row = assistant("Running it.", "Done.")
    row["message"]["content"] += [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "name": "Bash"}]
    assert turn_of(row) == Turn("assistant", "Running it.\nDone.")
    row["message"]["content"] = [{"type": "tool_use", "name": "Bash"}]
    assert turn_of(row) is None


def test_what_only_looks_like_a_prompt_is_not_one_and_its_origin_tells() -> None:
    for content in [
        [{"type": "tool_result", "content": "ran"}, {"type": "text", "text": "and text"}],
        "<command-name>/compact</command-name>\n  <command-message>compact</command-message>",
        "<command-message>hello is running…</command-message>\n<command-name>/hello</command-name>",
        "<local-command-stdout>done</local-command-stdout>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>README</bash-stdout><bash-stderr></bash-stderr>",
        "[Request interrupted by user]",
        [{"type": "text", "text": "[Request interrupted by user for tool use]"}],
        "<user-prompt-submit-hook>MARK</user-prompt-submit-hook>",
        "Caveat: The messages below were generated by the user while running local commands.",
        "This session is being continued from a previous conversation that ran out of context.",
        "[Image: source: /tmp/1.png]",
        "<ide_opened_file>a.py</ide_opened_file>",
        "/hello big world",
        "",
        *NOT_TYPED,
    ]:
        assert turn_of(user(content)) is None, content
    assert turn_of(user("hello", origin={"kind": "task-notification"})) is None
    assert turn_of(user("hello", promptSource="system")) is None
    assert text_of(user("hello", origin={"kind": "human"})) == "hello"
    assert is_sdk(user("hello", promptSource="sdk"))
    assert is_sdk(user("hello", entrypoint="sdk-cli"))
    assert not is_sdk(user("hello", promptSource="typed", entrypoint="cli"))


def test_very_many_stray_wrappers_and_missing_rows_are_read_in_linear_time(tmp_path: Path) -> None:
    text = "".join(f"<pasted_content id={number}>" for number in range(100_000))
    start = time.process_time()
    assert text_of(user(text)) == text
    assert text_of(user("<pasted_content " * 100_000)) == ("<pasted_content " * 100_000).strip()
    assert time.process_time() - start < 5
    rows = chain(*((f"u{number}", f"lost {number}", user("go")) for number in range(20_000)))
    start = time.process_time()
    assert living_prompts(write(tmp_path / "t.jsonl", *rows)) is None
    assert time.process_time() - start < 5


def test_a_message_of_another_shape_and_a_line_that_is_no_row_say_why() -> None:
    for message in ["error", None, {}, {"content": ["wow error"]}, {"content": 3}]:
        with pytest.raises(ValueError, match="message"):
            turn_of({"type": "user", "message": message})
    for line, reason in [
        (b"42", "not a JSON object"),
        (b"[1]", "not a JSON object"),
        (b'"massive error"', "not a JSON object"),
        (b'{"a": ', "not JSON"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 10_000 + b"}", "not JSON"),
    ]:
        with pytest.raises(ValueError, match=f"^{reason}$"):
            read_row(line)


def test_last_turns_are_the_newest_oldest_first_each_once_stripped_and_cut(tmp_path: Path) -> None:
    rows = [row for number in range(6) for row in (user(f"question {number}"), assistant(f"answer {number}"))]
    path = write(tmp_path / "t.jsonl", *rows)
    assert last_turns(path, 3) == (
        Turn("assistant", "answer 4"),
        Turn("user", "question 5"),
        Turn("assistant", "answer 5"),
    )
    assert len(last_turns(path)) == 5
    assert last_turns(path, 0) == ()
    rows = [user("go"), assistant("Running it."), user([{"type": "tool_result", "content": "ran"}]), assistant("Done.")]
    path = write(tmp_path / "t.jsonl", *rows)
    assert last_turns(path) == (Turn("user", "go"), Turn("assistant", "Running it.\nDone."))
    assert last_turns(path, 1) == (Turn("assistant", "Running it.\nDone."),)
    path = write(tmp_path / "t.jsonl", user("  " + "x" * 5000), assistant("y" * 1500), assistant("z" * 1500))
    assert last_turns(path) == (Turn("user", "x" * 2000), Turn("assistant", "y" * 499 + "\n" + "z" * 1500))
    path = write(tmp_path / "t.jsonl", user("go", uuid="1"), user("go", uuid="1"), user("go", uuid="2"))
    assert last_turns(path) == (Turn("user", "go"), Turn("user", "go"))


def test_only_the_end_of_the_file_is_read_without_junk_and_a_line_that_is_being_written(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", user("early"), user("late"))
    size = len(json.dumps(user("late"))) + 1
    assert last_turns(path, max_bytes=size + 5) == (Turn("user", "late"),)
    assert last_turns(path, max_bytes=10) == ()
    path = write(tmp_path / "t.jsonl", user("whole"), b'{"type": "user", "mess', end=b"")
    assert last_turns(path) == (Turn("user", "whole"),)
    deep = b'{"type":' * 100_000
    junk = [42, [1], "massive error", {"type": "user", "message": "error"}, user(["wow error"]), b"\xff\xfe", b"", deep]
    path = write(tmp_path / "t.jsonl", user("before"), *junk, user("after"))
    assert last_turns(path, max_bytes=10_000_000) == (Turn("user", "before"), Turn("user", "after"))


@given(st.lists(HOSTILE_ROWS), st.binary(), st.integers(-1, 400))
def test_last_turns_never_raise(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], tail: bytes, max_bytes: int
) -> None:
    path = write(tmp_path_factory.mktemp("hostile") / "t.jsonl", *rows, tail)
    assert all(turn.text and len(turn.text) <= 2000 for turn in last_turns(path, max_bytes=max_bytes))
    assert living_prompts(path, max_bytes) is None or max_bytes > 0


def chain(*rows: tuple[str, str | None, dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as the client writes them: the parent first, then the message, then the own uuid."""
    return [{"parentUuid": parent, "isSidechain": False, **row, "uuid": uuid} for uuid, parent, row in rows]


REWOUND = chain(
    ("u1", None, user("alpha", promptId="p1")),
    ("a1", "u1", assistant("yes, alpha")),
    ("u2", "a1", user("beta", promptId="p2")),
    ("a2", "u2", assistant("yes, beta")),
    ("u3", "a1", user("gamma", promptId="p3")),
    ("a3", "u3", assistant("yes, gamma")),
)
"""The person asked about beta, rewound to before that, and asked about gamma, as client 2.1.330 writes it."""

COMPACTION = {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": "a3", "content": "compacted"}


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_what_was_rewound_belongs_to_no_conversation(tmp_path: Path, separators: tuple[str, str]) -> None:
    path = write(tmp_path / "t.jsonl", *(json.dumps(row, separators=separators).encode() for row in REWOUND))
    assert living_prompts(path) == {"p1", "p3"}
    assert [turn.text for turn in last_turns(path)] == ["alpha", "yes, alpha", "gamma", "yes, gamma"]


def test_living_are_the_prompts_of_the_branch_since_the_last_compaction(tmp_path: Path) -> None:
    rows = [*REWOUND, *chain(("c", None, COMPACTION), ("u4", "c", user("delta", promptId="p4")))]
    path = write(tmp_path / "t.jsonl", *rows)
    assert living_prompts(path) == {"p4"}
    assert [turn.text for turn in last_turns(path, 3)] == ["gamma", "yes, gamma", "delta"]
    row = user("<ide_selection>x = 1</ide_selection>fix it")
    path = write(tmp_path / "t.jsonl", *chain(("u1", None, row)))
    assert living_prompts(path) == {hex_digest("fix it")}
    rows = chain(("u1", None, user("go", promptId="p1")), ("q", "u1", queued("faster", commandMode="prompt")))
    assert living_prompts(write(tmp_path / "t.jsonl", *rows)) == {"p1", hex_digest("faster")}
    path = write(tmp_path / "t.jsonl", *REWOUND)
    assert living_prompts(path, 400) is None
    assert living_prompts(write(tmp_path / "none.jsonl")) is None
    quoted = user(json.dumps({"subtype": "compact_boundary"}), promptId="p9")
    rows = chain(("u1", None, user("alpha", promptId="p1")), ("u2", "lost", quoted))
    assert living_prompts(write(tmp_path / "t.jsonl", *rows)) == {"p1", "p9"}


def test_the_living_prompts_and_the_last_turns_of_real_transcripts(shared_data: Path) -> None:
    def found(pattern: str) -> list[int]:
        paths = sorted(shared_data.glob(f"transcripts/{pattern}/*/*.jsonl"))
        return [len(living_prompts(str(path)) or ()) for path in paths if not path.name.startswith("agent-")]

    assert found("tui_2.1.330_mixed") == [1, 2], "of the second, all before /compact is gone"
    assert found("tui_2.1.330_steer") == [2]
    assert found("p_2.0.76") == [2]
    path = next(shared_data.glob("transcripts/tui_2.1.330_mixed/*/9db9dad3*.jsonl"))
    assert last_turns(str(path), 4) == (
        Turn("assistant", "ok from fake"),
        Turn("user", "please spawn an agent"),
        Turn("user", "after compact prompt"),
        Turn("assistant", "ok from fake"),
    )
    paths = sorted(shared_data.glob("transcripts/**/agent-*.jsonl"))
    assert len(paths) == 6
    assert [last_turns(str(path)) for path in paths] == [()] * 6
