"""The hook: one JSON object or nothing, and never in the way."""

import json
import os
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.agents.registry import NAMES, agent_of
from engine.conversations.activity import NO_INDEX, NOTHING_IN_OLD
from engine.curation.curator import Curator
from engine.curation.operations import Restore, Retire
from engine.hook.process import LATE, parse_request, respond, skip_reason
from engine.inject import length
from engine.opening import index_file
from engine.stores.roots import read_corpus
from tests.engine.builders import fillers, memory, put, write_memory, write_root
from tests.engine.hook.world import ASK, NOT_REQUESTS, NOT_TYPED, Prompted, World, context_of

STAGES = ["read", "parse", "root", "config", "session", "index", "retrieve", "inject", "save"]


def test_the_best_three_are_injected_and_logged_without_the_prompt(world: World) -> None:
    text = world.context()
    lines = text.splitlines()
    assert lines[0] == '<memory-context source="memsift">'
    assert lines[-1] == "</memory-context>"
    titles = [line.split(">")[1].split(" -")[0] for line in lines[1:-1]]
    assert titles == ["cache rule 0", "cache rule 1", "cache rule 2"]
    assert world.stderr.getvalue() == ""
    (row,) = world.log()
    assert row["injected"] == ["cache-rule-0", "cache-rule-1", "cache-rule-2"]
    assert [one["dropped_by"] for one in row["candidates"]] == [None, None, None, "cap", "cap"]
    assert (row["session_id"], row["system"], row["characters"]) == ("session-1", "memsift", length(text))
    assert len(row["prompt_sha256"]) == 64
    assert ASK not in (world.state / "activity.jsonl").read_text("utf-8")


def test_the_log_says_of_what_and_by_what_it_was_decided_and_where_the_time_went(world: World) -> None:
    world.send(session_id="1")
    world.send(session_id="2")
    world.configure(max_inject=1)
    write_memory(world.root, memory("cache rule new", "cache", body="the cache is hot"))
    world.send(session_id="3")
    first, second, third = world.log()
    for name in ("config", "corpus"):
        assert (len(first[name]), first[name]) == (16, second[name]), name
        assert first[name] != third[name], name
    assert list(first["stages_ms"]) == STAGES
    assert 0 < sum(first["stages_ms"].values()) <= first["ms"] + 1
    assert len(first["time"]) == len("2026-01-01T00:00:00Z")
    assert "reason" not in first


def test_the_text_of_a_prompt_is_logged_only_on_request(world: World) -> None:
    world.send()
    world.configure(logging={"prompts": True})
    world.send("cache \ud800 rule")
    world.send("short")
    assert [row.get("prompt") for row in world.log()] == [None, "cache \ud800 rule", "short"]


def test_a_silence_has_its_reason_in_the_log_and_leaves_the_index_as_it_is(world: World) -> None:
    world.send()
    world.send()
    world.send("where is the treasure of zanzibar")
    world.send("cache")
    world.configure(enabled=False)
    world.send()
    reasons = [row.get("reason") for row in world.log()]
    assert reasons[:3] == [None, "every candidate was dropped", "nothing matched"]
    assert reasons[3:] == [UNDER, "retrieval.enabled is false"]
    assert world.log()[2]["candidates"] == []
    world.configure(max_inject=0)
    index = Path(index_file(str(world.root), world.environ))
    assert world.send() == ""
    first = index.stat().st_ino
    assert world.send() == ""
    assert index.stat().st_ino == first
    assert world.log()[-1]["reason"] == "every candidate was dropped"


def test_a_prompt_that_the_index_is_not_ready_for_says_so(world: World) -> None:
    """Neither the log nor a hint for the model says that nothing fits, before the memories were read."""
    for filler in fillers(320):
        write_memory(world.root, filler)
    world.configure(deadline=0.3, output_mode="tiered", hints=True)
    assert world.run(json.dumps(world.payload(session_id="0")).encode()).stdout == b""
    assert world.log()[0]["reason"] == NO_INDEX
    for number in range(1, 300):
        if world.send(session_id=str(number)):
            break
        assert world.log()[-1]["reason"] in (NO_INDEX, LATE)
        time.sleep(0.1)
    assert "index" not in world.log()[-1]
    assert len(world.log()[-1]["injected"]) == 3


def test_a_prompt_that_only_an_index_of_today_could_answer_says_so(world: World) -> None:
    world.send()
    world.configure(deadline=0.05)
    write_memory(world.root, memory("the treasure of zanzibar", "treasure"))
    with closing(sqlite3.connect(index_file(str(world.root), world.environ), isolation_level=None)) as other:
        other.execute("begin immediate")  # the update waits for this one
        assert world.send("where is the treasure of zanzibar") == ""
    assert (world.log()[-1]["reason"], world.log()[-1]["index"]) == (NOTHING_IN_OLD, "behind the files")


def test_the_tiered_form_and_its_hints_are_a_matter_of_configuration(world: World) -> None:
    world.configure(output_mode="tiered", hints=True)
    note = "<memory-note>No memory matches this prompt"
    assert note in world.context("where is the treasure of zanzibar", session_id="1")
    assert "<result " in world.context(session_id="2")
    world.configure(output_mode="tiered")
    assert world.send("where is the treasure of zanzibar", session_id="3") == ""


