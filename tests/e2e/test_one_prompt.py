"""A prompt is the same text for the hook, its log, a replay and a label, whatever editor and client put around it."""

import json
from pathlib import Path

from engine.conversations.prompt_files import read_prompts
from engine.lean.sha256 import hex_digest
from engine.search.strategies.memsift import pick_terms
from labels.store import LabelStore
from tests.engine.builders import NO_CUTOFF
from tests.engine.hook.world import World
from tests.tui.cli.command_line import memsift

EDITOR = (
    "<ide_opened_file>The user opened calendar.py</ide_opened_file>",
    "<ide_selection>the zanzibar heap is slow</ide_selection>",
    "<new-diagnostics>calendar.py: unused import</new-diagnostics>",
)
TYPED = "fix that cold thing"
EARLIER = "why is the branch calendar read on sundays? " * 50 + "the cache"
"""Its end is too far away to be searched."""


def test_hook_log_replay_and_label_speak_of_the_same_text(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.configure(logging={"prompts": True})
    world.transcript = world.home / ".claude/projects/p/s.jsonl"
    world.transcript.parent.mkdir(parents=True)
    row = {"parentUuid": None, "type": "user", "message": {"role": "user", "content": EARLIER}, "uuid": "u1"}
    world.transcript.write_text(json.dumps(row) + "\n", encoding="utf-8")
    world.send("\n".join([*EDITOR, TYPED]))
    (logged,) = world.log()
    assert (logged["prompt"], logged["prompt_sha256"]) == (TYPED, hex_digest(TYPED))

    blocks = [{"type": "text", "text": text} for text in (*EDITOR, TYPED)]
    row = {"parentUuid": "u1", "type": "user", "message": {"role": "user", "content": blocks}, "uuid": "u2"}
    with world.transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    prompt = read_prompts([str(world.transcript)]).prompts[-1]
    assert prompt.text == TYPED
    terms = {term.text for term in pick_terms(prompt.text, prompt.turns)[1]}
    assert {"cold", "zanzibar", "branch"} <= terms and "cache" not in terms

    db = tmp_path / "labels.db"
    options = ["--root", str(world.root), "--systems", "memsift", "--save", "--db", str(db)]
    result = memsift("replay", "--prompts", world.transcript, *options, **NO_CUTOFF)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    replayed = next(row for row in rows if row["prompt_id"] == prompt.id)
    assert [one["id"] for one in replayed["candidates"]][:3] == [one["id"] for one in logged["candidates"]][:3]
    assert round(replayed["candidates"][0]["score"], 4) == logged["candidates"][0]["score"]
    with LabelStore.open(db) as store:
        assert store.prompt(prompt.id) == prompt
