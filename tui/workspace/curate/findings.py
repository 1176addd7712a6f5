"""What the checks find in the open roots, the risky memories, and the decisions of a person."""

from __future__ import annotations

from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from engine.conversations.activity_log import read_log
from engine.errors import RootError
from engine.lean.record import Record
from engine.paths import labels_file, project_of, state_dir
from engine.phrases.file import read_phrases
from engine.quality.checks.usage import seconds
from engine.quality.decisions import decisions, find_undecided, shared_acceptances
from engine.quality.fixing import plan_fixes
from engine.quality.registry import CheckedRoot, findings
from engine.quality.safety.gate import scan_text, text_of
from engine.stores.roots import read_corpus
from tui.workspace import opening
from tui.workspace.curate.memory_facts import usage_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.memory import MemorySummary
    from engine.quality.fixing import Fix
    from engine.quality.registry import Finding
    from engine.quality.safety.scan import Detection

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


def subject_of(root: str, db: str | None, environ: Mapping[str, str], now: float | None = None) -> CheckedRoot:
    """What the checks look at. *db*: the label store; without one, the user's own if it exists.

    *now*: seconds since 1970.
    """
    corpus = read_corpus(root)
    log = read_log(state_dir(root, environ))
    now = time() if now is None else now
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
