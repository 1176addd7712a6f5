"""A process that changes a root in every way in which memories change, and keeps a journal of it.

Writers take turns, so the journal has one order. What a line says of a file holds from some moment between `began` and
`ended` on, in seconds of the monotonic clock, until the next line about that file.
"""

from __future__ import annotations

import fcntl
import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.engine.builders import document, memory

if TYPE_CHECKING:
    from collections.abc import Callable

    Changes = dict[Path, str | None]
    """File -> content after a change; None for a deleted file."""

CATEGORIES = {"decisions": "decision", "runbooks": "runbook"}
NAMES = [f"{folder}/m{number}.json" for folder in CATEGORIES for number in range(8)]
IN_PLACE = "edit in place"
IN_PLACE_SHARE = 0.93
"""Most edits leave the folders as they are: many hooks find nothing new there and answer from what they have."""

PAUSE_S = (0.0, 0.08)


class Writer:
    """*seed* tells its words from those of others. `staging` is a folder on the same disk outside the root."""

    def __init__(self, root: Path, staging: Path, seed: int) -> None:
        self._root = root
        self._staging = staging / f"{seed}.json"
        self._made = random.Random(seed)
        self._seed = seed
        self._number = 0
        self._kinds: dict[str, Callable[[Path], Changes]] = {
            "add": self._write,
            IN_PLACE: self._write,
            "edit by rename": self._replace,
            "retire": lambda path: self._replace(path, status="retired"),
            "rename": self._rename,
            "delete": self._delete,
        }

    def change(self) -> dict[str, object]:
        """Make one change; its line for the journal."""
        path = self._root / self._made.choice(NAMES)
        kind = self._kind(path)
        began = time.monotonic()
        changes = self._kinds[kind](path)
        files = {path.relative_to(self._root).as_posix(): content for path, content in changes.items()}
        return {"kind": kind, "began": began, "ended": time.monotonic(), "files": files}

    def _kind(self, path: Path) -> str:
        if not path.exists():
            return "add"
        is_in_place = self._made.random() < IN_PLACE_SHARE
        return IN_PLACE if is_in_place else self._made.choice(["edit by rename", "retire", "rename", "delete"])

    def _content(self, path: Path, status: str = "active") -> str:
        """Of the same shape at every turn, so that all that match do so equally; a third do not match."""
        self._number += 1
        word = f"g{self._seed}n{self._number}"
        words = ("other thing", "other") if self._made.random() < 0.33 else ("cache rule", "cache")
        category = CATEGORIES[path.parent.name]
        one = memory(f"{words[0]} {word}", words[1], memory_id=word, category=category, status=status)
        return json.dumps(document(one))

    def _write(self, path: Path) -> Changes:
        content = self._content(path)
        path.write_text(content, "utf-8")
        return {path: content}

    def _replace(self, path: Path, status: str = "active") -> Changes:
        content = self._content(path, status)
        self._staging.write_text(content, "utf-8")
        self._staging.rename(path)
        return {path: content}

    def _rename(self, path: Path) -> Changes:
        """To a name that is free in its folder; without one an edit, because a rename to itself changes no folder."""
        free = [name for name in NAMES if name.startswith(path.parent.name) and not (self._root / name).exists()]
        if not free:
            return self._replace(path)
        content, other = path.read_text("utf-8"), self._root / self._made.choice(free)
        path.rename(other)
        return {path: None, other: content}

    def _delete(self, path: Path) -> Changes:
        path.unlink()
        return {path: None}


def main(root: str, folder: str, seed: str, seconds: str) -> None:
    """Change *root* for so many seconds; the journal is in *folder*, and so are files that are not in place yet."""
    writer, pause = Writer(Path(root), Path(folder), int(seed)), random.Random(seed)
    until = time.monotonic() + float(seconds)
    with (Path(folder) / "journal.jsonl").open("a", encoding="utf-8") as journal:
        while time.monotonic() < until:
            fcntl.flock(journal, fcntl.LOCK_EX)
            journal.write(json.dumps(writer.change()) + "\n")
            journal.flush()
            fcntl.flock(journal, fcntl.LOCK_UN)
            time.sleep(pause.uniform(*PAUSE_S))


if __name__ == "__main__":
    main(*sys.argv[1:])
