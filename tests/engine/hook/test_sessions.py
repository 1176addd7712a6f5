"""What a session was given is remembered, while the conversation holds it."""

import json
import os
from pathlib import Path

from engine.config import Config
from engine.hook.activity_log import LoggedPrompt
from engine.hook.injected import InjectionMatcher, is_text_id, items_of, names_of, with_log
from engine.hook.session import load_session, save_session
from engine.inject import context
from engine.lean.sha256 import hex_digest
from engine.memory import content_digest
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import Injection, Prompt, typed_prompt
from engine.retrieval import Candidate, Session
from engine.search.ranking import Scored, rank
from tests.engine.builders import memory, open_index

FIRST, SECOND = ("p1", "hash 1"), ("p2", "hash 2")
"""A prompt's id and the hash of its text."""


def candidates(*titles: str) -> tuple[Candidate, ...]:
    return tuple(rank([Scored(memory(title).summary, -1.0, 0, -1.0, ()) for title in titles], Config()))


def digests(*titles: str) -> dict[str, str]:
    return {title: memory(title).summary.digest for title in titles}


def test_what_was_added_is_loaded_again(tmp_path: Path) -> None:
    save_session(str(tmp_path), "s", Session({}), candidates("A", "B"))
    assert load_session(str(tmp_path), "s").injected == digests("A", "B")
    save_session(str(tmp_path), "s", load_session(str(tmp_path), "s"), candidates("C"))
    assert load_session(str(tmp_path), "s").injected == digests("A", "B", "C")
    assert load_session(str(tmp_path), "other").injected == {}


