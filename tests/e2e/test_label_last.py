"""From an injection to its labels: `memsift label --last` opens the prompt that got memories, in a real terminal."""

import json
import os
import sys
from pathlib import Path

import pytest

from engine.agents.installation import plugin_folder
from engine.paths import transcripts_dir
from tests.e2e.terminal import Terminal
from tests.engine.hook.world import ASK, World

LABEL = [sys.executable, "-c", "from tui.cli import main; main()", "label", "--last"]


@pytest.mark.slow
def test_the_prompt_that_was_just_answered_opens_in_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    monkeypatch.chdir(world.project)
    assert world.context(ASK)
    texts = ["a prompt before it, about nothing", ASK, "and a prompt after it, about nothing"]
    rows = [
        {"type": "user", "uuid": text, "sessionId": "session-1", "message": {"role": "user", "content": text}}
        for text in texts
    ]
    transcript = Path(transcripts_dir(str(world.project), world.environ)) / "session-1.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    package = str(Path(plugin_folder()).parents[1])
    environ = {**os.environ, **world.environ, "PYTHONPATH": package, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with Terminal(100, 30, environ) as terminal:
        terminal.start(LABEL)
        screen = terminal.wait_for("cache rule 0", "3 prompts")
        assert screen.count(ASK) == 2, screen  # in the list, and above its memories
