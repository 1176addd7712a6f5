"""Eight hooks and two writers at once: each memory in an answer was in the root while the hook ran."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from math import inf
from pathlib import Path
from random import Random
from threading import Event

import pytest

from engine.opening import index_of, open_index
from engine.stores.roots import read_corpus
from tests.engine.builders import document, fillers, memory, write_memory
from tests.engine.faults.answers import everything, shown, tries
from tests.engine.hook.world import FORMS, World, context_of

HOOKS, WRITERS = 8, 2
ASKS = tries(40, 6)
PAUSE_S = (0.0, 0.08)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A root without memories that match; the hooks have time."""
    made = World(tmp_path)
    for path in made.root.rglob("*.json"):
        path.unlink()
    for one in fillers(30):
        write_memory(made.root, one)
    (made.root / "index.md").write_text("# Memory Index\n", "utf-8")
    made.environ |= {"MEMSIFT_DEADLINE": "60", "MEMSIFT_MIN_STRENGTH": "0"}
    open_index(str(made.root), made.environ).close()  # no hook waits for another one that builds the first index
    return made


class Writer:
    """Writes, replaces and deletes files of its own. `lives`: line of a memory in an answer -> from when to when."""

    def __init__(self, world: World, seed: int) -> None:
        self.lives: dict[str, list[float]] = {}
        self._folder, self._staging = world.root / "decisions", world.folder / f"{seed}.json"
        self._made, self._seed = Random(seed), seed

    def run(self, is_over: Event) -> None:
        there = dict[Path, str]()
        while not is_over.is_set():
            path = self._folder / f"w{self._seed}-{self._made.randrange(8)}.json"
            before = there.pop(path, "")
            if before and self._made.random() < 0.1:
                path.unlink()
            else:
                there[path] = self._write(path)
            if before:
                self.lives[before][1] = time.monotonic()
            time.sleep(self._made.uniform(*PAUSE_S))

    def _write(self, path: Path) -> str:
        """A new memory in a file: written in place, or renamed into its place."""
        name = f"g{self._seed}n{len(self.lives)}"
        line = f"cache rule {name} -> .claude/memory/decisions/{path.name}"
        self.lives[line] = [time.monotonic(), inf]
        target = path if self._made.random() < 0.9 else self._staging
        target.write_text(json.dumps(document(memory(f"cache rule {name}", "cache", memory_id=name))), "utf-8")
        target.rename(path)
        return line


def ask(world: World) -> list[tuple[list[str], float, float]]:
    """The memories of each answer, and when its process began and ended."""
    found = []
    for _ in range(ASKS):
        began = time.monotonic()
        done = world.start(FORMS["launcher"], json.dumps(world.payload(session_id="")).encode())
        assert (done.returncode, done.stderr) == (0, b"")
        lines = shown(context_of(done.stdout.decode("ascii"))) if done.stdout else []
        found.append((lines, began, time.monotonic()))
    return found


@pytest.mark.long
@pytest.mark.slow
def test_every_memory_in_an_answer_was_there_while_the_hook_ran(world: World) -> None:
    writers, is_over = [Writer(world, seed) for seed in range(WRITERS)], Event()
    with ThreadPoolExecutor(HOOKS + WRITERS) as pool:
        writing = [pool.submit(writer.run, is_over) for writer in writers]
        try:
            asked = [one for found in pool.map(ask, [world] * HOOKS) for one in found]
        finally:
            is_over.set()
        for one in writing:
            one.result()
    lives = {line: life for writer in writers for line, life in writer.lives.items()}
    wrong = [
        (line, began, ended)
        for lines, began, ended in asked
        for line in lines
        if lives[line][0] > ended or lives[line][1] < began
    ]
    assert wrong == []
    assert len({tuple(lines) for lines, _, _ in asked}) > WRITERS
    assert len(world.log()) == len(asked)
    assert [row["reason"] for row in world.log() if "Error" in row.get("reason", "")] == []
    with closing(open_index(str(world.root), world.environ)) as index:
        on_disk = everything(index)
    with closing(index_of(read_corpus(str(world.root)))) as index:
        assert everything(index) == on_disk
