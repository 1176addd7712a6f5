"""Programs that use the label store beside the app, and end in any way, take no label away: theirs, or the app's."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.engine.faults.answers import eventually
from tests.tui.apps import press, settled
from tests.tui.demo import DEMO, DEMO_ROOT
from tests.tui.killed_app import READY, label, say
from tui.app import MemsiftApp
from tui.workspace import opening
from tui.workspace.judging import JudgeOptions

CLEANLY = 0
ENDINGS = (CLEANLY, signal.SIGHUP, signal.SIGKILL)
PROGRAMS = ("label", "report", "import", "app", "sqlite3")
PEOPLE = ("ann", "bob", "cat")
PROMPTS = str(DEMO / "prompts.jsonl")
OVER = ("--root", str(DEMO_ROOT), "--prompts", PROMPTS)
MEMSIFT = ("-c", "from tui.cli import main; main()")
LABELS = 3
"""Labels that the app acknowledges before the other program comes, while it is there, and after its end."""

SQLITE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("select count(*) from label_event").fetchone()[0], flush=True)
sys.stdin.read()
db.close()
"""
"""As a person at the shell of SQLite: it looks at the labels, and stays until its input ends."""

COMMANDS = {
    "label": [*MEMSIFT, "label", *OVER, "--db"],
    "report": [*MEMSIFT, "report", "--root", str(DEMO_ROOT), "--db"],
    "sqlite3": ["-c", SQLITE],
}


class Person(NamedTuple):
    """Somebody who labels in an app of their own, in another process, until they are told to end it."""

    name: str
    process: int
    leave: Path
    said: Path

    @property
    def acknowledged(self) -> set[str]:
        """The uids of the events that this app showed as saved, without a line that a kill cut off."""
        lines = self.said.read_text().split("\n")[:-1]
        return {line.split()[1] for line in lines if line != READY}

    def labels_more(self) -> None:
        wanted = len(self.acknowledged) + LABELS
        eventually(lambda: len(self.acknowledged) >= wanted)

    def ends(self, ending: int) -> None:
        """Leave the app cleanly, or be ended by a signal."""
        if ending:
            os.kill(self.process, ending)
        else:
            self.leave.touch()
        _, status = os.waitpid(self.process, 0)
        assert os.waitstatus_to_exitcode(status) == -ending


async def use(store: Path, person: str, leave: Path, out: int, seed: int) -> None:
    workspace = opening.open_workspace(
        str(DEMO_ROOT), [PROMPTS], JudgeOptions(is_off=True), str(store), {**os.environ, "MEMSIFT_ANNOTATOR": person}
    )
    chance = random.Random(seed)
    async with MemsiftApp(workspace).run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await press(pilot, "f4")
        say(out, READY)
        while not leave.exists():
            await label(pilot, chance, out)
    workspace.close()


def person_at_the_app(store: Path, name: str, seed: int) -> Person:
    leave, said = (store.with_name(f"{name}.{ending}") for ending in ("leave", "said"))
    child = os.fork()
    if not child:
        with said.open("wb") as out:
            code = 1
            try:
                asyncio.run(use(store, name, leave, out.fileno(), seed))
                code = 0
            finally:
                os._exit(code)
    eventually(lambda: said.exists() and READY in said.read_text())
    return Person(name, child, leave, said)


def started(arguments: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def ended(process: subprocess.Popen[bytes], ending: int, chance: random.Random) -> bool:
    """End a command by a signal at some moment, or wait for its end. Whether it did all it was told to do."""
    if ending:
        time.sleep(chance.uniform(0, 0.6))
        process.send_signal(ending)
    process.communicate(timeout=60)
    return process.returncode == 0


def imported(name: str, store: Path, ending: int, chance: random.Random) -> set[str]:
    """Import the labels of a person; the acknowledgement, if there was one."""
    arguments = [*MEMSIFT, "import", str(DEMO / "qrels.txt"), "--annotator", name, *OVER, "--db", str(store)]
    return {f"304 labels of {name}"} if ended(started(arguments), ending, chance) else set()


def beside(program: str, ending: int, store: Path, number: int, chance: random.Random, app: Person) -> set[str]:
    """Let *program* use the store beside *app*, and end. Its acknowledgements."""
    if program == "app":
        other = person_at_the_app(store, f"other{number}", number)
        other.labels_more()
        app.labels_more()
        other.ends(ending)
        return other.acknowledged
    if program == "import":
        return set().union(*(imported(f"{name}{number}", store, ending, chance) for name in PEOPLE))
    process = started(
        ["-c", SQLITE, str(store)] if program == "sqlite3" else [*MEMSIFT, *COMMANDS[program], str(store)]
    )
    app.labels_more()
    ended(process, ending, chance)
    return set()


def kept_in(store: Path) -> set[str]:
    """All acknowledgements that are true of the store."""
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        counts = db.execute("select count(*) || ' labels of ' || annotator from label_event group by annotator")
        return {said for (said,) in [*counts, *db.execute("select uid from label_event")]}


def play(folder: Path, rounds: int) -> Counter[str]:
    """Let programs come and go beside an app, and compare the store with what all acknowledged after each round."""
    chance, store, toll = random.Random(31), folder / "labels.db", Counter[str]()
    said: set[str] = set()
    for number in range(rounds):
        program, ending = PROGRAMS[number % len(PROGRAMS)], ENDINGS[number // len(PROGRAMS) % len(ENDINGS)]
        app = person_at_the_app(store, f"me{number}", number)
        app.labels_more()
        said |= beside(program, ending, store, number, chance, app)
        app.labels_more()
        app.ends(chance.choice(ENDINGS))
        said |= app.acknowledged
        lost = said - kept_in(store)
        assert not lost, f"{program}, ended by {ending}: {len(lost)} of {len(said)} are lost"
        toll[f"{program}, ended by {ending}"] += 1
    return toll + Counter(acknowledged=len(said))


@pytest.mark.slow
def test_no_label_is_lost_when_a_program_beside_the_app_ends(tmp_path: Path) -> None:
    assert play(tmp_path, len(PROGRAMS))["acknowledged"] > 50


@pytest.mark.long
def test_no_label_is_lost_in_sixty_rounds_of_programs_beside_the_app(tmp_path: Path) -> None:
    toll = play(tmp_path, 60)
    print(json.dumps(toll, indent=2))  # noqa: T201
    assert toll["acknowledged"] > 600
