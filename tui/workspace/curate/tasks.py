"""The findings about the open memories as the app shows them: a row for each check and memory, settled by a person."""

from __future__ import annotations

import os
import sys
from contextlib import closing, redirect_stderr, suppress
from multiprocessing import get_context
from time import thread_time
from typing import TYPE_CHECKING

from engine.errors import DecisionsError, MemsiftError, MissingLibraryError
from engine.lean.record import Record, replace
from engine.memory import UNSCANNED
from engine.paths import decisions_file
from engine.quality.checks.memories import USUAL, count_of
from engine.quality.decisions import REJECTED, SAFETY, decide, decisions, forget, shared_acceptances
from engine.quality.judging.store import RatingStore, may_have_ratings
from engine.quality.registry import BY_DEFAULT, CHECKS, LIBRARIES, CheckedRoot, findings
from engine.quality.safety.gate import scan_text, text_of
from engine.roots import open_together
from engine.settings.trust import trust_of
from tui.workspace.curate.findings import subject_of
from tui.workspace.curate.memory_facts import by_memory
from tui.workspace.filtering import RowKind, RowOrder, RowRules, folded
from tui.workspace.sources import file_stamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from multiprocessing.connection import Connection
    from pathlib import Path

    from engine.memory import Memory, MemorySummary
    from engine.quality.judging.store import Rated
    from engine.quality.registry import Finding
    from engine.roots import OpenIndex
    from tui.workspace.workspace import Workspace

    Tell = Callable[[str, int], None]
    """Called before each check, with its name and the number of findings so far."""

MOST_CHECKED, SCANNED_TOGETHER, SCAN_S = 2_000, 20, 0.5
"""Memories up to which each start of the app runs all checks. Of more memories it scans some, a few at a time,
for SCAN_S seconds of CPU time. The index keeps their risks, and the next start goes on."""

BESIDE_FROM, LOOK_S = 300, 0.1
"""Memories from which the checks run in a process of their own, so that keys are quick meanwhile; and seconds between
two looks at it."""

VAGUE, MOST_SEARCHED = "phrases", 2_000
"""The check that searches each phrase, and the number of phrases in a root up to which the app does that."""

IN_APP = (*BY_DEFAULT, "asked", VAGUE)
"""The checks of Browse and of the Inbox."""


def flagged(finding: Finding, memory: Memory) -> list[str]:
    """The parts of a memory's text for which it has a finding, each on one line."""
    if finding.check == SAFETY:
        text = text_of(memory)
        parts = [text[found.start : found.end] for found in scan_text(text).detections]
        return [line for part in parts for line in part.splitlines() if line.strip()]
    if finding.check == "secrets":
        lines, number = memory.body.splitlines(), finding.where.removeprefix("line ")
        return lines[int(number) - 1 : int(number)] if number.isdigit() else [memory.summary.title]
    return [finding.where] if finding.check == "staleness" else []


WORST, BY_CHECK, BY_TITLE = "worst", "check", "title"


class Task(Record):
    """A finding, the memory that it is about, and the others that it names. A finding about a root has no memory.

    `more`: the reasons of further findings of this check about the memory. `words` are its texts in lower case.
    `rated`: the newest rating of the memory's present text by a model, if any.
    """

    root: str
    finding: Finding
    memory: MemorySummary | None
    others: tuple[MemorySummary, ...]
    words: str
    rated: Rated | None = None
    more: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """The finding and the text that it is about."""
        return self.id, self.memory.digest if self.memory else ""

    @property
    def id(self) -> str:
        finding = self.finding
        return "\0".join((self.root, finding.check, finding.memory_id, finding.where, finding.reason))

    @property
    def about(self) -> tuple[MemorySummary, ...]:
        """All memories that it is about."""
        return (*((self.memory,) if self.memory else ()), *self.others)

    @property
    def title(self) -> str:
        return self.memory.name if self.memory else self.finding.memory_id or "These memories"


class Checked(Record):
    """All findings, worst first. `missing`: check -> the package without which it cannot run.

    `lacking`: how many memories have phrases, in words, where most have none. `is_partial`: only risky memories were
    looked for.
    """

    tasks: tuple[Task, ...] = ()
    missing: Mapping[str, str] = {}
    lacking: str = ""
    is_partial: bool = False

    def by_memory(self) -> dict[str, tuple[Finding, ...]]:
        """Memory id -> its findings, the worst first."""
        return by_memory((task.memory.id, task.finding) for task in self.tasks if task.memory)


