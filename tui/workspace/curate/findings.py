"""What the checks find in the open roots, the risky memories, and the decisions of a person."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from time import thread_time, time
from typing import TYPE_CHECKING

from engine.conversations.activity_log import read_log
from engine.errors import DecisionsError, MissingLibraryError, RootError
from engine.lean.record import Record, replace
from engine.memory import UNSCANNED
from engine.paths import decisions_file, labels_file, project_of, state_dir
from engine.phrases.file import read_phrases
from engine.quality.checks.memories import seconds
from engine.quality.checks.phrases import USUAL, count_of
from engine.quality.decisions import REJECTED, SAFETY, decide, decisions, find_undecided, forget, shared_acceptances
from engine.quality.fixing import plan_fixes
from engine.quality.judging.store import RatingStore, may_have_ratings
from engine.quality.registry import BY_DEFAULT, CHECKS, LIBRARIES, CheckedRoot, findings
from engine.quality.safety.gate import scan_text, text_of
from engine.settings.trust import trust_of
from engine.stores.roots import read_corpus
from tui.workspace import opening
from tui.workspace.curate.memory_facts import by_memory, usage_of
from tui.workspace.filtering import RowKind, RowOrder, RowRules, folded
from tui.workspace.sources import file_stamps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from engine.memory import MemorySummary
    from engine.quality.fixing import Fix
    from engine.quality.judging.store import Rated
    from engine.quality.registry import Finding
    from engine.quality.safety.scan import Detection
    from engine.roots import OpenIndex
    from tui.workspace.workspace import Workspace

    Tell = Callable[[str, int], None]
    """Called before each check, with its name and the number of findings so far."""

WAITING, TO_READ = "waiting", "to read"
"""Not injected until a person accepts it; and injected, because its root is the person's, until one rejects it."""


def checked(
    root: str, names: Iterable[str], db: str | None, environ: Mapping[str, str], ids: Collection[str] | None = None
) -> list[Finding]:
    """The findings of the named checks about *root*, or about its memories *ids*.

    Raises RootError, also if there is nothing to check, and ConfigError, DecisionsError, LabelStoreError.
    """
    subject = subject_of(root, db, environ)
    found = findings(subject, frozenset(names), {**shared_acceptances(root), **decisions(root, environ)})
    if not (found or subject.memories):
        raise RootError(f"{root} holds no memory, so nothing was checked. Name a folder of memories with --root.")
    if ids is None:
        return found
    return [finding for finding in found if not {finding.memory_id, *finding.others}.isdisjoint(ids)]


def fixable(
    root: str, names: Iterable[str], ids: Collection[str], db: str | None, environ: Mapping[str, str]
) -> tuple[list[Fix], int]:
    """The changes that settle findings about *root*, or about the memories *ids*; and the findings without a change.

    Raises as `checked`.
    """
    subject = subject_of(root, db, environ)
    found = findings(subject, frozenset(names), {**shared_acceptances(root), **decisions(root, environ)})
    wanted = [finding for finding in found if not ids or finding.memory_id in ids]
    return plan_fixes(root, wanted, subject.memories), sum(not finding.change for finding in wanted)


def subject_of(root: str, db: str | None, environ: Mapping[str, str], clock: Callable[[], float] = time) -> CheckedRoot:
    """What the checks look at. *db*: the label store; without one, the user's own if it exists.

    *clock* gives seconds since 1970.
    """
    corpus = read_corpus(root)
    log = read_log(state_dir(root, environ))
    now = clock()
    first = next((when for decision in log.decisions if (when := seconds(decision.time))), now)
    digests = {memory.summary.id: memory.summary.digest for memory in corpus.memories}
    return CheckedRoot(
        root=corpus.root,
        memories=corpus.memories,
        notices=corpus.notices,
        doubles=tuple(file for file in corpus.skipped if file.double_of),
        project=project_of(corpus.root),
        usage=usage_of(log.decisions, agreed_verdicts(corpus.root, digests, db, environ)),
        log_days=max(0.0, (now - first) / 86400),
        log_prompts=log.prompts,
        max_risk=opening.settings_of(root, environ).config.max_risk,
        now=now,
        phrases=read_phrases(corpus.root, environ).rows,
    )


def agreed_verdicts(
    root: str, digests: Mapping[str, str], db: str | None, environ: Mapping[str, str]
) -> list[tuple[str, str]]:
    """What people agree on about the present texts in *digests*: a memory id and a verdict, for each prompt.

    *db*: the label store; without one, the user's own if it exists.
    """
    from labels.store import LabelStore

    path = Path(db or labels_file(environ))
    if not path.exists():
        return []
    with LabelStore.open(path) as store:
        found = {(label.prompt_id, *label.pair): label for name in store.names_with(root) for label in store.gold(name)}
    return [
        (label.memory_id, label.verdict)
        for label in found.values()
        if digests.get(label.memory_id) == label.digest and not label.is_title
    ]


# Risky memories


class Risky(Record):
    """A memory with signs of an attack that nobody accepted. `state` is WAITING, TO_READ or REJECTED."""

    root: str
    memory: MemorySummary
    state: str
    detections: tuple[Detection, ...]