UNDER = "under 10 characters"
REASONS: list[tuple[dict[str, object], str]] = [
    ({"prompt": "cache"}, UNDER),
    ({"prompt": "   cache rule  \n" + " " * 100}, ""),
    ({"prompt": "  cache  \n" + " " * 100}, UNDER),
    ({"prompt": ""}, UNDER),
    ({"prompt": "缓存规则"}, UNDER),
    *(({"prompt": wide}, "") for wide in ("缓存规则是", "캐시규칙은", "キャッシュ", "cache 缓存规")),
    ({"prompt": ASK + " [nomem]"}, "[nomem] in the prompt"),
    ({"prompt": "/review the cache rule please"}, "a slash command"),
    ({"prompt": "/memplug:recall cache rule"}, "a slash command"),
    ({"prompt": "/compact the cache rule"}, "a slash command"),
    *(({"prompt": text}, "") for text in ("/cache/rules fails", "either/or is fine", "// a comment of it")),
    *(({"prompt": text}, "not typed by a person") for text in NOT_TYPED),
    *(({"prompt": f"<{tag}>{ASK}"}, "") for tag in ("channel", "ticker", "p")),
    ({"prompt": f"look: <task-notification>{ASK}</task-notification>"}, ""),
    *(({"source": source}, "not typed by a person") for source in ("loop_wakeup", "system")),
    *(({"source": source}, "") for source in ("user", "sdk", 3)),
]
"""What a request says, and why it asks for no memories. A wide character says as much as two."""


def test_prompts_that_ask_for_no_memories(world: World) -> None:
    for changes, reason in REASONS:
        request = parse_request(json.dumps(world.payload(**{"prompt": ASK, **changes})).encode(), {})
        assert request
        assert skip_reason(request) == reason, changes


def test_a_session_is_not_given_the_same_memory_twice_but_without_an_id_nothing_is_held_back(world: World) -> None:
    assert world.context()
    assert world.send() == ""
    assert [one["dropped_by"] for one in world.log()[1]["candidates"]] == ["repeat"] * 3 + ["cap"] * 2
    assert world.context(session_id="session-2")
    write_memory(world.root, memory("cache rule 1", "cache", body="the cache is hot"))
    assert world.context().count("<result ") == 1
    assert world.log()[3]["injected"] == ["cache-rule-1"], "a memory that changed is given again"
    assert world.send() == ""
    assert world.context(session_id="") == world.context(session_id="")
    assert world.context(session_id=None)


def test_what_an_editor_adds_to_a_prompt_is_not_searched_and_not_logged(world: World) -> None:
    world.configure(logging={"prompts": True})
    added = "<ide_selection>cache rule 4</ide_selection>", "<new-diagnostics>cache</new-diagnostics>"
    assert world.send(f"{added[0]}thanks, well done{added[1]}") == ""
    assert world.log()[0]["prompt"] == "thanks, well done"
    assert world.send(f"{added[0]}ok") == ""
    assert world.log()[1]["reason"] == "under 10 characters"


def test_a_retired_memory_is_not_injected_from_the_next_prompt_on_and_a_restored_one_is(world: World) -> None:
    """In processes of their own, without a rebuild by anybody."""
    with closing(Curator(world.environ)) as curator:
        for step, is_there in (("", True), ("retire", False), ("restore", True)):
            found = (memory.summary for memory in read_corpus(str(world.root)).memories)
            (rule,) = [summary for summary in found if summary.id == "cache-rule-0"]
            if step:
                root = str(world.root)
                curator.perform(curator.plan(Retire(root, rule, "gone") if step == "retire" else Restore(root, rule)))
            done = world.run(json.dumps(world.payload(session_id=f"after {step}")).encode())
            assert ("cache-rule-0" in context_of(done.stdout.decode())) is is_there, step


def test_the_path_leads_to_the_memory_from_the_folder_of_the_prompt(world: World) -> None:
    """Relative in the project's own folder; whole where the memories lie above, or in the main tree of a worktree."""
    package = world.project / "packages/api"
    package.mkdir(parents=True)
    for cwd, prefix in ((world.project, ""), (package, f"{world.project.resolve()}/")):
        (path, *_) = re.findall(r" -> (\S+)", world.context(cwd=str(cwd), session_id=str(cwd)))
        assert path.startswith(f"{prefix}.claude/memory/decisions/")
        assert (cwd / path).is_file()


@pytest.mark.parametrize("agent", NAMES)
def test_the_memories_of_the_session_stay_where_the_model_goes_elsewhere(world: World, agent: str) -> None:
    """Codex and opencode do not follow the model, and set no variable: one of an agent around them says nothing."""
    submodule = world.project / "module"
    for folder in (world.project, submodule):
        (folder / ".git").mkdir(parents=True)
    world.environ["CLAUDE_PROJECT_DIR"] = str(world.project)
    named = agent_of(agent)
    request = {named.hook.fields.get(name, name): value for name, value in world.payload(cwd=str(submodule)).items()}
    answer = respond(json.dumps(request).encode(), world.environ, world.stderr, named)
    assert ("cache rule" in answer) is (agent not in ("codex", "opencode"))


