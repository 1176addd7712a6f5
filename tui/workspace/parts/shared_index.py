"""The index of a run: one file that does not change any more, which the workers of all machines read."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING

from engine.errors import MemsiftError
from engine.lean.record import Record
from engine.lean.sqlite import DAMAGE, for_reading, for_writing
from engine.memory import UNSCANNED
from engine.opening import index_file, scanning
from engine.paths import cache_dir
from engine.quality.decisions import SAFETY, decisions, may_be_injected
from engine.search.database import check, summaries_of
from engine.search.index import Index
from engine.settings.roots import is_own_root
from engine.stores.files import ASIDE
from tui.workspace.stderr import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from engine.memory import MemorySummary

COPIES = "copies"
"""The folder of the user's cache for the files of other machines."""

KEPT_S = 86_400
"""Copies of other runs are deleted after this time, when another is made."""

AT_ONCE = 200
"""Memories that are read at once for the safety scan."""

LOADED = "select rowid from memory where reason is null and is_loaded"
SET_RISK = "update memory set risk = ? where id = ? and reason is null"


class SharedIndex(Record):
    """An index file at *path* on the machine of the command, of which another machine makes a copy.

    `digest` names its bytes (SHA-256), of which there are `size`.
    """

    path: str
    digest: str
    size: int
    root: str
    approvals: Approvals

    def opened(self, environ: Mapping[str, str]) -> Index | None:
        """The index on this machine; None if there is no file of it. Raises MemsiftError for a damaged one."""
        for path in (self.path, self.copy(environ)):
            with suppress(OSError):
                if Path(path).stat().st_size == self.size:
                    return self._open(path, environ)
        return None

    def _open(self, path: str, environ: Mapping[str, str]) -> Index:
        try:
            db = for_reading(path, immutable=True)
            check(db, self.root)
        except DAMAGE as error:
            raise MemsiftError(f"{path}: {error}. Delete the file and give the same command again.") from None
        own, scan = self.approvals, scanning(index_file(self.root, environ))
        return Index(db, self.root, is_accepted=own.accepts, is_loaded=own.loads, scan=scan)

    def copy(self, environ: Mapping[str, str]) -> str:
        """The path of the copy on another machine."""
        return str(Path(cache_dir(environ), COPIES, f"{self.digest}.db"))

    def receive(self, blocks: Iterable[bytes], environ: Mapping[str, str]) -> None:
        """Write the copy of this machine, if there is none. Raises OSError, also for *blocks* of another file."""
        target, seen = Path(self.copy(environ)), hashlib.sha256()
        if target.exists():
            return
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in target.parent.iterdir():
            if old.stat().st_mtime < time.time() - KEPT_S:
                old.unlink(missing_ok=True)
        with _replacing(target.parent) as aside:
            with aside.open("wb") as file:
                for block in blocks:
                    seen.update(block)
                    file.write(block)
            if seen.hexdigest() != self.digest:
                raise OSError("the copy differs from the index")
            aside.replace(target)


class Approvals(Record):
    """Which memories may be injected, as the files beside an index say: workers do not have them.

    `verdicts`: those of `decisions`. `is_own`: whether the root is the person's. `loaded`: the ids of memories that a
    client loads by itself.
    """

    verdicts: Mapping[tuple[str, str, str], str]
    is_own: bool
    loaded: frozenset[str]

    def accepts(self, memory: MemorySummary) -> bool:
        """Whether a risky memory may be injected."""
        verdict = self.verdicts.get((SAFETY, memory.id, memory.digest), "")
        return may_be_injected(memory.risk, verdict, is_own=self.is_own)

    def loads(self, memory: MemorySummary) -> bool:
        """Whether the client loads a memory by itself."""
        return memory.id in self.loaded


def approvals_of(index: Index, environ: Mapping[str, str]) -> Approvals:
    """The approvals of the root of *index*. Raises DecisionsError."""
    rows = index.ask(lambda db: summaries_of(db, index.root, [row for (row,) in db.execute(LOADED)]))
    loaded = frozenset(memory.id for memory in rows.values() if index.is_loaded(memory))
    return Approvals(decisions(index.root, environ), is_own_root(index.root, environ), loaded)


def scanned(index: Index) -> dict[str, float]:
    """Id -> risk of all memories that were not scanned yet. *index* keeps it. Workers elsewhere cannot scan a file."""
    late = [memory for memory in index.summaries() if memory.risk == UNSCANNED]
    risks: dict[str, float] = {}
    blocks = range(0, len(late), AT_ONCE)
    with progress_bar(len(blocks), "Scanning") as advance:
        for start in blocks:
            risks |= index.risks(late[start : start + AT_ONCE])
            advance(())
    return risks


def shared_index(index: Index, folder: Path, approvals: Approvals, risks: Mapping[str, float]) -> SharedIndex:
    """Write *index* into *folder* as it is now, with the *risks* of `scanned`. Raises MemsiftError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _replacing(folder) as aside:
            with closing(for_writing(str(aside))) as copy:
                index.ask(lambda db: db.backup(copy))
                copy.execute("begin")
                copy.executemany(SET_RISK, [(risk, name) for name, risk in risks.items()])
                copy.execute("commit")
            path = aside.replace(folder.resolve() / f"index-{aside.name.removeprefix(ASIDE)}.db")
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            return SharedIndex(str(path), digest, path.stat().st_size, index.root, approvals)
    except (OSError, *DAMAGE) as error:
        raise MemsiftError(f"{folder}: the index for the workers cannot be written ({error}).") from None


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """An empty private file in *folder*, which is deleted unless it is renamed."""
    descriptor, name = mkstemp(prefix=ASIDE, dir=folder)
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
