"""What the checks of a root find, what they look at, and the risky memories that wait for a decision."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import RootError
from engine.hook.activity_log import Log, injections, read_log
from engine.lean.record import Record
from engine.paths import labels_file, state_dir
from engine.quality.checks.usage import seconds
from engine.quality.decisions import REJECTED, SAFETY, decisions
from engine.quality.fixing import fixes
from engine.quality.registry import CheckedRoot, Usage, findings
from engine.quality.repository import project_of
from engine.quality.safety.gate import scanned, text_of
from engine.stores.roots import read_corpus
from engine.stores.writing import ACTIVE
from tui.workspace import opening

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from engine.memory import Memory, MemorySummary
    from engine.quality.fixing import Fix
    from engine.quality.registry import Finding
    from engine.quality.safety.rules import Detection
    from engine.search.index import Index

WAITING = "waiting"


def checked(root: str, names: Iterable[str], db: str | None, environ: Mapping[str, str]) -> list[Finding]:
    """The findings of the named checks about *root*.

    Raises RootError, also if there is nothing to check, and ConfigError, DecisionsError, LabelStoreError.
    """
    subject = subject_of(root, db, environ)
    found = findings(subject, frozenset(names), decisions(root, environ))
    if not (found or subject.memories):
        raise RootError(f"{root} holds no memory, so nothing was checked. Name a folder of memories with --root.")
    return found


def fixable(
    root: str, names: Iterable[str], ids: Collection[str], db: str | None, environ: Mapping[str, str]
) -> tuple[list[Fix], int]:
    """The changes that settle findings about *root*, or about the memories *ids*; and the findings without a change.

    Raises as `checked`.
    """
    subject = subject_of(root, db, environ)
    found = findings(subject, frozenset(names), decisions(root, environ))
    wanted = [finding for finding in found if not ids or finding.memory_id in ids]
    return fixes(root, wanted, subject.memories), sum(not finding.change for finding in wanted)


def subject_of(
    root: str, db: str | None, environ: Mapping[str, str], clock: Callable[[], float] = time.time
) -> CheckedRoot:
    """What the checks look at. *db*: the label store; without one, the user's own if it exists.

    *clock* gives seconds since 1970.
    """
    corpus = read_corpus(root)
    log = read_log(state_dir(root, environ))
    now = clock()
    return CheckedRoot(
        root=corpus.root,
        memories=corpus.memories,
        notices=corpus.notices,
        doubles=tuple(file for file in corpus.skipped if file.double_of),
        project=project_of(corpus.root),
        usage=usage_of(corpus.root, corpus.memories, log, db, environ),
        log_days=_days(log, now),
        log_prompts=log.prompts,
        max_risk=opening.config_of(root, environ).max_risk,
        now=now,
    )


def usage_of(
    root: str, memories: Iterable[Memory], log: Log, db: str | None, environ: Mapping[str, str]
) -> dict[str, Usage]:
    """Memory id -> counts of the log and of the labels of its present text."""
    injected = injections(log.decisions)
    verdicts = label_counts(root, {memory.summary.id: memory.summary.digest for memory in memories}, db, environ)
    ids = injected.keys() | verdicts.keys()
    return {memory_id: Usage(injected.get(memory_id, 0), *verdicts.get(memory_id, (0, 0))) for memory_id in ids}


def label_counts(
    root: str, digests: Mapping[str, str], db: str | None, environ: Mapping[str, str]
) -> dict[str, tuple[int, int]]:
    """Memory id -> the prompts for which people agree that it is relevant, and not relevant."""
    from labels.records import NOT_RELEVANT, RELEVANT
    from labels.store import LabelStore

    path = Path(db or labels_file(environ))
    if not path.exists():
        return {}
    with LabelStore.open(path) as store:
        found = {(label.prompt_id, *label.pair): label for name in store.names_with(root) for label in store.gold(name)}
    gold = [label for label in found.values() if digests.get(label.memory_id) == label.digest]
    counts = Counter((label.memory_id, label.verdict) for label in gold)
    return {memory_id: (counts[memory_id, RELEVANT], counts[memory_id, NOT_RELEVANT]) for memory_id, _ in counts}


def _days(log: Log, now: float) -> float:
    """The age of the log's first decision, in days."""
    first = next((when for decision in log.decisions if (when := seconds(decision.time))), now)
    return max(0.0, (now - first) / 86400)


# Risky memories


class Risky(Record):
    """A memory that is not injected because of its risk. `state` is WAITING or REJECTED."""

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
        most = opening.config_of(root, environ).max_risk
        with opening.opened_index(root) as index:
            found += _risky(index, most, decisions(root, environ))
    return found


def _risky(index: Index, most: float, decided: Mapping[tuple[str, str, str], str]) -> list[Risky]:
    active = [summary for summary in index.summaries() if summary.status == ACTIVE]
    held = [summary for summary in active if summary.risk >= most and not index.is_accepted(summary)]
    return [
        Risky(
            index.root, summary, _state(decided.get((SAFETY, summary.id, summary.digest))), _detections(index, summary)
        )
        for summary in sorted(held, key=lambda summary: (-summary.risk, summary.path))
    ]


def _state(verdict: str | None) -> str:
    return REJECTED if verdict == REJECTED else WAITING


def _detections(index: Index, summary: MemorySummary) -> tuple[Detection, ...]:
    memory = index.memory(summary.id)
    return scanned(text_of(memory)).detections if memory else ()
