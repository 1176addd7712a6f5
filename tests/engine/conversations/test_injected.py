"""What hooks added to prompts: read from transcripts and the hook's log, and as the memories of a root."""

from pathlib import Path
from typing import Any

from engine.config import Config
from engine.conversations.activity_log import LoggedPrompt
from engine.conversations.injected import InjectionMatcher, is_text_id, items_of, names_of, with_log
from engine.conversations.prompt_files import read_prompts
from engine.inject import context
from engine.lean.sha256 import hex_digest
from engine.memory import content_digest
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import Injection, Prompt, typed_prompt
from tests.engine.agents.claude_code.rows import user, write
from tests.engine.builders import memory, open_index

BODY, NOON = "It lives for fifteen minutes, then it is made anew.", "The canteen opens at noon on every working day."
PROMPT = typed_prompt("how long does the token cache live?")
CACHE = memory("Token cache <rule> & more", "cache", memory_id="cache-rule", body=BODY)
LUNCH = memory("Lunch in the canteen", memory_id="lunch", body=NOON)


def ids(text: str, *names: str) -> list[str]:
    with open_index(CACHE, LUNCH) as index:
        found = InjectionMatcher(index).injected(PROMPT, Injection("x", text, names)).retrieval
    return ["?" if is_text_id(one.memory.id) else one.memory.id for one in found.injected]


def test_what_the_own_hook_printed_is_read_back_as_it_was() -> None:
    with open_index(CACHE, LUNCH) as index:
        made = retrieve(Query(PROMPT), index, OpenSystem(Config()))
        read = InjectionMatcher(index).injected(PROMPT, Injection("", context(made, Config()))).retrieval
    first, second = ([(one.memory, one.confidence) for one in found.injected] for found in (made, read))
    assert first == second != []
    assert (read.system, read.fallback, read.judgement) == ("injected", "", None)


def test_a_memory_is_known_by_path_id_title_or_its_text_and_any_other_by_its_digest() -> None:
    assert ids(f"see {LUNCH.summary.path}, please") == ["lunch"]
    assert ids("(`cache-rule`)") == ["cache-rule"]
    assert ids("lunch") == ["?"], "an id that is an ordinary word is not enough"
    assert ids("**TOKEN CACHE rule & more**: fifteen minutes") == ["cache-rule"]
    assert ids("lives for fifteen minutes, then it is made") == ["cache-rule"]
    assert ids("it lives for fifteen minutes, then it is gone") == ["?"]
    assert ids("", "lunch", "cache-rule") == ["lunch", "cache-rule"]
    new = "- never seen\n  before"
    with open_index(CACHE) as index:
        found = InjectionMatcher(index).injected(PROMPT, Injection("x", f"{new}\n- cache-rule\n{new}"))
    one, two = found.retrieval.injected
    made = found.unknown[one.memory.id]
    assert (made.summary.title, made.body, two.memory.id) == ("never seen", "never seen\nbefore", "cache-rule")
    assert one.memory.digest == content_digest("", "never seen", (), made.sections)
    assert [one.rank, two.rank] == [1, 2]


def test_a_text_is_taken_apart_at_the_entries_of_its_outermost_list() -> None:
    text = "# Memories\n\nSome notes:\n- one\n  more of it\n  - deeper\n\n* two\n1. three\nThe end."
    assert [one.text for one in items_of(text)] == ["one\nmore of it\n- deeper", "two", "three"]
    assert [one.text for one in items_of("one note\n\n- with one point")] == ["one note\n\n- with one point"]
    assert items_of(" \n") == []
    line = '<result category="A" confidence="low">a &lt;b&gt; -> x/y.json #tags:t</result>'
    own = f'<memory-context source="memsift">\n{line}\n<memory-note>hint</memory-note>\n</memory-context>'
    (one,) = items_of(own)
    assert (one.text, one.path, one.confidence) == ("a <b> -> x/y.json #tags:t", "x/y.json", "low")


def decision(prompt: Prompt, *injected: str, time: str = "2026-11-24T10:00:00Z") -> LoggedPrompt:
    return LoggedPrompt(time, hex_digest(prompt.text), "", prompt.session_id, "memsift", injected, (), "", "", 0, 1.0)


def test_the_log_tells_where_the_transcript_says_nothing() -> None:
    prompt = Prompt("p", "a question", session_id="s", timestamp="2026-11-24T12:00:01.000Z")
    near = decision(prompt, "b", time="2026-11-24T12:00:03Z")
    log = [decision(prompt, "a"), near, decision(Prompt("q", "a question", session_id="other"), "c")]
    other = Injection("x", "- a text")

    def after(*injections: Injection) -> tuple[Injection, ...]:
        (made,) = with_log(
            [Prompt("p", prompt.text, session_id="s", timestamp=prompt.timestamp, injections=injections)], log
        )
        return made.injections

    assert after() == (Injection("", ids=("b",)),)
    assert after(other, Injection("")) == (Injection("", ids=("b",)), other)
    assert after(Injection("", "what the model saw")) == (Injection("", "what the model saw"),)
    silent = with_log([prompt], [decision(prompt)])
    assert silent[0].injections == (Injection(""),)
    assert with_log([Prompt("q", "another", session_id="s")], log)[0].injections == ()
    assert names_of([Prompt("q", "x", injections=(other,)), *silent]) == ("injected", "injected:x")


RESULT = '<result category="RULE" confidence="high">a -> b.json</result>'
OWN = f'<memory-context source="memsift">\n{RESULT}\n</memory-context>'


def said(text: str, number: int, **more: object) -> dict[str, Any]:
    return user(text, uuid=f"00000000-0000-0000-0000-{number:012}", **more)


def hook(content: object, kind: str = "hook_success", event: str = "UserPromptSubmit", **more: object) -> Any:
    return {"type": "attachment", "attachment": {"type": kind, "hookEvent": event, "content": content, **more}}


def injections(tmp_path: Path, *rows: Any) -> list[tuple[Injection, ...]]:
    return [prompt.injections for prompt in read_prompts([write(tmp_path / "s.jsonl", *rows)]).prompts]


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
        said("first question", 1),
        hook([OWN], "hook_additional_context"),
        hook("- a note", command=command),
        hook(["<claude-mem-context>\nx\n</claude-mem-context>"], "hook_additional_context"),
        hook(["- without a name"], "hook_additional_context"),
        hook(["- from the start of the session"], "hook_additional_context", event="SessionStart"),
        hook("", command=command),
        said("second question", 2),
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
    assert injections(tmp_path, said("first question", 1), hook("", command="/x/h.sh")) == [()]
    rows = [{"hook": "", "text": OWN}, {"hook": "x", "text": ""}, {"text": 1}, "no row"]
    path = write(tmp_path / "prompts.jsonl", {"prompt": "a question", "injected": rows})
    (prompt,) = read_prompts([path]).prompts
    assert prompt.injections == (Injection("", OWN), Injection("x", ""))


def test_what_a_hook_added_to_other_texts_is_left_out(tmp_path: Path) -> None:
    """To a slash command and its expansion, also right behind a prompt; malformed attachments do no harm."""
    (found,) = injections(
        tmp_path,
        said("a question", 1),
        hook("to the question", command="h.sh"),
        said("<command-message>hello</command-message>", 2),
        said("Say hello", 3, isMeta=True),
        hook("to the command", command="h.sh"),
        {"type": "attachment", "attachment": "hook_success"},
        hook({"a": 1}),
        hook([1, None]),
    )
    assert found == (Injection("h.sh", "to the question"),)