def risky_memories(roots: Sequence[str], environ: Mapping[str, str]) -> list[Risky]:
    """The active memories at or above `max_risk` that nobody accepted, the riskiest of each root first.

    Raises RootError, ConfigError and DecisionsError.
    """
    found = []
    for root in roots:
        with opening.opened_index(root) as index:
            for summary, verdict in find_undecided(index, opening.settings_of(root, environ).config.max_risk, environ):
                memory = index.memory(summary.id)
                detections = scan_text(text_of(memory)).detections if memory else ()
                state = verdict or (TO_READ if index.is_accepted(summary) else WAITING)
                found.append(Risky(index.root, summary, state, detections))
    return found


MOST_CHECKED, SCANNED_TOGETHER, SCAN_S = 2_000, 20, 0.5
"""Memories up to which each start of the app runs the cheap checks. Of more memories it scans some, a few at a time,
for SCAN_S seconds of CPU time. The index keeps their risks, and the next start goes on."""

VAGUE, MOST_SEARCHED = "phrases", 2_000
"""The check that searches each phrase, and the number of phrases in a root up to which the app does that."""

IN_APP = (*BY_DEFAULT, "asked", VAGUE)
"""The checks of the Inbox."""

CHEAP = tuple(name for name in IN_APP if name not in (*LIBRARIES, VAGUE))
"""The checks that need no package, and little time for each memory."""

WORST, BY_CHECK, BY_TITLE = "worst", "check", "title"
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
    def about(self) -> tuple[MemorySummary, ...]:
        """All memories that it is about."""
        return (*((self.memory,) if self.memory else ()), *self.others)

    @property
    def title(self) -> str:
        return self.memory.title if self.memory else self.finding.memory_id or "These memories"


class Checked(Record):
    """All findings, worst first. `missing`: check -> the package without which it cannot run.

    `lacking`: how many memories have phrases, in words, where most have none.
    """

    tasks: tuple[Task, ...] = ()
    missing: Mapping[str, str] = {}
    lacking: str = ""


def check_all(
    index: OpenIndex,
    roots: Sequence[str],
    db: Path,
    environ: Mapping[str, str],
    tell: Tell,
    *,
    names: Iterable[str] = IN_APP,
    clock: Callable[[], float] = time,
) -> Checked:
    """Run the named checks. Any thread may call it. *clock* gives seconds since 1970.

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
        subject, decided = subject_of(root, str(db), environ, clock), {**shared, **decisions(root, environ)}
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
            for task in (_task(root, finding, memories, ratings) for finding in found):
                digest = task.memory.digest if task.memory else ""
                is_out = decided.get((SAFETY, task.finding.memory_id, digest)) == REJECTED
                tasks += [] if name == SAFETY and is_out else [task]
    asked, active = counts
    said = f"{asked:,} of {active:,} have phrases" if asked else "none has phrases"
    lacking = said if asked < USUAL * active else ""
    return Checked(tuple(sorted(tasks, key=lambda task: -task.finding.severity)), missing, lacking)


def cheap_findings(workspace: Workspace, environ: Mapping[str, str], tell: Tell) -> dict[str, tuple[Finding, ...]]:
    """Memory id -> the findings of the cheap checks, the worst first. Any thread may call it. Raises as `check_all`.

    Of more than MOST_CHECKED memories, only risky ones are found, and no other file is read.
    """
    roots, db, index = workspace.roots, workspace.store.path, workspace.index
    if len(index) > MOST_CHECKED:
        return by_memory(_risky_findings(index, workspace.config.max_risk, environ, tell))
    checked = check_all(index, roots, db, environ, tell, names=CHEAP, clock=workspace.now)
    return by_memory((task.memory.id, task.finding) for task in checked.tasks if task.memory)


def _risky_findings(
    index: OpenIndex, most: float, environ: Mapping[str, str], tell: Tell
) -> Iterator[tuple[str, Finding]]:
    """The findings of the safety scan, by memory id. It reads the newest memories without a risk, for SCAN_S."""
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
                yield from ((summary.id, finding) for finding in findings(subject, (SAFETY,), decided))


def check_stamp(workspace: Workspace, environ: Mapping[str, str]) -> tuple[object, ...]:
    """Changes when memories are read again, or when a decision about a finding is made."""
    return (workspace.reading, *file_stamps([decisions_file(environ)]))


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
        root, finding, memory, others, folded(texts), ratings.get((finding.memory_id, memory.digest if memory else ""))
    )


def _ratings(root: str, environ: Mapping[str, str]) -> dict[tuple[str, str], Rated]:
    """(memory id, digest) -> rating; empty where there are none, or where they cannot be read."""
    if not may_have_ratings(environ):
        return {}
    with suppress(DecisionsError), closing(RatingStore(environ)) as store:
        return {(rating.memory_id, rating.digest): rating for rating in store.ratings(root, RUBRIC)}
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


def settle(tasks: Iterable[Task], verdict: str, environ: Mapping[str, str]) -> list[Task]:
    """Record a decision about each finding on the present text of its memory; the tasks with a decision.

    ACCEPTED: it is fine as it is. REJECTED: a risky memory stays out. Raises DecisionsError.
    """
    settled = [task for task in tasks if task.memory]
    for task in settled:
        assert task.memory is not None
        own = task.memory.own
        decide(own.root, own.id, own.digest, (task.finding.check,), verdict, environ)
    return settled


def unsettle(tasks: Iterable[Task], environ: Mapping[str, str]) -> None:
    """Take the decisions about *tasks* back. Raises DecisionsError."""
    for task in tasks:
        forget(task.root, task.finding.memory_id, (task.finding.check,), environ)