def test_without_a_root_there_is_silence_and_no_state(world: World) -> None:
    shutil.rmtree(world.project / ".claude")
    assert world.send() == ""
    assert list(world.home.iterdir()) == []
    world.root.mkdir(parents=True)
    assert world.send() == ""
    assert world.log()[0]["candidates"] == []


def test_a_log_that_grew_too_large_is_put_aside_and_a_prompt_of_a_megabyte_is_answered(world: World) -> None:
    world.state.mkdir(parents=True)
    log = world.state / "activity.jsonl"
    with log.open("wb") as file:
        file.truncate(20_000_001)
    assert world.context()
    assert len(world.log()) == 1
    assert (world.state / "activity.jsonl.1").stat().st_size == 20_000_001
    write_memory(world.root, memory("Postgres replication lag"))
    noise = " ".join(f"absent{i}" for i in range(90_000))
    assert len(noise) > 1_000_000
    assert "replication" in world.context(f"why does postgres replication lag? {noise}")


def test_what_is_no_request_is_answered_with_silence_and_broken_texts_and_fields_are_survived(world: World) -> None:
    for name, stdin in NOT_REQUESTS.items():
        assert parse_request(stdin, {}) is None, name
        assert respond(stdin, world.environ, world.stderr) == "", name
    request = parse_request(b'{"prompt": "p", "session_id": 3, "cwd": null, "transcript_path": [], "source": {}}', {})
    assert (request.session_id, request.transcript_path, request.source) == ("", "", "")
    assert request.cwd == os.getcwd()  # noqa: PTH109 - what the engine falls back to
    payload = json.dumps(world.payload()).encode()
    assert context_of(respond(payload.replace(b"how do", b"how \xff\xfe do"), world.environ, world.stderr))
    lone = payload.replace(b"how do", rb"how \ud800 do").replace(b"session-1", rb"\udfff")
    assert context_of(respond(lone, world.environ, world.stderr))
    assert respond(lone, world.environ, world.stderr) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["prompt", "session_id", "transcript_path", "source", "cwd", "hook_event_name", "prompt_id"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.dictionaries(NAMES, JSON, max_size=5),
    prompt=st.text(alphabet=st.characters(), max_size=60),
    keep_cwd=st.booleans(),
)
@example(changes={"cwd": "\0"}, prompt="", keep_cwd=False)
@example(changes={"transcript_path": "\0", "session_id": "\ud800"}, prompt="cache \ud800 rule", keep_cwd=True)
def test_any_payload_is_answered_with_one_object_or_nothing(
    world: World, changes: dict[str, object], prompt: str, *, keep_cwd: bool
) -> None:
    fixed = {"cwd": str(world.project)} if keep_cwd else {}
    payload = {**world.payload(f"{prompt} cache rule {prompt}"), **changes, **fixed}
    answer = respond(json.dumps(payload).encode(), world.environ, world.stderr)
    assert answer == "" or context_of(answer)
    assert world.stderr.getvalue() == ""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.integers(0, 400), junk=st.binary(max_size=20), gone=st.integers(0, 400), session=st.text(max_size=9))
def test_a_damaged_payload_is_answered_with_one_object_or_nothing(
    world: World, start: int, junk: bytes, gone: int, session: str
) -> None:
    payload = json.dumps(world.payload(session_id=session)).encode()
    answer = respond(payload[:start] + junk + payload[start + gone :], world.environ, world.stderr)
    assert answer == "" or context_of(answer)


def test_a_prompt_is_answered_from_the_turns_before_it_as_well(world: World) -> None:
    write_root(world.root, [memory("Holds expire on open days", memory_id="expiry"), *fillers(40)])
    world.configure(min_strength=0.1)
    transcript = world.home / ".claude/projects/p/session.jsonl"
    transcript.parent.mkdir(parents=True)
    row = {"type": "user", "uuid": "1", "message": {"role": "user", "content": "why do holds expire on sundays?"}}
    for path in (transcript, world.transcript):
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    given = {
        name: world.send("please fix that", session_id=name, transcript_path=path)
        for name, path in {"none": "", "in place": str(transcript), "elsewhere": str(world.transcript)}.items()
    }
    assert [name for name, answer in given.items() if "Holds expire" in answer] == ["in place"]


def test_the_memory_md_of_a_repository_is_not_loaded_and_the_log_says_why_a_folder_has_no_memory(world: World) -> None:
    shutil.rmtree(world.root)
    file = world.root / "MEMORY.md"
    put(file, "# Memory\n\n## Build\n- The linter server listens on port 8443 for requests\n")
    asked = "on which port does the linter server listen for requests"
    assert "8443" in Prompted(world, prompt=asked).context
    file.rename(file.with_suffix(".txt"))
    assert Prompted(world, prompt=asked).context == ""
    assert "holds no memories: of its files (1 *.txt) none is read" in world.log()[-1]["reason"]