def check_beside(
    index: OpenIndex, roots: Sequence[str], db: Path, environ: Mapping[str, str], tell: Tell, now: float
) -> Checked:
    """As `check_all`; of many memories in another process. *tell* may raise to end it."""
    if len(index) < BESIDE_FROM:
        return check_all(index, roots, db, environ, tell, now=now)
    os.environ["PYTHONSAFEPATH"] = "1"  # or it would run modules of the current folder
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_check_in_child, args=(theirs, [*roots], db, {**environ}, now), daemon=True)
    with redirect_stderr(sys.__stderr__):  # a process gets no handle from that of Textual
        child.start()
    theirs.close()
    told: tuple[str, int] = ("", 0)
    try:
        while True:
            tell(*told)
            said = ours.recv() if ours.poll(LOOK_S) else told
            if isinstance(said, Exception):
                raise said
            if isinstance(said, Checked):
                return said
            told = said
    except EOFError:
        raise MemsiftError("The process that checks the memories has ended too early.") from None
    finally:
        child.terminate()
        child.join()


def _check_in_child(pipe: Connection, roots: Sequence[str], db: Path, environ: Mapping[str, str], now: float) -> None:
    os.nice(10)
    with suppress(OSError), pipe:
        try:
            with closing(open_together(roots, environ)) as index:
                pipe.send(check_all(index, roots, db, environ, lambda *told: pipe.send(told), now=now))
        except MemsiftError as error:
            pipe.send(MemsiftError(str(error)))


def check_all(
    index: OpenIndex,
    roots: Sequence[str],
    db: Path,
    environ: Mapping[str, str],
    tell: Tell,
    *,
    names: Iterable[str] = IN_APP,
    now: float | None = None,
) -> Checked:
    """Run the named checks. Any thread may call it. *now*: seconds since 1970.

    A check whose package is not installed is left out. Raises MemsiftError for a root, a log or decisions that are
    unreadable.
    """
    names = [*names]
    memories = {(summary.root, summary.own.id): summary for summary in index.summaries()}
    late = index.risks([*memories.values()]) if SAFETY in names else {}
    tasks: list[Task] = []
    missing: dict[str, str] = {}
    counts = [0, 0]
    for root in roots:
        shared = shared_acceptances(root) if trust_of(root, environ) else {}
        subject, decided = subject_of(root, str(db), environ, now), {**shared, **decisions(root, environ)}
        risks = {own: late.get(memory.id, memory.risk) for (place, own), memory in memories.items() if place == root}
        subject, ratings = replace(subject, risks=risks), _ratings(root, environ)
        counts = [counts[0] + count_of(subject), counts[1] + len(subject.active)]
        for name in names:
            if name == VAGUE and sum(map(len, subject.phrases.values())) > MOST_SEARCHED:
                continue
            tell(name, len(tasks))
            try:
                found = findings(subject, (name,), decided)
            except MissingLibraryError:
                missing[name] = LIBRARIES[name]
                continue
            ones: dict[object, list[Finding]] = {}
            for place, finding in enumerate(found):
                ones.setdefault(finding.memory_id or place, []).append(finding)
            for task in (_task(root, about, memories, ratings) for about in ones.values()):
                digest = task.memory.digest if task.memory else ""
                is_out = decided.get((SAFETY, task.finding.memory_id, digest)) == REJECTED
                tasks += [] if name == SAFETY and is_out else [task]
    asked, active = counts
    said = f"{asked:,} of {active:,} memories have phrases" if asked else "no memory has phrases"
    lacking = said if asked < USUAL * active else ""
    return Checked(_worst_first(tasks), missing, lacking)


def risky_alone(index: OpenIndex, most: float, environ: Mapping[str, str], tell: Tell) -> Checked:
    """The findings of the safety scan alone. It reads the newest memories without a risk, for SCAN_S."""
    tasks = []
    active = [memory for memory in index.summaries() if memory.status == "active"]
    newest = sorted(active, key=lambda memory: memory.updated_at, reverse=True)
    late = [memory for memory in newest if memory.risk == UNSCANNED][:MOST_CHECKED]
    found = {memory.id: memory.risk for memory in active if memory.risk != UNSCANNED}
    begun = thread_time()
    for start in range(0, len(late), SCANNED_TOGETHER):
        if thread_time() - begun > SCAN_S:
            break
        tell(SAFETY, 0)
        found |= index.risks(late[start : start + SCANNED_TOGETHER])
    for summary in active:
        if most <= found.get(summary.id, 0.0) < UNSCANNED and (memory := index.memory(summary.id)):
            root, own = summary.root, summary.own
            decided = decisions(root, environ)
            if decided.get((SAFETY, own.id, own.digest)) != REJECTED:
                subject = CheckedRoot(root, (replace(memory, summary=own),), max_risk=most)
                memories = {(root, own.id): summary}
                tasks += [_task(root, [finding], memories, {}) for finding in findings(subject, (SAFETY,), decided)]
    return Checked(_worst_first(tasks), is_partial=True)


def _task(
    root: str,
    found: Sequence[Finding],
    memories: Mapping[tuple[str, str], MemorySummary],
    ratings: Mapping[tuple[str, str], Rated],
) -> Task:
    """The row of the findings of one check about one memory, the worst first: one decision is about all of them."""
    finding, *more = found
    memory = memories.get((root, finding.memory_id))
    named = dict.fromkeys(other for about in found for other in about.others)
    others = tuple(memories[root, other] for other in named if (root, other) in memories)
    names = (memory.name, memory.title) if memory else ()
    texts = (finding.check, finding.memory_id, finding.where, *names, *(about.reason for about in found))
    rated = ratings.get((finding.memory_id, memory.digest if memory else ""))
    return Task(root, finding, memory, others, folded(texts), rated, tuple(about.reason for about in more))


