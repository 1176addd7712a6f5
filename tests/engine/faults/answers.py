"""A root with a cache of its own, and the answers of its index: from the disk, for the hook, and built in memory."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from engine import inject
from engine.config import SEARCH, Config
from engine.lean.record import replace
from engine.opening import hook_index, index_file, index_of, open_index
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.stores.roots import read_corpus
from tests.engine.builders import NO_CUTOFF, fillers, memory, write_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.memory import Memory
    from engine.search.index import Index

    Answers = tuple[str, ...]
    """The injected context for each of PROMPTS; an empty text for nothing."""

    Everything = tuple[Answers, object]
    """All answers of an index, to compare."""

PROMPTS = (
    "how do we handle the cache rule",
    "which auth token does user_id take in the migration",
    "zz3 and yy7 filler",
    "数据库 cache of the loader v2.0",
)
PATIENT_S = 60.0
"""A deadline that the hook keeps on the busiest machine."""

TITLES = ("cache rule", "auth token of user_id", "migration of the loader", "数据库 cache", "v2.0 of the auth cache")
TICK_S = 0.06
"""After this time the stamp of a file can be trusted."""


class FaultyRoot:
    """A root of 60 memories in *folder*, and a person whose cache lies beside it or at *home*."""

    def __init__(self, folder: Path, home: Path | None = None) -> None:
        self.root = write_root(folder / "root", first_memories()).resolve()
        self.environ = {"HOME": str(home or folder / "person"), **NO_CUTOFF}
        self.file = Path(index_file(str(self.root), self.environ))

    @property
    def files(self) -> list[Path]:
        """The index and SQLite's own files, if they exist."""
        return [path for suffix in ("", "-wal", "-shm", "-journal") if (path := beside(self.file, suffix)).exists()]

    def opened(self) -> Everything:
        """All answers that the app would see."""
        with closing(open_index(str(self.root), self.environ)) as index:
            return everything(index)

    def fresh(self) -> Everything:
        """The right answers: those of an index that is built in memory now."""
        with closing(index_of(read_corpus(str(self.root)))) as index:
            return everything(index)

    def there(self) -> set[str]:
        """Title and path of every active memory."""
        summaries = (one.summary for one in read_corpus(str(self.root)).memories)
        return {f"{one.title} -> {one.path}" for one in summaries if one.status == "active"}

    def hook(self, deadline_s: float = PATIENT_S) -> Answers:
        """The injected contexts of the hook; nothing without an index."""
        index = hook_index(str(self.root), self.environ, deadline_s)
        if index is None:
            return ("",) * len(PROMPTS)
        with closing(index):
            return answers(index)

    def settle(self) -> None:
        """Update the index when all stamps can be trusted, as a moment after an edit."""
        time.sleep(TICK_S)
        assert self.opened() == self.fresh()


def first_memories() -> list[Memory]:
    found = [
        memory(f"{TITLES[i % len(TITLES)]} {i}", TITLES[i % 3].split()[0], body=f"{TITLES[i % 4]} {i}\n" * 9)
        for i in range(20)
    ]
    return [*found, *fillers(40)]


def beside(file: Path, suffix: str) -> Path:
    return file.with_name(file.name + suffix)


def answers(index: Index) -> Answers:
    config = Config()
    return tuple(
        inject.context(retrieve(Query(typed_prompt(text)), index, OpenSystem(config)), config) for text in PROMPTS
    )


def everything(index: Index) -> Everything:
    found = [
        retrieve(Query(typed_prompt(text), mode=SEARCH), index, OpenSystem(Config())).candidates for text in PROMPTS
    ]
    lists = [[(one.memory, round(one.score, 9), one.matched) for one in candidates] for candidates in found]
    summaries = [replace(summary, risk=0.0) for summary in index.summaries()]  # a long one is scanned when it is shown
    memories = [index.memory(summary.id) for summary in summaries]
    return answers(index), (lists, summaries, memories, index.skipped, index.corpus_hash)


def shown(text: str) -> list[str]:
    """Title and path of every memory in an answer, in its order."""
    entries = [line for line in text.splitlines() if line.startswith("<result ")]
    return [line.split(">", 1)[1].removesuffix("</result>").split(" #tags:")[0] for line in entries]


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until another process has made *condition* true."""
    until = time.monotonic() + PATIENT_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(TICK_S)


def assert_works(root: FaultyRoot) -> None:
    """The hook and the app give the right answers."""
    right = root.fresh()
    assert root.hook() == right[0]
    assert root.opened() == right
    assert root.hook() == right[0]


def assert_right_or_silent(given: Answers, *right: Answers) -> None:
    """For each prompt the answer of one of *right*, or none."""
    for number, text in enumerate(given):
        assert text in ("", *(one[number] for one in right))


def tries(in_all: int, sample: int) -> int:
    """The number of tries: all in a run with `-m long` or `-m ""`, else a sample. See `tests/conftest.py`."""
    return in_all if os.environ.get("MEMSIFT_LONG_TESTS") else sample
