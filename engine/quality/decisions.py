"""What a person decided about findings: memories accepted as they are, and memories rejected.

A decision belongs to a root, a check, a memory id and the digest of the memory's text. After an edit it counts no more.
All decisions are in one private SQLite file, and so are the ratings of the quality judge. The hook reads it, so no slow
imports here: see engine/lean.
"""

from __future__ import annotations

import os
import time

from engine.lean.record import replace
from engine.lean.sections import read_sections
from engine.lean.sqlite import DAMAGE, for_reading
from engine.memory import HARD_RISK
from engine.paths import decisions_file
from engine.stores.files import UnreadableFileError, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from engine.errors import DecisionsError
    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.search.index import Index
    from engine.stores.private_database import PrivateDatabase

SAFETY, QUALITY = WHOLE = ("safety", "quality")
"""What a decision about a whole memory says: it may be injected or not, and it is worth keeping or not."""

ACCEPTED, REJECTED = "accepted", "rejected"
ACCEPTED_FILE = "memsift-accepted.txt"
ACCEPTED_HEAD = (
    "# Accepted findings of memsift quality check: the check, the digest of the memory's text, the memory's id.\n"
)
TIME = "%Y-%m-%dT%H:%M:%SZ"


def verdict_on(root: str, memory_id: str, digest: str, environ: Mapping[str, str]) -> str:
    """The verdict on this risky memory text, empty without one. REJECTED if the decisions cannot be read."""
    try:
        return _read(root, environ).get((SAFETY, memory_id, digest), "")
    except DAMAGE:
        return REJECTED


def may_be_injected(risk: float, verdict: str, *, is_own: bool) -> bool:
    """Whether a risky memory goes into prompts. *is_own*: its root is the person's, see `is_own_root`.

    Until a person decides, hard signs hold a memory back, and soft signs only one of a root that others write.
    """
    return verdict == ACCEPTED or (not verdict and risk < HARD_RISK and is_own)


def find_undecided(index: Index, most: float, environ: Mapping[str, str]) -> list[tuple[MemorySummary, str]]:
    """The active memories at or above the risk *most* that nobody accepted, the riskiest first, with the verdict.

    All memories of *index* are scanned for it. Raises DecisionsError.
    """
    verdicts = decisions(index.root, environ)
    active = [memory for memory in index.summaries() if memory.status == "active"]
    late = index.risks(active)
    scanned = [replace(memory, risk=late.get(memory.id, memory.risk)) for memory in active]
    risky = [memory for memory in scanned if memory.risk >= most]
    found = [(memory, verdicts.get((SAFETY, memory.id, memory.digest), "")) for memory in risky]
    return sorted([pair for pair in found if pair[1] != ACCEPTED], key=lambda pair: (-pair[0].risk, pair[0].path))


def decisions(root: str, environ: Mapping[str, str]) -> dict[tuple[str, str, str], str]:
    """(check, memory id, digest) -> verdict, for all decisions about *root*. Raises DecisionsError."""
    try:
        return _read(root, environ)
    except DAMAGE as error:
        raise _error(environ, "read", error) from None


def decide(
    root: str, memory_id: str, digest: str, checks: Iterable[str], verdict: str, environ: Mapping[str, str]
) -> None:
    """Record a verdict on a memory text, in place of earlier ones of the same checks. Raises DecisionsError."""
    at = time.strftime(TIME, time.gmtime())
    rows = [(os.path.realpath(root), memory_id, check, digest, verdict, at) for check in checks]
    _write(environ, "insert or replace into decision values (?, ?, ?, ?, ?, ?)", rows)


def forget(root: str, memory_id: str, checks: Iterable[str], environ: Mapping[str, str]) -> None:
    """Take the verdicts of these checks on a memory back, as if nobody had decided. Raises DecisionsError."""
    rows = [(os.path.realpath(root), memory_id, check) for check in checks]
    _write(environ, 'delete from decision where root = ? and memory = ? and "check" = ?', rows)