def _ratings(root: str, environ: Mapping[str, str]) -> dict[tuple[str, str], Rated]:
    """(memory id, digest) -> rating; empty where there are none, or where they cannot be read."""
    if not may_have_ratings(environ):
        return {}
    with suppress(DecisionsError), closing(RatingStore(environ)) as store:
        return {(rating.memory_id, rating.digest): rating for rating in store.ratings(root, "memory")}
    return {}


RULES = RowRules(
    orders={
        WORST: RowOrder("How bad, the worst first"),
        BY_CHECK: RowOrder("Check", lambda task: list(CHECKS).index(task.finding.check), is_rising=True),
        BY_TITLE: RowOrder("Memory", lambda task: task.title.casefold(), is_rising=True),
    },
    kinds={"": RowKind("all findings")}
    | {
        check: RowKind(f"{check}: {CHECKS[check]}", lambda task, check=check: task.finding.check == check)
        for check in IN_APP
    },
)
"""The tasks of `Checked` are the worst first."""


class Findings:
    """What the checks found in the memories of *workspace*, less what a person has settled since.

    `checked` is None before the first checks are done. `progress`: how far the checks under way are, or empty.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.checked: Checked | None = None
        self.progress = ""
        self._is_wanted = False
        self._stamp: tuple[object, ...] = ()
        self._settled: list[list[Task]] = []

    def is_behind(self, environ: Mapping[str, str], *, is_whole: bool = False) -> bool:
        """Whether the checks have to run again, as the caller does then. *is_whole*: all are wanted from now on.

        Findings whose memories have changed are left out from now on.
        """
        self._is_wanted = self._is_wanted or is_whole
        stamp = (self._workspace.reading, self._is_whole, *file_stamps([decisions_file(environ)]))
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        if self.checked:
            now = {_state(memory) for memory in self._workspace.index.summaries()}
            kept = tuple(task for task in self.checked.tasks if now.issuperset(map(_state, task.about)))
            self.checked = replace(self.checked, tasks=kept)
        return True

    @property
    def _is_whole(self) -> bool:
        return self._is_wanted or len(self._workspace.index) <= MOST_CHECKED

    def check(self, environ: Mapping[str, str], tell: Tell) -> Checked:
        """Run the checks; of very many memories only the safety scan, unless all are wanted. Any thread may call it."""
        workspace = self._workspace
        if not self._is_whole:
            return risky_alone(workspace.index, workspace.config.max_risk, environ, tell)
        return check_beside(workspace.index, workspace.roots, workspace.store.path, environ, tell, workspace.now())

    def take(self, checked: Checked) -> None:
        """Keep the result of checks, but for findings that were settled since they began."""
        self.progress = ""
        settled = {task.key for tasks in self._settled for task in tasks}
        tasks = tuple(task for task in checked.tasks if task.key not in settled)
        self.checked = replace(checked, tasks=tasks)

    def settle(self, tasks: Iterable[Task], verdict: str, environ: Mapping[str, str]) -> int:
        """Record a decision about each finding on the present text of its memory; the number of decisions.

        ACCEPTED: it is fine as it is. REJECTED: a risky memory stays out. Raises DecisionsError.
        """
        settled = [task for task in tasks if task.memory]
        for task in settled:
            assert task.memory is not None
            own = task.memory.own
            decide(own.root, own.id, own.digest, (task.finding.check,), verdict, environ)
        if settled and self.checked:
            self._settled.append(settled)
            self.take(self.checked)
            self._note(environ)
        return len(settled)

    def unsettle(self, environ: Mapping[str, str]) -> int:
        """Take the last decision back; the number of its findings, 0 without a decision. Raises DecisionsError."""
        if not (self._settled and self.checked):
            return 0
        tasks = self._settled[-1]
        for task in tasks:
            forget(task.root, task.finding.memory_id, (task.finding.check,), environ)
        self._settled.pop()
        both = {task.key: task for task in (*self.checked.tasks, *tasks)}
        self.take(replace(self.checked, tasks=_worst_first(both.values())))
        self._note(environ)
        return len(tasks)

    def forget(self) -> None:
        """Let no decision before now be taken back by a key."""
        self._settled.clear()

    def _note(self, environ: Mapping[str, str]) -> None:
        """The decisions of this app need no new checks."""
        self._stamp = (*self._stamp[:2], *file_stamps([decisions_file(environ)]))


def _state(memory: MemorySummary) -> tuple[str, str, str]:
    """What a check of a memory depends on."""
    return memory.id, memory.digest, memory.status


def _worst_first(tasks: Iterable[Task]) -> tuple[Task, ...]:
    return tuple(sorted(tasks, key=lambda task: -task.finding.severity))
