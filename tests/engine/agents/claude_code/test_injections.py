"""Reading what hooks added to prompts from transcripts, of real clients and written by hand."""

import json
from pathlib import Path
from typing import Any

from engine.conversations.prompt_files import read_prompts
from engine.prompt import Injection

RESULT = '<result category="RULE" confidence="high">a -> b.json</result>'
OWN = f'<memory-context source="memsift">\n{RESULT}\n</memory-context>'


def user(text: str, number: int, **more: object) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": f"00000000-0000-0000-0000-{number:012}",
        "sessionId": "s",
        "message": {"role": "user", "content": text},
        **more,
    }


def hook(content: object, kind: str = "hook_success", event: str = "UserPromptSubmit", **more: object) -> Any:
    return {"type": "attachment", "attachment": {"type": kind, "hookEvent": event, "content": content, **more}}


def injections(tmp_path: Path, *rows: Any) -> list[tuple[Injection, ...]]:
    file = tmp_path / "s.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return [prompt.injections for prompt in read_prompts([str(file)]).prompts]


def test_the_hooks_of_real_clients_are_read_with_the_prompt_that_they_ran_for(shared_data: Path) -> None:
    """Not those that ran for a slash command or for the end of a background task."""

    def texts(folder: str) -> list[tuple[str, str]]:
        found = read_prompts([str(shared_data / "transcripts" / folder)], include_sdk=True).prompts
        return [(one.text[:20], part.text) for one in found for part in one.injections]

    mark = "MARK-tui remembered"
    assert texts("tui_2.1.330_steer") == [("please sleep in a to", mark), ("steer mid turn pleas", mark)]
    assert [text for _, text in texts("tui_2.1.330_queue_agents")] == [mark] * 5
    assert texts("tui_2.1.197_mixed")[2] == ("steer mid turn pleas", "")
    assert texts("p_1.0.128") == [("fix the user_id fiel", "MARK-turn"), ("second question", "MARK-turn")]
    assert (texts("p_2.1.330_slash"), texts("p_2.0.76")) == ([], [])


def test_each_hook_has_a_name_and_is_silent_where_it_added_nothing(tmp_path: Path) -> None:
    command = '"${CLAUDE_PLUGIN_ROOT}"/scripts/recall.sh --fast'
    first, second = injections(
        tmp_path,
        user("first question", 1),
        hook([OWN], "hook_additional_context"),
        hook("- a note", command=command),
        hook(["<claude-mem-context>\nx\n</claude-mem-context>"], "hook_additional_context"),
        hook(["- without a name"], "hook_additional_context"),
        hook(["- from the start of the session"], "hook_additional_context", event="SessionStart"),
        hook("", command=command),
        user("second question", 2),
        hook("- another note", command=command),
    )
    assert [one.hook for one in first] == ["", "claude-mem-context", "other", "recall.sh"]
    assert first[0].text == OWN
    assert [(one.hook, one.text) for one in second] == [
        ("", ""),
        ("claude-mem-context", ""),
        ("other", ""),
        ("recall.sh", "- another note"),
    ]


def test_nothing_is_known_without_a_text_of_a_hook_and_prompt_rows_keep_what_was_injected(tmp_path: Path) -> None:
    assert injections(tmp_path, user("first question", 1), hook("", command="/x/h.sh")) == [()]
    file = tmp_path / "prompts.jsonl"
    rows = [{"hook": "", "text": OWN}, {"hook": "x", "text": ""}, {"text": 1}, "no row"]
    file.write_text(json.dumps({"prompt": "a question", "injected": rows}), encoding="utf-8")
    (prompt,) = read_prompts([str(file)]).prompts
    assert prompt.injections == (Injection("", OWN), Injection("x", ""))


def test_what_a_hook_added_to_other_texts_is_left_out(tmp_path: Path) -> None:
    """To a slash command and its expansion, also right behind a prompt; malformed attachments do no harm."""
    (found,) = injections(
        tmp_path,
        user("a question", 1),
        hook("to the question", command="h.sh"),
        user("<command-message>hello</command-message>", 2),
        user("Say hello", 3, isMeta=True),
        hook("to the command", command="h.sh"),
        {"type": "attachment", "attachment": "hook_success"},
        hook({"a": 1}),
        hook([1, None]),
    )
    assert found == (Injection("h.sh", "to the question"),)