def transcript(path: Path, *prompts: str) -> str:
    """A conversation of these prompts, which follow each other."""
    rows = [
        {
            "parentUuid": f"u{place - 1}" if place else None,
            "type": "user",
            "message": {"role": "user", "content": "go"},
            "promptId": prompt,
            "uuid": f"u{place}",
        }
        for place, prompt in enumerate(prompts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_a_memory_is_given_while_the_conversation_holds_its_prompt(tmp_path: Path) -> None:
    """After /rewind, /compact, or when another program blocked the prompt, it does not."""
    path = transcript(tmp_path / "t.jsonl", "p1")
    save_session(str(tmp_path), "s", load_session(str(tmp_path), "s"), candidates("A"), FIRST)
    save_session(str(tmp_path), "s", load_session(str(tmp_path), "s", path), candidates("B"), SECOND)
    assert load_session(str(tmp_path), "s", path).injected == digests("A")
    transcript(tmp_path / "t.jsonl", "p1", "p2")
    assert load_session(str(tmp_path), "s", path).injected == digests("A", "B")
    transcript(tmp_path / "t.jsonl", "p3")
    assert load_session(str(tmp_path), "s", path).injected == {}


def test_without_a_transcript_all_that_was_given_counts(tmp_path: Path) -> None:
    save_session(str(tmp_path), "s", Session({}), candidates("A"), FIRST)
    for path in ("", str(tmp_path / "missing.jsonl")):
        assert load_session(str(tmp_path), "s", path).injected == digests("A")


def test_sessions_lie_in_many_folders(tmp_path: Path) -> None:
    """So that none of them has many others to look after."""
    for number in range(200):
        save_session(str(tmp_path), f"session {number}", Session({}), candidates("A"))
    paths = [*tmp_path.rglob("*.json")]
    folders = [path.parent for path in paths]
    assert len(paths) == 200
    assert max(folders.count(one) for one in folders) < 10


def test_a_session_that_begins_removes_the_old_ones_in_its_folder(tmp_path: Path) -> None:
    save_session(str(tmp_path), "one", Session({}), candidates("A"))
    (path,) = tmp_path.rglob("*.json")
    now, month = path.stat().st_mtime, 30 * 86400
    young, old = path.with_name("young.json"), path.with_name("old.json")
    for beside, age in ((young, month - 3600), (old, month + 3600)):
        beside.write_text("{}", encoding="utf-8")
        os.utime(beside, (now - age, now - age))
    save_session(str(tmp_path), "one", load_session(str(tmp_path), "one"), candidates("B"))
    assert old.exists(), "a session that goes on looks after none"
    path.unlink()
    save_session(str(tmp_path), "one", load_session(str(tmp_path), "one"), candidates("C"))
    assert {*path.parent.iterdir()} == {path, young}
    assert load_session(str(tmp_path), "one").injected == digests("C")


def test_without_a_session_id_nothing_is_remembered(tmp_path: Path) -> None:
    save_session(str(tmp_path / "state"), "", Session({}), candidates("A"))
    assert load_session(str(tmp_path / "state"), "").injected == {}
    assert not (tmp_path / "state").exists()


def test_no_session_id_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "state"
    session_ids = ["../../etc/x", "/abs", "a\0b", "\ud800", "x" * 10_000, "."]
    for session_id in session_ids:
        save_session(str(folder), session_id, Session({}), candidates("A"))
        assert load_session(str(folder), session_id).injected == digests("A")
    assert list((tmp_path / "out").iterdir()) == [folder]
    assert list(folder.iterdir()) == [folder / "sessions"]
    assert len([*(folder / "sessions").glob("??/*.json")]) == len([*folder.rglob("*.json")]) == len(session_ids)


def test_a_broken_file_is_a_new_session(tmp_path: Path) -> None:
    save_session(str(tmp_path), "s", Session({}), candidates("A"))
    (path,) = (tmp_path / "sessions").rglob("*.json")
    old = '{"transcript_bytes": 0, "injected": {"A": "digest"}}'
    given = ("[1]", "null", '{"A": null}', '{"A": ["digest"]}')
    for content in ("", "[]", "{", old, *(f'{{"given": {value}}}' for value in given)):
        path.write_text(content, encoding="utf-8")
        assert load_session(str(tmp_path), "s").injected == {}, content
        save_session(str(tmp_path), "s", Session({}), candidates("B"))
        assert load_session(str(tmp_path), "s").injected == digests("B")


def test_only_the_user_may_read_the_folder(tmp_path: Path) -> None:
    save_session(str(tmp_path / "state"), "s", Session({}), candidates("A"))
    for path in (tmp_path / "state/sessions").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
    assert [path.suffix for path in (tmp_path / "state").rglob("*") if path.is_file()] == [".json"]


# Matching injected texts with memories of a root


BODY, NOON = "It lives for fifteen minutes, then it is made anew.", "The canteen opens at noon on every working day."
PROMPT = typed_prompt("how long does the token cache live?")
CACHE = memory(
    "Token cache <rule> & more",
    "cache",
    memory_id="cache-rule",
    body="It lives for fifteen minutes, then it is made anew.",
)
LUNCH = memory("Lunch in the canteen", memory_id="lunch", body=NOON)


def ids(text: str, *names: str) -> list[str]:
    with open_index(CACHE, LUNCH) as index:
        found = InjectionMatcher(index).injected(PROMPT, Injection("x", text, names)).retrieval
    return ["?" if is_text_id(one.memory.id) else one.memory.id for one in found.injected]


def test_what_the_own_hook_printed_is_read_back_as_it_was() -> None:
    with open_index(CACHE, LUNCH) as index:
        made = retrieve(Query(PROMPT), index, OpenSystem(Config()))
        read = InjectionMatcher(index).injected(PROMPT, Injection("", context(made, Config()))).retrieval
    assert [(one.memory, one.confidence) for one in read.injected] == [(CACHE.summary, made.injected[0].confidence)]
    assert (read.system, read.fallback, read.judgement) == ("injected", "", None)


def test_a_memory_is_known_by_path_id_title_or_its_text() -> None:
    assert ids(f"see {LUNCH.summary.path}, please") == ["lunch"]
    assert ids("(`cache-rule`)") == ["cache-rule"]
    assert ids("lunch") == ["?"], "an id that is an ordinary word is not enough"
    assert ids("**TOKEN CACHE rule & more**: fifteen minutes") == ["cache-rule"]
    assert ids("lives for fifteen minutes, then it is made") == ["cache-rule"]
    assert ids("it lives for fifteen minutes, then it is gone") == ["?"]
    assert ids("", "lunch", "cache-rule") == ["lunch", "cache-rule"]


def test_a_text_that_no_root_holds_is_a_memory_by_its_digest() -> None:
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
