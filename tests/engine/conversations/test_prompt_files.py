"""Prompts out of transcripts, history files, prompt files and folders: each human prompt once."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.conversations.prompt_files import PromptReading, read_prompts
from engine.errors import PromptFileError
from engine.memory import Skipped
from engine.prompt import Injection, Prompt, Turn
from tests.engine.agents.claude_code.rows import SESSION, remembered, texts, user, write
from tests.patterns import in_child

UUID = "6add88bd-6f9b-4c54-9f5a-000000000001"
PASTE = "pasted alpha\npasted beta\npasted gamma\n" + "\n".join(str(number) for number in range(1, 31))

REAL_PROMPTS = {
    "p_1.0.128": ["fix the user_id field", "second question"],
    "p_2.0.76": ["fix the user_id field", "second question"],
    "p_2.1.330_blocked_exit2": [],
    "p_2.1.330_image_fork": [],
    "p_2.1.330_slash": [],
    "tui_2.1.197_mixed": [
        "fix the user_id field",
        "please sleep in a tool",
        "steer mid turn please",
        f"explain this: {PASTE}",
        "after compact",
    ],
    "tui_2.1.330_mixed": [
        "fix the user_id field",
        "please run a tool",
        "please read the file",
        "look at @README and tell me",
        f"explain this: \n\n{PASTE}",
        "please spawn an agent",
        "after compact prompt",
        "prompt after clear",
    ],
    "tui_2.1.330_queue_agents": [
        *("first slow prompt", "queued while busy", "interrupt me", "please spawn an agent"),
        "please background an agent",
    ],
    "tui_2.1.330_steer": ["please sleep in a tool", "steer mid turn please"],
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)
FIELDS = {
    "type": st.sampled_from(["user", "assistant", "attachment", "x"]) | JSON,
    "message": st.fixed_dictionaries({"content": JSON | st.lists(st.just({"type": "text", "text": "hi"}))}) | JSON,
    "turnPosition": st.fixed_dictionaries({"turnIndex": JSON}) | JSON,
    "pastedContents": st.fixed_dictionaries({"1": st.fixed_dictionaries({"contentHash": JSON}) | JSON}) | JSON,
    "display": st.just("see [Pasted text #1]") | JSON,
    "context": st.lists(st.fixed_dictionaries({"role": JSON, "text": JSON})) | JSON,
}
NAMES = ("prompt", "id", "uuid", "promptId", "sessionId", "session_id", "cwd", "project", "timestamp", "source", "kind")
HOSTILE_ROWS = st.fixed_dictionaries({}, optional=FIELDS | dict.fromkeys(NAMES, JSON)) | JSON


@pytest.mark.parametrize("folder", list(REAL_PROMPTS))
def test_a_real_client_gives_exactly_the_prompts_that_were_typed(shared_data: Path, folder: str) -> None:
    reading = read_prompts([str(shared_data / "transcripts" / folder)])
    assert texts(reading) == REAL_PROMPTS[folder]
    assert reading.skipped == ()


def test_a_real_history_alone_gives_the_same_prompts(shared_data: Path) -> None:
    for folder in (name for name in REAL_PROMPTS if name.startswith("tui")):
        reading = read_prompts([str(shared_data / "transcripts" / folder / "history.jsonl")])
        assert [text.split() for text in texts(reading)] == [text.split() for text in REAL_PROMPTS[folder]]
        assert {prompt.source.partition(":")[0] for prompt in reading.prompts} == {"history"}


def test_sdk_prompts_come_when_asked_for_and_a_forked_one_has_one_id_in_both_transcripts(shared_data: Path) -> None:
    folder = shared_data / "transcripts" / "p_2.1.330_image_fork"
    assert texts(read_prompts([str(folder)], include_sdk=True)) == [
        *("first block\nwhat is in this image", "plain second", "forked question", "resumed question"),
        "bare question",
    ]
    everything = read_prompts([str(shared_data / "transcripts")], include_sdk=True)
    assert len(everything.prompts) == 24 + 5
    files = sorted(folder.glob("*/*.jsonl"))
    first, second = ([prompt.id for prompt in read_prompts([str(file)], include_sdk=True).prompts] for file in files)
    assert first[:2] == second[:2] == ["fd1b2607772f4b7d", "1d290eded2704249"]
    assert set(first[2:]).isdisjoint(second[2:])


def test_a_real_prompt_comes_with_what_was_said_before(shared_data: Path) -> None:
    prompt = read_prompts([str(shared_data / "transcripts" / "tui_2.1.330_mixed")]).prompts[3]
    assert prompt == Prompt(
        id="883c383877cf4780",
        text="look at @README and tell me",
        turns=(
            Turn("assistant", "ok from fake"),
            Turn("user", "please run a tool"),
            Turn("assistant", "Running it.\nok from fake"),
            Turn("user", "please read the file"),
            Turn("assistant", "ok from fake\nok from fake\nok from fake"),
        ),
        session_id=SESSION,
        cwd="/home/dev/tui/proj",
        timestamp="2026-11-21T20:53:36.849Z",
        source=f"transcript:{SESSION}",
        injections=(Injection("hook.sh", "MARK-tui remembered"),),
    )


def test_the_same_words_count_once_where_they_were_sent_once_also_in_a_history(tmp_path: Path) -> None:
    """Sent again after an error, or queued and then sent; a fork gives one prompt id to all."""
    sent = {"promptId": "a", "turnPosition": {"promptIndex": 3, "turnIndex": 3}}
    waiting = {"type": "queued_command", "prompt": "continue", "commandMode": "prompt", "source_uuid": UUID}
    forked = [user("continue", uuid=str(turn), promptId="a", turnPosition={"turnIndex": turn}) for turn in (1, 2)]
    for rows, count in [
        ([user("continue", promptId="a"), user("continue", promptId="b")], 2),
        ([user("continue", uuid="1", **sent), user("continue", uuid="2", **sent)], 1),
        (forked, 2),
        ([{"type": "attachment", "uuid": "1", "attachment": waiting}, user("continue", uuid=UUID)], 1),
    ]:
        path = write(tmp_path / "t.jsonl", *rows)
        prompts = read_prompts([path, str(tmp_path), f"{tmp_path}/./t.jsonl"]).prompts
        assert [prompt.text for prompt in prompts] == ["continue"] * count
        assert len({prompt.id for prompt in prompts}) == count
    (tmp_path / "t.jsonl").unlink()
    write(tmp_path / "p" / f"{SESSION}.jsonl", user("fix it"), user("see:\n<pasted_content>\nalpha\n</pasted_content>"))
    pasted = {"1": {"id": 1, "type": "text", "content": "alpha"}}
    rows = [remembered("fix  it"), remembered("see: [Pasted text #1 +1 lines]", pastedContents=pasted)]
    write(tmp_path / "history.jsonl", *rows)
    reading = read_prompts([str(tmp_path)])
    assert texts(reading) == ["see:\nalpha", "fix it"][::-1]
    assert {prompt.source for prompt in reading.prompts} == {f"transcript:{SESSION}"}
    write(tmp_path / "p" / f"{SESSION}.jsonl", user("fix it"))
    rows = [remembered("fix it"), remembered("fix it"), remembered("blocked"), remembered("fix it", sessionId="gone")]
    reading = read_prompts([str(tmp_path / "p"), write(tmp_path / "history.jsonl", *rows)])
    from_history = [prompt for prompt in reading.prompts if prompt.source.startswith("history:")]
    assert sorted(prompt.text for prompt in from_history) == ["blocked", "fix it", "fix it"]
    assert {prompt.source for prompt in from_history} == {f"history:{SESSION}", "history:gone"}
    assert len({prompt.id for prompt in reading.prompts}) == 4


@pytest.mark.parametrize(
    ("transcripts", "rows", "kept"),
    [
        ([user("fix it", cwd="/p")], [{"sessionId": None}, {"sessionId": None, "project": "/q"}], ["fix it"] * 2),
        ([user("fix it", uuid=UUID, sessionId="fork"), user("fix it", uuid=UUID, sessionId=SESSION)], [{}], ["fix it"]),
        (
            [user("explain this: alpha beta"), user("explain that")],
            [{"display": "explain this: [Pasted text #1 +40 lines]"}, {"display": "other"}],
            ["other", "explain this: alpha beta", "explain that"],
        ),
    ],
    ids=["without a session", "fork", "paste is gone"],
)
def test_a_history_row_belongs_to_its_session_or_project_and_a_lost_paste_to_the_words_around_it(
    tmp_path: Path, transcripts: list[dict[str, object]], rows: list[dict[str, object]], kept: list[str]
) -> None:
    for number, row in enumerate(transcripts):
        write(tmp_path / f"{number}.jsonl", row)
    write(tmp_path / "history.jsonl", *({**remembered("fix it"), **row} for row in rows))
    assert texts(read_prompts([str(tmp_path)])) == kept


def test_ids_that_collide_are_numbered_in_linear_time(tmp_path: Path) -> None:
    ids = ["q", "q", "q-2", 7]
    path = write(tmp_path / "few.jsonl", *({"prompt": str(number), "id": name} for number, name in enumerate(ids)))
    assert [prompt.id for prompt in read_prompts([path]).prompts] == ["q", "q-2", "q-2-2", "7"]
    path = write(tmp_path / "prompts.jsonl", *({"prompt": str(number), "id": "q"} for number in range(10_000)))
    assert in_child(lambda: read_prompts([path]), 10)


def test_prompts_come_by_time_and_many_bad_rows_are_one_entry(tmp_path: Path) -> None:
    times = ["2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00Z", "", "soon", 1767261600000, "2026-01-01T09:00:00"]
    rows = [{"prompt": str(number), "timestamp": time} for number, time in enumerate(times)]
    assert texts(read_prompts([write(tmp_path / "prompts.jsonl", *rows)])) == ["5", "0", "4", "1", "2", "3"]
    path = write(tmp_path / "p.jsonl", *range(20))
    assert len(read_prompts([path]).skipped) == 20
    path = write(tmp_path / "p.jsonl", *range(21))
    expected = Skipped(path, "21 rows cannot be read; the first is line 1: not a JSON object")
    assert read_prompts([path]).skipped == (expected,)
    for name in ("empty.jsonl", "empty.txt"):
        (tmp_path / name).touch()
        assert read_prompts([str(tmp_path / name)]) == PromptReading(())


def test_a_folder_is_searched_without_the_transcripts_of_subagents(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "t.jsonl", user("deep"))
    write(tmp_path / "a" / "subagents" / "t.jsonl", user("sub"))
    write(tmp_path / "a" / "agent-1.jsonl", user("agent"))
    write(tmp_path / "a" / "notes.txt", b"not a prompt")
    (tmp_path / "broken.jsonl").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert read_prompts([str(tmp_path)]).skipped == ()
    assert texts(read_prompts([str(tmp_path)])) == ["deep"]


def test_a_path_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    for name in ("missing.jsonl", "loop.jsonl", "nul\0byte"):
        with pytest.raises(PromptFileError, match="Name a transcript") as raised:
            read_prompts([f"{tmp_path}/{name}"])
        assert str(raised.value).startswith(f"{tmp_path}/{name}: the prompts cannot be read (")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_an_error_only_where_it_is_named(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl", user("fix it"))
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    reading = read_prompts([str(tmp_path)])
    assert (texts(reading), reading.skipped) == (["fix it"], (Skipped(str(closed), "Permission denied"),))
    with pytest.raises(PromptFileError, match="Permission denied"):
        read_prompts([str(closed)])


@given(st.lists(HOSTILE_ROWS | st.binary(max_size=20), max_size=8), st.sampled_from(["t.jsonl", "t.txt"]))
def test_no_row_raises_and_ids_are_unique(
    tmp_path_factory: pytest.TempPathFactory, rows: list[object], name: str
) -> None:
    reading = read_prompts([write(tmp_path_factory.mktemp("hostile") / name, *rows)], include_sdk=True)
    assert len({prompt.id for prompt in reading.prompts}) == len(reading.prompts)
    for prompt in reading.prompts:
        assert prompt.text.strip()
        json.dumps([prompt.text, *(turn.text for turn in prompt.turns)], ensure_ascii=False).encode()


def claude_mem(path: Path, columns: str, *rows: tuple[object, ...]) -> str:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"create table user_prompts({columns})")
        db.executemany(f"insert into user_prompts values ({', '.join('?' * len(columns.split(',')))})", rows)
        db.commit()
    return str(path)


def test_the_prompts_that_claude_mem_recorded_are_read(tmp_path: Path) -> None:
    """Without slash commands, and without those that a transcript among the paths has."""
    columns = "id integer primary key, content_session_id, prompt_number, prompt_text, created_at_epoch"
    moment = 1_795_294_422_292
    rows = [
        (1, "s", 1, "how long does it live?", moment),
        (2, "s", 2, "/compact", moment + 1000),
        (3, "s", 3, None, moment + 2000),
        (4, "t", 1, "a question of another session", moment + 3000),
    ]
    database = claude_mem(tmp_path / "claude-mem.db", columns, *rows)
    reading = read_prompts([database])
    assert [(one.text, one.session_id, one.timestamp) for one in reading.prompts] == [
        ("how long does it live?", "s", "2026-11-21T20:53:42.292Z"),
        ("a question of another session", "t", "2026-11-21T20:53:45.292Z"),
    ]
    assert [one.reason for one in reading.skipped] == ["the row has no prompt"]
    transcript = write(tmp_path / "s.jsonl", user("how long does it live?", sessionId="s", uuid="1"))
    both = read_prompts([database, transcript]).prompts
    assert [one.source for one in both] == ["claude-mem:t", "transcript:s"]


def test_a_database_without_prompts_of_claude_mem_is_refused(tmp_path: Path) -> None:
    old = claude_mem(tmp_path / "old.db", "id, prompt_text", (1, "an old version without sessions"))
    assert [one.text for one in read_prompts([old]).prompts] == ["an old version without sessions"]
    (tmp_path / "text.db").write_text("no database", encoding="utf-8")
    for path, reason in (
        (claude_mem(tmp_path / "x.db", "id"), "has no prompts"),
        (tmp_path / "text.db", "file is not a database"),
    ):
        with pytest.raises(PromptFileError, match=reason):
            read_prompts([str(path)])
