"""The first two minutes with memsift, by keyboard only, in a real terminal."""

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.agents.installation import PLUGIN_PLACE
from engine.paths import transcripts_dir
from tests.e2e.terminal import Terminal
from tests.engine.hook.world import ASK, World

CARD, LIST, REVEAL = "Inject it", "Would any of these have helped?", "Done: what you said"
FIRST = ("BM25 · 1 of 3 useful", "hook · 1 of 1 useful", "P Replay")
"""On the screen that the demo opens on: what each system would inject for a prompt."""

DEMO = [sys.executable, "-c", "from tui.cli import main; main()", "demo"]


@pytest.fixture
def terminal(private_home: Path) -> Iterator[Terminal]:
    environ = {**os.environ, "HOME": str(private_home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with Terminal(120, 40, environ) as opened:
        yield opened


def labels_given(screen: str) -> int:
    """The number in the line at the bottom of Label: `1 of 80 prompts done · 3 labels · ...`."""
    found = re.search(r"· (\d+) labels?\b", screen)
    return int(found[1]) if found else -1


def asks_otherwise(screen: str) -> bool:
    """Whether the cards of a prompt are over: its list card or its reveal is shown."""
    return LIST in screen or REVEAL in screen


def label_cards(terminal: Terminal, count: int) -> None:
    """Label cards until *count* labels are given; none of a list helps, and enter goes on where a prompt is done."""
    while (given := labels_given(terminal.wait_for("prompts done"))) < count:
        screen = terminal.wait_until(lambda shown: CARD in shown or asks_otherwise(shown), "a card or a reveal")
        if LIST in screen:
            terminal.press("x")
            terminal.wait_until(lambda shown: LIST not in shown, "the end of the list")
        elif REVEAL in screen:
            terminal.press("Enter")
            terminal.wait_until(lambda shown: REVEAL not in shown, "the next prompt")
        else:
            terminal.press("a" if given % 3 == 0 else "x")
            terminal.wait_until(lambda shown, old=given: labels_given(shown) > old or asks_otherwise(shown), "a label")


@pytest.mark.slow
def test_find_replay_label_undo_quit_and_find_the_labels_again(terminal: Terminal) -> None:
    terminal.start(DEMO)
    terminal.wait_for(*FIRST)

    # a memory, by the beginning of a word that stands only in its body
    terminal.press("F2")
    terminal.wait_for("102 memories")
    terminal.press("/")
    terminal.type("gmake")
    terminal.wait_for("1 of 102 memories", "GNU make")
    terminal.press("Escape")
    terminal.wait_until(lambda shown: "102 memories" in shown and "of 102" not in shown, "all memories again")
    terminal.press("Escape")

    # what the judge dropped
    terminal.press("F3")
    terminal.wait_for("80 prompts")
    terminal.wait_for("✓ kept", "✗ rejected")

    # ten labels, one of them taken back
    terminal.press("F4")
    label_cards(terminal, 10)
    terminal.press("z")
    terminal.wait_until(lambda shown: labels_given(shown) == 9, "9 labels after the undo")
    terminal.press("q")
    terminal.wait_for("ended with 0")
    terminal.stop()

    # the nine are there again
    terminal.start(DEMO)
    terminal.wait_for(*FIRST)
    terminal.press("F4")
    terminal.wait_until(lambda shown: labels_given(shown) == 9, "9 labels after a new start")

    # precision of all systems
    terminal.press("F5")
    screen = terminal.wait_for("Precision: how much of what was injected helped")
    for system in ("no cutoff", "hook", "hook + judge"):
        numbers = r" +[01]\.\d\d +\d+ of \d+ .*●"
        assert re.search(rf" {re.escape(system)}{numbers}", screen)
    assert re.search(r"0 [·━●┃]+ 100 %", screen)
    terminal.press("]")
    terminal.wait_for("Served: how much of what is needed was injected")
    terminal.press("q")
    terminal.wait_for("ended with 0")


@pytest.mark.slow
def test_ctrl_z_goes_back_to_the_shell_and_stops_nothing_where_no_shell_could_go_on(terminal: Terminal) -> None:
    terminal.start(["bash", "--norc", "-i"])
    terminal.type(f"{shlex.join(DEMO)}\n")
    terminal.wait_for(*FIRST)
    terminal.press("C-z")
    terminal.wait_for("Stopped")
    terminal.type("fg\n")
    terminal.wait_for(*FIRST)
    terminal.press("q")
    terminal.wait_until(lambda shown: "P Replay" not in shown, "the end of the app")
    terminal.type("exit\n")
    terminal.wait_for("ended with 0")
    terminal.stop()
    terminal.start(DEMO)
    terminal.wait_for(*FIRST)
    terminal.press("C-z")
    terminal.wait_for("No shell started this program")
    terminal.press("q")
    terminal.wait_for("ended with 0")


@pytest.mark.slow
def test_the_app_says_that_the_hook_is_gone_after_an_upgrade(terminal: Terminal, private_home: Path) -> None:
    command = "python3 -I -S /old/site-packages/engine/hook/launch.py"
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}
    (private_home / ".claude").mkdir()
    (private_home / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    terminal.start(DEMO)
    screen = terminal.wait_for(*FIRST, "Run memsift install --agent claude")
    assert "Claude Code gets no memories" in screen


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
    package = str(Path(PLUGIN_PLACE).parents[1])
    environ = {**os.environ, **world.environ, "PYTHONPATH": package, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with Terminal(100, 30, environ) as terminal:
        terminal.start(LABEL)
        screen = terminal.wait_for("cache rule 0", "3 prompts")
        assert screen.count(ASK) == 2, screen  # in the list, and above its memories