def follow_rereading(index: Index, environ: Mapping[str, str]) -> None:
    """Let decisions of version 1.0.0 count if front matter is now read differently, which changes the digest.

    The file must be as old as the decision: the earlier digest does not cover all of its text.
    """
    from engine.errors import DecisionsError

    sql = "update or ignore decision set digest = ? where root = ? and memory = ? and digest = ? and at >= ?"
    try:
        decided = {(memory_id, digest) for _, memory_id, digest in decisions(index.root, environ)}
        digests = {memory.id: memory.digest for memory in index.summaries()} if decided else {}
        for memory_id, digest in decided:
            memory = index.memory(memory_id) if digests.get(memory_id, digest) != digest else None
            if memory and memory.earlier_digest == digest:
                changed = time.strftime(TIME, time.gmtime(os.stat(memory.summary.file).st_mtime))
                row = (memory.summary.digest, os.path.realpath(index.root), memory_id, digest, changed)
                _write(environ, sql, [row])
    except (OSError, DecisionsError):
        return


def shared_acceptances(root: str) -> dict[tuple[str, str, str], str]:
    """(check, memory id, digest) -> ACCEPTED, for the findings that the file ACCEPTED_FILE in a root dismisses.

    Whoever writes the root writes this file, so it lets no memory be injected.
    """
    try:
        text = read_text(os.path.realpath(root), os.path.join(root, ACCEPTED_FILE))
    except UnreadableFileError:
        return {}
    rows = [line.split(" ", 2) for line in text.splitlines() if line[:1] != "#"]
    return {(check, memory_id, digest): ACCEPTED for check, digest, memory_id in (row for row in rows if row[2:])}


def share(root: str, memory_id: str, digest: str, checks: Iterable[str], verdict: str) -> str:
    """Write a verdict into the file ACCEPTED_FILE of a root, and return its path. REJECTED takes an acceptance out.

    Raises CurationError.
    """
    from engine.curation.files import FileChange, text_at, write

    root = os.path.realpath(root)
    path = os.path.join(root, ACCEPTED_FILE)
    kept = [key for key in shared_acceptances(root) if key[0] not in checks or key[1] != memory_id]
    rows = [*kept, *((check, memory_id, digest) for check in checks if verdict == ACCEPTED)]
    lines = sorted(f"{check} {text} {name}\n" for check, name, text in rows)
    write(FileChange(root, ACCEPTED_FILE, text_at(path), "".join((ACCEPTED_HEAD, *lines)) if lines else None))
    return path


def open_decisions(environ: Mapping[str, str]) -> PrivateDatabase:
    """The file of decisions and ratings, made if it is missing. Close it after use. Its errors are DecisionsError."""
    from engine.stores.private_database import PrivateDatabase

    def make(db: Any) -> None:
        for _, lines in read_sections(__file__, "decisions.sql"):
            db.execute("\n".join(lines))

    return PrivateDatabase(decisions_file(environ), make, lambda error: _error(environ, "used", error))


def _write(environ: Mapping[str, str], sql: str, rows: Iterable[tuple[str, ...]]) -> None:
    from contextlib import closing

    with closing(open_decisions(environ)) as file, file.changing() as db:
        db.executemany(sql, rows)


def _read(root: str, environ: Mapping[str, str]) -> dict[tuple[str, str, str], str]:
    path = decisions_file(environ)
    if not os.path.exists(path):
        return {}
    db: Connection = for_reading(path)
    try:
        sql = 'select "check", memory, digest, verdict from decision where root = ?'
        rows = db.execute(sql, (os.path.realpath(root),)).fetchall()
    finally:
        db.close()
    return {(check, memory, digest): verdict for check, memory, digest, verdict in rows}


def _error(environ: Mapping[str, str], verb: str, error: Exception) -> DecisionsError:
    from engine.errors import DecisionsError

    return DecisionsError(
        f"The decisions and ratings in {decisions_file(environ)} cannot be {verb} ({error}). Fix the file or its "
        "permissions, or delete it: then all memories wait for approval again."
    )
