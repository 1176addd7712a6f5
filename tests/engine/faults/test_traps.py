"""Pipes, devices, loops, folders and links to elsewhere where the hook expects a file of its own or of the root."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from engine.config import CONFIG_FILE
from engine.paths import trust_file
from tests.engine.builders import document, memory, write_memory
from tests.engine.faults.answers import tries
from tests.engine.faults.trapped_world import IN_CACHE, IN_ROOT, IN_STATE, TrappedWorld, assert_honest
from tests.engine.faults.traps import BAIT, TRAPS, set_trap
from tests.engine.hook.world import ASK, FORMS, PROJECT, context_of

LEADING_OUT = [name for name in TRAPS if "outside" in name]


@pytest.fixture
def world(tmp_path: Path) -> TrappedWorld:
    return TrappedWorld(tmp_path)


def traps_for(*places: str, leading_out: bool = True) -> list[tuple[str, str]]:
    """Every trap at every place; a person may let the log and the sessions lie elsewhere, so there none leads out."""
    pairs = [(place, trap) for place in places for trap in TRAPS if leading_out or trap not in LEADING_OUT]
    return pairs[:: tries(1, 4)]


@pytest.mark.parametrize(("place", "trap"), traps_for(*IN_CACHE) + traps_for(*IN_STATE, leading_out=False))
def test_what_lies_in_the_place_of_a_file_of_ours_costs_no_answer(world: TrappedWorld, place: str, trap: str) -> None:
    right = world.context(session_id="")
    set_trap(trap, world.place(place), world.outside)
    assert world.context(session_id="1") == right
    write_memory(world.root, memory("cache rule 9", "cache", body="the cache is cold", memory_id="0"))
    assert "decisions/0.json" in world.context(session_id="2")
    world.assert_untouched()


@pytest.mark.parametrize("trap", [trap for trap in TRAPS if trap not in LEADING_OUT])
def test_what_lies_in_the_place_of_a_session_is_no_session(world: TrappedWorld, trap: str) -> None:
    right = world.context()
    (session,) = (world.state / "sessions").rglob("*.json")
    set_trap(trap, session, world.outside)
    assert world.context() == right


@pytest.mark.parametrize(("place", "trap"), traps_for("index.md", "decisions/trap.json", "tech-debt", "memory"))
def test_what_lies_in_the_root_and_is_no_memory_hides_none(world: TrappedWorld, place: str, trap: str) -> None:
    right = world.context(session_id="")
    set_trap(trap, world.root / place, world.outside)
    assert world.context(session_id="") == right
    world.assert_untouched()


@pytest.mark.parametrize("trap", TRAPS)
def test_settings_that_are_none_are_ignored_and_named_and_never_quoted(world: TrappedWorld, trap: str) -> None:
    right = world.context(session_id="1")
    set_trap(trap, world.root / CONFIG_FILE, world.outside)
    assert world.context(session_id="2") == right
    if trap != "unreadable file":
        (mistake,) = world.log()[-1]["mistakes"]
        assert mistake.startswith(str(world.root / CONFIG_FILE))
        assert world.stderr.getvalue() == f"memsift-hook: {mistake}\n"
    world.assert_untouched()


@pytest.mark.parametrize("trap", TRAPS)
def test_a_root_or_a_project_that_is_no_folder_is_silent(world: TrappedWorld, trap: str) -> None:
    set_trap(trap, world.folder / "trap", world.outside)
    assert_honest(world.send(cwd=str(world.folder / "trap")))
    shutil.rmtree(world.root)
    set_trap(trap, world.root, world.folder / "nowhere" if "outside" in trap else world.outside)
    assert world.send() == ""


@pytest.mark.parametrize("trap", TRAPS)
def test_a_transcript_that_is_none_costs_nothing_but_itself(world: TrappedWorld, trap: str) -> None:
    right = world.context(session_id="")
    set_trap(trap, world.transcript, world.outside)
    assert world.context(session_id="1") == right
    assert world.send(session_id="1") == ""
    world.assert_untouched()


TRACED_HOOK = """
import io, json, os, sys
import engine.hook.process
payload, touched = sys.stdin.buffer.read(), []
events = ("open", "os.listdir", "os.scandir")
is_path = lambda event, args: event in events and not isinstance(args[0], int)  # an open file is opened by number
sys.addaudithook(lambda event, args: touched.append(str(args[0])) if is_path(event, args) else None)
answer = engine.hook.process.respond(payload, os.environ, sys.stderr)
print(json.dumps({"answer": answer, "touched": touched}))
"""


def test_nothing_but_the_root_the_state_the_transcript_and_settings_is_opened(world: TrappedWorld) -> None:
    done = world.run(json.dumps(world.payload(f"{ASK} {BAIT}")).encode(), TRACED_HOOK)
    result = json.loads(done.stdout)
    assert context_of(result["answer"]).count("<result ") == 3
    assert BAIT not in result["answer"] + json.dumps(world.log())
    assert {one["id"] for one in world.log()[0]["candidates"]} == {
        "../../../../outside/bait",
        *(f"cache-rule-{number}" for number in range(5)),
    }
    code = (str(PROJECT / "engine"), sys.base_prefix)
    allowed = (str(world.root), str(world.state), str(world.transcript), str(world.cache), *code)
    touched = {os.path.realpath(path) for path in result["touched"]}
    folders = (world.home, world.project)
    settings = {f"{folder}/.claude/settings{local}.json" for folder in folders for local in ("", ".local")}
    settings |= {f"/etc/claude-code/managed-settings.{ending}" for ending in ("json", "d")}
    assert {path for path in touched if not path.startswith(allowed)} <= settings | {trust_file(world.environ)}
    assert str(world.root / "decisions/cache-rule-0.json") in touched


def test_nothing_outside_an_auto_memory_is_read(world: TrappedWorld) -> None:
    shutil.rmtree(world.root)
    world.environ["MEMSIFT_DEADLINE"] = "60"  # the settings with it went with the root
    folder = world.auto_memory
    folder.mkdir(parents=True)
    outside = os.path.relpath(world.outside, folder)
    (folder / "note.md").write_text("---\ndescription: cache rule of the house\n---\n", "utf-8")
    (folder / "bait.md").symlink_to(world.outside / "bait.md")
    (folder / "relative.md").symlink_to(f"{outside}/bait.md")
    (folder / "MEMORY.md").write_text(f"- [x]({outside}/bait.md)\n", "utf-8")
    for trap in TRAPS:
        set_trap(trap, folder / f"{trap}.md", world.outside)
    text = world.context(f"{ASK} {BAIT}")
    assert text.count("<result ") == 1
    assert f"cache rule of the house -> {folder}/note.md</result>" in text  # its name is no tag beside the path
    assert BAIT not in text


def test_a_memory_that_became_a_link_to_one_outside_is_shown_no_more(world: TrappedWorld) -> None:
    right = world.context(session_id="")
    shown = world.root / "decisions/cache-rule-0.json"
    assert shown.name in right
    bait = json.dumps(document(memory(f"cache rule {BAIT}", "cache", memory_id="cache-rule-0")))
    (world.outside / "same-id.json").write_text(bait, "utf-8")
    shown.unlink()
    shown.symlink_to(world.outside / "same-id.json")
    text = world.context(session_id="")
    assert shown.name not in text
    assert BAIT not in text


def test_no_variable_of_the_environment_is_written_anywhere(world: TrappedWorld) -> None:
    for cwd in (world.project, world.folder / "missing"):
        world.start(FORMS["launcher"], json.dumps(world.payload(cwd=str(cwd))).encode())
    set_trap("link to the environment", world.root / CONFIG_FILE, world.outside)
    world.start(FORMS["launcher"], json.dumps(world.payload(transcript_path="/proc/self/environ")).encode())
    assert len(world.log()) == 2
    written = [path for path in world.home.rglob("*") if path.is_file()]
    assert all(b"topsecret" not in path.read_bytes() for path in written)


def test_places_are_those_that_the_hook_uses(world: TrappedWorld) -> None:
    """Else every trap above would lie where nobody looks."""
    world.send()
    assert {path.name for path in world.cache.iterdir()} >= {"index.db"}
    assert {path.name for path in world.state.iterdir()} == {"activity.jsonl", "sessions"}
    assert {path.name for path in world.root.iterdir()} <= {*IN_ROOT, "decisions", "runbooks"}
