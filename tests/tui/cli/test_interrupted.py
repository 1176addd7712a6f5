"""Ctrl+c at the last step of a change: the step is finished, told, and the exit code is that of ctrl+c."""

import sys
from pathlib import Path

from labels.store import LabelStore
from tests.engine.curation.roots import document, write_documents
from tests.tui.cli.command_line import memsift, process
from tests.tui.demo import DEMO, DEMO_ROOT

LAST_STEP = """
import os, signal, sys
sys.dont_write_bytecode = True
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test may run in the background
file = sys.argv.pop(1)

def stop(frame, event, function):
    is_placed = event == "c_return" and function is os.replace and frame.f_locals["place"].endswith(file)
    if is_placed or (event == "return" and frame.f_code.co_name == "commit"):
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)

from tui.cli import main
sys.setprofile(stop)
main()
"""
"""A command that gets SIGINT right after its first commit of labels, or when a file with this ending takes its place.
"""

QRELS = ["import", DEMO / "qrels.txt", "--root", DEMO_ROOT, "--prompts", DEMO / "prompts.jsonl", "--annotator", "jan"]


CHANGES = {
    "import LABELS --db NEW": ("labels", "Imported from"),
    "merge-labels STORE --db NEW": ("labels", "Merged labels.db: "),
    "retire alpha --root ROOT": (".json", "To undo: memsift undo 1"),
    "trust ROOT": ("trusted.json", "Trusted: "),
    "config set max_inject 2": ("config.toml", "config.toml"),
    "mute --root ROOT": ("muted.json", "Muted until"),
    "install --user": ("settings.json", "settings.json"),
}
"""Command -> the end of the name of the file that it changes last, and what it tells."""


def test_a_change_that_cannot_be_stopped_any_more_is_told(tmp_path: Path) -> None:
    root = write_documents(tmp_path / "project/.claude/memory", [document("alpha")])
    store, labels = tmp_path / "labels.db", tmp_path / "labels.jsonl"
    assert memsift(*QRELS, "--db", store).exit_code == 0
    assert memsift("export", "--db", store, "--output", labels).exit_code == 0
    for number, (line, (file, told)) in enumerate(CHANGES.items()):
        new = tmp_path / f"new{number}.db"
        LabelStore.open(new).close()
        places = {"ROOT": root, "STORE": store, "LABELS": labels, "NEW": new}
        words = [places.get(word, word) for word in line.split()]
        done = process(*words, code=[sys.executable, "-c", LAST_STEP, file])
        said = done.stdout + done.stderr
        assert (done.returncode, told in said, "Stopped." in said) == (130, True, False), line
