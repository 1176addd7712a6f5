"""What the checks found in the open roots, worst first, and what a person decides about a finding."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from engine.errors import MissingLibraryError, RatingsError
from engine.lean.record import Record
from engine.paths import decisions_file, ratings_file
from engine.quality.decisions import REJECTED, SAFETY, decide, decisions, forget
from engine.quality.judging.store import RatingStore
from engine.quality.registry import CHECKS, LIBRARIES, findings
from engine.roots import home_of
from tui.workspace.quality.checking import subject_of
from tui.workspace.word_filter import in_order, lowered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from engine.memory import MemorySummary
    from engine.quality.judging.store import Rated
    from engine.quality.registry import Finding
    from engine.roots import OpenIndex
    from tui.workspace.word_filter import WordFilter
    from tui.workspace.workspace import Workspace

    Tell = Callable[[str, int], None]
    """Called before each check, with its name and the number of findings so far."""

CHEAP = tuple(name for name in CHECKS if name not in LIBRARIES)
"""The checks that need no package, and little time for each memory."""

WORST, BY_CHECK, BY_TITLE = "worst", "check", "title"
RISING = (BY_CHECK, BY_TITLE)
RUBRIC = "memory"


class Task(Record):
    """A finding, the memory that it is about, and the others that it names. A finding about a root has no memory.

    `words` are its texts in lower case. `rated`: the newest rating of the memory's present text by a model, if any.
    """

    root: str
    finding: Finding
    memory: MemorySummary | None
    others: tuple[MemorySummary, ...]
    words: str
    rated: Rated | None = None

    @property
    def id(self) -> str:
        finding = self.finding
        return "\0".join((self.root, finding.check, finding.memory_id, finding.where, finding.reason))

    @property
    def title(self) -> str:
        return self.memory.title if self.memory else self.finding.memory_id or "These memories"


class Checked(Record):
    """All findings, worst first. `missing`: check -> the package without which it cannot run."""

    tasks: tuple[Task, ...] = ()
    missing: Mapping[str, str] = {}


def check_all(
    index: OpenIndex,
    roots: Sequence[str],
    db: Path,
    environ: Mapping[str, str],
    tell: Tell,
    *,
    names: Iterable[str] = CHECKS,
    clock: Callable[[], float] = time,
) -> Checked:
    """Run the named checks. Any thread may call it. *clock* gives seconds since 1970.

    A check whose package is not installed is left out. Raises MemsiftError for a root, a log or decisions that are
    unreadable.
    """
    memories = {(root, own.id): summary for summary in index.summaries() for root, own in [home_of(index, summary)]}
    tasks: list[Task] = []
    missing: dict[str, str] = {}
    for root in roots:
        subject, decided = subject_of(root, str(db), environ, clock), decisions(root, environ)
        ratings = _ratings(root, environ)
        for name in names:
            tell(name, len(tasks))
            try:
                found = findings(subject, (name,), decided)
            except MissingLibraryError:
                missing[name] = LIBRARIES[name]
                continue
            made = (_task(root, finding, memories, ratings) for finding in found)
            tasks += [task for task in made if not _is_out(task, decided)]
    return Checked(tuple(sorted(tasks, key=lambda task: -task.finding.severity)), missing)


def cheap_findings(workspace: Workspace, environ: Mapping[str, str], tell: Tell) -> dict[str, tuple[Finding, ...]]:
    """Memory id -> the findings of the cheap checks, the worst first. Any thread may call it. Raises as `check_all`."""
    roots, db = workspace.roots, workspace.store.path
    checked = check_all(workspace.index, roots, db, environ, tell, names=CHEAP, clock=workspace.now)
    found: dict[str, list[Finding]] = {}
    for task in checked.tasks:
        if task.memory:
            found.setdefault(task.memory.id, []).append(task.finding)
    return {memory_id: tuple(ones) for memory_id, ones in found.items()}


def check_stamp(workspace: Workspace, environ: Mapping[str, str]) -> tuple[int, ...]:
    """Numbers that change when memories are read again, or when a decision about a finding is made."""
    decided = [workspace.reading]
    with suppress(OSError):
        status = Path(decisions_file(environ)).stat()
        decided += [status.st_size, status.st_mtime_ns]
    return tuple(decided)


def _is_out(task: Task, decided: Mapping[tuple[str, str, str], str]) -> bool:
    """Whether a person decided that a risky memory stays out."""
    finding, digest = task.finding, task.memory.digest if task.memory else ""
    return finding.check == SAFETY and decided.get((SAFETY, finding.memory_id, digest)) == REJECTED


def _task(
    root: str,
    finding: Finding,
    memories: Mapping[tuple[str, str], MemorySummary],
    ratings: Mapping[tuple[str, str], Rated],
) -> Task:
    memory = memories.get((root, finding.memory_id))
    others = tuple(found for other in finding.others if (found := memories.get((root, other))))
    texts = (finding.check, finding.memory_id, finding.reason, finding.where, memory.title if memory else "")
    return Task(
        root, finding, memory, others, lowered(texts), ratings.get((finding.memory_id, memory.digest if memory else ""))
    )


def _ratings(root: str, environ: Mapping[str, str]) -> dict[tuple[str, str], Rated]:
    """(memory id, digest) -> rating; empty where there are none, or where they cannot be read."""
    if not Path(ratings_file(environ)).exists():
        return {}
    with suppress(RatingsError), closing(RatingStore.open(environ)) as store:
        return {(rating.memory_id, rating.digest): rating for rating in store.ratings(root, RUBRIC)}
    return {}


def listed(
    tasks: Sequence[Task], words: WordFilter, check: str, order: str, *, is_turned: bool = False
) -> Sequence[Task]:
    """The tasks of a check, or of all for an empty text, that fit the words; *tasks* are the worst first."""
    found = [task for task in tasks if check in ("", task.finding.check) and words.fits(task.words)]
    keys: dict[str, Callable[[Task], Any]] = {
        BY_CHECK: lambda task: list(CHECKS).index(task.finding.check),
        BY_TITLE: lambda task: task.title.casefold(),
    }
    return in_order(found, order, keys, RISING, is_turned=is_turned)


def settle(tasks: Iterable[Task], verdict: str, index: OpenIndex, environ: Mapping[str, str]) -> list[Task]:
    """Record a decision about each finding on the present text of its memory; the tasks with a decision.

    ACCEPTED: it is fine as it is. REJECTED: a risky memory stays out. Raises DecisionsError.
    """
    settled = [task for task in tasks if task.memory]
    for task in settled:
        assert task.memory is not None
        root, own = home_of(index, task.memory)
        decide(root, own.id, own.digest, (task.finding.check,), verdict, environ)
    return settled


def unsettle(tasks: Iterable[Task], environ: Mapping[str, str]) -> None:
    """Take the decisions about *tasks* back. Raises DecisionsError."""
    for task in tasks:
        forget(task.root, task.finding.memory_id, (task.finding.check,), environ)
