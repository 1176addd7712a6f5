"""Label through a LabelStore in processes that are killed at any moment, and check the store after each.

    python -m tests.labels.killed_labeller FOLDER KILLS SEED

Prints one JSON object: the numbers of kills and of acknowledged key presses, and all faults. The processes are forks of
this one, because starting an interpreter takes longer than most of them live.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import LabelStoreError
from labels.records import LABEL, NOT_RELEVANT, RELEVANT, RETRACT
from labels.store import LabelStore
from tests.labels.samples import card, pool_of

LONGEST_LIFE_S = 0.15
"""The longest time from the fork to the kill. It leaves time for some labels, and for none in short lives."""

FRESH_EVERY = 20
"""Every twentieth process starts without a store, so some are killed while they make one."""

CARDS = ("a", "b", "c", "d", "e")


@dataclass
class Toll:
    """The result of a run. `unacknowledged` events were written, but the kill came before their acknowledgement."""

    kills: int = 0
    acknowledged: int = 0
    undone: int = 0
    unacknowledged: int = 0
    died_before_a_label: int = 0
    faults: list[str] = field(default_factory=list)


def label_until_killed(path: Path, life: int, out: int) -> None:
    """Write as the Label screen does, and acknowledge each event on disk with a line: `label UID` or `undo UID`."""
    made = random.Random(life)
    with LabelStore.open(path) as store:
        for number in range(100_000):
            prompt_id = f"p{life}-{number}"
            store.record_pool(pool_of(*CARDS, prompt_id=prompt_id))
            for position, name in enumerate(CARDS, start=1):
                how = {"seed": 1, "blind": True, "elapsed_ms": 1, "repeat": made.random() < 0.1}
                verdict = RELEVANT if made.random() < 0.5 else NOT_RELEVANT
                event = store.label("ann", prompt_id, card(name, position=position), verdict, **how)
                os.write(out, f"label {event.uid}\n".encode())
                if made.random() < 0.2 and (undone := store.undo("ann")):
                    os.write(out, f"undo {undone.uid}\n".encode())


def kill_one(path: Path, life: int, seconds: float) -> list[list[str]]:
    """The acknowledgements of a process that lives for *seconds*, without a line that the kill cut off."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        label_until_killed(path, life, writing)
        os._exit(1)
    os.close(writing)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, encoding="ascii") as pipe:
        return [line.split() for line in pipe.read().split("\n")[:-1]]


def check(path: Path, said: list[list[str]], before: set[str], toll: Toll) -> set[str]:
    """Compare the acknowledgements of a process with the store. Returns the uids of all events."""
    with LabelStore.open(path) as store:
        events = store.events()
    uids = [event.uid for event in events]
    labels = [uid for what, uid in said if what == "label"]
    taken_back = {event.supersedes for event in events if event.action == RETRACT}
    ids = {event.uid: event.event_id for event in events if event.action == LABEL}
    undone = [uid for what, uid in said if what == "undo"]
    new = len(uids) - len(before) - len(said)
    toll.faults += [f"lost {uid}" for uid in labels if uid not in ids]
    toll.faults += [f"not taken back {uid}" for uid in undone if ids.get(uid) not in taken_back]
    toll.faults += [f"lost of an earlier process {uid}" for uid in before - set(uids)]
    if len(set(uids)) != len(uids) or len(taken_back) != sum(event.action == RETRACT for event in events):
        toll.faults.append("doubled")
    if new not in (0, 1):
        toll.faults.append(f"{new} events that nobody was told of")
    toll.kills += 1
    toll.acknowledged += len(labels)
    toll.undone += len(undone)
    toll.unacknowledged += new
    toll.died_before_a_label += not said
    return set(uids)


def is_sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def run(folder: Path, kills: int, seed: int) -> Toll:
    made, toll = random.Random(seed), Toll()
    known: set[str] = set()
    for life in range(kills):
        path = folder / f"{life // FRESH_EVERY}.db"
        known = set() if life % FRESH_EVERY == 0 else known
        try:
            known = check(path, kill_one(path, life, made.uniform(0, LONGEST_LIFE_S)), known, toll)
        except LabelStoreError as error:
            toll.faults.append(f"does not open: {error}")
        if not is_sound(path):
            toll.faults.append("damaged")
    return toll


if __name__ == "__main__":
    print(json.dumps(vars(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))))  # noqa: T201
